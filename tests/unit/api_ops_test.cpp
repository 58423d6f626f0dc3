// SPDX-License-Identifier: MIT
// tests/unit/api_ops_test.cpp: every operator through the public call, against its definition.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/convert.h"
#include "graph/program.h"
#include "nereid/nereid.h"
#include "tests/seed.h"

namespace nrd {
namespace {

int64_t small_size(const std::string& axis) {
  static const std::map<std::string, int64_t> sizes = {
      {"n", 37},     {"rows", 5},     {"cols", 37},  {"m", 3},    {"k", 19},
      {"tokens", 5}, {"heads", 2},    {"batch", 2},  {"seq", 3},  {"hidden", 16},
      {"inter", 12}, {"head_dim", 8}, {"vocab", 13}, {"dim", 17}, {"table", 11}};
  const auto found = sizes.find(axis);
  return found == sizes.end() ? 6 : found->second;
}

// The operator's first variant that binds with this dtype, on small sizes.
Expected<Desc> small_case(const Op& op, const std::string& dtype) {
  CaseRequest request{.sizes = {}, .dtypes = dtype, .attributes = {}, .optional = {}};
  for (const Axis& axis : signatures(op).back().axes)
    if (axis.is_key()) request.sizes[axis.name] = small_size(axis.name);
  return bind_case(op, request);
}

struct Buffer {
  std::vector<char> data;       // as the caller has it
  std::vector<double> doubles;  // as the reference has it
  size_t count = 0;
};

// Values that every dtype holds well; i32 inputs are indices into the smallest table.
Buffer make_buffer(const OperandDesc& operand, bool output, std::mt19937& random) {
  Buffer b;
  b.count = 1;
  for (int64_t size : operand.sizes) b.count *= static_cast<size_t>(size);
  b.data.assign(b.count * byte_size(operand.dtype) + 64, 0);
  b.doubles.assign(b.count, 0);
  if (output) return b;
  for (size_t i = 0; i < b.count; i++) {
    double value = std::uniform_real_distribution<double>(0.25, 2)(random);
    if (random() % 2) value = -value;
    if (!is_float(operand.dtype)) value = static_cast<double>(random() % 11);
    b.doubles[i] = value;
  }
  convert(b.doubles.data(), DType::kF64, b.data.data(), operand.dtype, b.count);
  convert(b.data.data(), operand.dtype, b.doubles.data(), DType::kF64, b.count);
  return b;
}

double allowed_error(const Op& op, DType dtype, double ref, double largest) {
  if (dtype == DType::kI32) return 0;
  if (!is_float(dtype)) return 1;
  const double half_unit = std::ldexp(std::abs(ref), -info(dtype).mantissa_bits);
  return (op.tolerance.f32 + 1e-5) * std::max(1.0, largest) + half_unit;
}

void run_reference(const Desc& desc, std::vector<Buffer>& buffers) {
  Expected<Program> program = Program::prepare(desc, Build::kF64);
  ASSERT_TRUE(program) << program.error().message();
  std::vector<void*> pointers;
  std::vector<std::vector<char>> integers(buffers.size());
  for (size_t i = 0; i < buffers.size(); i++) {
    integers[i] = buffers[i].data;  // of integer dtypes
    const bool real = is_float(desc.operands[i].dtype);
    void* at = real ? static_cast<void*>(buffers[i].doubles.data()) : integers[i].data();
    pointers.push_back(desc.operands[i].present ? at : nullptr);
  }
  std::vector<char> workspace(program->workspace_bytes() + 64);
  auto* aligned =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
  program->run(pointers.data(), aligned, {});
  for (size_t i = 0; i < buffers.size(); i++)
    if (desc.operands[i].present && !is_float(desc.operands[i].dtype))
      convert(integers[i].data(), desc.operands[i].dtype, buffers[i].doubles.data(), DType::kF64,
              buffers[i].count);
}

void check_operator(const Op& op, const std::string& dtype) {
  SCOPED_TRACE(op.name + " " + dtype);
  Expected<Desc> desc = small_case(op, dtype);
  if (!desc) {
    EXPECT_NE(dtype, "f32") << desc.error().message();
    return;
  }
  const Signature& s = desc->signature();
  std::mt19937 random(test_seed(7));
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < desc->operands.size(); i++)
    buffers.push_back(make_buffer(desc->operands[i], s.operands[i].output, random));

  nereid::Call call(op.name.c_str());
  std::vector<nereid::TensorView> views;
  for (size_t i = 0; i < desc->operands.size(); i++) {
    const OperandDesc& o = desc->operands[i];
    views.push_back(o.present ? nereid::TensorView(buffers[i].data.data(),
                                                   static_cast<nereid::DType>(o.dtype),
                                                   std::span(o.sizes.begin(), o.sizes.end()))
                              : nereid::TensorView());
  }
  for (size_t i = 0; i < views.size(); i++) call.operand(s.operands[i].name.c_str(), views[i]);
  const auto done = call.try_run();
  ASSERT_TRUE(done) << done.error().message;

  run_reference(*desc, buffers);
  for (size_t i = static_cast<size_t>(s.inputs); i < buffers.size(); i++) {
    if (!desc->operands[i].present) continue;
    const Buffer& b = buffers[i];
    std::vector<double> got(b.count);
    convert(b.data.data(), desc->operands[i].dtype, got.data(), DType::kF64, b.count);
    double largest = 0;
    for (double ref : b.doubles) largest = std::max(largest, std::abs(ref));
    for (size_t e = 0; e < b.count; e++)
      ASSERT_NEAR(got[e], b.doubles[e],
                  allowed_error(op, desc->operands[i].dtype, b.doubles[e], largest))
          << s.operands[i].name << "[" << e << "]";
  }
}

TEST(ApiOps, EveryOperatorMatchesItsDefinition) {
  ASSERT_GT(catalogue().size(), 40u);
  for (const Op& op : catalogue())
    for (const char* dtype : {"f32", "bf16", "f16"}) check_operator(op, dtype);
}

TEST(ApiOps, EveryOperatorIsListed) {
  const auto listed = nereid::operators();
  ASSERT_EQ(listed.size(), catalogue().size());
  for (size_t i = 0; i < listed.size(); i++) {
    const Op& op = catalogue()[i];
    EXPECT_EQ(listed[i].name, op.name);
    EXPECT_EQ(listed[i].attributes.size(), op.numbers.size() + op.choices.size());
    EXPECT_FALSE(listed[i].summary.empty());
  }
}

}  // namespace
}  // namespace nrd
