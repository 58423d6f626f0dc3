// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_gemm.cuh: products of e4m3 codes by Hopper's tensor cores.
//
// Work. Blocks stay for the whole launch, one a multiprocessor, alone or in clusters of two, and
// take tiles of c as fp8_gemm_schedule.cuh says. A block's first warpgroup brings data: one thread
// starts the TMA copies of a ring of stages (128 of k each), one warp fetches the vectors of a tile
// (scales, bias), two more the scales of blocks. The others, one to three of them, multiply: each
// has its part of the tile's rows, in pieces of 64.
//
// Registers. Of three warpgroups each has 168 a thread at launch; the first goes down to 40 (or
// 24), the others take 232 (240): the f32 sums of the tile (up to 176), where sums are promoted one
// more set for a piece, and the rounded results of the tile before. Of four, 128 become 32 and 160.
// Tensor cores keep their sums in registers too, and share their bandwidth with every instruction:
// a loop over k has as few of them as can be. Shared memory: fp8_gemm_tile.cuh.
//
// From tile to tile. What the tensor cores would wait for is done under products: the next tile is
// found by multiplications instead of divisions (which took 700 cycles), its first products are
// issued before the sums are finished, where registers allow (fp8_gemm_sums.cuh,
// fp8_gemm_promote.cuh), and results leave under those of its first blocks of k
// (fp8_gemm_store.cuh).
//
// Bound. 8192 operations a clock and multiprocessor. A 128 x 256 tile needs 48 KB a stage of 1024
// cycles, 47 bytes a cycle; in a cluster of two, one operand in common, 31. Large products run into
// the power limit, and the clock falls: what costs energy costs time. Tiles for few tokens are
// bound by the memory that holds the weights instead: every byte is read once, 100 KB and more are
// on their way to each multiprocessor (more of them only wait for each other).
//
// Order of sums. A product of 32 of k is summed by the tensor core. Fast: these are added in the
// order of k in its accumulator. Precise and block: four of them, then f32 additions in the order
// of k. A tile whose k is cut has one such sum a part; the parts are added in the order of k.
// Nothing depends on timing.
#pragma once

#include "cuda/kernels/fp8_gemm_finish.cuh"
#include "cuda/kernels/fp8_gemm_parts.cuh"
#include "cuda/kernels/fp8_gemm_produce.cuh"
#include "cuda/launch/fp8_gemm.h"
#include "cuda/launch/launch.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// How warpgroups split the registers: two have enough as they are, three have 168 each to give and
// take, four 128.
struct RegisterSplit {
  int producer, consumer;
};
template <class T>
constexpr bool kIsTight = registers_of_sums(T::kernel, kDefers<T>) > 170 && !T::kBlockScales;
template <class T>
constexpr RegisterSplit kRegisterSplit = T::kConsumers == 3 ? RegisterSplit{32, 160}
                                         : kIsTight<T>      ? RegisterSplit{24, 240}
                                                            : RegisterSplit{40, 232};
constexpr int kWarps = 4;  // of a warpgroup
template <int kRows>
constexpr int kThreads = (1 + consumers_of(kRows)) * kGroupThreads;

template <class T>
__device__ __forceinline__ void init_barriers(Shared<T> shared, int cluster) {
  for (int i = 0; i < T::kStages; i++) {
    mbarrier_init(shared.full(i), 1 + T::kFactorWarps);
    mbarrier_init(shared.empty(i), T::kConsumers * kWarps * cluster);
  }
  mbarrier_init(shared.vectors_full(), 1);
  mbarrier_init(shared.vectors_empty(), T::kConsumers * kWarps);
  mbarrier_init_fence();
}

// Asked for by each role anew: kept from the start it would cost all of them a register.
__device__ __forceinline__ int rank_of(const Fp8GemmParams& params) {
  return params.cluster > 1 ? static_cast<int>(cluster_rank()) : 0;
}

template <class T>
__device__ __forceinline__ void produce(const Fp8GemmParams& params, Shared<T> shared) {
  const int rank = rank_of(params);
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp == 0) {
    if (elect_one()) TileProducer<T>(params, shared, rank).run();
    __syncwarp();
  } else if (warp == 1) {
    produce_vectors<T>(params, shared, rank, static_cast<int>(threadIdx.x) % 32);
  } else if constexpr (T::kBlockScales) {
    FactorProducer<T>(params, shared, rank, static_cast<int>(threadIdx.x) - 64).run();
  }
}

template <class T>
__device__ __forceinline__ void consume(const Fp8GemmParams& params, Shared<T> shared, int index) {
  const int rank = rank_of(params);
  wait_for_previous_kernel();
  Consumer<T> consumer(shared, index, params);
  Schedule schedule(params, rank);
  Ring<1> turn;
  Work work;
  Sums<T> tile;
  Departing<T> departing(params);
  bool has_work = schedule.next(work);
  if (has_work) tile.begin(consumer);
  while (has_work) {
    tile.run(consumer, work, schedule.has_next(), departing);
    const Work done = work;
    has_work = schedule.next(work);
    mbarrier_wait(shared.vectors_full(), turn.parity, "consumer of vectors", 0);
    Finisher<T> finisher(params, consumer, done, departing);
    auto finish_all = [&] {
      if (Parts<T>(params, consumer, done, rank).gather(tile.sums)) {
        finisher.all(tile.sums);
      } else {
        departing.take_nothing();
      }
    };
    if constexpr (Finisher<T>::kHasParts) {
      if (has_work && finisher.can_part()) {
        tile.end_by_parts(consumer, [&]<int kPart>() { finisher.template part<kPart>(tile.sums); });
      } else {
        tile.end(consumer, has_work, finish_all);
      }
    } else {
      tile.end(consumer, has_work, finish_all);
    }
    __syncwarp();
    if (consumer.lane == 0) mbarrier_arrive(shared.vectors_empty());
    turn.next();
  }
  wgmma_wait<0>();
  departing.send_last(consumer);
  if (consumer.warp == 0 && elect_one()) tma_store_wait_read<0>();
}

// An Fp8Kernel member by member: nvcc takes no struct as the argument of a kernel's template.
template <Fp8Sums kSums, bool kSwapped, int kRows, int kCols, int kStages, int kBuffers>
__global__ void __launch_bounds__(kThreads<kRows>, 1)
    fp8_gemm_kernel(const __grid_constant__ Fp8GemmParams params) {
  using T = Tile<Fp8Kernel{kSums, kSwapped, kRows, kCols, kStages, kBuffers}>;
  const Shared<T> shared{shared_memory()};
  if (threadIdx.x == 0) {
    if (shared_address(shared.base) % 1024 != 0) __trap();  // swizzled tiles would lie wrong
    init_barriers<T>(shared, params.cluster);
    tma_prefetch(&params.row_codes);
    tma_prefetch(&params.col_codes);
    if (!params.store_by_threads) tma_prefetch(&params.out);
  }
  if (params.cluster > 1) {
    cluster_sync();
  } else {
    __syncthreads();
  }
  const int group = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / kGroupThreads, 0);
  if (group == 0) {
    if constexpr (T::kConsumers > 1) registers_release<kRegisterSplit<T>.producer>();
    produce<T>(params, shared);
  } else {
    if constexpr (T::kConsumers > 1) registers_request<kRegisterSplit<T>.consumer>();
    consume<T>(params, shared, group - 1);
  }
  // No block may end while the other still sends to it or counts on its barriers. The barrier wants
  // whole warps, and some lanes come from work that one of them did.
  __syncwarp();
  if (params.cluster > 1) cluster_sync();
}

template <int kNumber>
cudaError_t start_fp8_gemm(const Fp8GemmLaunch& call, Stream stream) {
  constexpr Fp8Kernel k = kFp8Kernels[kNumber];
  const LaunchShape shape{
      .grid = {static_cast<unsigned>(call.params.clusters * call.params.cluster), 1, 1},
      .block = {kThreads<k.rows>, 1, 1},
      .shared_bytes = Tile<k>::kSharedBytes,
      .cluster = call.params.cluster,
      .overlaps = call.overlap,
      .stream = stream};
  return launch(fp8_gemm_kernel<k.sums, k.swapped, k.rows, k.cols, k.stages, k.buffers>, shape,
                call.params);
}

// The kernels of one file: those with these sums. kernels/fp8_gemm.cu knows all files.
template <Fp8Sums kSums, bool kSwapped, int... kIndex>
cudaError_t start_one_of(const Fp8GemmLaunch& call, Stream stream,
                         std::integer_sequence<int, kIndex...>) {
  cudaError_t code = cudaErrorInvalidValue;
  auto try_one = [&]<int kNumber>() {
    constexpr Fp8Kernel kKernel = kFp8Kernels[kNumber];
    if constexpr (kKernel.sums == kSums && kKernel.swapped == kSwapped)
      if (call.kernel == kNumber) code = start_fp8_gemm<kNumber>(call, stream);
  };
  (try_one.template operator()<kIndex>(), ...);
  return code;
}

cudaError_t start_fp8_fast(const Fp8GemmLaunch& call, Stream stream);
cudaError_t start_fp8_precise(const Fp8GemmLaunch& call, Stream stream);
cudaError_t start_fp8_block(const Fp8GemmLaunch& call, Stream stream);
cudaError_t start_fp8_swapped(const Fp8GemmLaunch& call, Stream stream);

}  // namespace nrd::cuda::NRD_CUDA_TARGET
