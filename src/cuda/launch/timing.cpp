// SPDX-License-Identifier: MIT
// src/cuda/launch/timing.cpp
#include "cuda/launch/timing.h"

#include <cuda_runtime_api.h>

#include "cuda/launch/error.h"

namespace nrd::cuda {

Expected<Event> Event::create() {
  Event event;
  NRD_CUDA_TRY(cudaEventCreate(&event.event_));
  return event;
}

Event::~Event() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}

Expected<void> Event::record(Stream stream) {
  return check("cudaEventRecord", cudaEventRecord(event_, stream));
}

Expected<void> Event::wait() const {
  return check("cudaEventSynchronize", cudaEventSynchronize(event_));
}

Expected<double> microseconds_between(const Event& first, const Event& last) {
  float milliseconds = 0;
  NRD_CUDA_TRY(cudaEventElapsedTime(&milliseconds, first.event_, last.event_));
  return static_cast<double>(milliseconds) * 1e3;
}

namespace {

struct CaptureStream {
  cudaStream_t stream = nullptr;
  ~CaptureStream() {
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
};

}  // namespace

Expected<RecordedCalls> RecordedCalls::record(
    const std::function<Expected<void>(Stream)>& enqueue) {
  CaptureStream capture;
  NRD_CUDA_TRY(cudaStreamCreateWithFlags(&capture.stream, cudaStreamNonBlocking));
  NRD_CUDA_TRY(cudaStreamBeginCapture(capture.stream, cudaStreamCaptureModeThreadLocal));
  Expected<void> enqueued = enqueue(capture.stream);
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(capture.stream, &graph);
  if (!enqueued || ended != cudaSuccess) {
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    if (!enqueued) return enqueued.error();
    return cuda_error("cudaStreamEndCapture", ended);
  }
  RecordedCalls calls;
  const cudaError_t made = cudaGraphInstantiate(&calls.graph_, graph, 0);
  cudaGraphDestroy(graph);
  if (made != cudaSuccess) return cuda_error("cudaGraphInstantiate", made);
  return calls;
}

RecordedCalls::~RecordedCalls() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}

Expected<void> RecordedCalls::launch(Stream stream) const {
  return check("cudaGraphLaunch", cudaGraphLaunch(graph_, stream));
}

}  // namespace nrd::cuda
