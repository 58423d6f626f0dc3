// SPDX-License-Identifier: MIT
// tests/compiler/prove_test.cpp: functions that are not defined for every size or every data:
// nothing runs where they are not, what was assumed is said, and what nobody can say is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "base/child.h"
#include "base/float_state.h"
#include "compiler/user_op.h"
#include "lift/function.h"
#include "lift/prove.h"
#include "ops/contract.h"
#include "precondition_functions.h"
#include "trace/assumption.h"

namespace nrd {
namespace {

using lift::TraceProof;

constexpr const char* kVector = "void(const float* x, float* out, size_t n)";
constexpr const char* kTwoSizes = "void(const float* x, float* out, size_t n, size_t m)";

Expected<TraceProof> prove(const void* function, const char* signature) {
  const lift::LiftRequest request{"f", function, *lift::parse_signature(signature)};
  Expected<OpTrace> trace = lift::lift_function(request);
  if (!trace) return trace.error();
  return lift::prove_trace(*trace, request, {.in_place = true});
}

template <class F>
std::string assumed(F* function, const char* signature) {
  Expected<TraceProof> proof = prove(reinterpret_cast<const void*>(function), signature);
  return proof ? proof->assumptions.text() : proof.error().message();
}

template <class F>
bool in_place(F* function) {
  Expected<TraceProof> proof = prove(reinterpret_cast<const void*>(function), kVector);
  return proof && proof->in_place;
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Preconditions, AreFoundInTheSizes) {
  EXPECT_EQ(assumed(&part_of_rows, kTwoSizes), "m >= 1");
  EXPECT_EQ(assumed(&at_least_one, kVector), "n >= 1");
  EXPECT_EQ(assumed(&steps_of_two, kVector), "n % 2 == 0");
  EXPECT_EQ(assumed(&copies_last, kVector), "n >= 1");
  EXPECT_EQ(assumed(&aborts_on_odd, kVector), "n % 2 == 0");
}

TEST(Preconditions, OfWhatIsNotUsedCount) {
  EXPECT_EQ(assumed(&unused_division_by_size, kTwoSizes), "m >= 1");
  EXPECT_HAS(assumed(&unused_load, kVector), "a load outside of every operand");
  EXPECT_HAS(
      assumed(&unused_division, "void(const int32_t* x, const int32_t* y, float* out, size_t n)"),
      "outside of every operand");
}

TEST(Preconditions, OnDataAreRefused) {
  EXPECT_HAS(assumed(&aborts_on_data, kVector), "depends on the data");
  EXPECT_HAS(
      assumed(&divides_data, "void(const int32_t* x, const int32_t* y, int32_t* out, size_t n)"),
      "a division by zero");
}

TEST(Preconditions, FunctionsWithoutThemHaveNone) {
  EXPECT_EQ(assumed(&doubles, kVector), "");
  EXPECT_EQ(assumed(&reverses, kVector), "");
  EXPECT_EQ(assumed(&negates_bits, kVector), "");
  EXPECT_EQ(assumed(&all_pairs, kVector), "");
}

// Whether each integer of a function may be negative.
template <class F>
std::vector<bool> negative(F* function, const char* signature) {
  Expected<TraceProof> proof = prove(reinterpret_cast<const void*>(function), signature);
  return proof ? proof->assumptions.negative : std::vector<bool>();
}

TEST(Preconditions, OnSignsAreFound) {
  constexpr const char* kThree =
      "void(const float* x, float* out, int64_t n, int64_t m, int64_t k)";
  constexpr const char* kSigned = "void(const float* x, float* out, size_t n, int k)";
  EXPECT_EQ(negative(&adds_quotient, kThree), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(negative(&scales_by_integer, kSigned), (std::vector<bool>{false, true}));
  EXPECT_EQ(negative(&doubles, kVector), (std::vector<bool>{false}));
}

TEST(Preconditions, OnWhatWrapsAreFound) {
  EXPECT_EQ(assumed(&scales_by_product, "void(const float* x, float* out, size_t n, uint32_t k)"),
            "k <= 1048576");
}

TEST(Preconditions, EndlessFunctionsAreRefused) {
  EXPECT_HAS(assumed(&long_inner_loop, kVector), "more steps than a proof takes");
}

TEST(Proof, InPlaceIsTried) {
  EXPECT_TRUE(in_place(&doubles));
  EXPECT_TRUE(in_place(&aborts_on_odd));
  EXPECT_FALSE(in_place(&reverses));
  EXPECT_FALSE(in_place(&shifts_up));  // reads one element less than it writes
  EXPECT_FALSE(in_place(&all_pairs));
}

TEST(Proof, SetsTheFloatStateOfTheHostAside) {
#if defined(__x86_64__)
  const unsigned before = _mm_getcsr();
  const unsigned changed = before | 0x8040 | 0x6000;  // FTZ, DAZ, towards zero
  _mm_setcsr(changed);
  const std::string unusual = unusual_float_state();
  const std::string assumptions = assumed(&scales_down, kVector);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(assumptions, "");
  EXPECT_EQ(after & 0xffc0, changed & 0xffc0);
  EXPECT_HAS(unusual, "FTZ");
  EXPECT_HAS(unusual, "rounding");
  EXPECT_EQ(unusual_float_state(), "");
#else
  GTEST_SKIP() << "the state is set by hand on x86-64 only";
#endif
}

TEST(Assumptions, AreConjunctionsOfSimpleConditions) {
  const auto infer = [](auto defined) {
    std::vector<Tried> tried;
    for (int64_t n = 0; n <= 40; n++)
      for (int64_t m = 0; m <= 8; m++) tried.push_back({{n, m}, defined(n, m)});
    const auto found = infer_assumptions(tried);
    return found ? Assumptions{*found, {"n", "m"}}.text() : "none";
  };
  EXPECT_EQ(infer([](int64_t, int64_t) { return true; }), "");
  EXPECT_EQ(infer([](int64_t n, int64_t) { return n >= 3; }), "n >= 3");
  EXPECT_EQ(infer([](int64_t n, int64_t) { return n % 2 == 0 && n >= 2; }), "n % 2 == 0, n >= 1");
  EXPECT_EQ(infer([](int64_t n, int64_t) { return n % 4 == 3; }), "n % 4 == 3");
  EXPECT_EQ(infer([](int64_t, int64_t m) { return m > 0; }), "m >= 1");
  EXPECT_EQ(infer([](int64_t n, int64_t m) { return m > 0 && n % m == 0; }), "n % m == 0");
  EXPECT_EQ(infer([](int64_t n, int64_t m) { return n >= m; }), "n >= m");
  EXPECT_EQ(infer([](int64_t n, int64_t) { return n <= 32; }), "n <= 32");
  EXPECT_EQ(infer([](int64_t n, int64_t m) { return (n ^ m) % 3 == 1; }), "none");
}

TEST(Assumptions, NameWhatDoesNotHold) {
  const Assumptions assumptions{
      {{Assumption::Kind::kAtLeast, 0, 0, 1, 0}, {Assumption::Kind::kDivides, 0, 1, 0, 0}},
      {"n", "m"}};
  const auto check = [&](int64_t n, int64_t m) {
    const int64_t integers[] = {n, m};
    const Expected<void> checked = check_assumptions(assumptions, integers, "my_op");
    return checked ? "" : checked.error().message();
  };
  EXPECT_EQ(check(6, 3), "");
  EXPECT_HAS(check(0, 3), "my_op: n: got 0, allowed: n >= 1");
  EXPECT_HAS(check(6, 4), "n: got 6 with m 4, allowed: n % m == 0");
  EXPECT_HAS(check(6, 0), "n % m == 0");
}

TEST(Assumptions, ExcludeNegativeIntegersUnlessTheyWereTried) {
  const Assumptions assumptions{{}, {"n", "k"}, {false, true}};
  const auto check = [&](int64_t n, int64_t k) {
    const int64_t integers[] = {n, k};
    EXPECT_EQ(assumptions.hold(integers), bool(check_assumptions(assumptions, integers, "f")));
    return check_assumptions(assumptions, integers, "f");
  };
  EXPECT_TRUE(check(0, -1));
  EXPECT_HAS(check(-1, 1).error().message(), "f: n: got -1, allowed: n >= 0");
}

Expected<std::string> in_child(const std::function<void()>& work) {
  return run_in_child({.op = "f", .during = "while it was proved", .timeout_s = 2}, [&] {
    work();
    return Expected<std::string>(std::string("done"));
  });
}

TEST(Child, SurvivesWhatItRuns) {
  EXPECT_EQ(*in_child([] {}), "done");
  EXPECT_HAS(in_child([] { raise(SIGSEGV); }).error().message(), "SIGSEGV");
  EXPECT_HAS(in_child([] { abort(); }).error().message(), "SIGABRT");
  EXPECT_HAS(in_child([] { _exit(0); }).error().message(), "ended the process");
  EXPECT_HAS(in_child([] {
               for (;;) pause();
             })
                 .error()
                 .message(),
             "no answer within 2 s");
}

// The answer of the child says the same as a proof here, and the code is kept in this process.
TEST(Child, ProvesAsThisProcessDoes) {
  const Prover provers[] = {prove_function, prove_in_child};
  for (size_t i = 0; i < std::size(provers); i++) {
    UserOpRequest request;
    request.name = "steps_of_two_" + std::to_string(i);
    request.function = reinterpret_cast<const void*>(&steps_of_two);
    request.c_signature = *lift::parse_signature(kVector);
    request.signature = "x[n] -> out[n] ; core n";
    const Expected<UserOp> op = register_user_op(request, provers[i]);
    ASSERT_TRUE(op) << op.error().message();
    EXPECT_TRUE(op->proved) << op->reason;
    EXPECT_EQ(op->assumptions.text(), "n % 2 == 0");
    EXPECT_EQ(op->op->in_place, InPlace::kNo);
    EXPECT_EQ(op->op->variants.front().builds->contract->assumptions.text(), "n % 2 == 0");
  }
}

// Integers that are no sizes: what they may be is said, and code that takes them all is made.
TEST(Child, TellsWhichIntegersMayBeNegative) {
  const Prover provers[] = {prove_function, prove_in_child};
  for (size_t i = 0; i < std::size(provers); i++) {
    const auto made = [&](const char* name, const void* function, const char* signature) {
      UserOpRequest request;
      request.name = name + std::to_string(i);
      request.function = function;
      request.c_signature = *lift::parse_signature(signature);
      Expected<UserOp> op = register_user_op(request, provers[i]);
      EXPECT_TRUE(op && op->proved && op->compiled) << (op ? op->reason : op.error().message());
      return op ? op->assumptions : Assumptions();
    };
    const Assumptions quotient =
        made("adds_quotient", reinterpret_cast<const void*>(&adds_quotient),
             "void(const float* x, float* out, int64_t n, int64_t m, int64_t k)");
    EXPECT_EQ(quotient.text(), "m >= 1, k >= 0");
    const Assumptions scaled =
        made("scales_by_integer", reinterpret_cast<const void*>(&scales_by_integer),
             "void(const float* x, float* out, size_t n, int k)");
    EXPECT_EQ(scaled.text(), "");
    EXPECT_TRUE(scaled.takes_negative(1));
    made("scales_by_size", reinterpret_cast<const void*>(&scales_by_size),
         "void(const float* x, float* out, size_t n, size_t k)");
  }
}

TEST(Child, IsNotNeededWhereNoProofIsAskedFor) {
  UserOpRequest request;
  request.name = "unproved_doubles";
  request.function = reinterpret_cast<const void*>(&doubles);
  request.c_signature = *lift::parse_signature(kVector);
  EXPECT_HAS(register_user_op(request, prove_nothing).error().message(), "signature");
  request.signature = "x[n] -> out[n] ; core n";
  const Expected<UserOp> op = register_user_op(request, prove_nothing);
  ASSERT_TRUE(op) << op.error().message();
  EXPECT_FALSE(op->proved);
  EXPECT_EQ(op->op->in_place, InPlace::kNo);
}

}  // namespace
}  // namespace nrd
