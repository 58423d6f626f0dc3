// SPDX-License-Identifier: MIT
// tests/kernel/epilogue_test.cpp: products with random epilogues: the steps that the engine writes
// onto its accumulators have the bits of the same operators one after the other.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dispatch/registry.h"
#include "gemm/describe.h"
#include "gemm/packed.h"
#include "jit/lower.h"
#include "tests/kernel/guarded_tensor.h"

namespace nrd {
namespace {

constexpr DType kFloats[] = {DType::kF32, DType::kF16, DType::kBF16};

// One random case: an operator, its operands with any strides, its attributes.
struct Case {
  explicit Case(unsigned seed) : random(test_seed(seed)) {
    const Dims leading = pick(3) == 0 ? Dims{1 + pick(3)} : Dims{};
    m = 1 + pick(40), n = 1 + pick(70), k = pick(90);
    add("a", with(leading, {m, k}), kFloats[pick(3)]);
    // Shared by the instances or not.
    add("b", with(pick(2) ? leading : Dims{}, {k, n}), kFloats[pick(3)]);
    op = "gemm";
    for (const char* step : {"scale", "column_scale", "row_scale", "alpha", "bias"})
      if (pick(3) == 0) add_step(step, leading);
    const char* functions[] = {"relu", "silu", "gelu", "gelu_tanh", "sigmoid", "tanh", "exp"};
    if (pick(2)) op += std::string("+") + functions[pick(7)];
    if (pick(4) == 0) add_pair(pick(2) ? "vec_mul" : "swiglu", leading);
    if (pick(2)) add_step(pick(3) == 0 ? "beta" : "residual", leading);
    if (op == "gemm") add_step("bias", leading);
    add("c", with(leading, {m, n}), kFloats[pick(3)]);
  }

  int64_t pick(int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  }

  static Dims with(Dims leading, const Dims& core) {
    for (int64_t size : core) leading.push_back(size);
    return leading;
  }

  void add(const std::string& name, const Dims& sizes, DType dtype) {
    std::vector<int> order(static_cast<size_t>(sizes.size()));
    for (size_t i = 0; i < order.size(); i++) order[i] = static_cast<int>(i);
    if (pick(3) == 0) std::shuffle(order.begin(), order.end(), random);
    tensors.emplace_back(sizes, dtype, order).fill(static_cast<uint32_t>(tensors.size()));
    names.push_back(name);
  }

  void add_step(const std::string& step, const Dims& leading) {
    const bool is_scale = step == "scale" || step == "column_scale";
    if (is_scale && has("scale")) return;
    op += "+" + step;
    const DType dtype = kFloats[pick(3)];
    // Operands of columns may differ between instances, too.
    const Dims own = pick(3) == 0 ? leading : Dims{};
    if (step == "scale") add("scale", own, dtype);
    if (step == "column_scale") add("scale", with(own, {n}), dtype);
    if (step == "row_scale") add("row_scale", with(leading, {m}), dtype);
    if (step == "bias") add("bias", with(own, {n}), dtype);
    if (step == "residual" || step == "beta") add("residual", with(leading, {m, n}), dtype);
    if (step == "alpha") attributes["alpha"] = -0.75;
    if (step == "beta") attributes["beta"] = 1.5;
  }

  void add_pair(const std::string& word, const Dims& leading) {
    op += "+" + word;
    add("with", with(leading, {m, n}), kFloats[pick(3)]);
  }

  bool has(const std::string& name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  Expected<Desc> desc() const {
    Expected<const Op*> found = find_op(op);
    if (!found) return found.error();
    std::vector<NamedOperand> operands;
    for (size_t i = 0; i < names.size(); i++) operands.push_back({names[i], tensors[i].desc});
    return bind(**found, attributes, std::move(operands));
  }

  std::vector<void*> pointers(const Desc& bound) const {
    std::vector<void*> all;
    for (const OperandSpec& spec : bound.signature().operands)
      for (size_t i = 0; i < names.size(); i++)
        if (names[i] == spec.name) all.push_back(tensors[i].buffer.data());
    return all;
  }
  const Tensor& c() const { return tensors.back(); }

  std::mt19937 random;
  std::string op;
  int64_t m, n, k;
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  Attributes attributes;
};

std::vector<char> bytes_of(const Tensor& tensor) {
  const auto* data = static_cast<const char*>(tensor.buffer.data());
  return {data, data + tensor.buffer.bytes()};
}

class Epilogue : public ::testing::Test {
 protected:
  static std::vector<char> run(const Kernel& kernel, const Case& it, const Desc& desc,
                               int threads) {
    std::memset(it.c().buffer.data(), 0xff, it.c().buffer.bytes());
    auto prepared = kernel.prepare(desc, std::vector<void*>(desc.operands.size(), nullptr));
    EXPECT_TRUE(prepared) << prepared.error().message();
    if (!prepared) return {};
    const size_t bytes = ((*prepared)->workspace_bytes() + 63) / 64 * 64;
    Buffer workspace = std::move(*Buffer::allocate(bytes, MemoryMode::kGuarded));
    const std::vector<void*> pointers = it.pointers(desc);
    EXPECT_TRUE((*prepared)->run({pointers.data()}, workspace.data(), {threads, nullptr}));
    return bytes_of(it.c());
  }

  std::vector<const Kernel*> kernels(const char* backend, const Op& op) {
    return (*registry.find_backend(backend))->kernels(op);
  }

  // Largest difference, in units of what the dtype resolves at the larger of 1 and the value.
  static double distance(const std::vector<char>& x, const std::vector<char>& y, DType dtype) {
    double worst = 0;
    for (size_t at = 0; at < x.size(); at += byte_size(dtype)) {
      uint64_t p = 0, q = 0;
      std::memcpy(&p, x.data() + at, byte_size(dtype));
      std::memcpy(&q, y.data() + at, byte_size(dtype));
      const double a = decode(p, dtype), b = decode(q, dtype);
      if (std::isnan(a) || std::isnan(b)) {
        if (std::isnan(a) != std::isnan(b)) return INFINITY;
      } else if (a != b) {
        worst = std::max(worst, std::fabs(a - b) / std::max({1.0, std::fabs(a), std::fabs(b)}));
      }
    }
    return worst;
  }

  KernelRegistry registry{*Machine::host()};
};

TEST_F(Epilogue, HasTheBitsOfItsSteps) {
  int on_accumulators = 0;
  for (unsigned seed = 1; seed <= 200; seed++) {
    const Case it(seed);
    SCOPED_TRACE(it.op + ", case " + std::to_string(seed));
    const Expected<Desc> desc = it.desc();
    ASSERT_TRUE(desc) << desc.error().message();
    std::vector<char> steps, definition;
    for (const Kernel* kernel : kernels("scalar", *desc->op))
      definition = run(*kernel, it, *desc, 1);
    for (const Kernel* kernel : kernels("cpu", *desc->op))
      if (kernel->name().starts_with("jit")) steps = run(*kernel, it, *desc, 1);
    const double tolerance = it.c().desc.dtype == DType::kF32 ? 2e-4 : 2e-2;
    EXPECT_LE(distance(steps, definition, it.c().desc.dtype), tolerance);
    for (const Kernel* kernel : kernels("cpu", *desc->op)) {
      if (!kernel->name().starts_with("gemm") || !kernel->accepts(*desc)) continue;
      on_accumulators++;
      for (int threads : {1, 2, 3})
        EXPECT_TRUE(run(*kernel, it, *desc, threads) == steps) << threads << " threads";
    }
  }
  EXPECT_GE(on_accumulators, 190);  // the engine takes nearly all; some have an operand too many
}

// The same with b packed beforehand: its form stands in the operand, and one prepared kernel runs
// with the panels of several matrices.
TEST_F(Epilogue, TakesPackedMatrices) {
  const Machine& machine = registry.machine();
  const jit::Target& target = *jit::targets(machine.isa).front();
  for (unsigned seed = 1; seed <= 60; seed++) {
    const Case it(seed);
    SCOPED_TRACE(it.op + ", case " + std::to_string(seed));
    Desc desc = *it.desc();
    const OperandDesc b = desc.operands[1];
    if (b.sizes.size() != 2) continue;
    const Kernel* kernel = kernels("cpu", *desc.op).front();
    if (!kernel->accepts(desc)) continue;
    const std::vector<char> expected = run(*kernel, it, desc, 1);
    const gemm::Family& family = **gemm::find_family(
        target, machine.isa,
        gemm::product_numerics(desc.operands[0].dtype, b.dtype, machine.profile));
    const gemm::PackedLayout layout =
        *gemm::make_packed_layout(family, b.dtype, b.sizes[0], b.sizes[1]);
    const gemm::Matrix matrix = {it.tensors[1].buffer.data(), b.dtype, b.strides[0], b.strides[1]};
    const auto packed = gemm::PackedMatrix::make(target, layout, matrix, {1, nullptr});
    ASSERT_TRUE(packed);
    desc.operands[1].form = packed_form(layout);
    ASSERT_TRUE(kernel->accepts(desc)) << kernel->accepts(desc).error().message();
    std::memset(it.c().buffer.data(), 0xff, it.c().buffer.bytes());
    const auto prepared = std::move(*kernel->prepare(desc, {}));
    const size_t bytes = (prepared->workspace_bytes() + 63) / 64 * 64;
    Buffer workspace = std::move(*Buffer::allocate(bytes, MemoryMode::kGuarded));
    std::vector<void*> pointers = it.pointers(desc);
    pointers[1] = const_cast<void*>(packed->data());
    EXPECT_TRUE(prepared->run({pointers.data()}, workspace.data(), {2, nullptr}));
    EXPECT_TRUE(bytes_of(it.c()) == expected);
    // A kernel that knows nothing of panels is not asked; generated code leaves them to the engine.
    EXPECT_FALSE(registry.select("scalar", desc));
  }
}

TEST(EpilogueName, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> wrong[] = {
      {"gemv+bias", "gemm, gemm_prepacked"},
      {"gemm+", "step"},
      {"gemm+softmax", "one or two values"},
      {"gemm+bias+bias", "second one with the operand"},
      {"gemm+scale+column_scale", "second one"},
      {"gemm+residual+beta", "second one"},
      {"gemm+alpha+alpha", "second one"},
      {"gemm+gemm", "one or two values"},
      {"gemm+nothing", "'nothing'"},
      {"+bias", "gemm, gemm_prepacked"},
      {"gemm+relu+relu+relu+relu+relu+relu+relu+relu+relu+relu+relu+relu+relu+relu+relu+relu+relu",
       "at most 16"}};
  for (const auto& [name, words] : wrong) {
    const Expected<const Op*> op = find_op(name);
    ASSERT_FALSE(op) << name;
    EXPECT_NE(op.error().message().find(words), std::string::npos) << op.error().message();
  }
  const Op* once = *find_op("gemm+bias+silu");
  EXPECT_EQ(once, *find_op("gemm+bias+silu"));
  for (const Op* op : added_ops()) EXPECT_NE(op, once);  // nobody registered it
}

}  // namespace
}  // namespace nrd
