// SPDX-License-Identifier: MIT
// tests/kernel/definitions_test.cpp: every operator on every built-in backend: any size, guard
// pages, in place, strided, and the same bits for 1, 2 and 3 threads.
#include <gtest/gtest.h>

#include <cstring>

#include "workbench/check.h"
#include "workbench/data.h"

namespace nrd {
namespace {

KernelRegistry& registry() {
  static KernelRegistry r(*Machine::host());
  return r;
}

// Every key of the operator set to `size`, as far as its constraints allow.
std::map<std::string, int64_t, std::less<>> sizes_of(const Op& op, int64_t size) {
  const Desc example = *bind_case(op, example_request(op));
  const Signature& s = example.signature();
  std::map<std::string, int64_t, std::less<>> sizes;
  for (size_t i = 0; i < s.axes.size(); i++) {
    if (!s.axes[i].is_key()) continue;
    int64_t v = s.axes[i].even ? size + size % 2 : size;
    for (const Axis& derived : s.axes) {
      if (derived.denominator == static_cast<int>(i)) v = 2;
      if (derived.numerator == static_cast<int>(i)) v = 2 * size;
    }
    // A table that indices point into cannot be empty.
    if (v == 0 && !op.gathers.empty() &&
        s.operands[static_cast<size_t>(s.find_operand(op.gathers.substr(0, op.gathers.find(' '))))]
                .axes[0]
                .axis == static_cast<int>(i))
      v = 1;
    sizes[s.axes[i].name] = v;
  }
  return sizes;
}

Expected<Case> small_case(const Op& op, int64_t size, const char* dtype) {
  CaseSpec spec;
  spec.op = op.name;
  spec.request.sizes = sizes_of(op, size);
  spec.request.dtypes = dtype;
  return make_case(spec);
}

RunOutputs run(const Case& c, std::string_view backend, int threads) {
  Case own = c;
  own.spec.threads = threads;
  Expected<KernelChoice> choice = registry().select(backend, own.desc);
  EXPECT_TRUE(choice);
  Expected<KernelRunner> runner = KernelRunner::create(*choice, own, MemoryMode::kGuarded);
  EXPECT_TRUE(runner) << runner.error().message();
  Expected<RunOutputs> outputs = runner->run_checked();
  EXPECT_TRUE(outputs);
  return std::move(*outputs);
}

class EveryOperator : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryOperator, IsRightAtAnySize) {
  const Op& op = **find_op(GetParam());
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    for (int64_t size : {0, 1, 2, 3, 5, 16, 33}) {
      Expected<Case> c = small_case(op, size, dtype);
      ASSERT_TRUE(c) << c.error().message();
      Expected<Reference> reference = make_reference(*c, 1);
      ASSERT_TRUE(reference) << reference.error().message();
      for (const char* backend : {"scalar", "autovec", "cpu"}) {
        Verdict v = check_outputs(*c, run(*c, backend, 1), *reference);
        EXPECT_TRUE(v.ok) << c->text() << " on " << backend << ": " << v.reason;
      }
    }
  }
}

TEST_P(EveryOperator, HasTheSameBitsForAnyThreadCount) {
  const Op& op = **find_op(GetParam());
  for (const char* dtype : {"f32", "bf16"}) {
    // Larger than a thread's least share, so that the work really is parted.
    const int64_t size = signatures(op).front().axes.size() == 1 ? 100003 : 67;
    Expected<Case> c = small_case(op, size, dtype);
    ASSERT_TRUE(c) << c.error().message();
    const RunOutputs one = run(*c, "cpu", 1);
    for (int threads : {2, 3}) {
      const RunOutputs more = run(*c, "cpu", threads);
      for (size_t i = 0; i < one.outputs.size(); i++)
        EXPECT_EQ(one.outputs[i].data, more.outputs[i].data) << c->text() << " threads=" << threads;
    }
  }
}

TEST_P(EveryOperator, WorksInPlaceWhereItSaysSo) {
  const Op& op = **find_op(GetParam());
  if (op.in_place == InPlace::kNo) GTEST_SKIP() << op.name << " refuses it";
  Expected<Case> c = small_case(op, 18, "f32");
  ASSERT_TRUE(c);
  const Signature& s = c->desc.signature();
  const auto out = static_cast<size_t>(s.inputs);
  std::vector<std::vector<char>> memory;
  std::vector<void*> pointers;
  size_t shared = out;
  for (size_t i = 0; i < s.operands.size(); i++) {
    size_t count = c->desc.operands[i].present ? 1 : 0;
    for (int64_t size : c->desc.operands[i].sizes) count *= static_cast<size_t>(size);
    memory.emplace_back(count * 4 + 64);
    if (i < out) fill_operand(*c, i, memory[i].data());
    if (i < out && shared == out && c->desc.operands[i].sizes == c->desc.operands[out].sizes)
      shared = i;
    pointers.push_back(c->desc.operands[i].present ? memory[i].data() : nullptr);
  }
  ASSERT_LT(shared, out) << "no input has the output's shape";
  pointers[out] = pointers[shared];
  ASSERT_TRUE(check_pointers(c->desc, pointers));
  const RunOutputs apart = run(*c, "cpu", 1);
  Expected<KernelChoice> choice = registry().select("cpu", c->desc);
  auto prepared = choice->kernel->prepare(c->desc, std::vector<void*>(pointers.size(), nullptr));
  ASSERT_TRUE(prepared);
  Expected<Buffer> workspace = Buffer::allocate((*prepared)->workspace_bytes(), MemoryMode::kTimed);
  ASSERT_TRUE(workspace);
  ASSERT_TRUE((*prepared)->run({pointers.data()}, workspace->data(), {}));
  EXPECT_EQ(0,
            std::memcmp(pointers[out], apart.outputs[0].data.data(), apart.outputs[0].data.size()));
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Op& op : catalogue()) list.push_back(op.name);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryOperator, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

// Strided and transposed operands give what contiguous copies of them give.
TEST(Strides, ATransposedInputIsTheSameNumbers) {
  CaseSpec spec;
  spec.op = "gemm";
  spec.request.sizes = {{"m", 5}, {"n", 9}, {"k", 11}};
  const Case nk = *make_case(spec);
  spec.b_kn = true;
  const Case kn = *make_case(spec);
  for (const char* backend : {"scalar", "cpu"})
    EXPECT_EQ(run(nk, backend, 1).outputs[0].data, run(kn, backend, 1).outputs[0].data);
}

}  // namespace
}  // namespace nrd
