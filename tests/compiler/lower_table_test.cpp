// SPDX-License-Identifier: MIT
// tests/compiler/lower_table_test.cpp: tables in generated code, of every type and length, under
// indices inside and outside; and quotients that decide a rounding.
#include <cstring>

#include "lower_run.h"
#include "trace/interpret.h"

namespace nrd::jit {
namespace {

template <class T>
constexpr DType kDType = sizeof(T) == 8             ? DType::kF64
                         : std::is_same_v<T, float> ? DType::kF32
                                                    : DType::kI32;

std::string table_line(const std::string& type, int count) {
  std::string line = "table t0 : " + type;
  for (int i = 0; i < count; i++) line += " " + std::to_string((i * 37) % 101 - 50);
  return line + "\n";
}

// out[i] of the trace, by every machine, as the interpreter has it.
template <class In, class Out>
void check(const OpTrace& trace, std::vector<In> x) {
  Binding binding;
  binding.dtypes = {kDType<In>, kDType<Out>};
  for (const int64_t n : {0, 1, 7, 16, 100}) {
    std::vector<Out> want(static_cast<size_t>(n) + 1, Out{77});
    void* pointers[] = {x.data(), want.data()};
    interpret(trace, {pointers, &n, nullptr, nullptr, nullptr, 0});
    for (const Machine& machine : machines()) {
      const auto lowered = lower(trace, binding, machine.target);
      ASSERT_TRUE(lowered) << lowered.error().message();
      const Runnable code(lowered->program, machine);
      std::vector<Out> got(static_cast<size_t>(n) + 1, Out{77});
      ArgumentBlock block(lowered->layout);
      block.set_count(1);
      block.set_range(0, n);
      block.set_pointer(0, x.data());
      block.set_pointer(1, got.data());
      block.set_size(0, n);
      code.run(block);
      EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(Out)), 0)
          << machine.target.isa << " n " << n << "\n"
          << program_text(lowered->program);
    }
  }
}

std::vector<int32_t> indices() {
  std::vector<int32_t> x(100);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<int32_t>(i * 7 % 90) - 8;
  x[3] = INT32_MIN;
  x[4] = INT32_MAX;
  return x;
}

template <class Out>
void check_lookup(const std::string& type, int count, const std::string& index) {
  SCOPED_TRACE(type + " " + std::to_string(count) + " " + index);
  check<int32_t, Out>(parsed("trace f : elementwise\nparam x : in i32\nparam out : out " + type +
                             "\nparam n : size\n" + table_line(type, count) +
                             "for i0 < n {\n%1 = load i32 x[i0]\n" + index + "%9 = lookup " + type +
                             " t0 %2\nstore out[i0] %9\n}\n"),
                      indices());
}

TEST(LowerTable, EveryLengthAndType) {
  for (const int count : {1, 2, 15, 16, 17, 64, 300}) {
    check_lookup<float>("f32", count, "%3 = const i32 0\n%2 = add i32 %1 %3\n");
    check_lookup<int32_t>("i32", count, "%3 = const i32 0\n%2 = add i32 %1 %3\n");
    check_lookup<double>("f64", count, "%3 = const i32 0\n%2 = add i32 %1 %3\n");
    check_lookup<float>("f32", count, "%3 = const i32 15\n%2 = and i32 %1 %3\n");
    check_lookup<float>("f32", count, "%2 = to_i32 (n - i0)\n");
    check_lookup<float>("f32", count, "%2 = to_i32 n\n");
  }
}

// The register lookup keeps its tables apart by their bits.
TEST(LowerTable, ZerosKeepTheirSigns) {
  check<int32_t, float>(parsed(R"(trace f : elementwise
param x : in i32
param out : out f32
param n : size
table t0 : f32 0x0p+0 0x1p+0
table t1 : f32 -0x0p+0 0x1p+0
%1 = const i32 1
for i0 < n {
  %2 = load i32 x[i0]
  %3 = and i32 %1 %2
  %4 = lookup f32 t0 %3
  %5 = lookup f32 t1 %3
  %6 = copysign f32 %4 %5
  store out[i0] %6
}
)"),
                        indices());
}

TEST(LowerTable, AnElementMayBeAnIndex) {
  check<float, float>(parsed(R"(trace f : gather
param x : in f32
param out : out f32
param n : size
table t0 : i32 3 0 2 1
for i0 < n {
  %1 = to_i32 (i0 % 4)
  %2 = lookup i32 t0 %1
  %3 = to_i64 %2
  %4 = load f32 x[%3]
  store out[i0] %4
}
)"),
                      {0.5f, 1.5f, 2.5f, 3.5f});
}

// (x - low) / step + 0.5, rounded down: a multiple of the reciprocal is on the other side.
TEST(LowerTable, QuotientsThatDecideARoundingAreExact) {
  std::vector<float> x(100);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i);
  check<float, int32_t>(parsed(R"(trace f : elementwise
param x : in f32
param out : out i32
param n : size
%1 = const f32 0x1p-1
%2 = const f32 0x1.818182p-6
%3 = to_f32 n
%4 = mul f32 %3 %2
for i0 < n {
  %5 = load f32 x[i0]
  %6 = div f32 %5 %4
  %7 = add f32 %1 %6
  %8 = to_i32 %7
  store out[i0] %8
}
)"),
                        x);
}

}  // namespace
}  // namespace nrd::jit
