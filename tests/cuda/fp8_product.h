// SPDX-License-Identifier: MIT
// tests/cuda/fp8_product.h: a product of e4m3 codes with all its options, its data, and the result
// in double: what the tests of the kernels under fp8_gemm share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/launch/fp8_gemm.h"
#include "target.h"

namespace nrd::cuda {

enum class Fp8Data {
  kAny,       // every finite code
  kNormal,    // normal values with the largest at 448
  kIntegers,  // -2 to 2: every sum is exact, whatever its order
  kOneHot,    // a picks one row of b each
  kPositive,  // as kNormal, all of one sign
  kNan,       // a few NaN among them
};

struct Fp8Product {
  int64_t m = 1, n = 1, k = 1;
  Fp8Data data = Fp8Data::kNormal;
  Fp8Scales scales = Fp8Scales::kVector;
  bool one_scale = false;  // kVector: stride 0
  bool fast = false;
  bool bias = false;
  DType c_dtype = DType::kF32;
  DType bias_dtype = DType::kF32;
  // Bytes behind a row of codes; -1: up to the next multiple of 16.
  int64_t a_padding = -1, b_padding = -1;
  int64_t c_padding = 0;                                              // elements
  size_t a_misalignment = 0, b_misalignment = 0, c_misalignment = 0;  // bytes
  int64_t bias_step = 1;
  bool scales_turned = false;  // kBlock: scales with k innermost for b, outermost for a
  uint64_t seed = 1;

  std::string text() const;
};

// What computes: fills c of the arguments.
using Fp8Engine = std::function<Expected<void>(const Fp8GemmArgs& args)>;

// One product in memory of the target with guard bands, for any number of engines: its data and
// sums, which take a CPU far longer than a device its product, are made once.
class SharedProduct {
 public:
  SharedProduct(const TestTarget& target, const Fp8Product& product);
  ~SharedProduct();
  // Runs twice and compares with double sums of the codes: exactly where the data are integers or
  // one-hot, otherwise within `tolerance` times the sum of magnitudes.
  ::testing::AssertionResult is_right(const Fp8Engine& engine, double tolerance = 1e-5);
  // Runs twice; the bytes of c, which are the same.
  Expected<std::vector<char>> bytes(const Fp8Engine& engine);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// For one engine.
::testing::AssertionResult product_is_right(const TestTarget& target, const Fp8Product& product,
                                            const Fp8Engine& engine, double tolerance = 1e-5);

Expected<std::vector<char>> product_bytes(const TestTarget& target, const Fp8Product& product,
                                          const Fp8Engine& engine);

}  // namespace nrd::cuda
