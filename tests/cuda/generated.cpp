// SPDX-License-Identifier: MIT
// tests/cuda/generated.cpp
#include "generated.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/env.h"
#include "cuda/launch/row_backward.h"
#include "tests/seed.h"

namespace nrd::cuda {

std::string_view word(Family family) {
  switch (family) {
    case Family::kElements: return "elements";
    case Family::kFp8: return "fp8";
    case Family::kGlue: return "glue";
    case Family::kProducts: return "products";
    case Family::kRows: return "rows";
    case Family::kRowsBackward: return "rows_backward";
    case Family::kStatistics: break;
  }
  return "statistics";
}

Draw test_draw(int cases) {
  const auto given = env("NEREID_GENERATED_CASES");
  return {test_seed(0), given ? std::atoi(given->c_str()) : cases};
}

int64_t CaseGenerator::size(int64_t least, int64_t most) {
  const double u = static_cast<double>(random_() >> 11) * 0x1p-53;
  const double from = static_cast<double>(least), ratio = static_cast<double>(most) / from;
  return std::clamp(static_cast<int64_t>(std::round(from * std::pow(ratio, u))), least, most);
}

const char* CaseGenerator::float_type() {
  static constexpr const char* kTypes[] = {"f32", "f16", "bf16"};
  return one_of(kTypes);
}

int64_t CaseGenerator::rows_of(int64_t cols) {
  const int64_t room = elements_ / std::max<int64_t>(1, cols);
  return size(1, std::clamp<int64_t>(room, 2, std::max<int64_t>(2, elements_ / 100)));
}

void CaseGenerator::disturb(OpCase& c, std::initializer_list<const char*> operands) {
  for (const char* name : operands) {
    if (!chance(5)) continue;
    Layout& layout = c.layouts[name];
    layout.row_padding = chance(2) ? 1 + below(9) : 0;
    if (chance(3)) layout.misalignment = 4 * static_cast<size_t>(1 + below(3));
    if (chance(4)) layout.step = 2;
  }
}

// Heads of common and of odd sizes; rows from one warp's to more than a block holds in registers.
CaseGenerator::Heads CaseGenerator::heads() {
  static constexpr int64_t kCommon[] = {64, 64, 80, 96, 128, 256};
  const int64_t head_dim = chance(3) ? 2 * size(1, 100) : one_of(kCommon);
  const int64_t hidden = size(64, 12288);
  return {std::max<int64_t>(1, hidden / head_dim) * head_dim, head_dim};
}

OpCase CaseGenerator::elements() {
  static constexpr const char* kOps[] = {"exp",     "silu",    "gelu",       "vec_scale", "swiglu",
                                         "vec_add", "vec_mul", "swiglu_oai", "vec_axpy",  "geglu"};
  return {.op = one_of(kOps), .sizes = {{"n", size(1, elements_)}}, .dtypes = float_type()};
}

OpCase CaseGenerator::fp8() {
  static constexpr const char* kGranularities[] = {"tensor", "row", "column", "block_1x128",
                                                   "block_128x128"};
  static constexpr const char* kFormats[] = {"f8e4m3", "f8e4m3", "f8e5m2"};
  const std::string codes = one_of(kFormats), floats = float_type();
  const int64_t cols = size(1, std::min<int64_t>(20000, elements_));
  OpCase c{.op = "fp8_quantize",
           .sizes = {{"rows", rows_of(cols)}, {"cols", cols}},
           .dtypes = floats + "->" + codes + ",f32"};
  if (chance(3)) c.op = "fp8_dequantize", c.dtypes = codes + ",f32->" + floats;
  c.attributes["granularity"] = one_of(kGranularities);
  if (c.op == "fp8_quantize" && chance(3)) c.layouts["x"] = {.transposed = true};
  if (c.op == "fp8_quantize" && chance(4)) c.layouts["q"] = {.transposed = true};
  return c;
}

OpCase CaseGenerator::glue() {
  static constexpr const char* kReductions[] = {"vec_sum", "vec_max", "vec_dot", "vec_sum_squares"};
  const std::string floats = float_type();
  if (chance(2))
    return {.op = one_of(kReductions), .sizes = {{"n", size(1, elements_)}}, .dtypes = floats};
  const int64_t cols = size(1, std::min<int64_t>(20000, elements_));
  if (chance(2))
    return {.op = "argmax",
            .sizes = {{"rows", rows_of(cols)}, {"cols", cols}},
            .dtypes = floats + "->i32"};
  return {.op = "quantize_i8",
          .sizes = {{"rows", rows_of(cols)}, {"cols", cols}},
          .dtypes = floats + "->i8,f32"};
}

OpCase CaseGenerator::product() {
  static constexpr const char* kScales[] = {"tensor", "row_column", "block"};
  const int64_t side = static_cast<int64_t>(std::sqrt(static_cast<double>(elements_)));
  const int64_t m = size(1, side), n = size(1, side), k = size(1, 2 * side);
  const std::string floats = float_type();
  OpCase c{.op = "fp8_gemm", .sizes = {{"m", m}, {"n", n}, {"k", k}}};
  c.dtypes = chance(4) ? floats + "," + floats : "f8e4m3,f8e4m3,f32,f32";
  if (chance(2)) c.optional = {"bias"}, c.dtypes += "," + std::string(float_type());
  c.dtypes += "->" + floats;
  c.attributes["scales"] = one_of(kScales);
  if (chance(3)) c.attributes["accumulate"] = "fast";
  c.batch_invariant = chance(4);
  const size_t element = c.dtypes.starts_with("f8") ? 1 : 4;
  if (chance(4)) c.layouts["a"] = {.row_padding = 16 * below(2), .misalignment = element};
  if (chance(4)) c.layouts["c"] = {.row_padding = below(9)};
  return c;
}

OpCase CaseGenerator::rows() {
  const std::string floats = float_type();
  if (chance(3)) {
    const int64_t cols = size(1, 20000);
    OpCase c{.op = chance(2) ? "rms_norm" : "add_rms_norm",
             .sizes = {{"rows", rows_of(cols)}, {"cols", cols}},
             .dtypes = floats};
    disturb(c, {"x", "out"});
    return c;
  }
  const Heads h = heads();
  const int64_t rows = rows_of(h.hidden), batch = chance(2) ? 1 : size(1, rows);
  OpCase c{.op = "rmsnorm_rope",
           .sizes = {{"batch", batch},
                     {"seq", std::max<int64_t>(1, rows / batch)},
                     {"hidden", h.hidden},
                     {"head_dim", h.head_dim}},
           .dtypes = floats};
  c.attributes["pairs"] = chance(2) ? "half" : "interleaved";
  if (chance(3)) c.sizes["table"] = size(1, 50), c.optional = {"positions"};
  disturb(c, {"x", "out"});
  return c;
}

OpCase CaseGenerator::rows_backward() {
  // The first one has rows of several warps, which lie as most do.
  const bool is_plain = drawn_ == 0;
  const Heads h = is_plain ? Heads{64 * size(32, 192), 64} : heads();
  const std::string floats = float_type();
  const bool is_half = chance(2);
  NormRopeBackwardArgs args;
  args.outer[0] = int64_t{1} << 30;
  args.cols = h.hidden, args.head_dim = h.head_dim;
  args.turn = is_half ? Turn::kHalf : Turn::kInterleaved;
  args.x.dtype = floats == "f32" ? DType::kF32 : floats == "f16" ? DType::kF16 : DType::kBF16;
  // Most often so many that blocks take a second row, and some a third.
  const int64_t groups = backward_groups(args);
  const bool is_short = !is_plain && chance(4);
  const int64_t seq = is_short ? rows_of(h.hidden) : groups + size(1, 3 * groups / 2);
  OpCase c{.op = "rmsnorm_rope_backward",
           .sizes = {{"batch", 1}, {"seq", seq}, {"hidden", h.hidden}, {"head_dim", h.head_dim}},
           .dtypes = floats};
  c.attributes["pairs"] = is_half ? "half" : "interleaved";
  if (chance(4)) c.sizes["table"] = size(1, 50), c.optional = {"positions"};
  if (!is_plain) disturb(c, {"x", "dy", "dx"});
  return c;
}

OpCase CaseGenerator::statistics() {
  const int64_t cols = size(1, 20000);
  OpCase c{.op = chance(2) ? "softmax" : "layer_norm",
           .sizes = {{"rows", rows_of(cols)}, {"cols", cols}},
           .dtypes = float_type()};
  disturb(c, {"x", "out"});
  return c;
}

OpCase CaseGenerator::next() {
  OpCase c;
  switch (family_) {
    case Family::kElements: c = elements(); break;
    case Family::kFp8: c = fp8(); break;
    case Family::kGlue: c = glue(); break;
    case Family::kProducts: c = product(); break;
    case Family::kRows: c = rows(); break;
    case Family::kRowsBackward: c = rows_backward(); break;
    case Family::kStatistics: c = statistics(); break;
  }
  c.seed = 1 + random_() % 1000;
  drawn_++;
  return c;
}

}  // namespace nrd::cuda
