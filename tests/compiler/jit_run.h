// SPDX-License-Identifier: MIT
// tests/compiler/jit_run.h: compiles a program and holds it against the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/convert.h"
#include "jit/code.h"
#include "jit/ir.h"
#include "jit_interpreter.h"

namespace nrd::jit {

// The argument block of test programs.
struct Block {
  const Helper* helpers = nullptr;
  const void* in[3] = {};
  void* out[2] = {};
  int64_t number[4] = {};
};
constexpr int64_t kInOffset = 8, kOutOffset = 32, kNumberOffset = 48;

inline G load_word(Builder& b, int64_t offset) { return b.gload({b.block(), {}, 1, offset}); }
inline G in_pointer(Builder& b, int index) { return load_word(b, kInOffset + 8 * index); }
inline G out_pointer(Builder& b, int index = 0) { return load_word(b, kOutOffset + 8 * index); }
inline G number(Builder& b, int index) { return load_word(b, kNumberOffset + 8 * index); }

// Whether two elements are the same bits, or NaNs of the same sign (payloads are not promised).
inline bool same_element(const void* x, const void* y, DType dtype) {
  uint64_t a = 0, b = 0;
  std::memcpy(&a, x, byte_size(dtype));
  std::memcpy(&b, y, byte_size(dtype));
  if (a == b) return true;
  if (!is_float(dtype)) return false;
  const double u = decode(a, dtype), v = decode(b, dtype);
  return u != u && v != v;
}

inline ::testing::AssertionResult same_elements(const void* expected, const void* got, size_t count,
                                                DType dtype) {
  const size_t size = byte_size(dtype);
  for (size_t i = 0; i < count; i++) {
    const char* x = static_cast<const char*>(expected) + i * size;
    const char* y = static_cast<const char*>(got) + i * size;
    if (same_element(x, y, dtype)) continue;
    uint64_t a = 0, b = 0;
    std::memcpy(&a, x, size);
    std::memcpy(&b, y, size);
    return ::testing::AssertionFailure()
           << "element " << i << ": expected 0x" << std::hex << a << ", got 0x" << b;
  }
  return ::testing::AssertionSuccess();
}

struct Compiled {
  std::shared_ptr<const Code> code;
  int spills = 0;
  void run(const Block& block) const { code->entry()(&block); }
};

// Every program of every test passes here: it must verify, and all of its code must decode.
inline Compiled compile(const Program& program, const Target& target) {
  Compiled made;
  EXPECT_EQ(verify_program(program), "") << program_text(program);
  const auto bytes = encode(program, target, &made.spills);
  if (!bytes) {
    ADD_FAILURE() << bytes.error().message() << "\n" << program_text(program);
    return made;
  }
  const std::string text = disassemble(bytes->data(), bytes->size());
  EXPECT_EQ(text.find(".byte"), std::string::npos) << text;
  auto code = make_code(program.name, *bytes);
  if (!code) {
    ADD_FAILURE() << code.error().message();
    return made;
  }
  made.code = *code;
  return made;
}

// The targets of this machine; a test of one that is missing is skipped.
class JitTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const Target* target : targets(detect_isa())) {
      if (target->isa == GetParam()) target_ = target;
    }
    if (target_ == nullptr) GTEST_SKIP() << "this machine cannot run " << GetParam();
  }
  const Target& target() const { return *target_; }

 private:
  const Target* target_ = nullptr;
};

#if defined(__x86_64__)
constexpr const char* kIsas[] = {"avx2", "avx512"};
#else
constexpr const char* kIsas[] = {"neon"};
#endif

#define NRD_FOR_EACH_ISA(suite)                                 \
  INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn(kIsas), \
                           [](const auto& info) { return std::string(info.param); })

}  // namespace nrd::jit
