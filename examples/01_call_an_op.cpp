// SPDX-License-Identifier: MIT
// examples/01_call_an_op.cpp: views, named operators, options, a packed weight.
#include <nereid/nereid.h>

#include <cstdio>

int main() {
  // Views of your own memory. Vectors are views of one axis.
  std::vector<float> x = {3, 4, 0, 0, 1, 1, 1, 1}, weight(4, 1.0f), y(8);
  const nereid::TensorView rows(x, {2, 4}), normed(y, {2, 4});

  nereid::rms_norm(rows, weight, normed, {.eps = 1e-5});
  std::printf("rms_norm: %.3f %.3f %.3f %.3f\n", y[0], y[1], y[2], y[3]);

  nereid::silu(normed, normed);  // in place

  // A product with an [N,K] weight: pack its (k,n) view once, use it often.
  std::vector<float> w = {1, 0, 0, 0, 1, 1, 1, 1}, bias = {0.5f, -0.5f}, out(4);
  const nereid::PackedMatrix packed = nereid::pack_b(nereid::TensorView(w, {2, 4}).t());
  nereid::gemm(rows, packed, nereid::TensorView(out, {2, 2}), {.bias = bias, .activation = "relu"});
  std::printf("gemm: %g %g %g %g\n", out[0], out[1], out[2], out[3]);

  // Shapes that come at run time, const memory, strides: the odd columns of x, which is not ours.
  const float* theirs = x.data();
  const std::vector<int> shape = {2, 2}, strides = {4, 2};
  nereid::relu(nereid::TensorView(theirs + 1, shape, strides), nereid::TensorView(out, shape));
  std::printf("odd columns: %g %g %g %g\n", out[0], out[1], out[2], out[3]);

  // What would run, and why.
  nereid::Call call("rms_norm");
  const nereid::TensorView w_view(weight);
  call.operand("x", rows).operand("w", w_view).operand("out", normed);
  std::printf("%s", call.explain().c_str());
  return 0;
}
