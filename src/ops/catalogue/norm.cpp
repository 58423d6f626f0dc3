// SPDX-License-Identifier: MIT
// src/ops/catalogue/norm.cpp: the entries of the normalisations.
#include "ops/catalogue/attributes.h"
#include "ops/definitions.h"

namespace nrd {
namespace {

ChoiceAttribute cast() {
  return {
      "cast", {"after_weight", "before_weight"}, "round to x's dtype before the weight as well?"};
}

std::vector<Variant> both_casts(const char* signature, const char* types_after, Builds after,
                                const char* types_before, Builds before) {
  return {
      {.when = "cast=after_weight", .signature = signature, .builds = after, .types = types_after},
      {.when = "cast=before_weight",
       .signature = signature,
       .builds = before,
       .types = types_before},
  };
}

}  // namespace

std::vector<Op> norm_ops() {
  return {
      {.name = "rms_norm",
       .group = "norm",
       .summary = "x*w/sqrt(mean(x^2) + eps)",
       .numbers = {eps()},
       .choices = {cast()},
       .variants =
           both_casts("x[rows,cols] w[cols] -> out[rows,cols] ; core cols", "",
                      NRD_BUILDS(rms_norm_after_weight), "x", NRD_BUILDS(rms_norm_before_weight)),
       .flops = 4,
       .tolerance = {.f32 = 2e-5},
       .in_place = InPlace::kYes,
       .shape = "rows=64,cols=2880"},
      {.name = "layer_norm",
       .group = "norm",
       .summary = "(x - mean)*w/sqrt(variance + eps) + b",
       .numbers = {eps()},
       .choices = {cast()},
       .variants = both_casts("x[rows,cols] w[cols] b[cols] -> out[rows,cols] ; core cols", "",
                              NRD_BUILDS(layer_norm_after_weight), "x",
                              NRD_BUILDS(layer_norm_before_weight)),
       .flops = 8,
       .tolerance = {.f32 = 2e-5},
       .in_place = InPlace::kYes,
       .shape = "rows=64,cols=2880"},
      {.name = "add_rms_norm",
       .group = "norm",
       .summary = "rms_norm of sum = x + residual, as sum is stored",
       .numbers = {eps()},
       .choices = {cast()},
       .variants = both_casts("x[rows,cols] residual[rows,cols] w[cols] -> "
                              "out[rows,cols] sum[rows,cols] ; core cols",
                              "sum", NRD_BUILDS(add_rms_norm_after_weight), "sum x",
                              NRD_BUILDS(add_rms_norm_before_weight)),
       .flops = 5,
       .tolerance = {.f32 = 2e-5},
       .in_place = InPlace::kYes,
       .shape = "rows=64,cols=2880"},
  };
}

}  // namespace nrd
