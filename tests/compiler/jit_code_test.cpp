// SPDX-License-Identifier: MIT
// tests/compiler/jit_code_test.cpp: executable memory, where it is refused, and names for perf.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/env.h"
#include "jit_run.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

namespace nrd::jit {
namespace {

#if defined(__x86_64__)
const std::vector<uint8_t> kReturn = {0xc3};
#else
const std::vector<uint8_t> kReturn = {0xc0, 0x03, 0x5f, 0xd6};
#endif

// The protection of the mapping that holds an address, as /proc tells it: "r-xp".
std::string protection(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char flags[8] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, flags) != 3) continue;
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (begin <= at && at < end) return flags;
  }
  return "";
}

TEST(JitCode, PagesAreExecutableAndNotWritable) {
  ASSERT_TRUE(executable_memory_works());
  auto code = make_code("nothing", kReturn);
  ASSERT_TRUE(code) << code.error().message();
  const void* base = (*code)->base();
  EXPECT_EQ(protection(base), "r-xp");
  (*code)->entry()(nullptr);
  EXPECT_EQ((*code)->name(), "nothing");
  EXPECT_EQ((*code)->bytes(), kReturn.size());
  *code = nullptr;
  EXPECT_NE(protection(base), "r-xp");
}

TEST(JitCode, RefusedOnRequest) {
  refuse_executable_memory(true);
  const auto code = make_code("nothing", kReturn);
  EXPECT_FALSE(executable_memory_works());
  refuse_executable_memory(false);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(executable_memory_works());
}

// A process may forswear executable memory for good, so a child does.
TEST(JitCode, RefusedByTheSystemAfterFork) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0) _exit(77);
    const auto code = make_code("nothing", kReturn);
    if (code) _exit(1);
    const bool is_told = code.error().code == ErrorCode::kUnsupported &&
                         code.error().message().find("mprotect") != std::string::npos;
    _exit(is_told ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "the kernel has no PR_SET_MDWE";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(JitCode, PerfFindsTheName) {
  setenv("NEREID_PERF_MAP", "1", 1);
  const auto code = make_code("my_kernel", kReturn);
  unsetenv("NEREID_PERF_MAP");
  ASSERT_TRUE(code);
  std::ostringstream path, line;
  path << "/tmp/perf-" << getpid() << ".map";
  line << std::hex << reinterpret_cast<uintptr_t>((*code)->base()) << " " << kReturn.size()
       << " nereid:my_kernel\n";
  std::ifstream file(path.str());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  unlink(path.str().c_str());
  EXPECT_NE(text.find(line.str()), std::string::npos) << text;
}

TEST(JitCode, EmptyCodeIsAnError) { EXPECT_FALSE(make_code("nothing", {})); }

TEST(JitCode, TargetsFollowTheIsa) {
  EXPECT_TRUE(targets(IsaSet()).empty());
#if defined(__x86_64__)
  const IsaSet avx2 = IsaSet().with(Feature::kAvx2).with(Feature::kFma).with(Feature::kF16c);
  ASSERT_EQ(targets(avx2).size(), 1u);
  EXPECT_EQ(targets(avx2)[0]->isa, "avx2");
  ASSERT_EQ(targets(avx2.with(Feature::kAvx512)).size(), 2u);
  EXPECT_EQ(targets(avx2.with(Feature::kAvx512))[0]->isa, "avx512");
#else
  ASSERT_EQ(targets(IsaSet().with(Feature::kNeon)).size(), 1u);
  EXPECT_EQ(targets(IsaSet().with(Feature::kNeon))[0]->isa, "neon");
#endif
}

}  // namespace
}  // namespace nrd::jit
