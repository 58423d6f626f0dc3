// SPDX-License-Identifier: MIT
// tests/cuda/fp8_gemm_portable_test.cpp: the kernels for devices without wgmma.
#include "cuda/launch/fp8_gemm_portable.h"

#include <gtest/gtest.h>

#include "base/env.h"
#include "cuda/launch/error.h"
#include "cuda/launch/tables.h"
#include "fp8_product.h"

namespace nrd::cuda {

// With e4m3 products, as sm_89 has them.
extern const PortableGemmKernels portable_gemm_kernels_emulated_e4m3;

namespace {

using Kernel = PortableGemmPlan::Kernel;

// The targets that have these kernels, and the emulated one once more with native products.
struct PortableTarget {
  std::string name;
  const TestTarget* target;
  const PortableGemmKernels* kernels;
};
std::vector<PortableTarget> portable_targets() {
  std::vector<PortableTarget> list;
  for (const TestTarget* target : target_pointers()) {
    // A target that is missing here is listed: it says why it is skipped.
    const KernelTables* tables = target->target.kernels;
    if (tables ? !tables->portable_gemm : target->name == "sm90") continue;
    list.push_back({target->name, target, tables ? tables->portable_gemm : nullptr});
    if (target->is_emulated())
      list.push_back({"emulated_e4m3", target, &portable_gemm_kernels_emulated_e4m3});
  }
  return list;
}

class Portable : public ::testing::TestWithParam<PortableTarget> {
 protected:
  void SetUp() override {
    if (target().missing.empty()) return;
    if (env("NEREID_EXPECT_CUDA") == "1") FAIL() << target().missing;
    GTEST_SKIP() << target().missing;
  }
  const TestTarget& target() const { return *GetParam().target; }
  const PortableGemmKernels& kernels() const { return *GetParam().kernels; }

  Fp8Engine engine(PortableGemmPlan plan) const {
    return [this, plan](const Fp8GemmArgs& args) -> Expected<void> {
      const size_t parts = plan.parts > 1 ? static_cast<size_t>(plan.parts) : 0;
      DeviceBuffer sums(target(), parts * static_cast<size_t>(args.m * args.n) * sizeof(float));
      NRD_CUDA_TRY(kernels().launch(args, plan, sums.as<float>(), nullptr));
      NRD_TRY(finish(target()));
      if (const auto guards = sums.check_guards(); !guards)
        return make_error({.code = ErrorCode::kInternal, .got = guards.message()});
      return {};
    };
  }
  ::testing::AssertionResult right(const Fp8Product& product, PortableGemmPlan plan) const {
    return product_is_right(target(), product, engine(plan));
  }
};

// Every kernel, with a row count that it takes.
struct Form {
  PortableGemmPlan plan;
  int64_t m;
};
const std::vector<Form> kForms = {{{Kernel::kStream, 1}, 13},
                                  {{Kernel::kStream, 3}, 5},
                                  {{Kernel::kTile64, 1}, 67},
                                  {{Kernel::kTile64, 2}, 33},
                                  {{Kernel::kTile128, 1}, 130}};

TEST_P(Portable, SumsIntegersExactly) {
  for (const Form& form : kForms)
    for (bool fast : {false, true})
      EXPECT_TRUE(right({.m = form.m, .n = 137, .k = 515, .data = Fp8Data::kIntegers, .fast = fast},
                        form.plan));
}

TEST_P(Portable, PicksRowsOfB) {
  for (const Form& form : kForms)
    EXPECT_TRUE(right({.m = form.m, .n = 70, .k = 300, .data = Fp8Data::kOneHot}, form.plan));
}

TEST_P(Portable, WidensEveryCode) {
  for (const Form& form : kForms)
    EXPECT_TRUE(right({.m = form.m, .n = 64, .k = 272, .data = Fp8Data::kAny}, form.plan));
}

TEST_P(Portable, PassesNanOn) {
  for (const Form& form : kForms)
    EXPECT_TRUE(right({.m = form.m, .n = 40, .k = 160, .data = Fp8Data::kNan}, form.plan));
}

TEST_P(Portable, TakesAnySize) {
  for (int64_t k : {0, 1, 15, 16, 127, 128, 129, 400}) {
    EXPECT_TRUE(right({.m = 3, .n = 33, .k = k}, {Kernel::kStream, 1}));
    EXPECT_TRUE(right({.m = 17, .n = 9, .k = k}, {Kernel::kTile64, 1}));
  }
  for (int64_t n : {1, 7, 127, 129})
    for (int64_t m : {1, 16}) EXPECT_TRUE(right({.m = m, .n = n, .k = 48}, {Kernel::kStream, 1}));
  for (int64_t m : {0, 1, 63, 65, 129})
    EXPECT_TRUE(right({.m = m, .n = 129, .k = 48}, {Kernel::kTile128, 1}));
  EXPECT_TRUE(right({.m = 2, .n = 0, .k = 48}, {Kernel::kTile64, 1}));
}

TEST_P(Portable, ScalesBlocks) {
  for (const Form& form : kForms)
    for (bool turned : {false, true})
      EXPECT_TRUE(right({.m = form.m,
                         .n = 150,
                         .k = 400,
                         .scales = Fp8Scales::kBlock,
                         .bias = true,
                         .scales_turned = turned},
                        form.plan));
}

TEST_P(Portable, WritesEveryDtypeWithBias) {
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16};
  for (const Form& form : kForms)
    for (size_t i = 0; i < 3; i++)
      EXPECT_TRUE(right({.m = form.m,
                         .n = 31,
                         .k = 144,
                         .one_scale = i == 1,
                         .bias = true,
                         .c_dtype = kTypes[i],
                         .bias_dtype = kTypes[2 - i],
                         .c_padding = i == 2 ? 1 : 0,
                         .bias_step = i == 1 ? 3 : 1},
                        form.plan));
}

TEST_P(Portable, ReadsRowsThatStartAnywhere) {
  for (const Form& form : kForms) {
    const Fp8Product aligned{.m = form.m, .n = 37, .k = 200, .b_padding = 56};
    Fp8Product anywhere = aligned;
    anywhere.a_padding = 3;
    anywhere.b_misalignment = 5;
    anywhere.c_misalignment = 4;
    const auto first = product_bytes(target(), aligned, engine(form.plan));
    const auto second = product_bytes(target(), anywhere, engine(form.plan));
    ASSERT_TRUE(first) << first.error().message();
    ASSERT_TRUE(second) << second.error().message();
    EXPECT_EQ(*first, *second) << form.m;
  }
}

// The tiles are small enough that late copies and warps that fall behind show a missing barrier.
TEST_P(Portable, DoesNotDependOnTheOrderOfThreads) {
  if (!target().is_emulated()) GTEST_SKIP() << "for the emulator's orders";
  for (uint64_t seed = 1; seed <= 2; seed++) {
    const SeedScope scope(seed);
    for (const Form& form : kForms)
      EXPECT_TRUE(right({.m = form.m, .n = 130, .k = 700, .data = Fp8Data::kIntegers}, form.plan));
  }
}

TEST_P(Portable, RowsDoNotChangeBitsWhereAsked) {
  const auto bytes_of_rows = [&](int64_t m) {
    Fp8Product p{.m = m, .n = 50, .k = 333};
    return product_bytes(target(), p, [&](Fp8GemmArgs args) -> Expected<void> {
      args.whole_k = true;
      EXPECT_EQ(portable_gemm_workspace_bytes(args), 0u);
      return check("", launch_portable_gemm(kernels(), args, nullptr, nullptr));
    });
  };
  const auto few = bytes_of_rows(5), many = bytes_of_rows(140);
  ASSERT_TRUE(few && many);
  EXPECT_TRUE(std::equal(few->begin(), few->end(), many->begin()));
}

INSTANTIATE_TEST_SUITE_P(Targets, Portable, ::testing::ValuesIn(portable_targets()),
                         [](const auto& info) { return info.param.name; });

TEST(PortablePlan, FillsTheDevice) {
  const auto plan = [](int64_t m, int64_t n, int64_t k) {
    return portable_gemm_plan({.m = m, .n = n, .k = k, .multiprocessors = 108});
  };
  EXPECT_EQ(plan(1, 11264, 4096).kernel, Kernel::kStream);
  EXPECT_EQ(plan(1, 11264, 4096).parts, 1);
  EXPECT_EQ(plan(16, 1024, 8192).parts, 4);
  EXPECT_EQ(plan(64, 1024, 8192).kernel, Kernel::kTile64);
  EXPECT_EQ(plan(64, 1024, 8192).parts, 13);
  EXPECT_EQ(plan(4096, 4096, 4096).kernel, Kernel::kTile128);
  EXPECT_EQ(plan(4096, 4096, 4096).parts, 1);
  EXPECT_EQ(plan(0, 0, 0).parts, 1);
}

}  // namespace
}  // namespace nrd::cuda
