// SPDX-License-Identifier: MIT
// tests/compiler/signature_test.cpp: signatures as text and from types; calls by signature.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lift/call.h"
#include "lift/template.h"

namespace nrd::lift {
namespace {

std::string normal(std::string_view text) {
  Expected<CSignature> signature = parse_signature(text);
  return signature ? signature_text(*signature) : signature.error().hint;
}

TEST(Signature, TextsThatMeanTheSame) {
  EXPECT_EQ(normal("void(const float*, float*, size_t)"), "void(const float*, float*, size_t)");
  EXPECT_EQ(normal("void f(float const * restrict x,float*__restrict y , unsigned long n);"),
            "void(const float* x, float* y, size_t n)");
  EXPECT_EQ(normal("float(float, float)"), "float(float, float)");
  EXPECT_EQ(normal("double pow2(double x)"), "double(double x)");
  EXPECT_EQ(normal("void(void)"), "void()");
  EXPECT_EQ(normal("void()"), "void()");
  EXPECT_EQ(normal("void(int a, int32_t, unsigned u, unsigned int, uint32_t)"),
            "void(int32_t a, int32_t, uint32_t u, uint32_t, uint32_t)");
  EXPECT_EQ(normal("void(long l, long long, ssize_t, ptrdiff_t, int64_t, unsigned long long)"),
            "void(int64_t l, int64_t, int64_t, int64_t, int64_t, size_t)");
  EXPECT_EQ(normal("void(const int8_t* a, uint8_t* b, int* c, signed char* d, double* e)"),
            "void(const int8_t* a, uint8_t* b, int32_t* c, int8_t* d, double* e)");
  EXPECT_EQ(normal("void(float* const x, const int n)"), "void(float* x, int32_t n)");
  EXPECT_EQ(normal("int32_t(const float* x, size_t n)"), "int32_t(const float* x, size_t n)");
  EXPECT_EQ(normal("void(unsigned l)"), "void(uint32_t l)");  // no beginning of unsigned long
}

TEST(Signature, WordsOfTypesAreNoNames) {
  for (const char* text : {"long double(long double)", "void(float* x, unsigned short n)",
                           "void(float* x, long double)", "void(float* volatile)"})
    EXPECT_NE(normal(text).find("no type that an operator has"), std::string::npos) << text;
  EXPECT_EQ(normal("void(long long int n, unsigned long long int m)"), "void(int64_t n, size_t m)");
  EXPECT_NE(normal("void(float* x, struct{float* x; int n}* p)").find("are named 'x'"),
            std::string::npos);
}

TEST(Signature, Structs) {
  const std::string text = "void(const struct{const float* x; int32_t k; float* y; size_t n}* p)";
  EXPECT_EQ(normal(text), text);
  EXPECT_EQ(normal("void(const struct args { const float *x; int k; float *y; size_t n; } *p)"),
            text);
  Expected<CSignature> signature = parse_signature(text);
  ASSERT_TRUE(signature);
  EXPECT_EQ(signature->params[0].field_offset, (std::vector<uint32_t>{0, 8, 16, 24}));
  signature = parse_signature("void(struct{int a; float b; int c; double d}*)");
  ASSERT_TRUE(signature);
  EXPECT_EQ(signature->params[0].field_offset, (std::vector<uint32_t>{0, 4, 8, 16}));
}

TEST(Signature, ErrorsSayWhere) {
  EXPECT_EQ(normal(""), "at column 1, the end: expected a type");
  EXPECT_EQ(normal("void"), "at column 5, the end: expected '('");
  EXPECT_EQ(normal("void(float"), "at column 11, the end: expected ',' or ')'");
  EXPECT_EQ(normal("void(float,)"), "at column 12, ')': expected a type");
  EXPECT_EQ(normal("void(float x y)"), "at column 14, 'y': expected ',' or ')'");
  EXPECT_EQ(normal("void(float) x"), "at column 13, 'x': expected the end");
  EXPECT_EQ(normal("void(float**)"), "at column 12, '*': pointers to pointers are not supported");
  EXPECT_EQ(normal("void(float, short n)"),
            "at column 13, 'short': as a parameter: float, double, int32_t, uint32_t, int64_t or "
            "size_t");
  EXPECT_EQ(normal("void(void* x)"),
            "at column 6, 'void': behind a pointer: float, double, int32_t, int8_t, uint8_t or "
            "struct{...}");
  EXPECT_NE(normal("void(char*)").find("'char'"), std::string::npos);
  EXPECT_NE(normal("void(long*)").find("'long'"), std::string::npos);
  EXPECT_NE(normal("float*(float)").find("a function returns"), std::string::npos);
  EXPECT_NE(normal("void(struct{float x}s)").find("passed by pointer"), std::string::npos);
  EXPECT_NE(normal("void(struct{}*)").find("needs fields"), std::string::npos);
  EXPECT_NE(normal("void(struct{struct{float x}* s}*)").find("a struct in a struct"),
            std::string::npos);
  EXPECT_NE(normal("void(struct").find("expected '{'"), std::string::npos);
  EXPECT_NE(normal("\x01(").find("expected a type"), std::string::npos);
}

float mixed(const float* x, double a, int32_t i, float b, size_t n) {
  return x[n] + static_cast<float>(a) * b - static_cast<float>(i);
}

void plain(const int8_t*, uint8_t*, const double*, uint32_t, long) {}

TEST(Signature, FromTypes) {
  EXPECT_EQ(signature_text(signature_of(&mixed)),
            "float(const float*, double, int32_t, float, size_t)");
  EXPECT_EQ(signature_text(signature_of(&plain)),
            "void(const int8_t*, uint8_t*, const double*, uint32_t, int64_t)");
  float (*quiet)(float) noexcept = nullptr;
  EXPECT_EQ(signature_text(signature_of(quiet)), "float(float)");
}

const void* address_of(auto* function) { return reinterpret_cast<const void*>(function); }

TEST(Call, ArgumentsOfAllKinds) {
  float x[] = {1, 2, 4};
  void* pointers[] = {x};
  const int64_t integers[] = {-3, 2};
  const double numbers[] = {0.5, 8};
  double result = 0;
  call_function(address_of(&mixed), signature_of(&mixed), pointers, integers, numbers, &result);
  EXPECT_EQ(result, 4 + 0.5 * 8 + 3);
}

// More of each kind than there are registers; weights tell the places apart.
double many(double a, double b, float c, double d, double e, double f, float g, double h, float i,
            double j, const float* p, int32_t k, uint32_t l, int64_t m, size_t n, int32_t o,
            size_t q, int32_t r, const float* s, int64_t t) {
  return a + 2 * b + 3 * static_cast<double>(c) + 4 * d + 5 * e + 6 * f +
         7 * static_cast<double>(g) + 8 * h + 9 * static_cast<double>(i) + 10 * j +
         11 * static_cast<double>(*p) + 12 * k + 13 * l + 14 * static_cast<double>(m) +
         15 * static_cast<double>(n) + 16 * o + 17 * static_cast<double>(q) + 18 * r +
         19 * static_cast<double>(*s) + 20 * static_cast<double>(t);
}

TEST(Call, MoreArgumentsThanRegisters) {
  float p = 31, s = 32;
  void* pointers[] = {&p, &s};
  const int64_t integers[] = {-1, 4000000000, -3, 4, -5, 6, -7, 8};
  const double numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  double result = 0;
  ASSERT_TRUE(check_callable(signature_of(&many)));
  call_function(address_of(&many), signature_of(&many), pointers, integers, numbers, &result);
  EXPECT_EQ(result,
            many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, &p, -1, 4000000000u, -3, 4, -5, 6, -7, &s, 8));
}

struct Fields {
  const float* x;
  int32_t k;
  float scale;
  float* y;
  size_t n;
};
void scaled(const Fields* p, float add) {
  for (size_t i = 0; i < p->n; i++) p->y[i] = p->x[i] * p->scale + add + static_cast<float>(p->k);
}

TEST(Call, StructsAreBuilt) {
  Expected<CSignature> signature = parse_signature(
      "void(const struct{const float* x; int k; float scale; float* y; size_t n}* p, float add)");
  ASSERT_TRUE(signature);
  float x[] = {1, 2, 3}, y[] = {0, 0, 0};
  void* pointers[] = {x, y};
  const int64_t integers[] = {-7, 3};
  const double numbers[] = {10, 0.5};
  call_function(address_of(&scaled), *signature, pointers, integers, numbers, nullptr);
  EXPECT_EQ(y[0], 3.5f);
  EXPECT_EQ(y[2], 23.5f);
}

float identity(float x) { return x; }
uint32_t largest(uint32_t x) { return x; }
int64_t negative(int64_t x) { return -x; }

TEST(Call, ResultsKeepTheirBits) {
  for (float x : {0.0f, -0.0f, 1e-45f, INFINITY, NAN, 0.1f}) {
    const double number = static_cast<double>(x);
    double result = 1;
    call_function(address_of(&identity), signature_of(&identity), nullptr, nullptr, &number,
                  &result);
    EXPECT_TRUE(std::isnan(x) ? std::isnan(result) : result == number);
    EXPECT_EQ(std::signbit(result), std::signbit(number));
  }
  const int64_t integer = 4294967295;
  double result = 0;
  call_function(address_of(&largest), signature_of(&largest), nullptr, &integer, nullptr, &result);
  EXPECT_EQ(result, 4294967295.0);
  call_function(address_of(&negative), signature_of(&negative), nullptr, &integer, nullptr,
                &result);
  EXPECT_EQ(result, -4294967295.0);
}

TEST(Call, TooManyArgumentsAreSeen) {
  CSignature signature;
  signature.params.assign(40, {.kind = CKind::kFloat});
  EXPECT_FALSE(check_callable(signature));
}

}  // namespace
}  // namespace nrd::lift
