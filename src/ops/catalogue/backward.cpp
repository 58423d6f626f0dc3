// SPDX-License-Identifier: MIT
// src/ops/catalogue/backward.cpp: the entries of gradients.
#include "ops/catalogue/attributes.h"
#include "ops/definitions.h"

namespace nrd {
namespace {

Op rope_backward() {
  const char* signature =
      "dy[tokens,heads,head_dim] cos[tokens,head_dim] sin[tokens,head_dim] -> "
      "dx[tokens,heads,head_dim] ; core head_dim ; even head_dim";
  return {.name = "rope_backward",
          .group = "backward",
          .summary = "the gradient of rope's x: dy turned back",
          .choices = {pairs()},
          .variants = {{.when = "pairs=half",
                        .signature = signature,
                        .builds = NRD_BUILDS(rope_backward_half)},
                       {.when = "pairs=interleaved",
                        .signature = signature,
                        .builds = NRD_BUILDS(rope_backward_interleaved)}},
          .flops = 3,
          .tolerance = {.f32 = 1e-6},
          .in_place = InPlace::kYes,
          .shape = "tokens=64,heads=8,head_dim=64"};
}

Op rope_with_pos_backward() {
  const char* signature =
      "dy[tokens,heads,head_dim] cos[table,head_dim] sin[table,head_dim] positions[tokens]:i32 -> "
      "dx[tokens,heads,head_dim] ; core table,head_dim ; even head_dim";
  return {.name = "rope_with_pos_backward",
          .group = "backward",
          .summary = "the gradient of rope_with_pos's x",
          .choices = {pairs()},
          .variants = {{.when = "pairs=half",
                        .signature = signature,
                        .builds = NRD_BUILDS(rope_with_pos_backward_half)},
                       {.when = "pairs=interleaved",
                        .signature = signature,
                        .builds = NRD_BUILDS(rope_with_pos_backward_interleaved)}},
          .flops = 3,
          .tolerance = {.f32 = 1e-6},
          .in_place = InPlace::kYes,
          .gathers = "cos sin",
          .shape = "tokens=64,heads=8,head_dim=64,table=4096"};
}

Op rms_norm_row_backward() {
  return {.name = "rms_norm_row_backward",
          .group = "backward",
          .summary = "the gradient of rms_norm's x, and each row's part of that of w",
          .numbers = {eps()},
          .variants = {{.signature = "x[rows,cols] w[cols] dy[rows,cols] -> dx[rows,cols] "
                                     "dw_rows[rows,cols] ; core cols",
                        .builds = NRD_BUILDS(rms_norm_row_backward)}},
          .flops = 11,
          .tolerance = {.f32 = 2e-5, .cancels = true},  // dx of a row of one value is 0 but for eps
          .in_place = InPlace::kYes,
          .shape = "rows=64,cols=2880"};
}

Op sum_rows() {
  return {.name = "sum_rows",
          .group = "backward",
          .summary = "the sum of all rows",
          .variants = {{.signature = "x[rows,cols] -> out[cols] ; core rows,cols",
                        .builds = NRD_BUILDS(sum_rows)}},
          .flops = 1,
          .tolerance = {.f32 = 2e-5},
          .shape = "rows=200,cols=1000"};
}

// dw is a sum over all rows, so no axis can be taken apart.
Op rmsnorm_rope_backward() {
  constexpr const char* kGraph = R"(
  [!positions] dn = rope_backward(split(dy, cos), cos, sin, pairs={pairs})
  [positions] dn = rope_with_pos_backward(split(dy, cos), cos, sin, positions, pairs={pairs})
  dx, parts = rms_norm_row_backward(x, weight, merge(dn), eps=$eps)
  sums = sum_rows(parts)
  dw = sum_rows(sums)
)";
  std::vector<Variant> variants;
  for (bool positions : {true, false}) {
    const std::string table = positions ? "table" : "seq";
    variants.push_back(
        {.when = positions ? "+positions" : "",
         .signature = "x[batch,seq,hidden] weight[hidden] cos[" + table + ",head_dim] sin[" +
                      table + ",head_dim] dy[batch,seq,hidden]" +
                      (positions ? " positions?[batch,seq]:i32" : "") +
                      " -> dx[batch,seq,hidden] dw[hidden] ; core batch,seq,hidden,head_dim ; "
                      "where heads = hidden/head_dim ; even head_dim",
         .graph = kGraph});
  }
  return {.name = "rmsnorm_rope_backward",
          .group = "backward",
          .summary = "the gradients of rmsnorm_rope's x and weight, from that of its output",
          .numbers = {eps()},
          .choices = {pairs()},
          .variants = std::move(variants),
          .flops = 16,
          .tolerance = {.f32 = 5e-5, .cancels = true},
          .in_place = InPlace::kYes,
          .gathers = "cos sin",
          .shape = "batch=2,seq=32,hidden=2048,head_dim=64"};
}

}  // namespace

std::vector<Op> backward_ops() {
  return {rope_backward(), rope_with_pos_backward(), rms_norm_row_backward(), sum_rows(),
          rmsnorm_rope_backward()};
}

}  // namespace nrd
