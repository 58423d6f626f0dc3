// SPDX-License-Identifier: MIT
// examples/06_packed_weights.cpp: weights packed once, kept in a file, mapped again; the products
// of several experts in one call.
#include <nereid/nereid.h>

#include <cstdio>
#include <filesystem>
#include <string>

int main() {
  constexpr int64_t kHidden = 64, kInner = 96;
  const std::string path =
      (std::filesystem::temp_directory_path() / "nereid_expert.packed").string();

  // A bf16 weight [N,K] as its (k,n) view. The packed matrix needs neither it nor a copy of it.
  std::vector<float> values(kInner * kHidden);
  for (size_t i = 0; i < values.size(); i++) values[i] = 0.01f * static_cast<float>(i % 17);
  const nereid::Tensor weight(nereid::bf16, {kInner, kHidden});
  nereid::cast(nereid::TensorView(values, {kInner, kHidden}), weight);
  const nereid::PackedMatrix packed = nereid::pack_b(nereid::TensorView(weight).t());

  // Once into a file; every later start maps it, and reads only the pages that are used.
  nereid::PackedMatrix expert = packed;
  try {
    packed.save(path);
    expert = nereid::PackedMatrix::map(path, /*verify=*/true);
    std::printf("mapped %lld x %lld, %zu bytes\n", static_cast<long long>(expert.k()),
                static_cast<long long>(expert.n()), expert.bytes());
  } catch (const nereid::KernelError& e) {  // no generated code here, no panels
    std::printf("not saved: %s\n", e.what());
  }

  // Two experts with different numbers of tokens, over one pool of threads.
  std::vector<float> few(3 * kHidden, 1.0f), many(20 * kHidden, 0.5f);
  std::vector<float> few_out(3 * kInner), many_out(20 * kInner);
  const nereid::PackedProduct products[] = {
      {nereid::TensorView(few, {3, kHidden}),
       packed,
       nereid::TensorView(few_out, {3, kInner}),
       {.activation = "silu"}},
      {nereid::TensorView(many, {20, kHidden}),
       expert,
       nereid::TensorView(many_out, {20, kInner}),
       {.activation = "silu"}},
  };
  nereid::gemm_grouped(products);
  std::printf("%g %g\n", few_out[5], many_out[5]);
  std::filesystem::remove(path);
  return 0;
}
