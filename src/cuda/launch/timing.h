// SPDX-License-Identifier: MIT
// src/cuda/launch/timing.h: events, and a batch of calls recorded as one graph.
//
// A kernel of a few microseconds costs about as much to launch as to run. A graph of N calls leaves
// the device's own gaps alone between them (about 1 us on Hopper), which is what a user's graph
// shows too.
#pragma once

#include <functional>
#include <utility>

#include "base/error.h"
#include "cuda/operation.h"

struct CUevent_st;
struct CUgraphExec_st;

namespace nrd::cuda {

// A point in a stream that has a time. Belongs to the device that was current at its creation.
class Event {
 public:
  Event() = default;
  static Expected<Event> create();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event();

  Expected<void> record(Stream stream);
  Expected<void> wait() const;  // the host waits until it has happened

 private:
  friend Expected<double> microseconds_between(const Event& first, const Event& last);
  CUevent_st* event_ = nullptr;
};

// Both must have happened. Resolution about 0.5 us.
Expected<double> microseconds_between(const Event& first, const Event& last);

// Whatever `enqueue` puts on the stream it is given, ready to be launched again and again.
class RecordedCalls {
 public:
  RecordedCalls() = default;
  // The error is that of `enqueue`, or that it did something that cannot be recorded (waited,
  // allocated, used another stream).
  static Expected<RecordedCalls> record(const std::function<Expected<void>(Stream)>& enqueue);
  RecordedCalls(RecordedCalls&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  RecordedCalls& operator=(RecordedCalls&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~RecordedCalls();

  explicit operator bool() const { return graph_ != nullptr; }
  Expected<void> launch(Stream stream) const;

 private:
  CUgraphExec_st* graph_ = nullptr;
};

}  // namespace nrd::cuda
