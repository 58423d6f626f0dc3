// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm_parts.cuh: tiles whose k is shared by several clusters.
//
// The parts of a tile are added up in the order of k, by the warpgroup that comes last; each
// warpgroup of a tile does so for its own rows. Who has part 0 usually comes last (see Schedule):
// it looks first, and where all others are there it needs neither store its own part nor count.
//
// A counter holds the launch's tag and how many parts have arrived. Memory that does not show the
// tag counts as 0, so the workspace needs no content; who finishes a tile clears the counter, so
// that a recorded launch, which has the same tag every time, finds it clear.
#pragma once

#include "cuda/kernels/fp8_gemm_consumer.cuh"
#include "cuda/ptx/global.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

constexpr uint64_t kCountMask = 0xffff;

__device__ __forceinline__ uint64_t parts_arrived(uint64_t counter, uint64_t tag) {
  return (counter & ~kCountMask) == tag ? counter & kCountMask : 0;
}

// Counts one more and returns how many there are now.
__device__ __forceinline__ uint64_t arrive_part(uint64_t* counter, uint64_t tag) {
  uint64_t seen = load_acquire(counter);
  while (true) {
    const uint64_t count = parts_arrived(seen, tag) + 1;
    const uint64_t before = compare_and_swap(counter, seen, tag | count);
    if (before == seen) return count;
    seen = before;
  }
}

// Where the sums fill most registers there is no room to add others' to them.
template <class T>
constexpr bool kMayCut = may_cut_k(T::kernel);

template <class T>
class Parts {
 public:
  __device__ __forceinline__ Parts(const Fp8GemmParams& params, const Consumer<T>& consumer,
                                   const Work& work, int rank)
      : params_(params), consumer_(consumer), work_(work), rank_(rank) {}

  // True where `sums` now holds the whole tile.
  __device__ __forceinline__ bool gather(float (&sums)[T::kPieces][T::kSums]) {
    if (!kMayCut<T> || work_.parts == 1) return true;
    uint64_t* counter = params_.counters + work_.cut_tile * T::kConsumers + consumer_.index;
    const auto all = static_cast<uint64_t>(work_.parts);
    const bool is_first_thread = consumer_.warp == 0 && consumer_.lane == 0;
    int first = 1;  // of the parts that lie in memory
    if (work_.part != 0 || !tell_all(is_first_thread && parts_arrived(load_acquire(counter),
                                                                      params_.tag) == all - 1)) {
      store(sums);
      named_barrier_sync(1 + consumer_.index, kGroupThreads);
      if (!tell_all(is_first_thread && arrive_part(counter, params_.tag) == all)) return false;
      first = 0;
#pragma unroll
      for (int i = 0; i < T::kThreadSums; i++) sums[i / T::kSums][i % T::kSums] = 0.0f;
    }
    add_from(first, sums);
    if (is_first_thread) *counter = 0;
    return true;
  }

 private:
  static constexpr int kPacket = 4;  // floats: 16 bytes a thread, 512 a warp
  static constexpr int kPackets = T::kThreadSums / kPacket;

  // The first thread's answer for the whole warpgroup.
  __device__ __forceinline__ bool tell_all(bool answer) {
    volatile int* word = consumer_.shared.word(consumer_.index);
    if (consumer_.warp == 0 && consumer_.lane == 0) *word = answer;
    named_barrier_sync(1 + consumer_.index, kGroupThreads);
    const bool told = *word != 0;
    named_barrier_sync(1 + consumer_.index, kGroupThreads);
    return told;
  }

  // Where this thread's sums of a part lie. A cluster has two cut spans at most: one that others
  // begin and one that it begins itself.
  __device__ __forceinline__ float4* packets(int part) const {
    const int64_t block = (work_.first_cluster + part) * params_.cluster + rank_;
    const int64_t slot = 2 * block + (part == 0 ? 1 : 0);
    const int thread = consumer_.warp * 32 + consumer_.lane;
    return reinterpret_cast<float4*>(params_.partials) +
           (slot * T::kConsumers + consumer_.index) * kPackets * kGroupThreads + thread;
  }

  __device__ __forceinline__ void store(const float (&sums)[T::kPieces][T::kSums]) const {
    float4* to = packets(work_.part);
#pragma unroll
    for (int i = 0; i < kPackets; i++) {
      const float* from = &sums[i * kPacket / T::kSums][i * kPacket % T::kSums];
      __stcg(to + i * kGroupThreads, make_float4(from[0], from[1], from[2], from[3]));
    }
  }

  // Adds up in place what lies in memory from part `first` on.
  __device__ __forceinline__ void add_from(int first, float (&sums)[T::kPieces][T::kSums]) const {
    for (int part = first; part < work_.parts; part++) {
      const float4* from = packets(part);
#pragma unroll
      for (int i = 0; i < kPackets; i++) {
        const float4 x = __ldcg(from + i * kGroupThreads);
        float* sum = &sums[i * kPacket / T::kSums][i * kPacket % T::kSums];
        sum[0] += x.x, sum[1] += x.y, sum[2] += x.z, sum[3] += x.w;
      }
    }
  }

  const Fp8GemmParams& params_;
  const Consumer<T>& consumer_;
  const Work& work_;
  const int rank_;
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
