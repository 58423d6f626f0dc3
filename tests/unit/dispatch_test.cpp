// SPDX-License-Identifier: MIT
// tests/unit/dispatch_test.cpp: which kernel is chosen, as a pure function of the machine.
#include <gtest/gtest.h>

#include "compiler/operator.h"
#include "dispatch/registry.h"

namespace nrd {
namespace {

Machine machine_with(std::string_view level) {
  for (const IsaLevel& l : isa_levels())
    if (l.word == level) return {l.required, DeviceProfile::host(l.required)};
  ADD_FAILURE() << level;
  return {};
}

Desc silu() {
  CaseRequest r;
  r.sizes = {{"n", 8}};
  return *bind_case(**find_op("silu"), r);
}

TEST(Selection, TakesTheStrongestBuildTheIsaAllows) {
  for (std::string_view level : kAutovecLevels) {
    KernelRegistry registry(machine_with(level));
    Expected<KernelChoice> choice = registry.select("cpu", silu());
    ASSERT_TRUE(choice) << choice.error().message();
    const bool compiled =
        trace_of(silu()) != nullptr && !compile_target(machine_with(level).isa).empty();
    const std::string family = compiled ? "jit_" : "autovec_";
    EXPECT_EQ(choice->kernel->name(),
              family + std::string(compiled ? compile_target(machine_with(level).isa) : level));
  }
}

TEST(Selection, ExplainTellsWhyNot) {
  KernelRegistry registry(machine_with("baseline"));
  int chosen = 0;
  for (const Explanation& e : registry.explain(silu(), "cpu")) {
    chosen += e.chosen;
    if (!e.accepted) {
      EXPECT_NE(e.reason.find("ISA"), std::string::npos) << e.reason;
    }
  }
  EXPECT_EQ(chosen, 1);
}

TEST(Registry, UnknownNamesAreErrors) {
  KernelRegistry registry(machine_with("baseline"));
  Expected<Backend*> b = registry.find_backend("cpus");
  ASSERT_FALSE(b);
  EXPECT_NE(b.error().message().find("did you mean 'cpu'"), std::string::npos)
      << b.error().message();
  EXPECT_FALSE(registry.get_kernel("cpu", "no_such_operator"));
  EXPECT_TRUE(registry.get_kernel("scalar", "gemm"));
}

TEST(Registry, ASecondBackendOfANameIsRefused) {
  struct Copy final : Backend {
    std::string name() const override { return "cpu"; }
    Expected<void> load() override { return {}; }
    std::vector<const Kernel*> kernels(const Op&) const override { return {}; }
  };
  KernelRegistry registry(machine_with("baseline"));
  EXPECT_FALSE(registry.add(std::make_unique<Copy>()));
}

}  // namespace
}  // namespace nrd
