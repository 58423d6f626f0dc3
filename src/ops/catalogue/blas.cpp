// SPDX-License-Identifier: MIT
// src/ops/catalogue/blas.cpp: the entries of BLAS-1.
#include "ops/definitions.h"
#include "ops/op.h"

namespace nrd {
namespace {

// Names, so that an entry reads as a line: elementwise pairs and reductions to one value.
constexpr const char* kPair = "x[n] y[n] -> out[n] ; core n*";
constexpr const char* kUnary = "x[n] -> out[n] ; core n*";
constexpr const char* kReduction = "x[n] -> out[] ; core n";

Op vector_op(std::string name, std::string summary, const char* signature, Builds builds) {
  Op op;
  op.name = std::move(name);
  op.group = "blas";
  op.summary = std::move(summary);
  op.variants = {{.signature = signature, .builds = builds}};
  op.shape = "n=65536";
  return op;
}

Op elementwise(std::string name, std::string summary, const char* signature, Builds builds) {
  Op op = vector_op(std::move(name), std::move(summary), signature, builds);
  op.tolerance = {.f32 = 5e-7};
  op.in_place = InPlace::kYes;
  return op;
}

Op reduction(std::string name, std::string summary, const char* signature, Builds builds) {
  Op op = vector_op(std::move(name), std::move(summary), signature, builds);
  op.tolerance = {.f32 = 1e-4};
  return op;
}

}  // namespace

std::vector<Op> blas_ops() {
  Op dot = reduction("vec_dot", "sum of x*y", "x[n] y[n] -> out[] ; core n", NRD_BUILDS(vec_dot));
  dot.flops = 2;

  // The defaults of the factors are not 1, so that an example that forgets them shows.
  Op scale = elementwise("vec_scale", "scale*x", kUnary, NRD_BUILDS(vec_scale));
  scale.numbers = {{"scale", 0.5, "the factor"}};
  Op axpy = elementwise("vec_axpy", "a*x + y", kPair, NRD_BUILDS(vec_axpy));
  axpy.numbers = {{"a", 2, "the factor of x"}};
  axpy.flops = 2;
  axpy.tolerance = {.f32 = 1e-6};  // two roundings, or one where it is fused

  Op max = reduction("vec_max", "the largest of x, NaN if there is one, -Inf of nothing",
                     kReduction, NRD_BUILDS(vec_max));
  max.tolerance = {.f32 = 0};
  Op squares = reduction("vec_sum_squares", "sum of x*x", kReduction, NRD_BUILDS(vec_sum_squares));
  squares.flops = 2;

  return {
      dot,
      elementwise("vec_add", "x + y", kPair, NRD_BUILDS(vec_add)),
      elementwise("vec_sub", "x - y", kPair, NRD_BUILDS(vec_sub)),
      elementwise("vec_mul", "x*y", kPair, NRD_BUILDS(vec_mul)),
      scale,
      axpy,
      reduction("vec_sum", "sum of x", kReduction, NRD_BUILDS(vec_sum)),
      max,
      squares,
  };
}

}  // namespace nrd
