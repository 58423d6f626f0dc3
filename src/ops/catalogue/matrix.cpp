// SPDX-License-Identifier: MIT
// src/ops/catalogue/matrix.cpp: the entries of the products. b is always the (k, n) view.
#include "ops/definitions.h"
#include "ops/op.h"

namespace nrd {
namespace {

// Floats first: a case given by one floating dtype word means them.
std::vector<Variant> product_variants() {
  return {
      {.when = "a:float",
       .signature = "a[m,k] b[k,n] -> c[m,n] ; core m*,n*,k",
       .builds = NRD_BUILDS(gemm)},
      {.when = "a:u8",
       .signature = "a[m,k]:int8 b[k,n]:i8 -> c[m,n]:i32 ; core m*,n*,k",
       .builds = NRD_BUILDS(gemm_u8i8)},
      {.when = "a:i8",
       .signature = "a[m,k]:i8 b[k,n]:i8 -> c[m,n]:i32 ; core m*,n*,k",
       .builds = NRD_BUILDS(gemm_i8i8)},
  };
}

constexpr const char* kBiasGraph = R"(
  product = gemm(a, b)
  c = vec_add(product, rows(bias, product))
)";

constexpr const char* kDequantGraph = R"(
  sums = gemm(a, b)
  c = dequantize_i32(sums, a_scale, b_scale)
)";

std::vector<Op> products() {
  return {
      {.name = "gemv",
       .group = "matrix",
       .summary = "y[m] = a[m,n] x[n]",
       .variants = {{.signature = "a[m,n] x[n] -> y[m] ; core m*,n", .builds = NRD_BUILDS(gemv)}},
       .flops = 2,
       .tolerance = {.f32 = 1e-4},
       .shape = "m=1024,n=1024"},
      {.name = "gemm",
       .group = "matrix",
       .summary = "c[m,n] = a[m,k] b[k,n]; i8*i8 and u8*i8 into i32",
       .variants = product_variants(),
       .flops = 2,
       .tolerance = {.f32 = 1e-4},
       .shape = "m=128,n=256,k=256"},
      {.name = "gemm_bias",
       .group = "matrix",
       .summary = "c[m,n] = a[m,k] b[k,n] + bias[n]",
       .variants = {{.signature = "a[m,k] b[k,n] bias[n] -> c[m,n] ; core n*,k",
                     .graph = kBiasGraph}},
       .flops = 2,
       .tolerance = {.f32 = 1e-4},
       .shape = "m=128,n=256,k=256"},
      {.name = "gemm_prepacked",
       .group = "matrix",
       .summary = "gemm with b prepared once",
       .variants = product_variants(),
       .flops = 2,
       .tolerance = {.f32 = 1e-4},
       .constant = "b",
       .shape = "m=128,n=256,k=256"},
      {.name = "gemm_dequant",
       .group = "matrix",
       .summary = "c[m,n] = (a[m,k] b[k,n]) * a_scale[m] * b_scale[n], 8-bit integers to any float",
       .variants = {{.signature = "a[m,k]:int8 b[k,n]:i8 a_scale[m]:f32 b_scale[n]:f32 -> c[m,n] "
                                  "; core n*,k",
                     .graph = kDequantGraph}},
       .flops = 2,
       .tolerance = {.f32 = 1e-6},
       .shape = "m=128,n=256,k=256"},
  };
}

// Steps of the products, operators of their own so that composites can name them.
std::vector<Op> steps() {
  return {
      {.name = "pack_b",
       .group = "matrix",
       .summary = "b[k,n] in panels of 32 columns, the last padded with zeros",
       .variants = {{.signature = "b[k,n] -> packed[n/32,k,32] ; core k,n",
                     .builds = NRD_BUILDS(pack_b)}},
       .flops = 0,
       .tolerance = {.f32 = 0},
       .shape = "k=256,n=500"},
      {.name = "scale_rows",
       .group = "matrix",
       .summary = "x * scale, one scale a row",
       .variants = {{.signature = "x[rows,cols] scale[rows] -> out[rows,cols] ; core cols*",
                     .builds = NRD_BUILDS(scale_rows)}},
       .flops = 1,
       .tolerance = {.f32 = 5e-7},
       .in_place = InPlace::kYes,
       .shape = "rows=64,cols=1024"},
      {.name = "dequantize_i32",
       .group = "matrix",
       .summary = "acc * a_scale[m] * b_scale[n]: the sums of an integer product as floats",
       .variants = {{.signature = "acc[m,n]:i32 a_scale[m]:f32 b_scale[n]:f32 -> out[m,n] "
                                  "; core n*",
                     .builds = NRD_BUILDS(dequantize_i32)}},
       .flops = 3,
       .tolerance = {.f32 = 1e-6},
       .shape = "m=64,n=1024"},
  };
}

}  // namespace

std::vector<Op> matrix_ops() {
  std::vector<Op> ops = products();
  for (Op& op : steps()) ops.push_back(std::move(op));
  return ops;
}

}  // namespace nrd
