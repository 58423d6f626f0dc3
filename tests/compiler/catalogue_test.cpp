// SPDX-License-Identifier: MIT
// tests/compiler/catalogue_test.cpp: every definition, lifted again here and compiled for every
// ISA.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/catalogue_traces.h"
#include "compiler/prove_code.h"
#include "jit/code.h"
#include "lift/definition.h"
#include "lift/prove.h"
#include "trace/text.h"

namespace nrd {
namespace {

int count(const OpTrace& trace, TraceParamKind kind) {
  return static_cast<int>(std::count_if(trace.params.begin(), trace.params.end(),
                                        [&](const TraceParam& p) { return p.kind == kind; }));
}

TEST(Catalogue, LiftingAtRunTimeFindsTheEmbeddedTraces) {
  size_t lifted = 0;
  for (const lift::LiftRequest& request : lift::catalogue_requests()) {
    Expected<OpTrace> trace = lift::lift_function(request);
    ASSERT_TRUE(trace) << request.name << ": " << trace.error().message();
    const OpTrace* embedded = catalogue_trace(request.name);
    ASSERT_NE(embedded, nullptr) << request.name;
    EXPECT_EQ(trace_text(*trace), trace_text(*embedded));
    lifted++;
  }
  EXPECT_EQ(lifted, embedded_traces().size());
}

TEST(Catalogue, EveryTraceEqualsItsFunction) {
  for (const lift::LiftRequest& request : lift::catalogue_requests()) {
    Expected<lift::TraceProof> proof = lift::prove_trace(*catalogue_trace(request.name), request);
    EXPECT_TRUE(proof) << proof.error().message();
  }
}

// Emulators and sanitizers are slow: there every 13th size.
#if defined(__x86_64__) && defined(NDEBUG)
constexpr int64_t kSizeStep = 1;
#else
constexpr int64_t kSizeStep = 13;
#endif

// Every size up to 200 and around 4096 for rows; what has several sizes takes the proofs' own.
std::vector<std::vector<int64_t>> sizes_of(const OpTrace& trace) {
  std::vector<std::vector<int64_t>> sizes;
  if (count(trace, TraceParamKind::kSize) != 1) return sizes;
  for (int64_t n = 0; n <= 200; n += kSizeStep) sizes.push_back({n});
  for (int64_t n : {4095, 4096, 4097}) sizes.push_back({n});
  return sizes;
}

// All floating operands of one dtype, and inputs of one with outputs of another.
std::vector<std::vector<DType>> dtypes_of(const OpTrace& trace) {
  static constexpr std::pair<DType, DType> kPairs[] = {
      {DType::kF32, DType::kF32},    {DType::kF16, DType::kF16},   {DType::kBF16, DType::kBF16},
      {DType::kBF16, DType::kF32},   {DType::kF32, DType::kBF16},  {DType::kF16, DType::kBF16},
      {DType::kF8E4M3, DType::kF32}, {DType::kF8E5M2, DType::kF16}};
  std::vector<std::vector<DType>> list;
  for (const auto& [in, out] : kPairs) {
    std::vector<DType> dtypes;
    for (const TraceParam& p : trace.params)
      if (p.kind == TraceParamKind::kPointer)
        dtypes.push_back(p.dtype != DType::kF32 ? p.dtype : p.written ? out : in);
    if (std::find(list.begin(), list.end(), dtypes) == list.end()) list.push_back(dtypes);
  }
  return list;
}

class CompiledCatalogue : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    for (const jit::Target* target : jit::targets(detect_isa()))
      if (target->isa == GetParam()) target_ = target;
    if (!target_) GTEST_SKIP() << "this CPU has no " << GetParam();
  }
  void prove(const OpTrace& trace, CodeProof options) {
    options.most_points = 1 << 14;  // more than a user waits for
    Expected<void> proof = prove_code(trace, *target_, options);
    EXPECT_TRUE(proof) << proof.error().message();
  }
  const jit::Target* target_ = nullptr;
};

TEST_P(CompiledCatalogue, EveryDtypeAndSizeStaysWithinItsBound) {
  for (const EmbeddedTrace& embedded : embedded_traces()) {
    const OpTrace& trace = *catalogue_trace(embedded.name);
    for (const std::vector<DType>& dtypes : dtypes_of(trace))
      prove(trace,
            {.dtypes = dtypes, .ints = {}, .sizes = sizes_of(trace), .in_place = Sharing::kNone});
  }
}

TEST_P(CompiledCatalogue, EveryRoundingType) {
  for (const EmbeddedTrace& embedded : embedded_traces()) {
    const OpTrace& trace = *catalogue_trace(embedded.name);
    const int ints = count(trace, TraceParamKind::kInt);
    if (ints == 0) continue;
    for (DType type : {DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2})
      prove(trace, {.dtypes = {},
                    .ints = std::vector<int>(static_cast<size_t>(ints), static_cast<int>(type)),
                    .sizes = {},
                    .in_place = Sharing::kNone});
  }
}

TEST_P(CompiledCatalogue, InPlace) {
  for (const EmbeddedTrace& embedded : embedded_traces()) {
    const OpTrace& trace = *catalogue_trace(embedded.name);
    const bool allowed = trace.op_class == OpClass::kElementwise ||
                         trace.op_class == OpClass::kPairwise || trace.op_class == OpClass::kNorm;
    if (allowed && count(trace, TraceParamKind::kSize) == 1)
      prove(trace,
            {.dtypes = {}, .ints = {}, .sizes = sizes_of(trace), .in_place = Sharing::kFirst});
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, CompiledCatalogue, testing::Values("avx2", "avx512", "neon"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace nrd
