// SPDX-License-Identifier: MIT
// examples/plugin/use_plugin.cpp: loads the backend of plugin.c and calls it like any other.
#include <nereid/nereid.h>

#include <cmath>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: use_plugin LIBRARY.so\n");
    return 2;
  }
  const std::string name = nereid::load_plugin(argv[1]);
  std::vector<float> x = {-1, 0, 1, 2}, ours(4), theirs(4);
  nereid::silu(x, ours);
  {
    const auto scope = nereid::use_backend(name);  // every call of this thread, to the brace
    nereid::silu(x, theirs);
  }
  float difference = 0;
  for (size_t i = 0; i < x.size(); i++)
    difference = std::max(difference, std::abs(ours[i] - theirs[i]));

  // No silent fallback: what a named backend cannot do is an error, with its reason.
  const auto strided = nereid::attempt([&] {
    nereid::silu(nereid::TensorView(x).slice(0, 0, 4, 2),
                 nereid::TensorView(theirs).slice(0, 0, 4, 2), {.backend = name.c_str()});
  });
  std::printf("refused: %s\n", strided ? "nothing" : strided.error().message.c_str());
  std::printf("backend '%s' and cpu differ by %g\n", name.c_str(), difference);
  return difference < 1e-6f && !strided ? 0 : 1;
}
