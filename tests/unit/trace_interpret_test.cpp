// SPDX-License-Identifier: MIT
// tests/unit/trace_interpret_test.cpp: interpreted traces against the functions they describe, and
// f32 against double with bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "ops/definitions.h"
#include "ops/round_to.h"
#include "parsed.h"
#include "tests/seed.h"
#include "trace/bounded.h"
#include "trace/builder.h"
#include "trace/interpret.h"
#include "trace/text.h"
#include "trace/verify.h"
#include "trace_texts.h"

namespace nrd {
namespace {

using namespace trace_texts;

using Floats = std::vector<float>;

float special(std::mt19937& random) {
  constexpr float kValues[] = {0.0f,    -0.0f,   INFINITY, -INFINITY, NAN,     1e-40f,
                               -1e-45f, 3.4e38f, -3.4e38f, 88.7f,     -104.0f, 127.5f};
  return kValues[random() % std::size(kValues)];
}

Floats floats(size_t count, std::mt19937& random, bool specials) {
  std::normal_distribution<float> normal(0, 3);
  Floats x(count);
  for (float& v : x) v = specials && random() % 8 == 0 ? special(random) : normal(random);
  return x;
}

template <class T>
void expect_same(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); i++) {
    const bool same = std::memcmp(&a[i], &b[i], sizeof(T)) == 0 || (a[i] != a[i] && b[i] != b[i]);
    EXPECT_TRUE(same) << what << "[" << i << "]: " << +a[i] << " and " << +b[i];
    if (!same) return;
  }
}

struct Arguments {
  std::vector<void*> pointers;
  std::vector<int64_t> sizes;
  std::vector<double> numbers;
  std::vector<int> ints;
};

void run(const char* text, const Arguments& a) {
  interpret(parsed(text),
            {a.pointers.data(), a.sizes.data(), a.numbers.data(), a.ints.data(), nrd_round_to_f32});
}

class AgainstFunctions : public testing::TestWithParam<int> {
 protected:
  size_t n = static_cast<size_t>(GetParam());
  bool specials = GetParam() % 2 == 0;
  std::mt19937 random{test_seed(n)};
  Floats x = floats(n, random, specials), y = floats(n, random, specials);
  Floats got = Floats(n + 1, 7), want = got;
  int64_t size = GetParam();
};

TEST_P(AgainstFunctions, Vectors) {
  run(kVecDot, {{x.data(), y.data(), got.data()}, {size}, {}, {}});
  nrd_scalar_vec_dot(x.data(), y.data(), want.data(), n);
  expect_same(got, want, "vec_dot");
  run(kVecMax, {{x.data(), got.data()}, {size}, {}, {}});
  nrd_scalar_vec_max(x.data(), want.data(), n);
  expect_same(got, want, "vec_max");
  run(kSilu, {{x.data(), got.data()}, {size}, {}, {}});
  nrd_scalar_silu(x.data(), want.data(), n);
  expect_same(got, want, "silu");
  run(kSoftmax, {{x.data(), got.data()}, {size}, {}, {}});
  nrd_scalar_softmax(x.data(), want.data(), n);
  expect_same(got, want, "softmax");
}

TEST_P(AgainstFunctions, NormsAndRotations) {
  for (const int type : {2, 3, 4}) {
    run(kRmsNorm, {{x.data(), y.data(), got.data()}, {size}, {1e-5}, {type}});
    nrd_scalar_rms_norm_before_weight(x.data(), y.data(), want.data(), n, 1e-5f, type);
    expect_same(got, want, "rms_norm");
  }
  Floats sine = floats(n, random, false);
  run(kRopeHalf, {{x.data(), y.data(), sine.data(), got.data()}, {size}, {}, {}});
  nrd_scalar_rope_half(x.data(), y.data(), sine.data(), want.data(), n);
  expect_same(got, want, "rope_half");
  run(kRopeInterleaved, {{x.data(), y.data(), sine.data(), got.data()}, {size}, {}, {}});
  nrd_scalar_rope_interleaved(x.data(), y.data(), sine.data(), want.data(), n);
  expect_same(got, want, "rope_interleaved");
}

TEST_P(AgainstFunctions, Integers) {
  std::vector<int32_t> at(1, -1), at_want(1, -1);
  run(kArgmax, {{x.data(), at.data()}, {size}, {}, {}});
  nrd_scalar_argmax(x.data(), at_want.data(), n);
  expect_same(at, at_want, "argmax");
  std::vector<int8_t> q(n), q_want(n);
  run(kQuantizeI8, {{x.data(), q.data(), got.data()}, {size}, {}, {}});
  nrd_scalar_quantize_i8(x.data(), q_want.data(), want.data(), n);
  expect_same(q, q_want, "quantize_i8");
  expect_same(got, want, "its scale");
  for (const int type : {5, 6}) {
    Floats codes(n), codes_want(n);
    run(kQuantizeBlock, {{x.data(), codes.data(), got.data()}, {size}, {}, {type}});
    nrd_scalar_fp8_quantize_block_1x128(x.data(), codes_want.data(), want.data(), n, type);
    expect_same(codes, codes_want, "fp8_quantize_block_1x128");
    expect_same(got, want, "its scales");
  }
}

TEST_P(AgainstFunctions, Matrices) {
  const size_t m = 3, k = n % 19;
  const Floats a = floats(m * k, random, specials), b = floats(k * n, random, specials);
  Floats c(m * n), c_want(m * n);
  auto* pa = const_cast<float*>(a.data());
  auto* pb = const_cast<float*>(b.data());
  const std::vector<int64_t> sizes = {3, size, static_cast<int64_t>(k)};
  run(kGemm, {{pa, pb, c.data()}, sizes, {}, {}});
  nrd_scalar_gemm(a.data(), b.data(), c_want.data(), m, n, k);
  expect_same(c, c_want, "gemm");
  std::vector<uint8_t> a8(m * k);
  std::vector<int8_t> b8(k * n);
  for (uint8_t& v : a8) v = static_cast<uint8_t>(random());
  for (int8_t& v : b8) v = static_cast<int8_t>(random());
  std::vector<int32_t> c32(m * n), c32_want(m * n);
  run(kGemmI8, {{a8.data(), b8.data(), c32.data()}, sizes, {}, {}});
  nrd_scalar_gemm_u8i8(a8.data(), b8.data(), c32_want.data(), m, n, k);
  expect_same(c32, c32_want, "gemm_u8i8");
  Floats packed((n + 31) / 32 * 32 * k), packed_want(packed);
  run(kPackB, {{pb, packed.data()}, {static_cast<int64_t>(k), size}, {}, {}});
  nrd_scalar_pack_b(b.data(), packed_want.data(), k, n);
  expect_same(packed, packed_want, "pack_b");
  std::vector<int32_t> row = {static_cast<int32_t>(k / 2)};
  if (k > 0) {
    run(kEmbedding, {{pb, row.data(), got.data()}, {static_cast<int64_t>(k), size}, {}, {}});
    nrd_scalar_embedding(b.data(), row.data(), want.data(), k, n);
    expect_same(got, want, "embedding");
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, AgainstFunctions,
                         testing::Values(0, 1, 2, 7, 16, 33, 128, 129, 300));

TEST(Interpret, IntegersAreWhatTheTraceSays) {
  struct Case {
    const char* operation;
    int32_t a, b, want;
  };
  const Case cases[] = {
      {"add i32 %1 %2", INT32_MAX, 1, INT32_MIN},
      {"mul i32 %1 %2", 65536, 65536, 0},
      {"div_floor i32 %1 %2", -7, 2, -4},
      {"mod_floor i32 %1 %2", -7, 2, 1},
      {"shl i32 %1 %2", 1, 33, 2},
      {"shr i32 %1 %2", -1, 28, 15},
      {"sar i32 %1 %2", -16, 2, -4},
      {"min i32 %1 %2", -1, 3, -1},
      {"neg i32 %1", INT32_MIN, 0, INT32_MIN},
      {"xor i32 %1 %2", 6, 3, 5},
  };
  for (const Case& c : cases) {
    std::vector<int32_t> x = {c.a, c.b}, out = {0};
    const std::string text = std::string(R"(trace t : opaque
param x : in i32
param out : out i32
%1 = load i32 x[0]
%2 = load i32 x[1]
%3 = )") + c.operation + "\nstore out[0] %3\n";
    run(text.c_str(), {{x.data(), out.data()}, {}, {}, {}});
    EXPECT_EQ(out[0], c.want) << c.operation;
  }
}

TEST(Interpret, ConversionsOutOfRange) {
  for (const auto& [x, want] : {std::pair(NAN, INT32_MIN), std::pair(3e9f, INT32_MIN),
                                std::pair(-2.9f, -2), std::pair(-INFINITY, INT32_MIN)}) {
    float in = x;
    int32_t out = 0;
    run("trace t : opaque\nparam x : in f32\nparam out : out i32\n%1 = load f32 x[0]\n"
        "%2 = to_i32 %1\nstore out[0] %2\n",
        {{&in, &out}, {}, {}, {}});
    EXPECT_EQ(out, want);
  }
}

// Swapped carries must move together.
TEST(Interpret, CarriesMoveAtOnce) {
  float out[2] = {};
  run(R"(trace t : opaque
param out : out f32
param n : size
%1 = const f32 0x1p+0
%2 = const f32 0x1p+1
for i0 < n carry %3 = %1, %4 = %2 {
} next %4, %3 -> %5, %6
store out[0] %5
store out[1] %6
)",
      {{out}, {3}, {}, {}});
  EXPECT_EQ(out[0], 2.0f);
  EXPECT_EQ(out[1], 1.0f);
}

std::vector<Bounded> exact(const Floats& x) {
  std::vector<Bounded> b;
  for (float v : x) b.push_back({v, 0});
  return b;
}

void run_bounded(const char* text, const Arguments& a) {
  interpret_bounded(parsed(text),
                    {a.pointers.data(), a.sizes.data(), a.numbers.data(), a.ints.data()});
}

void expect_within(const Floats& got, const std::vector<Bounded>& want, const char* what) {
  for (size_t i = 0; i < got.size(); i++)
    EXPECT_TRUE(within(got[i], want[i], 1)) << what << "[" << i << "]: " << got[i] << ", want "
                                            << want[i].value << " +- " << want[i].bound;
}

TEST_P(AgainstFunctions, StayWithinTheirBounds) {
  std::vector<Bounded> bx = exact(x), by = exact(y), out = exact(want), out2 = exact(want);
  run_bounded(kVecDot, {{bx.data(), by.data(), out.data()}, {size}, {}, {}});
  nrd_scalar_vec_dot(x.data(), y.data(), want.data(), n);
  expect_within(want, out, "vec_dot");
  run_bounded(kSilu, {{bx.data(), out.data()}, {size}, {}, {}});
  nrd_scalar_silu(x.data(), want.data(), n);
  expect_within(want, out, "silu");
  run_bounded(kSoftmax, {{bx.data(), out.data()}, {size}, {}, {}});
  nrd_scalar_softmax(x.data(), want.data(), n);
  expect_within(want, out, "softmax");
  run_bounded(kRmsNorm, {{bx.data(), by.data(), out.data()}, {size}, {1e-5}, {4}});
  nrd_scalar_rms_norm_before_weight(x.data(), y.data(), want.data(), n, 1e-5f, 4);
  expect_within(want, out, "rms_norm");
  std::vector<int8_t> q(n);
  std::vector<Bounded> bq(n);
  run_bounded(kQuantizeI8, {{bx.data(), bq.data(), out.data()}, {size}, {}, {}});
  nrd_scalar_quantize_i8(x.data(), q.data(), want.data(), n);
  for (size_t i = 0; i < n; i++) EXPECT_TRUE(within(q[i], bq[i], 1)) << i << " " << x[i];
  std::vector<Bounded> index(1);
  int32_t at = 0;
  run_bounded(kArgmax, {{bx.data(), index.data()}, {size}, {}, {}});
  nrd_scalar_argmax(x.data(), &at, n);
  EXPECT_EQ(index[0].value, at);
  EXPECT_EQ(index[0].bound, 0);
}

TEST(Bounded, BoundsAreTight) {
  // Not so wide that anything passes.
  std::mt19937 random(test_seed(1));
  const Floats x = floats(1000, random, false);
  std::vector<Bounded> bx = exact(x), out(1000);
  run_bounded(kSilu, {{bx.data(), out.data()}, {1000}, {}, {}});
  for (const Bounded& b : out) EXPECT_LT(b.bound, 1e-5 * std::fabs(b.value) + 1e-30);
  run_bounded(kVecDot, {{bx.data(), bx.data(), out.data()}, {1000}, {}, {}});
  EXPECT_LT(out[0].bound, 2e-4 * out[0].value);
  EXPECT_GT(out[0].bound, 0);
}

TEST(Bounded, WithinKnowsSpecialValues) {
  EXPECT_TRUE(within(NAN, {NAN, 0}, 4));
  EXPECT_FALSE(within(0, {NAN, 0}, 4));
  EXPECT_FALSE(within(NAN, {0, 1}, 4));
  EXPECT_TRUE(within(INFINITY, {INFINITY, 0}, 4));
  EXPECT_FALSE(within(-INFINITY, {INFINITY, 0}, 4));
  EXPECT_FALSE(within(3e38, {INFINITY, 1}, 4));
  EXPECT_TRUE(within(NAN, {0, INFINITY}, 4));
  EXPECT_TRUE(within(1.5, {1, 0.25}, 2));
  EXPECT_FALSE(within(1.5, {1, 0.25}, 1));
}

Bounded one_value(const std::string& body, std::vector<Bounded> x) {
  Bounded out;
  const std::string text =
      "trace t : opaque\nparam x : in f32\nparam out : out f32\n%1 = load f32 x[0]\n" + body +
      "store out[0] %9\n";
  run_bounded(text.c_str(), {{x.data(), &out}, {}, {}, {}});
  return out;
}

TEST(Bounded, PolesRangesAndOpenDecisions) {
  const std::string two = "%2 = load f32 x[1]\n";
  EXPECT_EQ(one_value(two + "%9 = div f32 %1 %2\n", {{1, 0}, {1e-3, 1e-2}}).bound, INFINITY);
  EXPECT_EQ(one_value("%9 = log f32 %1\n", {{1e-3, 1e-2}}).bound, INFINITY);
  EXPECT_EQ(one_value("%9 = tan f32 %1\n", {{1.57, 1e-2}}).bound, INFINITY);
  // f32's range: certainly beyond, and perhaps.
  EXPECT_EQ(one_value("%9 = exp f32 %1\n", {{100, 0}}).value, INFINITY);
  EXPECT_EQ(one_value("%9 = exp f32 %1\n", {{100, 0}}).bound, 0);
  EXPECT_EQ(one_value("%9 = exp f32 %1\n", {{std::log(0x1.ffffffp127), 0}}).bound, INFINITY);
  // Either arm, if the comparison is open; one, if not.
  const std::string choice = two +
                             "%3 = const f32 1\n%4 = const f32 2\n%5 = cmp olt %1 %2\n"
                             "%9 = select f32 %5 %3 %4\n";
  EXPECT_EQ(one_value(choice, {{1, 0}, {1, 0.1}}).bound, 1);
  EXPECT_EQ(one_value(choice, {{1, 0}, {2, 0.1}}).bound, 0);
  EXPECT_EQ(one_value(choice, {{1, 0}, {1, 0}}).bound, 0);
  // A rounding that may go up or down.
  EXPECT_EQ(one_value("%9 = rint f32 %1\n", {{2.5, 1e-3}}).bound, 1);
  EXPECT_EQ(one_value("%9 = rint f32 %1\n", {{2.4, 1e-3}}).bound, 0);
  const std::string narrow = "%2 = const i32 4\n%9 = round_to %1 %2\n";
  EXPECT_EQ(one_value(narrow, {{1.0 + 0x1p-8, 1e-6}}).bound, 0x1p-7);
  EXPECT_EQ(one_value(narrow, {{1.001, 1e-6}}).bound, 0);
  // x == x asks for NaN only.
  EXPECT_EQ(
      one_value("%2 = cmp oeq %1 %1\n%3 = const f32 0\n%9 = select f32 %2 %1 %3\n", {{1, 0.5}})
          .bound,
      0.5);
}

// Straight-line code of random operations: f32 stays within the bound of double.
TEST(Bounded, RandomTraces) {
  constexpr TraceOp kUnary[] = {TraceOp::kNeg,  TraceOp::kAbs,  TraceOp::kSqrt, TraceOp::kExp,
                                TraceOp::kLog,  TraceOp::kTanh, TraceOp::kErf,  TraceOp::kSin,
                                TraceOp::kCos,  TraceOp::kRint, TraceOp::kAtan, TraceOp::kExpm1,
                                TraceOp::kCbrt, TraceOp::kTan,  TraceOp::kCosh, TraceOp::kLog1p};
  constexpr TraceOp kBinary[] = {TraceOp::kAdd,      TraceOp::kSub,    TraceOp::kMul,
                                 TraceOp::kDiv,      TraceOp::kPow,    TraceOp::kMaxNan,
                                 TraceOp::kMinFirst, TraceOp::kMaxNum, TraceOp::kHypot,
                                 TraceOp::kCopySign, TraceOp::kAtan2,  TraceOp::kFmod};
  int known = 0;
  for (uint32_t trial = 0; trial < 400; trial++) {
    std::mt19937 random(test_seed(trial));
    TraceBuilder b("random");
    const uint16_t in = b.pointer("x"), out = b.pointer("out");
    const uint16_t loop = b.begin_loop(b.param(b.size("n")));
    std::vector<ValueId> values = {b.load(in, b.iv(loop)), b.f32(0.75f), b.f32(2)};
    auto any = [&] { return values[random() % values.size()]; };
    for (int i = 0; i < 8; i++) {
      switch (random() % 4) {
        case 0:
          values.push_back(b.pure(kUnary[random() % std::size(kUnary)], TraceType::kF32, any()));
          break;
        case 1: {
          const ValueId condition = b.compare(Predicate::kOlt, any(), any());
          values.push_back(b.select(condition, any(), any()));
          break;
        }
        default:
          values.push_back(
              b.pure(kBinary[random() % std::size(kBinary)], TraceType::kF32, any(), any()));
      }
    }
    b.store(out, b.iv(loop), values.back());
    b.end_loop();
    const OpTrace trace = b.finish();
    ASSERT_TRUE(verify_trace(trace));
    const Floats x = floats(64, random, true);
    Floats got(64);
    std::vector<Bounded> bx = exact(x), want(64);
    const int64_t n = 64;
    void* plain[] = {const_cast<float*>(x.data()), got.data()};
    void* bounded[] = {bx.data(), want.data()};
    interpret(trace, {plain, &n, nullptr, nullptr, nrd_round_to_f32});
    interpret_bounded(trace, {bounded, &n, nullptr, nullptr});
    for (size_t i = 0; i < 64; i++) {
      known += want[i].bound < INFINITY;
      ASSERT_TRUE(within(got[i], want[i], kDecisionSlack))
          << "trial " << trial << " x " << x[i] << " got " << got[i] << " want " << want[i].value
          << " +- " << want[i].bound << "\n"
          << trace_text(trace);
    }
  }
  EXPECT_GT(known, 400 * 64 / 2);  // bounds that say something
}

TEST(TraceInterpret, ATableOutsideIsItsFirstOrLastElement) {
  const OpTrace trace = parsed(R"(trace t : opaque
param q : in i32
param out : out f32
param n : size
table t0 : f32 0x1p+0 0x1p+1 0x1p+2
for i0 < n {
  %1 = load i32 q[i0]
  %2 = lookup f32 t0 %1
  store out[i0] %2
}
)");
  int32_t q[] = {0, 1, 2, 3, -1, INT32_MAX, INT32_MIN};
  Floats out(std::size(q));
  void* pointers[] = {q, out.data()};
  const int64_t n = std::size(q);
  interpret(trace, {pointers, &n, nullptr, nullptr, nullptr, 0});
  EXPECT_EQ(out, (Floats{1, 2, 4, 4, 1, 4, 1}));
}

// An index that is off by one may mean either neighbour.
TEST(TraceBounded, AnUncertainIndexCoversItsNeighbours) {
  const OpTrace trace = parsed(R"(trace t : opaque
param x : in f32
param out : out f32
table t0 : f32 0x1p+0 0x1p+1 0x1p+4
%1 = load f32 x[0]
%2 = to_i32 %1
%3 = lookup f32 t0 %2
store out[0] %3
)");
  Bounded x{0.9999, 0.001}, out{};
  void* pointers[] = {&x, &out};
  interpret_bounded(trace, {pointers, nullptr, nullptr, nullptr});
  EXPECT_EQ(out.value, 1);
  EXPECT_EQ(out.bound, 1);
}

}  // namespace
}  // namespace nrd
