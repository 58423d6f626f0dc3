// SPDX-License-Identifier: MIT
// tests/unit/trace_texts.h: traces written by hand, in canonical form, after ops/scalar.
#pragma once

namespace nrd::trace_texts {

inline constexpr const char* kVecDot = R"(trace vec_dot : reduction
param x : in f32
param y : in f32
param out : out f32
param n : size
%1 = const f32 0x0p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = load f32 y[i0]
  %5 = mul f32 %3 %4
  %6 = add f32 %2 %5
} next %6 -> %7
store out[0] %7
)";

inline constexpr const char* kVecMax = R"(trace vec_max : reduction
param x : in f32
param out : out f32
param n : size
%1 = const f32 -inf
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = max_nan f32 %2 %3
} next %4 -> %5
store out[0] %5
)";

inline constexpr const char* kSilu = R"(trace silu : elementwise
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x1p+0
for i0 < n {
  %2 = load f32 x[i0]
  %3 = neg f32 %2
  %4 = exp f32 %3
  %5 = add f32 %1 %4
  %6 = div f32 %1 %5
  %7 = mul f32 %2 %6
  store out[i0] %7
}
)";

inline constexpr const char* kDecode = R"(trace decode : elementwise
param q : in u8
param out : out f32
param n : size
table t0 : f32 0x0p+0 -0x0p+0 0x1.8p+1 nan:0x7fc00001
table t1 : i32 -7 0 2147483647
%1 = const i32 3
for i0 < n {
  %2 = load i32 q[i0]
  %3 = and i32 %1 %2
  %4 = lookup f32 t0 %3
  %5 = lookup i32 t1 %2
  %6 = to_f32 %5
  %7 = add f32 %4 %6
  store out[i0] %7
}
)";

inline constexpr const char* kSoftmax = R"(trace softmax : norm
param x : in f32
param out : inout f32
param n : size
%1 = const f32 -inf
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = max_nan f32 %2 %3
} next %4 -> %5
%6 = const f32 0x0p+0
for i1 < n carry %7 = %6 {
  %8 = load f32 x[i1]
  %9 = sub f32 %8 %5
  %10 = exp f32 %9
  store out[i1] %10
  %11 = add f32 %7 %10
} next %11 -> %12
for i2 < n {
  %13 = load f32 out[i2]
  %14 = div f32 %13 %12
  store out[i2] %14
}
)";

inline constexpr const char* kRmsNorm = R"(trace rms_norm_before_weight : norm
param x : in f32
param w : in f32
param out : out f32
param n : size
param eps : number f32
param type_x : int
%1 = param f32 eps
%2 = param i32 type_x
%3 = const f32 0x0p+0
for i0 < n carry %4 = %3 {
  %5 = load f32 x[i0]
  %6 = mul f32 %5 %5
  %7 = add f32 %4 %6
} next %7 -> %8
%9 = to_f32 n
%10 = div f32 %8 %9
%11 = add f32 %10 %1
%12 = sqrt f32 %11
%13 = const f32 0x1p+0
%14 = div f32 %13 %12
for i1 < n {
  %15 = load f32 x[i1]
  %16 = mul f32 %15 %14
  %17 = round_to %16 %2
  %18 = load f32 w[i1]
  %19 = mul f32 %17 %18
  store out[i1] %19
}
)";

inline constexpr const char* kRopeHalf = R"(trace rope_half : pairwise
param x : in f32
param cosine : in f32
param sine : in f32
param out : out f32
param d : size
for i0 < d / 2 {
  %1 = load f32 x[i0]
  %2 = load f32 x[i0 + d / 2]
  %3 = load f32 cosine[i0]
  %4 = load f32 sine[i0]
  %5 = mul f32 %1 %3
  %6 = mul f32 %2 %4
  %7 = sub f32 %5 %6
  store out[i0] %7
  %8 = load f32 cosine[i0 + d / 2]
  %9 = mul f32 %2 %8
  %10 = load f32 sine[i0 + d / 2]
  %11 = mul f32 %1 %10
  %12 = add f32 %9 %11
  store out[i0 + d / 2] %12
}
)";

inline constexpr const char* kRopeInterleaved = R"(trace rope_interleaved : pairwise
param x : in f32
param cosine : in f32
param sine : in f32
param out : out f32
param d : size
for i0 < d / 2 {
  %1 = load f32 x[2 * i0]
  %2 = load f32 x[2 * i0 + 1]
  %3 = load f32 cosine[2 * i0]
  %4 = load f32 sine[2 * i0]
  %5 = mul f32 %1 %3
  %6 = mul f32 %2 %4
  %7 = sub f32 %5 %6
  store out[2 * i0] %7
  %8 = load f32 cosine[2 * i0 + 1]
  %9 = mul f32 %2 %8
  %10 = load f32 sine[2 * i0 + 1]
  %11 = mul f32 %1 %10
  %12 = add f32 %9 %11
  store out[2 * i0 + 1] %12
}
)";

inline constexpr const char* kGemm = R"(trace gemm : gemm
param a : in f32
param b : in f32
param c : out f32
param m : size
param n : size
param k : size
%1 = const f32 0x0p+0
for i0 < m {
  for i1 < n {
    for i2 < k carry %2 = %1 {
      %3 = load f32 a[i0 * k + i2]
      %4 = load f32 b[i2 * n + i1]
      %5 = mul f32 %3 %4
      %6 = add f32 %2 %5
    } next %6 -> %7
    store c[i0 * n + i1] %7
  }
}
)";

inline constexpr const char* kGemmI8 = R"(trace gemm_u8i8 : gemm
param a : in u8
param b : in i8
param c : out i32
param m : size
param n : size
param k : size
%1 = const i32 0
for i0 < m {
  for i1 < n {
    for i2 < k carry %2 = %1 {
      %3 = load i32 a[i0 * k + i2]
      %4 = load i32 b[i2 * n + i1]
      %5 = mul i32 %3 %4
      %6 = add i32 %2 %5
    } next %6 -> %7
    store c[i0 * n + i1] %7
  }
}
)";

inline constexpr const char* kGemv = R"(trace gemv : gemv
param a : in f32
param x : in f32
param y : out f32
param m : size
param n : size
%1 = const f32 0x0p+0
for i0 < m {
  for i1 < n carry %2 = %1 {
    %3 = load f32 a[i0 * n + i1]
    %4 = load f32 x[i1]
    %5 = mul f32 %3 %4
    %6 = add f32 %2 %5
  } next %6 -> %7
  store y[i0] %7
}
)";

inline constexpr const char* kArgmax = R"(trace argmax : argmax
param x : in f32
param index : out i32
param n : size
%1 = const f32 -inf
%2 = const i32 0
for i0 < n carry %3 = %1, %4 = %2 {
  %5 = load f32 x[i0]
  %6 = cmp ogt %5 %3
  %7 = cmp uno %5 %5
  %8 = cmp ord %3 %3
  %9 = and bool %7 %8
  %10 = or bool %6 %9
  %11 = select f32 %10 %5 %3
  %12 = to_i32 i0
  %13 = select i32 %10 %12 %4
} next %11, %13 -> %14, %15
store index[0] %15
)";

inline constexpr const char* kQuantizeI8 = R"(trace quantize_i8 : norm
param x : in f32
param q : out i8
param scale : out f32
param n : size
%1 = const f32 0x0p+0
%2 = const f32 inf
for i0 < n carry %3 = %1 {
  %4 = load f32 x[i0]
  %5 = abs f32 %4
  %6 = cmp olt %5 %2
  %7 = select f32 %6 %5 %1
  %8 = max_first f32 %7 %3
} next %8 -> %9
%10 = const f32 0x1.fcp+6
%11 = div f32 %9 %10
%12 = cmp ogt %11 %1
%13 = const f32 0x1p+0
%14 = select f32 %12 %11 %13
store scale[0] %14
%15 = const f32 -0x1.fcp+6
for i1 < n {
  %16 = load f32 x[i1]
  %17 = div f32 %16 %14
  %18 = rint f32 %17
  %19 = cmp olt %18 %15
  %20 = select f32 %19 %15 %18
  %21 = cmp ogt %20 %10
  %22 = select f32 %21 %10 %20
  %23 = cmp oeq %22 %22
  %24 = select f32 %23 %22 %1
  %25 = to_i32 %24
  store q[i1] %25
}
)";

inline constexpr const char* kQuantizeBlock = R"(trace fp8_quantize_block_1x128 : norm
param x : in f32
param q : out f32
param scale : out f32
param cols : size
param type_q : int
%1 = param i32 type_q
%2 = const i32 5
%3 = sub i32 %1 %2
%4 = to_f32 %3
%5 = const f32 0x1.bc8p+15
%6 = mul f32 %4 %5
%7 = const f32 0x1.cp+8
%8 = add f32 %7 %6
%9 = const f32 0x0p+0
%10 = const f32 inf
%11 = const f32 0x1p+0
for i0 < (cols + 127) / 128 {
  for i1 < min(cols - 128 * i0, 128) carry %12 = %9 {
    %13 = load f32 x[128 * i0 + i1]
    %14 = abs f32 %13
    %15 = cmp olt %14 %10
    %16 = select f32 %15 %14 %9
    %17 = max_first f32 %16 %12
  } next %17 -> %18
  %19 = div f32 %18 %8
  %20 = cmp ogt %19 %9
  %21 = select f32 %20 %19 %11
  store scale[i0] %21
  for i2 < min(cols - 128 * i0, 128) {
    %22 = load f32 x[128 * i0 + i2]
    %23 = div f32 %22 %21
    %24 = round_to %23 %1
    store q[128 * i0 + i2] %24
  }
}
)";

inline constexpr const char* kPackB = R"(trace pack_b : elementwise
param b : in f32
param packed : out f32
param k : size
param n : size
%1 = const f32 0x0p+0
for i0 < (n + 31) / 32 {
  for i1 < k {
    for i2 < 32 {
      %2 = cmp lt (i0 * 32 + i2) n
      %3 = load f32 b[i1 * n + (i0 * 32 + i2)] if %2 else %1
      store packed[(i0 * k + i1) * 32 + i2] %3
    }
  }
}
)";

inline constexpr const char* kEmbedding = R"(trace embedding : gather
param table : in f32
param id : in i32
param out : out f32
param vocab : size
param dim : size
%1 = load i32 id[0]
%2 = to_i64 %1
for i0 < dim {
  %3 = load f32 table[%2 * dim + i0]
  store out[i0] %3
}
)";

inline constexpr const char* kTensorQuantize = R"(trace fp8_quantize_tensor : norm
param x : in f32
param q : out f32
param scale : out f32
param rows : size
param cols : size
param type_q : int
%1 = param i32 type_q
%2 = const f32 0x0p+0
for i0 < rows carry %3 = %2 {
  for i1 < cols carry %4 = %3 {
    %5 = load f32 x[i0 * cols + i1]
    %6 = abs f32 %5
    %7 = const f32 inf
    %8 = cmp olt %6 %7
    %9 = select f32 %8 %6 %2
    %10 = max_first f32 %9 %4
  } next %10 -> %11
} next %11 -> %12
%13 = const f32 0x1.cp+8
%14 = div f32 %12 %13
%15 = cmp ogt %14 %2
%16 = const f32 0x1p+0
%17 = select f32 %15 %14 %16
store scale[0] %17
for i2 < rows {
  for i3 < cols {
    %18 = load f32 x[i2 * cols + i3]
    %19 = div f32 %18 %17
    %20 = round_to %19 %1
    store q[i2 * cols + i3] %20
  }
}
)";

inline constexpr const char* kDequantizeBlocks = R"(trace fp8_dequantize_block_128x128 : elementwise
param q : in f32
param scale : in f32
param out : out f32
param rows : size
param cols : size
for i0 < rows {
  for i1 < cols {
    %1 = load f32 q[i0 * cols + i1]
    %2 = load f32 scale[i0 / 128 * ((cols + 127) / 128) + i1 / 128]
    %3 = mul f32 %1 %2
    store out[i0 * cols + i1] %3
  }
}
)";

inline constexpr const char* kPrefixSum = R"(trace prefix_sum : opaque
param x : in f32
param out : out f32
param n : size
%1 = const f32 0x0p+0
for i0 < n carry %2 = %1 {
  %3 = load f32 x[i0]
  %4 = add f32 %2 %3
  store out[i0] %4
} next %4 -> %5
)";

inline constexpr const char* kAll[] = {
    kVecDot, kVecMax,    kSilu,      kSoftmax,        kRmsNorm,          kRopeHalf,
    kGemm,   kGemmI8,    kGemv,      kArgmax,         kQuantizeI8,       kQuantizeBlock,
    kPackB,  kEmbedding, kPrefixSum, kTensorQuantize, kDequantizeBlocks, kRopeInterleaved,
    kDecode};

}  // namespace nrd::trace_texts
