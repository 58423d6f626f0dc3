// SPDX-License-Identifier: MIT
// examples/05_your_own_op.cpp: a scalar C function becomes an operator with vector code.
#include <nereid/nereid.h>

#include <cmath>
#include <cstdio>

// Plain scalar code, no intrinsics, no pragmas.
extern "C" void my_gate(const float* x, const float* y, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * tanhf(y[i]);
}

// A norm of one row; more rows come from the views.
extern "C" void my_norm(const float* x, const float* w, float* out, size_t n, float eps) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  const float r = 1.0f / sqrtf(sum / static_cast<float>(static_cast<int64_t>(n)) + eps);
  for (size_t i = 0; i < n; i++) out[i] = x[i] * r * w[i];
}

// A function of one value is mapped over arrays.
extern "C" float softsign(float x) { return x / (1.0f + fabsf(x)); }

namespace {

void show(const char* name, const nereid::Registered& r) {
  std::printf("%s: %s, %s\n  %s\n", name, r.op_class.c_str(),
              r.proved ? "proved" : r.reason.c_str(), r.signature.c_str());
}

}  // namespace

int main() {
  show("my_gate", nereid::register_op("my_gate", &my_gate));
  show("my_norm", nereid::register_op("my_norm", &my_norm));
  show("softsign", nereid::register_op("softsign", &softsign));

  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, y(8, 0.5f), z(8);
  const nereid::TensorView gate_in(x), gate(y), gate_out(z);
  nereid::Call call("my_gate");
  call.operand("x", gate_in).operand("y", gate).operand("out", gate_out).run();
  std::printf("my_gate(8, 0.5) = %.4f\n", z[7]);

  // Two rows of four, 16-bit storage: nothing of that stands in the function. Machine code has no
  // names: const pointers are x y z w in their order, numbers a b c.
  std::vector<float> w(4, 1.0f);
  std::vector<uint16_t> halves(8);
  const nereid::TensorView rows(x, {2, 4}), weight(w);
  const nereid::TensorView narrow(halves.data(), nereid::DType::bf16, {2, 4});
  nereid::Call norm("my_norm");
  norm.operand("x", rows).operand("y", weight).operand("out", narrow).attribute("a", 1e-6).run();
  std::printf("my_norm in bf16: 0x%04x 0x%04x\n", halves[0], halves[7]);
  return 0;
}
