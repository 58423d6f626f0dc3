// SPDX-License-Identifier: MIT
// tests/cuda/emulator/language.h: CUDA C++ for the host's compiler, so that the files of kernels/
// run in the tests without a GPU (device/language.cuh includes this for the target `emulated`).
//
// How it works. A launch runs to its end inside launch(). Every CUDA thread is a fiber; one runs
// at a time, until it waits (scheduler.h). A seed (emulator::set_seed, NEREID_EMULATOR_SEED)
// permutes the order, lets warps fall behind and delays asynchronous copies and products to the
// last moment that the rules allow, so that a missing barrier shows under some seed. A deadlock,
// an address outside shared memory or outside a guarded buffer, a misaligned vector access, an
// index outside a register array and a broken rule of a collective end the launch with a report. So
// does a data race in shared memory (shadow.h), in whatever order threads happened to run.
//
// Modelled: block, warp and cluster barriers (exited threads as on the GPU), named barriers,
// shuffles and votes over the lanes of their mask, atomics, dynamic shared memory (poisoned, 1024
// bytes aligned, guard page behind), clusters and cooperative grids, kernel parameters by value;
// of ptx/: mbarriers with phases, bytes and remote arrivals, TMA copies of boxes (swizzle,
// multicast, zero fill, clipping) and their groups, cp.async, wgmma with its descriptors, groups
// and late execution, mma.sync, ldmatrix, stmatrix, elect. A copy into, or an arrival at, a block
// that has ended fails, as does a thread that returns before its bulk stores have been read.
//
// Orders memory as on a device: barriers, __syncwarp (shuffles do not), arrivals at mbarriers and
// waits there, waits for copies and products; the fence between the proxies for what TMA and wgmma
// read that threads wrote, that of mbarrier_init for copies and other blocks. A thread of a launch
// that may overlap the one in front must wait for that before it touches global memory.
//
// Not modelled: the order in which accesses to global memory become visible (__threadfence does
// nothing, and races there show by what comes out alone), caches, bank conflicts, occupancy,
// registers (setmaxnreg), time, which lanes of a warp have converged (.aligned). Lanes do not run
// in lockstep: code that relies on that without __syncwarp fails here. Functions that are
// approximate on a device (__expf, rsqrtf, ...) are exact here, and so are the sums of tensor
// cores. The results of a kernel may therefore differ from a device's in the last bits, and its
// order of reduction is checked by reading alone. A loop that waits for plain or volatile memory
// must call
// __nanosleep or an atomic.
#pragma once

#include <cuda_runtime.h>

#include "emulator/atomics.h"
#include "emulator/collectives.h"
#include "emulator/maths.h"

// The toolkit's headers make __global__, __device__ and their like empty for a host's compiler.
#define __launch_bounds__(...)
#undef __cluster_dims__
#define __cluster_dims__(...)
#undef __maxnreg__
#define __maxnreg__(...)
#define __builtin_assume(condition) static_cast<void>(0)

// Of the thread that runs.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = nrd::cuda::emulator::kWarp;

inline long long clock64() { return 0; }
[[noreturn]] inline void __trap() { nrd::cuda::emulator::fail("__trap"); }

namespace nrd::cuda::emulator {
// Where a pointer into the block's shared memory lies in the window of 32-bit addresses, and back.
// An address that map_shared() made lies in another block of the cluster.
uint32_t shared_address(const void* pointer);
uint32_t map_shared(uint32_t address, int rank);
void* shared_pointer(uint32_t address, size_t bytes);
void* shared_pointer(const Block& block, uint32_t address, size_t bytes);
inline void* own_shared_memory() { return self().block->shared; }
}  // namespace nrd::cuda::emulator

inline size_t __cvta_generic_to_shared(const void* pointer) {
  return nrd::cuda::emulator::shared_address(pointer);
}

namespace nrd::cuda::NRD_CUDA_TARGET {

template <class T = unsigned char>
T* shared_memory() {
  return static_cast<T*>(emulator::own_shared_memory());
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
