// SPDX-License-Identifier: MIT
// tests/error/api_error_test.cpp: every mistake of a caller has a status and a message that names
// operator, argument, what came and what is allowed.
#include <gtest/gtest.h>

#include <limits>

#include "nereid/nereid.h"

namespace {

constexpr int64_t kHuge = int64_t{1} << 40;

// A silu or rms_norm call that a test spoils in one place.
struct Spoiled {
  std::vector<float> memory = std::vector<float>(64, 1.0f);
  int64_t sizes[NEREID_MAX_RANK + 1] = {2, 8, 1, 1, 1, 1, 1, 1, 1};
  int64_t w_size[1] = {8};
  nereid_tensor x = tensor(0, 2, sizes), w = tensor(16, 1, w_size), out = tensor(32, 2, sizes);
  nereid_operand operands[3] = {{"x", &x}, {"w", &w}, {"out", &out}};
  nereid_attribute attributes[1] = {{"eps", nullptr, 1e-5}};
  nereid_call call{};

  Spoiled() {
    call.struct_size = sizeof call;
    call.op = "rms_norm";
    call.operands = operands;
    call.operand_count = 3;
    call.attributes = attributes;
    call.attribute_count = 1;
  }
  nereid_tensor tensor(size_t offset, int rank, const int64_t* shape) {
    nereid_tensor t{};
    t.struct_size = sizeof t;
    t.data = memory.data() + offset;
    t.dtype = NEREID_F32;
    t.rank = rank;
    t.sizes = shape;
    return t;
  }

  // Every part that is given must be in that part of the error, and all of them in the message.
  void expect(nereid_status status, const std::string& argument, const std::string& got,
              const std::string& allowed, const std::string& op = "rms_norm") {
    ASSERT_EQ(nereid_run(nullptr, &call), status) << nereid_last_error()->message;
    const nereid_error& e = *nereid_last_error();
    EXPECT_EQ(e.status, status);
    EXPECT_EQ(std::string(e.op), op) << e.message;
    EXPECT_NE(std::string(e.argument).find(argument), std::string::npos) << e.message;
    EXPECT_NE(std::string(e.got).find(got), std::string::npos) << e.message;
    EXPECT_NE(std::string(e.allowed).find(allowed), std::string::npos) << e.message;
    for (const char* part : {e.op, e.argument, e.got, e.allowed, e.hint})
      EXPECT_NE(std::string(e.message).find(part), std::string::npos) << e.message;
  }
};

TEST(ApiError, TheUnspoiledCallWorks) {
  Spoiled s;
  EXPECT_EQ(nereid_run(nullptr, &s.call), NEREID_OK) << nereid_last_error()->message;
}

TEST(ApiError, UnknownNames) {
  {
    Spoiled s;
    s.call.op = "rms_nrom";
    s.expect(NEREID_UNKNOWN_NAME, "operator", "'rms_nrom'", "nereid ops", "");
    EXPECT_NE(std::string(nereid_last_error()->hint).find("rms_norm"), std::string::npos);
  }
  {
    Spoiled s;
    s.attributes[0].name = "epsilon";
    s.expect(NEREID_UNKNOWN_NAME, "epsilon", "", "eps");
  }
  {
    Spoiled s;
    s.operands[1].name = "weight";
    s.expect(NEREID_UNKNOWN_NAME, "weight", "", "x, w, out");
  }
  {
    Spoiled s;
    s.call.backend = "gpu";
    s.expect(NEREID_UNKNOWN_NAME, "backend", "'gpu'", "cpu");
  }
}

// A message is one line of text, whatever came.
TEST(ApiError, WhatCameIsPrintable) {
  Spoiled s;
  s.call.op = "si\nlu\x1b[31m\xff\xc3\xa4";
  s.expect(NEREID_UNKNOWN_NAME, "operator", "'si\\x0alu\\x1b[31m\\xff\xc3\xa4'", "nereid ops", "");
  const std::string endless(1 << 20, 'a');
  s.call.op = endless.c_str();
  s.expect(NEREID_UNKNOWN_NAME, "operator", "...", "nereid ops", "");
  EXPECT_LT(std::string(nereid_last_error()->message).size(), 5000u);
}

TEST(ApiError, AttributeValues) {
  Spoiled s;
  s.attributes[0] = {"cast", "sometimes", 0};
  s.expect(NEREID_INVALID_ARGUMENT, "cast", "'sometimes'", "after_weight, before_weight");
  s.attributes[0] = {"eps", "small", 0};
  s.expect(NEREID_INVALID_ARGUMENT, "eps", "'small'", "a number");
}

// Whichever variant was meant, it needs this operand.
TEST(ApiError, AnOperandOfEveryVariant) {
  const std::vector<float> b(12);
  try {
    nereid::fp8_gemm({}, nereid::TensorView(b, {4, 3}));
    ADD_FAILURE() << "accepted";
  } catch (const nereid::KernelError& e) {
    EXPECT_EQ(e.error().argument, "a") << e.what();
    EXPECT_EQ(e.error().got, "nothing") << e.what();
  }
}

TEST(ApiError, Operands) {
  {
    Spoiled s;
    s.operands[1].tensor = nullptr;
    s.expect(NEREID_INVALID_ARGUMENT, "w", "nothing", "a tensor");
  }
  {
    Spoiled s;
    s.operands[1] = s.operands[0];
    s.expect(NEREID_INVALID_ARGUMENT, "x", "two tensors", "one tensor");
  }
  {
    Spoiled s;
    s.operands[2].tensor = nullptr;  // outputs are the caller's memory
    s.expect(NEREID_INVALID_ARGUMENT, "out", "null", "16 elements of f32");
  }
}

TEST(ApiError, Dtypes) {
  Spoiled s;
  s.w.dtype = NEREID_I32;
  s.expect(NEREID_UNSUPPORTED_DTYPE, "w", "i32", "f32, f16, bf16");
  s.w.dtype = 77;
  s.expect(NEREID_UNSUPPORTED_DTYPE, "w", "77", "bf16");
}

TEST(ApiError, Shapes) {
  {
    Spoiled s;
    s.w_size[0] = 7;
    s.expect(NEREID_SHAPE_MISMATCH, "w", "[7]", "8");
  }
  {
    Spoiled s;
    s.sizes[0] = -2;
    s.expect(NEREID_SHAPE_MISMATCH, "x", "[-2, 8]", "0 or more");
  }
  {
    Spoiled s;
    s.x.rank = 9;
    s.expect(NEREID_SHAPE_MISMATCH, "x", "9 axes", "0 to 8 axes");
  }
  {
    Spoiled s;
    s.x.rank = 1;
    s.expect(NEREID_SHAPE_MISMATCH, "x", "[2]", "rows, cols");
  }
  {
    Spoiled s;  // the product of the sizes leaves 64 bits
    const int64_t huge[] = {kHuge, kHuge};
    s.x.sizes = huge;
    s.expect(NEREID_SHAPE_MISMATCH, "x", "[1099511627776, 1099511627776]", "2^63");
  }
}

TEST(ApiError, Pointers) {
  {
    Spoiled s;
    s.x.data = nullptr;
    s.expect(NEREID_INVALID_ARGUMENT, "x", "a null pointer", "16 elements of f32");
  }
  {
    Spoiled s;
    s.x.data = reinterpret_cast<char*>(s.memory.data()) + 2;
    s.expect(NEREID_INVALID_ARGUMENT, "x", "address", "multiple of 4 bytes");
  }
  {
    Spoiled s;
    s.x.sizes = nullptr;
    s.expect(NEREID_INVALID_ARGUMENT, "x", "null sizes", "2 sizes");
  }
}

TEST(ApiError, Overlap) {
  {
    Spoiled s;
    s.out.data = s.memory.data() + 4;
    s.expect(NEREID_OVERLAP, "out", "overlaps 'x'", "disjoint");
  }
  {
    Spoiled s;  // rows of an output on top of each other
    const int64_t strides[] = {0, 1};
    s.out.strides = strides;
    s.expect(NEREID_OVERLAP, "out", "strides [0, 1]", "do not share memory");
  }
  {
    Spoiled s;
    const int64_t strides[] = {std::numeric_limits<int64_t>::min(), 1};
    s.out.strides = strides;
    s.expect(NEREID_SHAPE_MISMATCH, "out", "strides [-9223372036854775808, 1]", "2^62");
  }
}

TEST(ApiError, ReadOnlyOutputs) {
  Spoiled s;
  s.out.flags = NEREID_READ_ONLY;
  s.expect(NEREID_INVALID_ARGUMENT, "out", "read-only", "written");
  const std::vector<float> x(4), y(4);
  EXPECT_THROW(nereid::silu(x, y), nereid::KernelError);
}

TEST(ApiError, IndicesOutsideTheirTable) {
  const std::vector<float> table(12);
  std::vector<float> out(6);
  for (int32_t bad : {4, -1}) {
    const std::vector<int32_t> ids = {0, bad};
    try {
      nereid::embedding(nereid::TensorView(table, {4, 3}), ids, nereid::TensorView(out, {2, 3}));
      FAIL() << bad;
    } catch (const nereid::KernelError& e) {
      EXPECT_EQ(e.error().argument, "ids");
      EXPECT_EQ(e.error().allowed, "0 to 3");
      EXPECT_EQ(e.error().got, std::to_string(bad) + " at element 1");
    }
  }
}

TEST(ApiError, StructSizes) {
  for (uint32_t size : {0u, static_cast<uint32_t>(sizeof(nereid_call)) + 8}) {
    Spoiled s;
    s.call.struct_size = size;
    s.expect(NEREID_INVALID_ARGUMENT, "nereid_call.struct_size", std::to_string(size), "1 to", "");
    s.call.struct_size = sizeof s.call;
    s.x.struct_size = size ? static_cast<uint32_t>(sizeof s.x) + 8 : 0;
    s.expect(NEREID_INVALID_ARGUMENT, "x: nereid_tensor.struct_size", "", "1 to");
  }
}

TEST(ApiError, CallsThatAreNotCalls) {
  EXPECT_EQ(nereid_run(nullptr, nullptr), NEREID_INVALID_ARGUMENT);
  Spoiled s;
  s.call.op = nullptr;
  s.expect(NEREID_INVALID_ARGUMENT, "op", "null", "name", "");
  s.call.op = "rms_norm";
  s.call.operand_count = -1;
  s.expect(NEREID_INVALID_ARGUMENT, "operand_count", "-1", "0 to");
  s.call.operand_count = 3;
  s.call.operands = nullptr;
  s.expect(NEREID_INVALID_ARGUMENT, "operands", "null", "3 elements");
  s.call.operands = s.operands;
  s.operands[0].name = nullptr;
  s.expect(NEREID_INVALID_ARGUMENT, "operands[0].name", "null", "name");
  s.operands[0].name = "x";
  s.call.threads = -3;
  s.expect(NEREID_INVALID_ARGUMENT, "threads", "-3", "0 or more");
}

TEST(ApiError, Devices) {
  Spoiled s;
  s.w.device = NEREID_CUDA;
  s.expect(NEREID_INVALID_ARGUMENT, "w", "memory of cuda:0", "memory of cpu, where 'x' is");
  s.w.device = 9;
  s.expect(NEREID_INVALID_ARGUMENT, "w", "9", "cpu");
  s.x.device = s.w.device = s.out.device = NEREID_CUDA;
  s.w.device_index = 1;
  s.expect(NEREID_INVALID_ARGUMENT, "w", "memory of cuda:1", "memory of cuda:0, where 'x' is");
  s.w.device_index = -1;
  s.expect(NEREID_INVALID_ARGUMENT, "w", "device_index -1", "0 or more");
  s.w.device_index = 0;
  s.call.backend = "cpu";
  s.expect(NEREID_UNSUPPORTED, "device of the operands", "cuda:0", "cpu, as the backend is cpu");
}

// Where no GPU answers, CUDA operands are refused with the reason and the CPU goes on.
TEST(ApiError, NoGpu) {
  int32_t count = -1;
  const nereid_status asked = nereid_device_count(NEREID_CUDA, &count);
  if (asked == NEREID_OK && count > 0) GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_EQ(count, 0);
  const std::string why = nereid_last_error()->message;
  Spoiled s;
  s.x.device = s.w.device = s.out.device = NEREID_CUDA;
  ASSERT_NE(nereid_run(nullptr, &s.call), NEREID_OK);
  if (asked != NEREID_OK) {
    EXPECT_NE(std::string(nereid_last_error()->message).find(why), why.npos)
        << nereid_last_error()->message;
  }
  void* memory = &s;
  EXPECT_NE(nereid_device_allocate(NEREID_CUDA, 0, 64, &memory), NEREID_OK);
  EXPECT_EQ(memory, nullptr);
  EXPECT_NE(nereid_copy(&s.x, &s.out), NEREID_OK);
  EXPECT_NE(nereid_stream_synchronize(NEREID_CUDA, 0, nullptr), NEREID_OK);
  nereid_device_info info{};
  info.struct_size = sizeof info;
  EXPECT_NE(nereid_describe_device(NEREID_CUDA, 0, &info), NEREID_OK);
  nereid_device_release(NEREID_CUDA, 0, nullptr);
  const char* text = nullptr;
  ASSERT_EQ(nereid_explain(nullptr, &s.call, &text), NEREID_OK);
  EXPECT_NE(std::string(text).find("cuda: "), std::string::npos) << text;
  s.x.device = s.w.device = s.out.device = NEREID_CPU;
  EXPECT_EQ(nereid_run(nullptr, &s.call), NEREID_OK) << nereid_last_error()->message;
}

TEST(ApiError, DeviceFunctions) {
  int32_t count = 0;
  EXPECT_EQ(nereid_device_count(NEREID_CPU, &count), NEREID_OK);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(nereid_device_count(7, &count), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_device_count(NEREID_CPU, nullptr), NEREID_INVALID_ARGUMENT);
  void* memory = nullptr;
  EXPECT_EQ(nereid_device_allocate(NEREID_CUDA, -1, 64, &memory), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_device_allocate(NEREID_CPU, 0, 64, nullptr), NEREID_INVALID_ARGUMENT);
  ASSERT_EQ(nereid_device_allocate(NEREID_CPU, 0, 64, &memory), NEREID_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  nereid_device_release(NEREID_CPU, 0, memory);
  nereid_device_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(nereid_describe_device(NEREID_CPU, 0, &info), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_stream_synchronize(NEREID_CPU, 0, nullptr), NEREID_OK);
}

TEST(ApiError, Copies) {
  Spoiled s;
  EXPECT_EQ(nereid_copy(&s.x, &s.out), NEREID_OK) << nereid_last_error()->message;
  const auto expect = [](nereid_status got, nereid_status status, const char* part) {
    EXPECT_EQ(got, status);
    EXPECT_NE(std::string(nereid_last_error()->message).find(part), std::string::npos)
        << nereid_last_error()->message;
  };
  expect(nereid_copy(nullptr, &s.out), NEREID_INVALID_ARGUMENT, "from: nereid_tensor");
  expect(nereid_copy(&s.x, &s.w), NEREID_SHAPE_MISMATCH, "to: got shape");
  expect(nereid_copy(&s.x, &s.x), NEREID_OVERLAP, "overlaps 'from'");
  s.out.flags = NEREID_READ_ONLY;
  expect(nereid_copy(&s.x, &s.out), NEREID_INVALID_ARGUMENT, "read-only");
  s.out.flags = 0;
  s.out.dtype = NEREID_BF16;
  expect(nereid_copy(&s.x, &s.out), NEREID_UNSUPPORTED_DTYPE, "to: got bf16, allowed: f32");
  s.out.dtype = NEREID_F32;
  s.out.data = nullptr;
  expect(nereid_copy(&s.x, &s.out), NEREID_INVALID_ARGUMENT, "a null pointer");
  const int64_t strides[] = {1, 2};
  s.x.strides = strides;
  expect(nereid_copy_on(&s.x, &s.out, nullptr), NEREID_SHAPE_MISMATCH, "a contiguous tensor");
}

TEST(ApiError, Plans) {
  Spoiled s;
  nereid_plan* plan = nullptr;
  ASSERT_EQ(nereid_prepare(nullptr, &s.call, &plan), NEREID_OK);
  void* data[] = {s.x.data, s.w.data, s.out.data};
  EXPECT_EQ(nereid_plan_run(plan, data, 2, nullptr, 0, 0), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error()->argument, "count");
  EXPECT_EQ(nereid_plan_run(plan, nullptr, 3, nullptr, 0, 0), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_plan_run(plan, data, 3, s.memory.data() + 1, 1 << 20, 0),
            NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error()->argument, "workspace");
  EXPECT_EQ(nereid_plan_run(nullptr, data, 3, nullptr, 0, 0), NEREID_INVALID_ARGUMENT);
  nereid_plan_destroy(plan);
  s.w.flags = NEREID_CONSTANT;
  s.w.data = nullptr;
  EXPECT_EQ(nereid_prepare(nullptr, &s.call, &plan), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error()->argument, "w");
}

TEST(ApiError, ContextOptions) {
  nereid_context* context = nullptr;
  nereid_context_options options{};
  EXPECT_EQ(nereid_context_create(&options, &context), NEREID_INVALID_ARGUMENT);  // no size
  options.struct_size = sizeof options;
  options.isa = "avx9000";
  EXPECT_NE(nereid_context_create(&options, &context), NEREID_OK);
  EXPECT_NE(std::string(nereid_last_error()->message).find("avx9000"), std::string::npos);
  options.isa = nullptr;
  options.threads = -1;
  EXPECT_EQ(nereid_context_create(&options, &context), NEREID_INVALID_ARGUMENT);
  options.threads = 0;
  options.backend = "nothing";
  EXPECT_EQ(nereid_context_create(&options, &context), NEREID_UNKNOWN_NAME);
  EXPECT_EQ(nereid_push_backend(nullptr, "nothing"), NEREID_UNKNOWN_NAME);
  nereid_context_destroy(nullptr);
  nereid_context_destroy(nereid_default_context());  // the default one stays
  Spoiled s;
  EXPECT_EQ(nereid_run(nullptr, &s.call), NEREID_OK);
}

TEST(ApiError, Views) {
  std::vector<float> x(6);
  EXPECT_THROW(nereid::TensorView(x, {2, 4}), nereid::ShapeMismatchError);
  EXPECT_THROW(nereid::TensorView(x).t(), nereid::ShapeMismatchError);
  EXPECT_THROW(nereid::TensorView(x).slice(0, 2, 9), nereid::ShapeMismatchError);
  EXPECT_EQ(nereid::TensorView(x).slice(0, 1, 6, std::numeric_limits<int64_t>::max()).size(0), 1);
  EXPECT_EQ(nereid::TensorView(x).slice(0, 1, 6, 2).size(0), 3);
  EXPECT_EQ(nereid::TensorView(x).slice(0, 6, 6).size(0), 0);
  EXPECT_THROW(nereid::TensorView(x, {2, 3}).t().reshape({6}), nereid::ShapeMismatchError);
  EXPECT_THROW(nereid::TensorView(x.data(), {1, 1, 1, 1, 1, 1, 1, 1, 6}),
               nereid::ShapeMismatchError);
}

}  // namespace
