// SPDX-License-Identifier: MIT
// src/cuda/config/fp8_gemm_kernels.h: the instantiations of fp8_gemm, and why each is there.
#pragma once

#include "cuda/config/fp8_gemm.h"

namespace nrd::cuda {

// Why these widths. What a tile costs grows with its area, what it moves with its edges, and the
// last round of tiles leaves multiprocessors idle: 132 of them want tile counts just below a
// multiple of 132. 256 and 128 wide tiles do that for powers of two (512 tiles = 3.9 rounds), 176
// and 88 for multiples of 11264, 160 for 5120, 192 for multiples of 6144, 112 for 7168 and 14336.
// Registers limit the area: 232 a thread hold 64 x 176 sums twice over or 128 x 176 once; promoted
// sums need a second set for one piece of 64 rows.
//
// Stages and buffers fill the 227 KB of shared memory. Three stages of 1024 cycles cover the
// latency of memory; what is left goes to buffers. Sums that leave no registers for rounded results
// are stored between two tiles: a buffer for each piece of 64 rows and columns saves a wait there.
inline constexpr Fp8Kernel kFp8Kernels[] = {
    // Fast: 128 x 256 has the longest instruction (m64n256); 256 high tiles move fewest bytes.
    {Fp8Sums::kFast, false, 256, 128, 4, 2},
    {Fp8Sums::kFast, false, 128, 256, 4, 2},
    {Fp8Sums::kFast, false, 256, 160, 3, 3},
    {Fp8Sums::kFast, false, 256, 176, 3, 3},
    {Fp8Sums::kFast, false, 128, 192, 4, 2},
    {Fp8Sums::kFast, false, 128, 176, 5, 2},
    {Fp8Sums::kFast, false, 128, 128, 6, 2},
    // Precise: 256 x 128 adds up 64 of its 128 rows at a time; wider tiles have one piece, and from
    // 176 columns on a set of products for each half. 192 x 128 has three warpgroups: the products
    // of two hide what the third adds up, and 43 or 86 rows of tiles suit 8192 and 16384.
    {Fp8Sums::kPrecise, false, 256, 128, 4, 2},
    {Fp8Sums::kPrecise, false, 192, 128, 4, 2},
    {Fp8Sums::kPrecise, false, 128, 192, 4, 3},
    {Fp8Sums::kPrecise, false, 128, 176, 4, 3},
    {Fp8Sums::kPrecise, false, 128, 160, 5, 2},
    {Fp8Sums::kPrecise, false, 128, 128, 6, 2},
    // Up to 128 tokens and a little more: one row of tiles streams the weights through.
    {Fp8Sums::kPrecise, false, 128, 112, 6, 2},
    {Fp8Sums::kPrecise, false, 128, 88, 7, 2},
    {Fp8Sums::kPrecise, false, 128, 64, 8, 1},
    // Up to 64 tokens, or twice as many and narrow layers: as many columns as give every
    // multiprocessor one tile (4096, 5120, 11264 and 14336 of them): all read, and none waits for
    // another's part of a sum.
    {Fp8Sums::kPrecise, false, 64, 32, 16, 1},
    {Fp8Sums::kPrecise, false, 64, 40, 15, 1},
    {Fp8Sums::kPrecise, false, 64, 88, 11, 2},
    {Fp8Sums::kPrecise, false, 64, 112, 9, 2},
    // Blocks: 128 columns share their scales of b. 128 x 192 lies over two of them, and takes fewer
    // bytes a product than 128 x 128, which L2 hardly delivers.
    {Fp8Sums::kBlock, false, 256, 128, 3, 4},
    {Fp8Sums::kBlock, false, 128, 192, 4, 3},
    {Fp8Sums::kBlock, false, 128, 128, 5, 2},
    {Fp8Sums::kBlock, false, 128, 64, 8, 1},
    // Few tokens are columns: the weights are the rows, which come by 64.
    {Fp8Sums::kPrecise, true, 128, 8, 11, 1},
    {Fp8Sums::kPrecise, true, 128, 16, 10, 1},
    {Fp8Sums::kBlock, true, 128, 8, 11, 1},
    {Fp8Sums::kBlock, true, 128, 16, 10, 1},
    {Fp8Sums::kBlock, true, 128, 32, 9, 1},
    {Fp8Sums::kBlock, true, 128, 64, 8, 1},
};
inline constexpr int kFp8KernelCount = sizeof(kFp8Kernels) / sizeof(kFp8Kernels[0]);
static_assert(kFp8KernelCount <= 30);

}  // namespace nrd::cuda
