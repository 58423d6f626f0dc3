// SPDX-License-Identifier: MIT
// examples/03_fused_layer.cpp: two steps of a transformer layer, each one call: RMSNorm with RoPE,
// then the gated MLP, once with f32 weights and once with FP8 ones.
#include <nereid/nereid.h>

#include <cmath>
#include <cstdio>
#include <numeric>

namespace {

std::vector<float> waves(size_t n, float frequency) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; i++) v[i] = std::sin(frequency * static_cast<float>(i));
  return v;
}

}  // namespace

int main() {
  constexpr int64_t kSeq = 16, kHidden = 256, kHeadDim = 64, kInter = 512;
  const std::vector<float> x = waves(kSeq * kHidden, 0.7f), norm(kHidden, 1.0f);
  const std::vector<float> gate = waves(kInter * kHidden, 0.3f), up = waves(kInter * kHidden, 0.4f);
  std::vector<int32_t> positions(kSeq);
  std::iota(positions.begin(), positions.end(), 0);

  const nereid::RopeTable table =
      nereid::rope_table(positions, kHeadDim, 150000, {.factor = 32});  // gpt-oss
  const auto turned = nereid::fused_rmsnorm_rope(nereid::TensorView(x, {1, kSeq, kHidden}), norm,
                                                 table.cos, table.sin, {.eps = 1e-5});

  const nereid::TensorView gate_weight(gate, {kInter, kHidden}), up_weight(up, {kInter, kHidden});
  const nereid::Tensor exact = nereid::fused_gated_mlp(turned.out, gate_weight, up_weight,
                                                       {.activate = nereid::Activate::gate});

  // The same weights with 8 bits and a scale a row.
  const auto gate8 = nereid::quantize_fp8(gate_weight, {.axis = -1});
  const auto up8 = nereid::quantize_fp8(up_weight, {.axis = -1});
  const nereid::Tensor small = nereid::fused_gated_mlp(
      turned.out, gate8.q, up8.q,
      {.activate = "gate", .gate_scale = gate8.scale, .up_scale = up8.scale});

  double error = 0, size = 0;
  for (int64_t i = 0; i < exact.count(); i++) {
    const double want = exact.data<float>()[i], got = small.data<float>()[i];
    error += (got - want) * (got - want);
    size += want * want;
  }
  const double relative = std::sqrt(error / size);
  std::printf("out %s, fp8 weights: relative L2 error %.2f %%\n", exact.view().shape_text().c_str(),
              100 * relative);
  return relative > 0 && relative < 0.1 ? 0 : 1;
}
