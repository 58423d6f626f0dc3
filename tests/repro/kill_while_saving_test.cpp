// SPDX-License-Identifier: MIT
// tests/repro/kill_while_saving_test.cpp: two processes that save a packed matrix to one path are
// killed at any moment; the file is always whole, and of one of the two.
//
// KILLS=1000 in the environment makes it as long as it is run by hand.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "nereid/nereid.h"
#include "tests/seed.h"

namespace {

using nereid::PackedMatrix;
using nereid::Tensor;

constexpr int64_t kSide = 256;

PackedMatrix packed_of(float value) {
  const Tensor b(nereid::f32, {kSide, kSide});
  for (int64_t i = 0; i < b.count(); i++) b.data<float>()[i] = value;
  return nereid::pack_b(b);
}

[[noreturn]] void save_for_ever(const PackedMatrix& matrix, const std::string& path) {
  try {
    for (;;) matrix.save(path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  _exit(1);
}

// The value that fills the saved matrix; 0 where it is not one value throughout.
float value_in(const std::string& path) {
  const PackedMatrix mapped = PackedMatrix::map(path, true);
  const Tensor b(nereid::f32, {kSide, kSide});
  mapped.unpack(b);
  const float* values = b.data<float>();
  for (int64_t i = 1; i < b.count(); i++)
    if (values[i] != values[0]) return 0;
  return values[0];
}

TEST(KillWhileSaving, TheFileIsOldOrNew) {
  const char* given = std::getenv("KILLS");
  const int kills = given ? std::atoi(given) : 40;
  std::mt19937_64 random(nrd::test_seed(0));
  std::string folder = (std::filesystem::temp_directory_path() / "nereid_kill_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/matrix";
  const PackedMatrix one = packed_of(1), two = packed_of(2);
  try {
    one.save(path);
  } catch (const std::exception& error) {
    GTEST_SKIP() << error.what();  // without generated code there are no panels
  }
  int died = 0, wrong = 0;
  for (int i = 0; i < kills && wrong == 0; i += 2) {
    pid_t children[2];
    for (int c = 0; c < 2; c++) {
      children[c] = fork();
      if (children[c] == 0) save_for_ever(c == 0 ? one : two, path);
    }
    for (pid_t child : children) {
      usleep(std::uniform_int_distribution<useconds_t>(0, 8000)(random));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      if (WIFSIGNALED(status)) died++;
      const float value = value_in(path);  // while the other still writes
      if (value != 1 && value != 2) wrong++;
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(died, kills) << "a child gave up before it was killed";
  std::filesystem::remove_all(folder);
}

}  // namespace
