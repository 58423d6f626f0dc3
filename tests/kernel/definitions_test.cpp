// SPDX-License-Identifier: MIT
// tests/kernel/definitions_test.cpp: every operator on every built-in backend: any size, guard
// pages, in place, strided, and the same bits for 1, 2 and 3 threads.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "base/assume_cores.h"
#include "workbench/check.h"
#include "workbench/data.h"

namespace nrd {
namespace {

// As on a machine of three cores: no work is cut into more parts than there are cores.
KernelRegistry& registry() {
  static KernelRegistry r = [] {
    assume_cores(3);
    return KernelRegistry(*Machine::host());
  }();
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

// A thread for each part of the work, the last part first; knows the largest number of parts.
class PartsExecutor final : public Executor {
 public:
  int width() const override { return 3; }
  void run(int64_t count, ParallelBody body, void* context) override {
    most_ = std::max(most_, count);
    std::vector<std::thread> threads;
    for (int64_t i = count; i-- > 0;) threads.emplace_back(body, context, i);
    for (std::thread& thread : threads) thread.join();
  }
  int64_t most() const { return most_; }

 private:
  int64_t most_ = 0;
};

// A kernel of `cpu` with operands and workspace of its own, all against guard pages.
class OwnRun {
 public:
  explicit OwnRun(const Case& c) : case_(c), choice_(*registry().select("cpu", c.desc)) {
    const size_t inputs = static_cast<size_t>(c.desc.signature().inputs);
    for (size_t i = 0; i < c.desc.operands.size(); i++) {
      memory_.push_back(allocate(bytes(i)));
      if (i < inputs && c.desc.operands[i].present) fill_operand(c, i, memory_[i].data());
      pointers_.push_back(c.desc.operands[i].present ? memory_[i].data() : nullptr);
    }
    prepared_ =
        std::move(*choice_.kernel->prepare(c.desc, std::vector<void*>(pointers_.size(), nullptr)));
    workspace_ = allocate((prepared_->workspace_bytes() + 63) / 64 * 64);
  }
  // The outputs, behind each other. What an earlier run left there and in the workspace is gone.
  std::string run(const Exec& exec) {
    const auto inputs = static_cast<size_t>(case_.desc.signature().inputs);
    for (size_t i = inputs; i < memory_.size(); i++) poison(memory_[i]);
    poison(workspace_);
    EXPECT_TRUE(prepared_->run({pointers_.data()}, workspace_.data(), exec));
    std::string outputs;
    for (size_t i = inputs; i < pointers_.size(); i++)
      if (pointers_[i] != nullptr) outputs.append(static_cast<char*>(pointers_[i]), bytes(i));
    return outputs;
  }
  // The first input with the first output's shape, which then is that output, too.
  void work_in_place() {
    const auto out = static_cast<size_t>(case_.desc.signature().inputs);
    size_t shared = 0;
    while (shared < out && !(case_.desc.operands[shared].sizes == case_.desc.operands[out].sizes))
      shared++;
    ASSERT_LT(shared, out) << "no input has the output's shape";
    pointers_[out] = pointers_[shared];
    ASSERT_TRUE(check_pointers(case_.desc, pointers_));
  }

 private:
  static Buffer allocate(size_t bytes) {
    return std::move(*Buffer::allocate(bytes, MemoryMode::kGuarded));
  }
  static void poison(Buffer& buffer) {
    if (buffer.bytes() > 0) std::memset(buffer.data(), 0xff, buffer.bytes());
  }
  size_t bytes(size_t operand) const {
    const OperandDesc& o = case_.desc.operands[operand];
    size_t count = o.present ? byte_size(o.dtype) : 0;
    for (int64_t size : o.sizes) count *= static_cast<size_t>(size);
    return count;
  }

  Case case_;
  KernelChoice choice_;
  std::vector<Buffer> memory_;
  std::vector<void*> pointers_;
  std::unique_ptr<PreparedKernel> prepared_;
  Buffer workspace_;
};

// The least number of parts that the work was cut into on several threads.
int64_t compare_threads(const Case& c) {
  OwnRun own(c);
  const std::string one = own.run({1, nullptr});
  int64_t parts = 3;
  for (int threads : {2, 3}) {
    PartsExecutor executor;
    EXPECT_TRUE(one == own.run({threads, &executor})) << c.text() << " threads=" << threads;
    if (executor.most() < threads) parts = std::min(parts, executor.most());
  }
  EXPECT_TRUE(one == own.run({3, nullptr})) << c.text() << " in the library's own threads";
  return parts;
}

TEST_P(EveryOperator, HasTheSameBitsForAnyThreadCount) {
  constexpr int64_t kLargest = 1 << 23;
  const Op& op = **find_op(GetParam());
  for (const char* dtype : {"f32", "bf16"}) {
    int64_t parts = 0;  // until the work really is cut, and once more where every step of it is
    for (int64_t size = 67, more = 1; more >= 0 && size < kLargest; size = size * 3 / 2) {
      Expected<Case> c = small_case(op, parts < 3 ? size : 2 * size, dtype);
      ASSERT_TRUE(c) << c.error().message();
      if (!(cost(c->desc).bytes() < 1e8)) break;
      more -= parts == 3;
      parts = compare_threads(*c);
    }
    EXPECT_EQ(parts, 3) << op.name << " " << dtype << " is never cut into as many parts";
  }
}

TEST_P(EveryOperator, WorksInPlaceWhereItSaysSo) {
  const Op& op = **find_op(GetParam());
  if (op.in_place == InPlace::kNo) GTEST_SKIP() << op.name << " refuses it";
  Expected<Case> c = small_case(op, 18, "f32");
  ASSERT_TRUE(c);
  OwnRun apart(*c), in_place(*c);
  ASSERT_NO_FATAL_FAILURE(in_place.work_in_place());
  EXPECT_TRUE(apart.run({1, nullptr}) == in_place.run({1, nullptr}));
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
