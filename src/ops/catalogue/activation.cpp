// SPDX-License-Identifier: MIT
// src/ops/catalogue/activation.cpp: the entries of activations, gated pairs and softmax.
#include "ops/definitions.h"
#include "ops/op.h"

namespace nrd {
namespace {

// flops counts each arithmetic operation and each transcendental as one.
Op activation(std::string name, std::string summary, Builds builds, double flops, double f32) {
  return {.name = std::move(name),
          .group = "activation",
          .summary = std::move(summary),
          .variants = {{.signature = "x[n] -> out[n] ; core n*", .builds = builds}},
          .flops = flops,
          .tolerance = {.f32 = f32},
          .in_place = InPlace::kYes,
          .shape = "n=65536"};
}

Op gated(std::string name, std::string summary, Builds builds, double flops) {
  return {.name = std::move(name),
          .group = "activation",
          .summary = std::move(summary),
          .variants = {{.signature = "gate[n] up[n] -> out[n] ; core n*", .builds = builds}},
          .flops = flops,
          .tolerance = {.f32 = 2e-6},
          .in_place = InPlace::kYes,
          .shape = "n=65536"};
}

}  // namespace

std::vector<Op> activation_ops() {
  return {
      activation("exp", "e^x", NRD_BUILDS(exp), 1, 2e-6),
      activation("tanh", "tanh(x)", NRD_BUILDS(tanh), 1, 1e-6),
      activation("sigmoid", "1/(1 + e^-x)", NRD_BUILDS(sigmoid), 3, 1e-6),
      activation("relu", "max(x, 0)", NRD_BUILDS(relu), 1, 0),
      activation("silu", "x*sigmoid(x)", NRD_BUILDS(silu), 4, 2e-6),
      activation("gelu", "x*(1 + erf(x/sqrt(2)))/2", NRD_BUILDS(gelu), 5, 2e-6),
      activation("gelu_tanh", "x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x^3)))/2",
                 NRD_BUILDS(gelu_tanh), 9, 2e-6),
      gated("swiglu", "silu(gate)*up", NRD_BUILDS(swiglu), 5),
      gated("geglu", "gelu(gate)*up", NRD_BUILDS(geglu), 6),
      gated("swiglu_oai", "g*sigmoid(1.702*g)*(u + 1) with g = min(gate, 7), u = clamp(up, -7, 7)",
            NRD_BUILDS(swiglu_oai), 10),
      {.name = "softmax",
       .group = "activation",
       .summary = "e^(x - max)/sum of e^(x - max)",
       .variants = {{.signature = "x[rows,cols] -> out[rows,cols] ; core cols",
                     .builds = NRD_BUILDS(softmax)}},
       .flops = 5,
       .tolerance = {.f32 = 1e-5},
       .in_place = InPlace::kYes,
       .shape = "rows=64,cols=1024"},
  };
}

}  // namespace nrd
