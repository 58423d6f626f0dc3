// SPDX-License-Identifier: MIT
// tests/package/consumer/main.cpp: one operator through the installed C++ headers.
#include <nereid/nereid.h>

#include <cstdio>

int main() {
  std::vector<float> x = {-1, 2};
  nereid::relu(x, x);
  std::printf("nereid %s: %g %g\n", nereid::version(), x[0], x[1]);
  return x[0] == 0 && x[1] == 2 ? 0 : 1;
}
