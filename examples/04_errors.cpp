// SPDX-License-Identifier: MIT
// examples/04_errors.cpp: what a mistake looks like, thrown or as a value, and how to find a cause.
#include <nereid/nereid.h>

#include <cstdio>

int main() {
  std::vector<float> x(8), w(5), y(8);
  const nereid::TensorView rows(x, {2, 4}), out(y, {2, 4});

  try {  // thrown: one class a kind of mistake
    nereid::rms_norm(rows, w, out);
  } catch (const nereid::ShapeMismatchError& e) {
    std::printf("shape: %s\n", e.what());
  }
  try {
    nereid::rms_norm(rows, std::vector<int32_t>(4), out);
  } catch (const nereid::UnsupportedDtypeError& e) {
    std::printf("dtype: %s\n", e.what());
  }

  // As a value, with its parts.
  const auto done = nereid::attempt([&] { nereid::silu(x, y, {.backend = "cpuu"}); });
  const nereid::Error& error = done.error();
  std::printf("name: %s got %s; %s\n", error.argument.c_str(), error.got.c_str(),
              error.hint.c_str());

  // A context of its own that says what it chooses and takes no fallback.
  const nereid::Context strict({.strict = 1, .log = [](nereid::LogLevel, std::string_view line) {
                                  std::printf("log: %.*s\n", static_cast<int>(line.size()),
                                              line.data());
                                }});
  const auto strictly = nereid::attempt([&] { nereid::silu(x, y, {.context = &strict}); });
  if (!strictly) std::printf("strict: %s\n", strictly.error().message.c_str());
  return done ? 1 : 0;
}
