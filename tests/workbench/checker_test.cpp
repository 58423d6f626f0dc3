// SPDX-License-Identifier: MIT
// tests/workbench/checker_test.cpp: the checker accepts right kernels and rejects wrong ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "base/convert.h"
#include "tests/seed.h"
#include "tests/workbench/planted.h"
#include "workbench/check.h"

namespace nrd {
namespace {

using testing::PlantedKernel;

CaseSpec spec(const std::string& op, const std::string& shape, const std::string& dtype = "f32",
              const std::string& options = "") {
  CaseSpec s;
  s.op = op;
  s.request.sizes = parse_shapes(shape)->front();
  s.request.dtypes = dtype;
  EXPECT_TRUE(apply_options(s, options));
  return s;
}

Verdict judge(const Kernel& kernel, const CaseSpec& s) {
  Expected<Case> c = make_case(s);
  EXPECT_TRUE(c) << c.error().message();
  Expected<KernelRunner> runner =
      KernelRunner::create({nullptr, &kernel}, *c, MemoryMode::kGuarded);
  EXPECT_TRUE(runner) << runner.error().message();
  Expected<RunOutputs> outputs = runner->run_checked();
  EXPECT_TRUE(outputs);
  Expected<Reference> reference = make_reference(*c, 1);
  EXPECT_TRUE(reference) << reference.error().message();
  return check_outputs(*c, *outputs, *reference);
}

float* output(const Desc& d, void* const* p) {
  return static_cast<float*>(p[d.signature().inputs]);
}

TEST(Checker, AcceptsTheDefinitionItselfOnAllData) {
  const PlantedKernel honest({});
  for (Distribution d : all_distributions()) {
    for (const char* dtype : {"f32", "f16", "bf16"}) {
      for (const char* cast : {"after_weight", "before_weight"}) {
        CaseSpec s = spec("rms_norm", "rows=9,cols=769", dtype, std::string("cast=") + cast);
        s.distribution = d;
        Verdict v = judge(honest, s);
        EXPECT_TRUE(v.ok) << word(d) << " " << dtype << " " << cast << ": " << v.reason;
      }
      CaseSpec s = spec("gated_mlp", "m=3,hidden=130,inter=37", dtype);
      s.distribution = d;
      Verdict v = judge(honest, s);
      EXPECT_TRUE(v.ok) << word(d) << " " << dtype << " gated_mlp: " << v.reason;
    }
  }
}

TEST(Checker, RejectsARowOffByOne) {
  const PlantedKernel wrong([](const Desc& d, void* const* p) {
    const auto rows = static_cast<size_t>(d.axes[0]), cols = static_cast<size_t>(d.axes[1]);
    float* out = output(d, p);
    std::memmove(out, out + cols, (rows - 1) * cols * sizeof(float));
  });
  EXPECT_FALSE(judge(wrong, spec("softmax", "rows=8,cols=64")).ok);
}

TEST(Checker, RejectsZeros) {
  const PlantedKernel wrong([](const Desc& d, void* const* p) {
    std::memset(output(d, p), 0, static_cast<size_t>(d.axes[0] * d.axes[1]) * sizeof(float));
  });
  // Every output of this softmax is smaller than the absolute tolerance of f32.
  EXPECT_FALSE(judge(wrong, spec("softmax", "rows=2,cols=100000")).ok);
  EXPECT_FALSE(judge(wrong, spec("rms_norm", "rows=8,cols=64")).ok);
}

TEST(Checker, RejectsAWrongEps) {
  const PlantedKernel wrong({}, [](Desc d) {
    d.numbers[0] = 1e-3;
    return d;
  });
  EXPECT_FALSE(judge(wrong, spec("rms_norm", "rows=8,cols=256", "f32", "eps=1e-6")).ok);
}

TEST(Checker, RejectsTheOtherCast) {
  for (const char* dtype : {"bf16", "f16"}) {
    for (const char* other : {"before_weight", "after_weight"}) {
      const std::string asked =
          std::string(other) == "after_weight" ? "before_weight" : "after_weight";
      const CaseSpec wanted = spec("rms_norm", "rows=8,cols=512", dtype, "cast=" + asked);
      const PlantedKernel wrong({}, [&](Desc) {
        return make_case(spec("rms_norm", "rows=8,cols=512", dtype, std::string("cast=") + other))
            ->desc;
      });
      EXPECT_FALSE(judge(wrong, wanted).ok) << dtype << " " << other;
    }
  }
}

// Where two roundings meet in one output, each may go its own way: one of them up and the other
// down lies outside of both up and both down.
TEST(Checker, TwoRoundingsMayGoOppositeWays) {
  CaseSpec spec;
  spec.op = "rmsnorm_rope";
  spec.request.sizes = {{"batch", 4}, {"seq", 128}, {"hidden", 256}, {"head_dim", 64}};
  spec.request.dtypes = "f16";
  spec.request.attributes["cast"] = std::string("before_weight");
  const Case c = *make_case(spec);
  Expected<Reference> reference = make_reference(c, 1);
  ASSERT_TRUE(reference);
  const ReferenceOutput narrow = reference->outputs.front();
  ASSERT_TRUE(widen_reference(c, *reference, 1));
  const ReferenceOutput& wide = reference->outputs.front();
  size_t wider = 0;
  for (size_t i = 0; i < wide.value.size(); i++) {
    EXPECT_LE(wide.low[i], narrow.low[i]);
    EXPECT_GE(wide.high[i], narrow.high[i]);
    wider += wide.low[i] < narrow.low[i] || wide.high[i] > narrow.high[i];
  }
  EXPECT_GT(wider, 10u);
  EXPECT_LT(wider, wide.value.size() / 20) << "most outputs hang on nothing";
}

TEST(Checker, RejectsHalfPrecisionAccumulation) {
  const PlantedKernel wrong([](const Desc& d, void* const* p) {
    const int64_t m = d.axes[0], k = d.axes[1], n = d.axes[2];
    const auto* a = static_cast<const uint16_t*>(p[0]);
    const auto* b = static_cast<const uint16_t*>(p[1]);
    auto* c = static_cast<uint16_t*>(p[2]);
    const Dims& bs = d.operands[1].strides;
    for (int64_t i = 0; i < m; i++) {
      for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t q = 0; q < k; q++) {
          const double product =
              decode(a[i * k + q], DType::kF16) * decode(b[q * bs[0] + j * bs[1]], DType::kF16);
          sum = round_through(sum + product, DType::kF16, Overflow::kIeee);
        }
        c[i * n + j] = static_cast<uint16_t>(encode(sum, DType::kF16, Overflow::kIeee));
      }
    }
  });
  EXPECT_FALSE(judge(wrong, spec("gemm", "m=4,n=16,k=1024", "f16")).ok);
}

TEST(Checker, RejectsADroppedNaN) {
  const PlantedKernel wrong([](const Desc& d, void* const* p) {
    float* out = output(d, p);
    for (int64_t i = 0; i < d.axes[0]; i++)
      if (std::isnan(out[i])) out[i] = 0;
  });
  CaseSpec s = spec("relu", "n=4096");
  s.distribution = Distribution::kSpecial;
  EXPECT_FALSE(judge(wrong, s).ok);
  EXPECT_TRUE(judge(PlantedKernel({}), s).ok);
}

// The definition, on one element less: the last one is never written.
class ShortKernel final : public Kernel {
 public:
  std::string name() const override { return "short"; }
  Expected<void> accepts(const Desc&) const override { return {}; }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc&,
                                                    std::span<void* const>) const override {
    struct Run final : PreparedKernel {
      Expected<void> run(const Args& args, void*, const Exec&) const override {
        const auto* x = static_cast<const float*>(args.pointers[0]);
        auto* out = static_cast<float*>(args.pointers[1]);
        for (int i = 0; i + 1 < 1000; i++) out[i] = x[i] > 0 ? x[i] : 0;
        return {};
      }
    };
    return std::unique_ptr<PreparedKernel>(new Run);
  }
};

TEST(Checker, RejectsAnUnwrittenElement) {
  Verdict v = judge(ShortKernel(), spec("relu", "n=1000"));
  EXPECT_FALSE(v.ok);
  EXPECT_EQ(v.first_bad, "out[999]");
}

TEST(Checker, RejectsTheWrongHalfOfCos) {
  // The definition on tables whose second half repeats the first.
  class HalfCos final : public Kernel {
   public:
    std::string name() const override { return "half_cos"; }
    Expected<void> accepts(const Desc&) const override { return {}; }
    Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                      std::span<void* const>) const override {
      struct Run final : PreparedKernel {
        Desc desc;
        Expected<void> run(const Args& args, void*, const Exec&) const override {
          const int64_t tokens = desc.axes[0], heads = desc.axes[1], d = desc.axes[2];
          const auto *x = static_cast<const float*>(args.pointers[0]),
                     *cos = static_cast<const float*>(args.pointers[1]),
                     *sin = static_cast<const float*>(args.pointers[2]);
          auto* out = static_cast<float*>(args.pointers[3]);
          for (int64_t r = 0; r < tokens * heads; r++)
            for (int64_t i = 0; i < d / 2; i++) {
              const int64_t t = r / heads * d, lo = r * d + i, hi = lo + d / 2;
              out[lo] = x[lo] * cos[t + i] - x[hi] * sin[t + i];
              out[hi] = x[hi] * cos[t + i] + x[lo] * sin[t + i];
            }
          return {};
        }
      };
      auto run = std::make_unique<Run>();
      run->desc = desc;
      return std::unique_ptr<PreparedKernel>(std::move(run));
    }
  };
  EXPECT_FALSE(judge(HalfCos(), spec("rope", "tokens=4,heads=2,head_dim=64")).ok);
}

TEST(Checker, SampledCheckFindsAWrongTileEdge) {
  // Over 2 GFLOP only a part is compared; a wrong last column is in it.
  const PlantedKernel wrong([](const Desc& d, void* const* p) {
    float* c = output(d, p);
    const int64_t n = d.axes[2];
    for (int64_t i = 0; i < d.axes[0]; i++) c[i * n + n - 1] += 1;
  });
  CaseSpec s = spec("gemm", "m=4096,n=128,k=2048");
  EXPECT_GT(cost(make_case(s)->desc).flops, kFullCheckFlops);
  EXPECT_FALSE(judge(wrong, s).ok);
}

// A product over 2 GFLOP as `cpu` gives it, and what is judged of it with one element changed.
class LargeProduct {
 public:
  explicit LargeProduct(const std::string& dtype)
      : case_(*make_case(spec("gemm", "m=900,n=601,k=2048", dtype))) {
    const KernelRegistry registry(*Machine::host());
    const KernelChoice choice = *registry.select("cpu", case_.desc);
    outputs_ = *KernelRunner::create(choice, case_, MemoryMode::kGuarded)->run_checked();
    reference_ = *make_reference(case_, 2);
  }
  int64_t count() const { return case_.desc.axes[0] * kColumns; }
  bool is_sampled(int64_t element) const {
    const std::vector<int64_t>& all = reference_.outputs[0].positions;
    return std::find(all.begin(), all.end(), element) != all.end();
  }
  double largest_beside(int64_t element) const {
    double largest = 0;
    for (int64_t i = element / kColumns * kColumns, end = i + kColumns; i < end; i++)
      largest = std::max(largest, std::fabs(value(i)));
    return largest;
  }
  Verdict judge() const { return check_outputs(case_, outputs_, reference_); }
  Verdict judge_with(int64_t element, double added) {
    const double right = value(element);
    set(element, right + added);
    const Verdict verdict = judge();
    set(element, right);
    return verdict;
  }

 private:
  static constexpr int64_t kColumns = 601;
  DType dtype() const { return case_.desc.operands[2].dtype; }
  size_t place(int64_t element) const { return static_cast<size_t>(element) * byte_size(dtype()); }
  double value(int64_t element) const {
    uint64_t code = 0;
    std::memcpy(&code, &outputs_.outputs[0].data[place(element)], byte_size(dtype()));
    return decode(code, dtype());
  }
  void set(int64_t element, double value) {
    const uint64_t code = encode(value, dtype(), Overflow::kIeee);
    std::memcpy(&outputs_.outputs[0].data[place(element)], &code, byte_size(dtype()));
  }

  Case case_;
  RunOutputs outputs_;
  Reference reference_;
};

// One wrong element anywhere, and the least error that is promised to be found.
TEST(Checker, ProjectionFindsOneWrongElementAnywhere) {
  std::mt19937_64 random(test_seed(0));
  const std::pair<const char*, double> limits[] = {
      {"f32", 0.015}, {"f16", 0.02}, {"bf16", 0.1}, {"i8", 1e-5}};
  for (const auto& [dtype, most] : limits) {
    LargeProduct product(dtype);
    const Verdict right = product.judge();
    EXPECT_TRUE(right.ok) << dtype << ": " << right.reason;
    EXPECT_GT(right.finds, 0) << dtype;
    EXPECT_LT(right.finds, most) << dtype;
    for (int trial = 0; trial < 4; trial++) {
      auto element = static_cast<int64_t>(random()) & INT64_MAX;
      do element = (element + 1) % product.count();
      while (product.is_sampled(element));
      // A tenth more, for what the changed element is rounded to.
      const double error = 1.1 * right.finds * product.largest_beside(element);
      for (double added : {error, -error})
        EXPECT_FALSE(product.judge_with(element, added).ok)
            << dtype << " c[" << element << "] + " << added;
    }
  }
}

// Scales that elements share: a part has those that the whole has.
TEST(Checker, SampledReferencesArePartsOfTheWhole) {
  const CaseSpec specs[] = {
      spec("fp8_quantize", "rows=3000,cols=1500", "bf16->f8e4m3,f32", "granularity=tensor"),
      spec("fp8_quantize", "rows=3000,cols=1500", "bf16->f8e4m3,f32", "granularity=row"),
      spec("fp8_gemm", "m=2100,n=2100,k=140", "bf16", "scales=block"),
      spec("fp8_gemm", "m=2100,n=2100,k=140", "bf16", "scales=row_column"),
  };
  for (CaseSpec s : specs) {
    const Expected<Reference> whole = make_reference(*make_case(s), 2);
    s.device = {DeviceKind::kCuda, 0};
    s.cache = CacheState::kCold;
    s.regime = Regime::kBackToBack;
    const Expected<Reference> part = make_reference(*make_case(s), 2);
    ASSERT_TRUE(whole && part);
    EXPECT_FALSE(whole->sampled);
    EXPECT_TRUE(part->sampled);
    for (size_t o = 0; o < part->outputs.size(); o++) {
      const ReferenceOutput &few = part->outputs[o], &all = whole->outputs[o];
      if (few.sizes.size() > 0) {
        EXPECT_LT(few.value.size(), all.value.size() / 4);
      }
      for (size_t i = 0; i < few.value.size(); i++)
        ASSERT_EQ(few.value[i], all.value[static_cast<size_t>(few.positions[i])]) << s.op << i;
    }
  }
}

TEST(Checker, IntegerOutputsAreCheckedExactly) {
  const PlantedKernel wrong([](const Desc& d, void* const* p) {
    static_cast<int32_t*>(p[2])[static_cast<size_t>(d.axes[0] * d.axes[2]) - 1] += 1;
  });
  EXPECT_FALSE(judge(wrong, spec("gemm", "m=5,n=7,k=33", "i8")).ok);
  EXPECT_TRUE(judge(PlantedKernel({}), spec("gemm", "m=5,n=7,k=33", "i8")).ok);
}

}  // namespace
}  // namespace nrd
