// SPDX-License-Identifier: MIT
// tests/unit/without_code_test.cpp: the API in a process to which the kernel refuses executable
// memory. The tests of the API that are linked with this one run in it, too.
#include <errno.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "nereid/nereid.h"

namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kMachine = AUDIT_ARCH_AARCH64;
#endif

// From now on memory that was written cannot become executable; false: no filter can be set here.
bool refuse_executable_memory() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + 2 * sizeof(uint64_t)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
  };
  const sock_fprog program = {std::size(rules), rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(WithoutCode, TheKernelRefuses) {
  const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_EQ(mprotect(page, bytes, PROT_READ | PROT_EXEC), -1);
  EXPECT_EQ(errno, EACCES);
  munmap(page, bytes);
}

TEST(WithoutCode, CpuIsAutovec) {
  std::vector<float> x(5000), y(5000), z(5000);
  for (size_t i = 0; i < x.size(); i++) x[i] = std::sin(static_cast<float>(i));
  nereid::silu(x, y);
  nereid::silu(x, z, {.backend = "autovec"});
  EXPECT_EQ(y, z);
  const nereid::TensorView xv(x, {5000}), yv(y, {5000});
  nereid::Call call("silu");
  call.operand("x", xv).operand("out", yv);
  EXPECT_NE(call.explain().find("* cpu autovec"), std::string::npos) << call.explain();

  std::vector<float> a(30 * 70), b(70 * 40), c(30 * 40), d(30 * 40);
  for (size_t i = 0; i < a.size(); i++) a[i] = std::cos(static_cast<float>(i));
  for (size_t i = 0; i < b.size(); i++) b[i] = std::sin(static_cast<float>(i));
  const nereid::TensorView av(a, {30, 70}), bv(b, {70, 40});
  nereid::gemm(av, bv, nereid::TensorView(c, {30, 40}));
  nereid::gemm(av, bv, nereid::TensorView(d, {30, 40}), {.backend = "autovec"});
  EXPECT_EQ(c, d);
}

// A whole program, the other tests of this one, hears of it in one line.
TEST(WithoutCode, SaysSoOnce) {
  const std::string command = "NEREID_LOG=warning '" + std::string(program_invocation_name) +
                              "' --gtest_filter='ApiOps.*' 2>&1";
  FILE* program = popen(command.c_str(), "r");
  ASSERT_NE(program, nullptr);
  int said = 0;
  for (char line[4096]; std::fgets(line, sizeof line, program) != nullptr;)
    said += std::strstr(line, "no generated code here: the system refuses executable memory") !=
            nullptr;
  EXPECT_EQ(pclose(program), 0);
  EXPECT_EQ(said, 1);
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!refuse_executable_memory()) {
    std::printf("skipped: no filter of system calls can be set here: %s\n", std::strerror(errno));
    return 77;
  }
  return RUN_ALL_TESTS();
}
