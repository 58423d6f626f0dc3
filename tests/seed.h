// SPDX-License-Identifier: MIT
// tests/seed.h: the seeds of random tests: other ones in every run, printed, and the same on
// request.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace nrd {

// The seed of this run of the program: NEREID_TEST_SEED, otherwise drawn from the system.
inline uint64_t run_seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("NEREID_TEST_SEED");
    if (given == nullptr || *given == 0) return uint64_t{std::random_device{}() % 1000000};
    char* end = nullptr;
    errno = 0;
    const uint64_t number = std::strtoull(given, &end, 10);
    if (*end != 0 || errno != 0) {
      std::fprintf(stderr, "NEREID_TEST_SEED: got '%s', allowed: a number\n", given);
      std::exit(2);
    }
    return number;
  }();
  return seed;
}

// The seed of one of a test's generators, which `stream` tells apart. A test that asks for one
// first prints the line that repeats it.
inline uint64_t test_seed(uint64_t stream) {
  static std::string printed;
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name =
      test != nullptr ? std::string(test->test_suite_name()) + "." + test->name() : "*";
  if (name != printed) {
    std::printf("again with: NEREID_TEST_SEED=%ju %s --gtest_filter='%s'\n",
                static_cast<uintmax_t>(run_seed()), program_invocation_name, name.c_str());
    std::fflush(stdout);
    printed = name;
  }
  uint64_t mixed = (run_seed() + 1) * 0x9e3779b97f4a7c15u + stream * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 29)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 32);
}

}  // namespace nrd
