// SPDX-License-Identifier: MIT
// tests/package/consumer/main.cpp: an operator and a function of one's own through the installed
// C++ headers.
#include <nereid/nereid.h>

#include <cstdio>
#include <string>
#include <vector>

extern "C" void doubled(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] + x[i];
}

int main() {
  std::vector<float> x = {-1, 2}, y(2);
  nereid::relu(x, x);
  std::printf("nereid %s: %g %g\n", nereid::version(), x[0], x[1]);
  if (x[0] != 0 || x[1] != 2) return 1;

  const auto made = nereid::attempt([] { return nereid::register_op("doubled", &doubled); });
  if (!made) {  // where no decoder is there
    std::printf("%s\n", made.error().message.c_str());
    return made.error().message.find("no machine code can be read here") == std::string::npos;
  }
  const nereid::TensorView in(x), out(y);
  nereid::Call("doubled").operand("x", in).operand("out", out).run();
  std::printf("doubled: %s, %g %g\n", made->proved ? "proved" : made->reason.c_str(), y[0], y[1]);
  return made->proved && y[0] == 0 && y[1] == 4 ? 0 : 1;
}
