// SPDX-License-Identifier: MIT
// tests/unit/bind_test.cpp: binding operands: shapes, leading axes, dtypes, cost, and errors.
#include <gtest/gtest.h>

#include "ops/desc.h"

namespace nrd {
namespace {

NamedOperand operand(const char* name, Dims sizes, DType dtype = DType::kF32) {
  return {name, {.dtype = dtype, .sizes = sizes, .strides = contiguous_strides(sizes)}};
}

TEST(Bind, InfersOutputsAndAxes) {
  Expected<Desc> d = bind(**find_op("rms_norm"), {}, {operand("x", {4, 64}), operand("w", {64})});
  ASSERT_TRUE(d) << d.error().message();
  EXPECT_EQ(d->operands[2].sizes, (Dims{4, 64}));
  EXPECT_EQ(d->shape_text(), "rows=4,cols=64");
  EXPECT_EQ(d->dtype_text(), "f32");
}

TEST(Bind, LeadingAxesBroadcast) {
  Expected<Desc> d =
      bind(**find_op("rms_norm"), {}, {operand("x", {2, 3, 4, 64}), operand("w", {64})});
  ASSERT_TRUE(d) << d.error().message();
  EXPECT_EQ(d->leading, (Dims{2, 3}));
  EXPECT_EQ(d->operands[2].sizes, (Dims{2, 3, 4, 64}));
  EXPECT_FALSE(bind(**find_op("vec_add"), {}, {operand("x", {2, 8}), operand("y", {3, 8})}));
  EXPECT_TRUE(bind(**find_op("vec_add"), {}, {operand("x", {2, 8}), operand("y", {8})}));
}

TEST(Bind, MixedDtypesAreNamedInOrder) {
  Expected<Desc> d =
      bind(**find_op("rms_norm"), {}, {operand("x", {4, 64}, DType::kBF16), operand("w", {64})});
  ASSERT_TRUE(d);
  EXPECT_EQ(d->dtype_text(), "bf16,f32->bf16");
}

void expect_error(const Expected<Desc>& d, ErrorCode code, std::vector<std::string> parts) {
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().code, code) << d.error().message();
  for (const std::string& part : parts)
    EXPECT_NE(d.error().message().find(part), std::string::npos)
        << part << " is not in: " << d.error().message();
}

TEST(Bind, ErrorsNameTheOperatorTheArgumentAndWhatIsAllowed) {
  const Op& op = **find_op("rms_norm");
  expect_error(bind(op, {}, {operand("x", {4, 64}), operand("w", {63})}), ErrorCode::kShapeMismatch,
               {"rms_norm", "w", "[63]", "cols = 64"});
  expect_error(bind(op, {}, {operand("x", {4, 64})}), ErrorCode::kInvalidArgument,
               {"rms_norm", "w"});
  expect_error(bind(op, {}, {operand("x", {4, 64}, DType::kI8), operand("w", {64})}),
               ErrorCode::kUnsupportedDtype, {"rms_norm", "x", "i8", "f32, f16, bf16"});
  expect_error(bind(op, {{"epz", 1.0}}, {operand("x", {4, 64}), operand("w", {64})}),
               ErrorCode::kUnknownName, {"rms_norm", "epz", "eps", "cast"});
  expect_error(
      bind(op, {{"cast", std::string("never")}}, {operand("x", {4, 64}), operand("w", {64})}),
      ErrorCode::kInvalidArgument, {"cast", "never", "before_weight"});
  expect_error(bind(op, {}, {operand("x", {4, 64}), operand("w", {64}), operand("z", {64})}),
               ErrorCode::kUnknownName, {"rms_norm", "z"});
  expect_error(bind(op, {}, {operand("x", {-4, 64}), operand("w", {64})}),
               ErrorCode::kShapeMismatch, {"rms_norm", "x", "[-4, 64]"});
  expect_error(
      bind(op, {}, {operand("x", {int64_t{1} << 40, int64_t{1} << 40}), operand("w", {64})}),
      ErrorCode::kShapeMismatch, {"rms_norm", "x"});
  expect_error(bind(op, {}, {operand("x", {}), operand("w", {64})}), ErrorCode::kShapeMismatch,
               {"rms_norm", "x"});
}

TEST(Bind, OddHeadsAreRefused) {
  CaseRequest r;
  r.sizes = {{"tokens", 2}, {"heads", 3}, {"head_dim", 7}};
  expect_error(bind_case(**find_op("rope"), r), ErrorCode::kShapeMismatch,
               {"rope", "head_dim", "even"});
  r.sizes = {{"batch", 1}, {"seq", 2}, {"hidden", 100}, {"head_dim", 64}};
  expect_error(bind_case(**find_op("rmsnorm_rope"), r), ErrorCode::kShapeMismatch,
               {"rmsnorm_rope", "hidden", "multiple of head_dim"});
}

TEST(Bind, CaseKeysAreChecked) {
  CaseRequest r;
  r.sizes = {{"rows", 2}, {"colls", 3}};
  expect_error(bind_case(**find_op("softmax"), r), ErrorCode::kUnknownName,
               {"softmax", "colls", "rows,cols"});
  r.sizes = {{"rows", 2}};
  expect_error(bind_case(**find_op("softmax"), r), ErrorCode::kInvalidArgument,
               {"softmax", "cols"});
  r.sizes = {{"rows", 2}, {"cols", 3}};
  r.dtypes = "f99";
  expect_error(bind_case(**find_op("softmax"), r), ErrorCode::kUnknownName, {"f99"});
  r.dtypes = "f32,f32,f32";
  EXPECT_FALSE(bind_case(**find_op("softmax"), r));
}

TEST(Pointers, NullMisalignedAndOverlapping) {
  Expected<Desc> d = bind(**find_op("gemm"), {}, {operand("a", {2, 3}), operand("b", {3, 4})});
  ASSERT_TRUE(d);
  std::vector<float> memory(64);
  float* m = memory.data();
  auto check = [&](void* a, void* b, void* c) {
    void* pointers[] = {a, b, c};
    return check_pointers(*d, pointers);
  };
  EXPECT_TRUE(check(m, m + 16, m + 32));
  EXPECT_EQ(check(nullptr, m + 16, m + 32).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(check(reinterpret_cast<char*>(m) + 1, m + 16, m + 32).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(check(m, m + 16, m + 4).error().code, ErrorCode::kOverlap);
  // In place is allowed for an elementwise operator on the same elements, and only there.
  Expected<Desc> e = bind(**find_op("silu"), {}, {operand("x", {8})});
  void* same[] = {m, m};
  void* shifted[] = {m, m + 1};
  EXPECT_TRUE(check_pointers(*e, same));
  EXPECT_FALSE(check_pointers(*e, shifted));
}

TEST(Cost, CountsOperandsOnce) {
  CaseRequest r;
  r.sizes = {{"m", 2}, {"n", 3}, {"k", 4}};
  Cost c = cost(*bind_case(**find_op("gemm"), r));
  EXPECT_EQ(c.flops, 2 * 2 * 3 * 4);
  EXPECT_EQ(c.bytes_read, 4 * (2 * 4 + 4 * 3));
  EXPECT_EQ(c.bytes_written, 4 * 2 * 3);
  CaseRequest e;
  e.sizes = {{"vocab", 1000}, {"dim", 8}, {"tokens", 5}};
  EXPECT_EQ(cost(*bind_case(**find_op("embedding"), e)).bytes_read, 4 * 5 * 8 + 4 * 5);
}

}  // namespace
}  // namespace nrd
