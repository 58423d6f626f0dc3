// SPDX-License-Identifier: MIT
// src/ops/catalogue/fused.cpp: the entries of the fused and the 8-bit floating operators.
#include "ops/catalogue/attributes.h"
#include "ops/definitions.h"

namespace nrd {
namespace {

// rmsnorm_rope

// Optional operands change other operands' shapes or bring outputs of their own, so each
// combination is a variant that lists what is there; the fullest come first.
std::vector<Variant> rmsnorm_rope_variants() {
  constexpr const char* kGraph = R"(
  [!residual] [round_between=no] y = rms_norm(x, weight, eps=$eps, cast={cast})
  [!residual] [round_between=yes] y:x = rms_norm(x, weight, eps=$eps, cast={cast})
  [residual] [round_between=no] y, sum = add_rms_norm(x, residual, weight, eps=$eps, cast={cast})
  [residual] [round_between=yes] y:x, sum = add_rms_norm(x, residual, weight, eps=$eps, cast={cast})
  [!positions] turned = rope(split(y, cos), cos, sin, pairs={pairs})
  [positions] turned = rope_with_pos(split(y, cos), cos, sin, positions, pairs={pairs})
  [!scale] out = merge(turned)
  [scale] out, scale = fp8_quantize(merge(turned), granularity=row)
)";
  std::vector<Variant> variants;
  for (int given = 7; given >= 0; given--) {
    const bool scale = given & 4, positions = given & 2, residual = given & 1;
    const std::string table = positions ? "table" : "seq";
    std::string when, text = "x[batch,seq,hidden] weight[hidden]";
    text += " cos[" + table + ",head_dim] sin[" + table + ",head_dim]";
    if (positions) when += "+positions ", text += " positions?[batch,seq]:i32";
    if (residual) when += "+residual ", text += " residual?[batch,seq,hidden]";
    text += scale ? " -> out[batch,seq,hidden]:fp8" : " -> out[batch,seq,hidden]";
    if (residual) text += " sum[batch,seq,hidden]";
    if (scale) when += "+scale", text += " scale?[batch,seq]:f32";
    text += " ; core hidden,head_dim ; where heads = hidden/head_dim ; even head_dim";
    variants.push_back({.when = when, .signature = text, .graph = kGraph});
  }
  return variants;
}

Op rmsnorm_rope() {
  return {.name = "rmsnorm_rope",
          .group = "fused",
          .summary =
              "rope of each head of rms_norm(x); with a residual of the sum, returned too; "
              "8-bit with row scales if scale is asked for",
          .numbers = {eps()},
          .choices = {pairs(),
                      {"cast",
                       {"after_weight", "before_weight"},
                       "round to x's dtype before the weight as well?"},
                      {"round_between", {"no", "yes"}, "round to x's dtype before rope?"}},
          .variants = rmsnorm_rope_variants(),
          .flops = 7,
          .tolerance = {.f32 = 2e-5},
          .in_place = InPlace::kYes,
          .gathers = "cos sin",
          .shape = "batch=2,seq=32,hidden=2048,head_dim=64"};
}

// gated_mlp

// 8-bit weights are widened first: exact in every dtype that x can have.
std::vector<Variant> gated_mlp_variants() {
  const std::string widen = R"(
  gate_wide:x = cast(gate_weight)
  up_wide:x = cast(up_weight)
  gate = gemm(x, transpose(gate_wide))
  up = gemm(x, transpose(up_wide))
)";
  const std::string project = R"(
  gate = gemm(x, transpose(gate_weight))
  up = gemm(x, transpose(up_weight))
)";
  const std::string combine = R"(
  [gate_scale] gate = vec_mul(gate, rows(gate_scale, gate))
  [up_scale] up = vec_mul(up, rows(up_scale, up))
  [gate_bias] gate = vec_add(gate, rows(gate_bias, gate))
  [up_bias] up = vec_add(up, rows(up_bias, up))
  [activation!=swiglu_oai] [activate=up] active = {activation}(up)
  [activation!=swiglu_oai] [activate=up] out = vec_mul(gate, active)
  [activation!=swiglu_oai] [activate=gate] active = {activation}(gate)
  [activation!=swiglu_oai] [activate=gate] out = vec_mul(active, up)
  [activation=swiglu_oai] [activate=up] out = swiglu_oai(up, gate)
  [activation=swiglu_oai] [activate=gate] out = swiglu_oai(gate, up)
)";
  auto signature = [](const std::string& weights) {
    return "x[m,hidden] gate_weight[inter,hidden]:" + weights +
           " up_weight[inter,hidden]:" + weights +
           " gate_bias?[inter] up_bias?[inter] gate_scale?[inter]:f32 "
           "up_scale?[inter]:f32 -> out[m,inter] ; core inter*,hidden";
  };
  return {
      {.when = "gate_weight:float", .signature = signature("float"), .graph = project + combine},
      {.when = "gate_weight:fp8", .signature = signature("fp8"), .graph = widen + combine},
  };
}

Op gated_mlp() {
  return {.name = "gated_mlp",
          .group = "fused",
          .summary = "gate * act(up) of two projections of x, each with scale and bias",
          .choices = {{"activation",
                       {"silu", "gelu", "gelu_tanh", "swiglu_oai"},
                       "what the activated projection goes through"},
                      {"activate", {"up", "gate"}, "which projection is activated"}},
          .variants = gated_mlp_variants(),
          .flops = 4,
          .tolerance = {.f32 = 1e-4},
          .shape = "m=4,hidden=512,inter=768"};
}

// fp8_quantize and fp8_dequantize

struct Granularity {
  const char* word;
  const char* scale;  // the axes of the scales
  const char* core;   // of quantisation
  Builds own, adjust, saturate;
};

std::vector<Granularity> granularities() {
  return {
      {"tensor", "[]", "rows,cols", NRD_BUILDS(fp8_quantize_tensor),
       NRD_BUILDS(fp8_quantize_tensor_adjust), NRD_BUILDS(fp8_quantize_tensor_saturate)},
      {"row", "[rows]", "cols", NRD_BUILDS(fp8_quantize_row), NRD_BUILDS(fp8_quantize_row_adjust),
       NRD_BUILDS(fp8_quantize_row_saturate)},
      {"column", "[cols]", "rows,cols", NRD_BUILDS(fp8_quantize_column),
       NRD_BUILDS(fp8_quantize_column_adjust), NRD_BUILDS(fp8_quantize_column_saturate)},
      {"block_1x128", "[rows,cols/128]", "cols", NRD_BUILDS(fp8_quantize_block_1x128),
       NRD_BUILDS(fp8_quantize_block_1x128_adjust), NRD_BUILDS(fp8_quantize_block_1x128_saturate)},
      {"block_128x128", "[rows/128,cols/128]", "rows,cols", NRD_BUILDS(fp8_quantize_block_128x128),
       NRD_BUILDS(fp8_quantize_block_128x128_adjust),
       NRD_BUILDS(fp8_quantize_block_128x128_saturate)},
  };
}

const char* const kGranularityMeaning = "what shares a scale";

std::vector<std::string> granularity_words() {
  std::vector<std::string> words;
  for (const Granularity& g : granularities()) words.push_back(g.word);
  return words;
}

Op fp8_quantize() {
  std::vector<Variant> variants;
  for (const Granularity& g : granularities()) {
    const std::string when = std::string("granularity=") + g.word;
    const std::string scale = std::string(g.scale) + ":f32";
    const std::string outputs =
        " -> q[rows,cols]:fp8 scale" + scale + " ; core " + std::string(g.core);
    const std::string given = "x[rows,cols] scale_in?" + scale + outputs;
    variants.push_back({.when = when + " +scale_in overflow=adjust",
                        .signature = given,
                        .builds = g.adjust,
                        .types = "q"});
    variants.push_back({.when = when + " +scale_in overflow=saturate",
                        .signature = given,
                        .builds = g.saturate,
                        .types = "q"});
    variants.push_back(
        {.when = when, .signature = "x[rows,cols]" + outputs, .builds = g.own, .types = "q"});
  }
  return {.name = "fp8_quantize",
          .group = "fused",
          .summary = "q = round(x/scale), scale = largest finite |x| / largest value of the format",
          .choices = {{"granularity", granularity_words(), kGranularityMeaning},
                      {"overflow",
                       {"adjust", "saturate"},
                       "a given scale that is too small: is raised, or values saturate"}},
          .variants = std::move(variants),
          .flops = 4,
          .tolerance = {.exact = true},
          .shape = "rows=200,cols=1000"};
}

// A row at a time, but for square blocks; one scale for all is a row's scale, broadcast.
Op fp8_dequantize() {
  std::vector<Variant> variants;
  auto add = [&](const std::string& word, const std::string& scale, const char* core,
                 Builds builds) {
    variants.push_back(
        {.when = "granularity=" + word,
         .signature = "q[rows,cols]:fp8 scale" + scale + ":f32 -> out[rows,cols] ; core " + core,
         .builds = builds});
  };
  add("tensor", "[]", "cols*", NRD_BUILDS(fp8_dequantize_row));
  add("row", "[rows]", "cols*", NRD_BUILDS(fp8_dequantize_row));
  add("column", "[cols]", "cols*", NRD_BUILDS(fp8_dequantize_column));
  add("block_1x128", "[rows,cols/128]", "cols", NRD_BUILDS(fp8_dequantize_block_1x128));
  add("block_128x128", "[rows/128,cols/128]", "rows,cols",
      NRD_BUILDS(fp8_dequantize_block_128x128));
  return {.name = "fp8_dequantize",
          .group = "fused",
          .summary = "q*scale",
          .choices = {{"granularity", granularity_words(), kGranularityMeaning}},
          .variants = std::move(variants),
          .flops = 1,
          .tolerance = {.f32 = 5e-7},
          .shape = "rows=200,cols=1000"};
}

// fp8_gemm

struct Scales {
  const char* word;
  const char* a_granularity;
  const char* b_granularity;
  const char* a_scale;
  const char* b_scale;
  bool rows_share;  // a's rows, b's columns share scales: they cannot be quantised apart
  bool columns_share;
};
constexpr Scales kScales[] = {
    {"tensor", "tensor", "tensor", "[]", "[]", true, true},
    {"row_column", "row", "column", "[m]", "[n]", false, false},
    {"block", "block_1x128", "block_128x128", "[m,k/128]", "[k/128,n/128]", false, true},
};

std::string widen(const std::string& name, const std::string& granularity, bool quantized) {
  const std::string how = ", granularity=" + granularity + ")\n";
  if (quantized) return name + "_wide = fp8_dequantize(" + name + ", " + name + "_scale" + how;
  return name + "_codes, " + name + "_scales = fp8_quantize(" + name + how + name +
         "_wide = fp8_dequantize(" + name + "_codes, " + name + "_scales" + how;
}

Variant fp8_gemm_variant(const Scales& s, bool a_quantized, bool b_quantized) {
  Variant v;
  v.when = std::string("scales=") + s.word + (a_quantized ? " a:fp8" : " a:float") +
           (b_quantized ? " b:fp8" : " b:float");
  v.signature =
      std::string("a[m,k]") + (a_quantized ? ":fp8" : "") + " b[k,n]" + (b_quantized ? ":fp8" : "");
  if (a_quantized) v.signature += std::string(" a_scale") + s.a_scale + ":f32";
  if (b_quantized) v.signature += std::string(" b_scale") + s.b_scale + ":f32";
  v.signature += " bias?[n] -> c[m,n] ; core ";
  v.signature += !a_quantized && s.rows_share ? "m," : "";
  v.signature += !b_quantized && s.columns_share ? "n,k" : "n*,k";
  v.graph = widen("a", s.a_granularity, a_quantized) + widen("b", s.b_granularity, b_quantized) +
            "[!bias] c = gemm(a_wide, b_wide)\n"
            "[bias] product = gemm(a_wide, b_wide)\n"
            "[bias] c = vec_add(product, rows(bias, product))\n";
  return v;
}

Op fp8_gemm() {
  std::vector<Variant> variants;
  for (const Scales& s : kScales)
    for (bool a_quantized : {true, false})
      for (bool b_quantized : {true, false})
        variants.push_back(fp8_gemm_variant(s, a_quantized, b_quantized));
  return {.name = "fp8_gemm",
          .group = "fused",
          .summary = "c[m,n] = (a*a_scale)[m,k] (b*b_scale)[k,n] + bias; floats are quantised here",
          .choices = {{"scales", {"tensor", "row_column", "block"}, "what shares a scale"},
                      {"accumulate",
                       {"precise", "fast"},
                       "promote partial sums to f32 at least every 128 of k, or at the end"}},
          .variants = std::move(variants),
          .flops = 2,
          // Tensor cores keep 13 bits of what they add up; an element where large terms cancel
          // within 128 of k may be off by some more than the whole.
          .tolerance = {.f32 = 4e-3, .l2 = 1e-3},
          .tolerances = {{"accumulate=fast", {.f32 = 2e-2, .l2 = 2e-2}}},
          .shape = "m=64,n=256,k=512"};
}

}  // namespace

std::vector<Op> fused_ops() {
  return {rmsnorm_rope(), gated_mlp(), fp8_gemm(), fp8_quantize(), fp8_dequantize()};
}

}  // namespace nrd
