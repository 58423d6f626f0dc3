// SPDX-License-Identifier: MIT
// tests/error/packed_error_test.cpp: mistakes with packed matrices, their files and groups.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "nereid/nereid.h"

namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;

nereid_tensor tensor(void* data, nereid_dtype dtype, int rank, const int64_t* sizes) {
  nereid_tensor t{};
  t.struct_size = sizeof t;
  t.data = data;
  t.dtype = dtype;
  t.rank = rank;
  t.sizes = sizes;
  return t;
}

void expect(nereid_status got, nereid_status status, const std::string& op,
            const std::string& argument, const std::string& what, const std::string& allowed) {
  ASSERT_EQ(got, status) << nereid_last_error()->message;
  const nereid_error& e = *nereid_last_error();
  EXPECT_EQ(std::string(e.op), op) << e.message;
  EXPECT_NE(std::string(e.argument).find(argument), std::string::npos) << e.message;
  EXPECT_NE(std::string(e.got).find(what), std::string::npos) << e.message;
  EXPECT_NE(std::string(e.allowed).find(allowed), std::string::npos) << e.message;
}

// c[2,3] = a[2,4] b[4,3], which a test spoils in one place.
struct Spoiled {
  std::vector<float> memory = std::vector<float>(128, 1.0f);
  int64_t a_sizes[2] = {2, 4}, b_sizes[3] = {4, 3, 1}, c_sizes[2] = {2, 3}, n_sizes[1] = {3};
  nereid_tensor a = tensor(&memory[0], NEREID_F32, 2, a_sizes);
  nereid_tensor b = tensor(&memory[16], NEREID_F32, 2, b_sizes);
  nereid_tensor c = tensor(&memory[32], NEREID_F32, 2, c_sizes);
  nereid_tensor bias = tensor(&memory[48], NEREID_F32, 1, n_sizes);
  nereid_tensor residual = tensor(&memory[64], NEREID_F32, 2, c_sizes);
  nereid_epilogue how{};
  nereid_packed* packed = nullptr;

  Spoiled() {
    how.struct_size = sizeof how;
    EXPECT_EQ(nereid_pack_b(nullptr, &b, &packed), NEREID_OK) << nereid_last_error()->message;
  }
  ~Spoiled() { nereid_packed_destroy(packed); }
  nereid_status pack() {
    nereid_packed* again = nullptr;
    const nereid_status status = nereid_pack_b(nullptr, &b, &again);
    nereid_packed_destroy(again);
    return status;
  }
  nereid_status multiply() { return nereid_gemm_packed(nullptr, &a, packed, &c, &how); }
  nereid_status unpack() { return nereid_unpack_b(packed, &b); }
};

constexpr const char *kProduct = "gemm_prepacked", *kScaled = "gemm_prepacked+column_scale",
                     *kAdded = "gemm_prepacked+residual";

TEST(PackedError, TheUnspoiledCallsWork) {
  Spoiled s;
  s.how.bias = s.how.scale = &s.bias;
  s.how.residual = &s.residual;
  s.how.activation = "silu";
  EXPECT_EQ(s.pack(), NEREID_OK) << nereid_last_error()->message;
  EXPECT_EQ(s.multiply(), NEREID_OK) << nereid_last_error()->message;
  EXPECT_EQ(s.unpack(), NEREID_OK) << nereid_last_error()->message;
}

TEST(PackedError, Pack) {
  Spoiled s;
  expect(nereid_pack_b(nullptr, &s.b, nullptr), NEREID_INVALID_ARGUMENT, "pack_b", "packed", "null",
         "");
  nereid_packed* packed = nullptr;
  expect(nereid_pack_b(nullptr, nullptr, &packed), NEREID_INVALID_ARGUMENT, "pack_b", "b", "", "");
  s.b.rank = 3;
  expect(s.pack(), NEREID_SHAPE_MISMATCH, "pack_b", "b", "[4, 3, 1]", "[k, n]");
  s.b.rank = 2;
  s.b.dtype = NEREID_F64;
  expect(s.pack(), NEREID_UNSUPPORTED_DTYPE, "pack_b", "b", "f64", "f32");
  s.b.dtype = NEREID_F32;
  s.b.data = nullptr;
  expect(s.pack(), NEREID_INVALID_ARGUMENT, "pack_b", "b", "null", "12 elements of f32");
}

TEST(PackedError, Sizes) {
  Spoiled s;
  s.b_sizes[0] = -4;
  EXPECT_NE(s.pack(), NEREID_OK);
  EXPECT_NE(std::string(nereid_last_error()->message).find("-4"), std::string::npos);
  for (const auto& [k, n] : {std::pair{kHuge, int64_t{8}}, {int64_t{8}, kHuge}, {kHuge, kHuge}}) {
    s.b_sizes[0] = k, s.b_sizes[1] = n;
    EXPECT_NE(s.pack(), NEREID_OK);
    EXPECT_NE(nereid_last_error()->status, NEREID_INTERNAL) << nereid_last_error()->message;
  }
}

TEST(PackedError, Products) {
  Spoiled s;
  expect(nereid_gemm_packed(nullptr, &s.a, nullptr, &s.c, nullptr), NEREID_INVALID_ARGUMENT,
         kProduct, "b", "null", "nereid_pack_b");
  expect(nereid_gemm_packed(nullptr, nullptr, s.packed, &s.c, nullptr), NEREID_INVALID_ARGUMENT,
         kProduct, "a", "", "");
  s.a_sizes[1] = 5;
  expect(s.multiply(), NEREID_SHAPE_MISMATCH, kProduct, "b", "4", "5");
  s.a_sizes[1] = 4;
  s.c_sizes[1] = 4;
  expect(s.multiply(), NEREID_SHAPE_MISMATCH, kProduct, "c", "4", "3");
  s.c_sizes[1] = 3;
  s.a.dtype = NEREID_F64;
  expect(s.multiply(), NEREID_UNSUPPORTED, kProduct, "operands", "a:f64", "a:float");
  s.a.dtype = NEREID_F32;
  s.c.dtype = NEREID_I32;
  expect(s.multiply(), NEREID_UNSUPPORTED_DTYPE, kProduct, "c", "i32", "");
  s.c.dtype = NEREID_F32;
  s.a.data = nullptr;
  expect(s.multiply(), NEREID_INVALID_ARGUMENT, kProduct, "a", "null", "8 elements of f32");
  s.a.data = reinterpret_cast<char*>(s.memory.data()) + 2;
  expect(s.multiply(), NEREID_INVALID_ARGUMENT, kProduct, "a", "address", "4 bytes");
  s.a.data = &s.memory[30];
  expect(s.multiply(), NEREID_OVERLAP, kProduct, "c", "overlaps 'a'", "disjoint");
  s.a.data = &s.memory[0];
  s.c.flags = NEREID_READ_ONLY;
  expect(s.multiply(), NEREID_INVALID_ARGUMENT, kProduct, "c", "read-only", "");
  s.c.flags = 0;
  const int64_t strides[] = {0, 1};
  s.c.strides = strides;
  expect(s.multiply(), NEREID_OVERLAP, kProduct, "c", "strides [0, 1]", "do not share");
  s.c.strides = nullptr;
  s.a.device = NEREID_CUDA;
  expect(s.multiply(), NEREID_UNSUPPORTED, kProduct, "a", "memory of cuda:0", "memory of cpu");
}

TEST(PackedError, Epilogues) {
  Spoiled s;
  s.how.bias = &s.bias;
  s.n_sizes[0] = 2;
  expect(s.multiply(), NEREID_SHAPE_MISMATCH, "gemm_prepacked+bias", "bias", "[2]", "n = 3");
  s.how.bias = nullptr, s.how.scale = &s.bias;
  expect(s.multiply(), NEREID_SHAPE_MISMATCH, kScaled, "scale", "[2]", "n = 3");
  s.n_sizes[0] = 3;
  s.bias.dtype = NEREID_I32;
  expect(s.multiply(), NEREID_UNSUPPORTED_DTYPE, kScaled, "scale", "i32", "f32, f16, bf16");
  s.bias.dtype = NEREID_F32;
  s.bias.data = nullptr;
  expect(s.multiply(), NEREID_INVALID_ARGUMENT, kScaled, "scale", "null", "3 elements");
  s.bias.data = s.c.data;
  expect(s.multiply(), NEREID_OVERLAP, kScaled, "c", "overlaps 'scale'", "disjoint");
  s.how.scale = nullptr;
  s.how.activation = "softmax";
  expect(s.multiply(), NEREID_UNKNOWN_NAME, kProduct, "activation", "'softmax'", "gelu");
  s.how.activation = nullptr;
  s.how.residual = &s.residual;
  s.residual.data = &s.memory[33];
  expect(s.multiply(), NEREID_OVERLAP, kAdded, "c", "overlaps 'residual'", "exactly");
  s.residual.rank = 1;
  s.residual.sizes = s.n_sizes;
  expect(s.multiply(), NEREID_SHAPE_MISMATCH, kAdded, "residual", "[3]", "[..., m, n]");
  s.how.struct_size = sizeof(nereid_epilogue) + 8;
  expect(s.multiply(), NEREID_INVALID_ARGUMENT, "", "nereid_epilogue", "", "");
}

TEST(PackedError, Tensors) {
  Spoiled s;
  nereid_tensor b{};
  b.struct_size = sizeof b;
  expect(nereid_packed_tensor(nullptr, NEREID_F32, &b), NEREID_INVALID_ARGUMENT, "packed_tensor",
         "packed", "null", "nereid_pack_b");
  expect(nereid_packed_tensor(s.packed, 77, &b), NEREID_UNSUPPORTED_DTYPE, "packed_tensor",
         "a_dtype", "77", "");
  EXPECT_NE(nereid_packed_tensor(s.packed, NEREID_F32, nullptr), NEREID_OK);
  ASSERT_EQ(nereid_packed_tensor(s.packed, NEREID_F32, &b), NEREID_OK);
  const auto run = [&](const nereid_tensor& a, const nereid_tensor& matrix,
                       const nereid_tensor& c) {
    const nereid_operand operands[] = {{"a", &a}, {"b", &matrix}, {"c", &c}};
    nereid_call call{};
    call.struct_size = sizeof call;
    call.op = "gemm";
    call.operands = operands;
    call.operand_count = 3;
    return nereid_run(nullptr, &call);
  };
  EXPECT_EQ(run(s.a, b, s.c), NEREID_OK) << nereid_last_error()->message;
  nereid_tensor wrong = b;
  wrong.form = reinterpret_cast<const nereid_form*>(&s);
  expect(run(s.a, wrong, s.c), NEREID_INVALID_ARGUMENT, "gemm", "b", "a form that does not exist",
         "nereid_packed_tensor");
  if (b.form == nullptr) GTEST_SKIP() << "no generated code here: the matrix lies plain";
  expect(run(b, s.b, s.c), NEREID_SHAPE_MISMATCH, "gemm", "b", "", "");
  wrong = s.c;
  wrong.form = b.form;
  expect(run(s.a, b, wrong), NEREID_INVALID_ARGUMENT, "gemm", "c", "panels", "strides");
  wrong = b;
  wrong.data = static_cast<char*>(b.data) + 4;
  expect(run(s.a, wrong, s.c), NEREID_INVALID_ARGUMENT, "gemm", "b", "address", "64 bytes");
}

// An older caller knows no scale.
TEST(PackedError, OlderEpilogueIsRead) {
  Spoiled s;
  s.how.scale = reinterpret_cast<const nereid_tensor*>(8);
  s.how.struct_size = offsetof(nereid_epilogue, scale);
  EXPECT_EQ(s.multiply(), NEREID_OK) << nereid_last_error()->message;
}

TEST(PackedError, Integers) {
  std::vector<int8_t> w(12, 1), x(8, 1);
  std::vector<int32_t> sums(6);
  const std::vector<float> bias(3);
  const nereid::PackedMatrix p = nereid::pack_b(nereid::TensorView(w, {4, 3}));
  const nereid::TensorView a(x, {2, 4}), c(sums, {2, 3});
  nereid::gemm(a, p, c);
  EXPECT_THROW(nereid::gemm(a, p, c, {.bias = bias}), nereid::KernelError);
  std::vector<float> floats(8);
  EXPECT_THROW(nereid::gemm(nereid::TensorView(floats, {2, 4}), p, c), nereid::KernelError);
}

TEST(PackedError, Unpack) {
  Spoiled s;
  expect(nereid_unpack_b(nullptr, &s.b), NEREID_INVALID_ARGUMENT, "unpack_b", "packed", "null", "");
  s.b_sizes[1] = 4;
  expect(s.unpack(), NEREID_SHAPE_MISMATCH, "unpack_b", "b", "[4, 4]", "[4, 3]");
  s.b_sizes[1] = 3;
  s.b.dtype = NEREID_BF16;
  expect(s.unpack(), NEREID_UNSUPPORTED_DTYPE, "unpack_b", "b", "bf16", "f32");
  s.b.dtype = NEREID_F32;
  s.b.flags = NEREID_READ_ONLY;
  expect(s.unpack(), NEREID_INVALID_ARGUMENT, "unpack_b", "b", "read-only", "");
  s.b.flags = 0;
  s.b.data = nullptr;
  expect(s.unpack(), NEREID_INVALID_ARGUMENT, "unpack_b", "b", "null", "12 elements");
}

// ---- files ----

class PackedFileError : public ::testing::Test {
 protected:
  void SetUp() override {
    const nereid_status saved = nereid_packed_save(s.packed, path.c_str());
    if (saved == NEREID_UNSUPPORTED) GTEST_SKIP() << nereid_last_error()->message;
    ASSERT_EQ(saved, NEREID_OK) << nereid_last_error()->message;
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  ~PackedFileError() override { std::filesystem::remove(path); }

  nereid_status map(const std::string& content, uint32_t flags = 0) {
    std::ofstream(path, std::ios::binary).write(content.data(), std::ssize(content));
    return map_file(path, flags);
  }
  static nereid_status map_file(const std::string& name, uint32_t flags = 0,
                                nereid_context* context = nullptr) {
    nereid_packed* packed = nullptr;
    const nereid_status status = nereid_packed_map(context, name.c_str(), flags, &packed);
    EXPECT_EQ(packed != nullptr, status == NEREID_OK);
    nereid_packed_destroy(packed);
    return status;
  }

  Spoiled s;
  std::string path =
      (std::filesystem::temp_directory_path() / ("nereid_packed_error_" + std::to_string(getpid())))
          .string();
  std::string bytes;
};

constexpr const char* kMap = "packed_map";

TEST_F(PackedFileError, TheUnspoiledFileIsMapped) {
  EXPECT_EQ(map(bytes, NEREID_VERIFY), NEREID_OK) << nereid_last_error()->message;
}

TEST_F(PackedFileError, Arguments) {
  nereid_packed* packed = nullptr;
  expect(nereid_packed_save(nullptr, path.c_str()), NEREID_INVALID_ARGUMENT, "packed_save",
         "packed", "null", "");
  expect(nereid_packed_save(s.packed, nullptr), NEREID_INVALID_ARGUMENT, "packed_save", "path",
         "null", "");
  expect(nereid_packed_save(s.packed, "/no/such/folder/file"), NEREID_ENVIRONMENT, "packed_save",
         "/no/such/folder/file", "No such file", "");
  expect(nereid_packed_map(nullptr, nullptr, 0, &packed), NEREID_INVALID_ARGUMENT, kMap, "path",
         "null", "");
  expect(nereid_packed_map(nullptr, path.c_str(), 0, nullptr), NEREID_INVALID_ARGUMENT, kMap,
         "packed", "null", "");
  expect(map_file(path, 6), NEREID_INVALID_ARGUMENT, kMap, "flags", "6", "NEREID_VERIFY");
  expect(map_file("/no/such/file"), NEREID_ENVIRONMENT, kMap, "/no/such/file", "No such file", "");
  expect(map_file("/"), NEREID_INVALID_ARGUMENT, kMap, "/", "a folder", "a regular file");
}

TEST_F(PackedFileError, OtherFiles) {
  expect(map(""), NEREID_INVALID_ARGUMENT, kMap, path, "not a packed matrix", "");
  expect(map("GGUF and so on, long enough to hold a header of ours, in the hope that nobody reads "
             "beyond what there is"),
         NEREID_INVALID_ARGUMENT, kMap, path, "not a packed matrix", "nereid_packed_save");
}

TEST_F(PackedFileError, TruncatedFiles) {
  for (size_t length : {size_t{8}, size_t{20}, size_t{60}, size_t{103}}) {
    expect(map(bytes.substr(0, length)), NEREID_INVALID_ARGUMENT, kMap, path, "truncated header",
           "undamaged");
  }
  for (size_t length : {size_t{104}, size_t{4095}, size_t{4096}, bytes.size() - 1}) {
    expect(map(bytes.substr(0, length)), NEREID_INVALID_ARGUMENT, kMap, path,
           std::to_string(length) + " bytes", std::to_string(bytes.size()) + " bytes");
  }
}

TEST_F(PackedFileError, OtherVersionAndByteOrder) {
  std::string other = bytes;
  other[8] = 99;
  expect(map(other), NEREID_UNSUPPORTED, kMap, path, "version 99", "version 1");
  other = bytes;
  std::swap(other[12], other[15]);
  std::swap(other[13], other[14]);
  expect(map(other), NEREID_UNSUPPORTED, kMap, path, "byte order", "");
}

// Whatever byte of the header is changed however: an error that is the file's, never a crash.
TEST_F(PackedFileError, NoByteOfTheHeaderMayChange) {
  for (size_t at = 0; at < 104; at++) {
    for (int flip : {1, 0x80, 0xff}) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ flip);
      const nereid_status status = map(other);
      EXPECT_TRUE(status == NEREID_INVALID_ARGUMENT || status == NEREID_UNSUPPORTED)
          << at << ": " << status;
    }
  }
}

TEST_F(PackedFileError, PanelsAreVerifiedWhereAsked) {
  for (size_t at : {size_t{4096}, (4096 + bytes.size()) / 2, bytes.size() - 1}) {
    std::string other = bytes;
    other.at(at) = static_cast<char>(other.at(at) ^ 4);
    EXPECT_EQ(map(other), NEREID_OK);
    expect(map(other, NEREID_VERIFY), NEREID_INVALID_ARGUMENT, kMap, path, "checksum", "undamaged");
  }
}

TEST_F(PackedFileError, AnotherIsa) {
  const std::string own =
      nereid::pack_b(nereid::TensorView(s.memory).slice(0, 0, 12).reshape({4, 3})).info().isa;
  if (own.rfind("avx512", 0) != 0) GTEST_SKIP() << "needs AVX-512, this is " << own;
  nereid_context_options options{};
  options.struct_size = sizeof options;
  options.isa = "avx2";
  nereid_context* narrow = nullptr;
  ASSERT_EQ(nereid_context_create(&options, &narrow), NEREID_OK);
  EXPECT_EQ(map_file(path, 0, narrow), NEREID_UNSUPPORTED);
  EXPECT_NE(std::string(nereid_last_error()->got).find("avx512"), std::string::npos);
  EXPECT_NE(std::string(nereid_last_error()->allowed).find("avx2"), std::string::npos);
  expect(nereid_gemm_packed(narrow, &s.a, s.packed, &s.c, nullptr), NEREID_UNSUPPORTED, kProduct,
         "packed", "avx512", "avx2");
  nereid_context_destroy(narrow);
}

// ---- groups ----

TEST(GroupError, Items) {
  Spoiled s, t;
  nereid_group_item items[] = {{&s.a, s.packed, &s.c, nullptr}, {&t.a, t.packed, &t.c, nullptr}};
  EXPECT_EQ(nereid_gemm_grouped(nullptr, items, 2, 0), NEREID_OK) << nereid_last_error()->message;
  constexpr const char* kOp = "gemm_grouped";
  expect(nereid_gemm_grouped(nullptr, nullptr, 2, 0), NEREID_INVALID_ARGUMENT, kOp, "items", "null",
         "");
  expect(nereid_gemm_grouped(nullptr, items, -1, 0), NEREID_INVALID_ARGUMENT, kOp, "count", "-1",
         "0 or more");
  expect(nereid_gemm_grouped(nullptr, items, 2, -1), NEREID_INVALID_ARGUMENT, kOp, "threads", "-1",
         "");
  items[1].b = nullptr;
  expect(nereid_gemm_grouped(nullptr, items, 2, 0), NEREID_INVALID_ARGUMENT, kOp, "b of product 1",
         "null", "nereid_pack_b");
  items[1].b = t.packed;
  t.a_sizes[1] = 5;
  expect(nereid_gemm_grouped(nullptr, items, 2, 0), NEREID_SHAPE_MISMATCH, kProduct, "of product 1",
         "", "");
  t.a_sizes[1] = 4;
  t.c.data = s.c.data;
  expect(nereid_gemm_grouped(nullptr, items, 2, 0), NEREID_OVERLAP, kOp, "c of product",
         "'c' of product", "disjoint");
  t.c.data = &s.memory[4];
  expect(nereid_gemm_grouped(nullptr, items, 2, 0), NEREID_OVERLAP, kOp, "c of product 1",
         "'a' of product 0", "disjoint");
}

}  // namespace
