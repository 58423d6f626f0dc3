// SPDX-License-Identifier: MIT
// tests/cuda/fp8_gemm_test.cpp: the wgmma kernels of fp8_gemm, every one in every way of running
// it.
#include "cuda/launch/fp8_gemm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cuda/launch/tables.h"
#include "emulator/scheduler.h"
#include "fp8_product.h"
#include "generated.h"

namespace nrd::cuda {
namespace {

std::string name_of(const Fp8GemmConfig& config) {
  const Fp8Kernel& k = fp8_kernels()[static_cast<size_t>(config.kernel)];
  const char* const sums[] = {"fast", "precise", "block"};
  return fmt::format("{}{} {}x{} share {} cut {}", sums[static_cast<int>(k.sums)],
                     k.swapped ? " swapped" : "", k.rows, k.cols, static_cast<int>(config.share),
                     config.cut_rounds);
}

const Fp8Kernel& kernel_of(const Fp8GemmConfig& config) {
  return fp8_kernels()[static_cast<size_t>(config.kernel)];
}

class Fp8Gemm : public TargetTest {
 protected:
  void SetUp() override {
    TargetTest::SetUp();
    if (!IsSkipped() && !HasFailure() && target().target.kernels->fp8_gemm == nullptr)
      GTEST_SKIP() << "no wgmma";
  }

  // With the chosen configuration where none is given, and all multiprocessors of the device.
  Fp8Engine engine(const Fp8GemmConfig* config = nullptr, bool whole_k = false,
                   int multiprocessors = 0) const {
    return [=, this](const Fp8GemmArgs& given) -> Expected<void> {
      Fp8GemmArgs args = given;
      if (multiprocessors > 0) args.multiprocessors = multiprocessors;
      args.config = config;
      args.whole_k = whole_k;
      args.b_constant = config != nullptr;
      emulator::set_constant_memory(args.b_constant ? args.b : nullptr);
      DeviceBuffer workspace(target(), fp8_gemm_workspace_bytes(args));
      workspace.fill(0xa7);
      NRD_TRY(launch_fp8_gemm(*target().target.kernels->fp8_gemm, args, workspace.data(), nullptr));
      NRD_TRY(finish(target()));
      if (const auto guards = workspace.check_guards(); !guards)
        return make_error({.code = ErrorCode::kInternal, .got = guards.message()});
      return {};
    };
  }

  // Rows of codes are padded to what TMA takes.
  static Fp8Product padded(Fp8Product p) {
    p.a_padding = p.b_padding = (16 - p.k % 16) % 16;
    return p;
  }

  ::testing::AssertionResult right(const Fp8Product& product, const Fp8GemmConfig& config,
                                   int multiprocessors = 0) const {
    Fp8Product p = padded(product);
    const Fp8Sums sums = kernel_of(config).sums;
    p.fast = sums == Fp8Sums::kFast;
    p.scales = sums == Fp8Sums::kBlock ? Fp8Scales::kBlock : Fp8Scales::kVector;
    ::testing::AssertionResult result =
        product_is_right(target(), p, engine(&config, false, multiprocessors), tolerance(p.fast));
    if (!result) result << "\n" << name_of(config);
    return result;
  }

  ::testing::AssertionResult right(const Fp8Product& product) const {
    return product_is_right(target(), padded(product), engine(), tolerance(product.fast));
  }

  // Of the sum of magnitudes. Tensor cores keep 13 bits of what they add up.
  double tolerance(bool fast) const {
    if (target().is_emulated()) return 1e-5;
    return fast ? 4e-3 : 1e-3;
  }
};

// Every kernel, with nothing shared, each side shared, and k cut where it can be.
std::vector<Fp8GemmConfig> every_config() {
  std::vector<Fp8GemmConfig> all;
  for (int i = 0; i < static_cast<int>(fp8_kernels().size()); i++) {
    const Fp8Kernel& kernel = fp8_kernels()[static_cast<size_t>(i)];
    for (Fp8Share share : {Fp8Share::kNothing, Fp8Share::kRows, Fp8Share::kCols}) {
      if (!can_share(kernel, share)) continue;
      for (int cut = 0; cut <= (may_cut_k(kernel) ? 1 : 0); cut++)
        all.push_back({.kernel = i, .share = share, .raster = 2, .cut_rounds = cut});
    }
  }
  return all;
}

// A size that needs a bit more than `tiles` whole tiles of the kernel.
Fp8Product product_of(const Fp8GemmConfig& config, int64_t row_tiles, int64_t col_tiles,
                      int64_t k) {
  const Fp8Kernel& kernel = kernel_of(config);
  const int64_t rows = kernel.rows * row_tiles + 9, cols = kernel.cols * col_tiles + 3;
  return {.m = kernel.swapped ? cols : rows, .n = kernel.swapped ? rows : cols, .k = k};
}

// The ladder: integers show any wrong sum, one-hot rows show which element went where.
TEST_P(Fp8Gemm, SumsIntegersExactly) {
  for (const Fp8GemmConfig& config : every_config()) {
    Fp8Product p = product_of(config, 1, 1, 272);
    p.data = Fp8Data::kIntegers;
    EXPECT_TRUE(right(p, config));
  }
}

TEST_P(Fp8Gemm, PicksRowsOfB) {
  for (const Fp8GemmConfig& config : every_config()) {
    if (config.share != Fp8Share::kNothing || config.cut_rounds > 0) continue;
    Fp8Product p = product_of(config, 0, 1, 144);
    p.data = Fp8Data::kOneHot;
    EXPECT_TRUE(right(p, config));
  }
}

TEST_P(Fp8Gemm, IsTheProductOfDequantisedInputs) {
  for (const Fp8GemmConfig& config : every_config()) {
    if (config.share == Fp8Share::kRows) continue;
    Fp8Product p = product_of(config, 0, 1, 400);
    p.bias = true;
    p.scales_turned = config.share == Fp8Share::kNothing;
    EXPECT_TRUE(right(p, config));
  }
}

// The ring goes round, clusters and tiles follow each other, whatever the order of warps.
TEST_P(Fp8Gemm, SurvivesAnyOrder) {
  const uint64_t seeds = target().is_emulated() ? 2 : 1;
  for (const Fp8GemmConfig& given : every_config()) {
    const Fp8Kernel& kernel = kernel_of(given);
    if (kernel.cols > 64 && given.share == Fp8Share::kRows) continue;  // takes long
    for (uint64_t seed = 1; seed <= seeds; seed++) {
      const SeedScope order(seed);
      Fp8GemmConfig config = given;
      Fp8Product p =
          product_of(config, kernel.rows == 128 ? 2 : 1, 1, 128 * (kernel.stages + 2) - 40);
      p.data = Fp8Data::kIntegers;
      p.c_dtype = DType::kBF16;
      p.seed = seed;
      EXPECT_TRUE(right(p, config, 2)) << "seed " << seed;
    }
  }
}

// Any configuration on sizes that nobody chose: rings that go round, several tiles a block, the
// last of them cut.
TEST_P(Fp8Gemm, GeneratedShapes) {
  const auto [seed, cases] = test_draw(target().is_emulated() ? 12 : 100);
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const std::vector<Fp8GemmConfig> all = every_config();
  for (int i = 0; i < cases; i++) {
    const Fp8GemmConfig config = all[static_cast<size_t>(below(static_cast<int64_t>(all.size())))];
    const Fp8Kernel& kernel = kernel_of(config);
    Fp8Product p = product_of(config, 1 + below(kernel.rows > 128 ? 1 : 2), below(2), 0);
    p.m = std::max<int64_t>(1, p.m - below(20)), p.n = std::max<int64_t>(1, p.n - below(20));
    p.k = 1 + below(128 * (kernel.stages + 3));
    p.bias = below(2) == 0;
    p.one_scale = below(3) == 0;
    static constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kBF16};
    p.c_dtype = kTypes[below(4)];
    // Half of them as TMA stores them.
    if (below(2)) p.n = (p.n + 7) / 8 * 8;
    p.c_padding = p.n % 8 ? below(5) : 0;
    p.seed = random() % 1000;
    const SeedScope order(1 + random() % 1000);
    ASSERT_TRUE(right(p, config, 2)) << "case " << i;
  }
}

// The second tile of a cluster may lie outside c, as may part of a tile over two blocks of b: there
// are no scales for them.
TEST_P(Fp8Gemm, ReadsOnlyScalesThatAreThere) {
  for (const Fp8GemmConfig& config : every_config()) {
    const Fp8Kernel& kernel = kernel_of(config);
    if (kernel.sums != Fp8Sums::kBlock || config.cut_rounds > 0) continue;
    // A block's scales take more than what follows an operand.
    EXPECT_TRUE(right({.m = 5, .n = 60, .k = 128 * 80, .scales_turned = true}, config));
  }
}

// One block's parts come in any order, and are added up in one.
TEST_P(Fp8Gemm, CutsGiveTheSameBitsInAnyOrder) {
  for (const Fp8GemmConfig& config : every_config()) {
    const Fp8Kernel& kernel = kernel_of(config);
    if (config.cut_rounds == 0 || kernel.cols > 64) continue;
    Fp8Product p = padded(product_of(config, 1, 0, 128 * 11 + 16));
    p.scales = kernel.sums == Fp8Sums::kBlock ? Fp8Scales::kBlock : Fp8Scales::kVector;
    std::vector<char> first;
    for (uint64_t seed = 0; seed < (target().is_emulated() ? 6u : 2u); seed++) {
      const SeedScope order(seed);
      const Expected<std::vector<char>> bytes = product_bytes(target(), p, engine(&config));
      ASSERT_TRUE(bytes) << bytes.error().message();
      if (seed == 0) first = *bytes;
      EXPECT_EQ(*bytes, first) << name_of(config) << " seed " << seed;
    }
  }
}

TEST_P(Fp8Gemm, TakesAnySize) {
  for (int64_t m : {1, 7, 63, 65, 127, 129, 200})
    for (int64_t n : {1, 7, 65, 129, 200}) EXPECT_TRUE(right({.m = m, .n = n, .k = 144}));
  for (int64_t k : {1, 16, 48, 127, 128, 272, 600})
    for (bool fast : {false, true})
      for (int64_t m : {5, 130}) EXPECT_TRUE(right({.m = m, .n = 72, .k = k, .fast = fast}));
  for (int64_t k : {16, 130, 272})
    for (int64_t m : {1, 9, 40, 65, 150})
      EXPECT_TRUE(right({.m = m, .n = 137, .k = k, .scales = Fp8Scales::kBlock}));
  EXPECT_TRUE(right({.m = 0, .n = 8, .k = 16}));
  EXPECT_TRUE(right({.m = 8, .n = 0, .k = 16}));
}

// A width that leaves a narrower piece, one that does not, and the transposed form.
std::vector<Fp8GemmConfig> forms_of_stores() {
  std::vector<Fp8GemmConfig> all;
  for (const Fp8GemmConfig& config : every_config()) {
    const Fp8Kernel& kernel = kernel_of(config);
    if (config.share != Fp8Share::kNothing || config.cut_rounds > 0) continue;
    const bool is_wanted = kernel.swapped
                               ? kernel.cols <= 16
                               : kernel.cols == 88 || kernel.cols == 160 || kernel.cols == 128;
    if (is_wanted) all.push_back(config);
  }
  return all;
}

TEST_P(Fp8Gemm, WritesEveryDtypeWithBias) {
  for (const Fp8GemmConfig& config : forms_of_stores())
    for (DType c : {DType::kF32, DType::kF16, DType::kBF16}) {
      Fp8Product p = product_of(config, 0, 1, 48);
      p.c_dtype = c;
      p.c_padding = (8 - p.n % 8) % 8;
      p.bias = true;
      p.bias_dtype =
          c == DType::kF16 ? DType::kBF16 : (c == DType::kF32 ? DType::kF16 : DType::kF32);
      p.bias_step = c == DType::kF16 ? 3 : 1;
      p.one_scale = c == DType::kBF16;
      EXPECT_TRUE(right(p, config));
    }
}

TEST_P(Fp8Gemm, StoresAnywhereWithTheSameBits) {
  for (const Fp8GemmConfig& config : forms_of_stores())
    for (DType c : {DType::kF32, DType::kBF16}) {
      Fp8Product aligned = padded(product_of(config, 0, 1, 48));
      aligned.c_dtype = c;
      aligned.c_padding = (8 - aligned.n % 8) % 8;
      aligned.fast = kernel_of(config).sums == Fp8Sums::kFast;
      if (kernel_of(config).sums == Fp8Sums::kBlock) aligned.scales = Fp8Scales::kBlock;
      Fp8Product anywhere = aligned;
      anywhere.c_padding += 1;
      anywhere.c_misalignment = byte_size(c);
      const auto one = product_bytes(target(), aligned, engine(&config));
      const auto other = product_bytes(target(), anywhere, engine(&config));
      ASSERT_TRUE(one) << one.error().message();
      ASSERT_TRUE(other) << other.error().message();
      EXPECT_EQ(*one, *other) << name_of(config);
    }
}

TEST_P(Fp8Gemm, PassesNanOn) {
  for (int64_t m : {3, 70})
    for (bool fast : {false, true})
      EXPECT_TRUE(right({.m = m, .n = 40, .k = 160, .data = Fp8Data::kNan, .fast = fast}));
}

// Whole sums have the same bits for any number of rows beside them.
TEST_P(Fp8Gemm, WholeSumsDoNotDependOnOtherRows) {
  for (bool fast : {false, true}) {
    const Fp8Product many{.m = 150, .n = 40, .k = 304, .fast = fast};
    Fp8Product few = many;
    few.m = 3;
    const auto all = product_bytes(target(), many, engine(nullptr, true));
    const auto some = product_bytes(target(), few, engine(nullptr, true));
    ASSERT_TRUE(all) << all.error().message();
    ASSERT_TRUE(some) << some.error().message();
    EXPECT_TRUE(std::equal(some->begin(), some->end(), all->begin())) << "fast: " << fast;
  }
}

TEST_P(Fp8Gemm, SaysWhatItCannotRead) {
  auto message = [&](Fp8GemmArgs args) {
    args.m = args.n = args.k = 16;
    const auto done = launch_fp8_gemm(*target().target.kernels->fp8_gemm, args, nullptr, nullptr);
    return done ? std::string() : done.error().message();
  };
  const auto* odd = reinterpret_cast<const void*>(uintptr_t{0x1008});
  EXPECT_NE(message({.a = odd, .a_row = 16, .b_row = 16}).find("fp8_gemm: a"), std::string::npos);
  EXPECT_NE(message({.a_row = 16, .b_row = 24}).find("fp8_gemm: b"), std::string::npos);
}

// Every member of a configuration that comes from outside is judged before anything is laid out.
TEST_P(Fp8Gemm, SaysWhatIsWrongWithAConfiguration) {
  auto message = [&](const Fp8GemmConfig& config, bool whole_k = false) {
    Fp8GemmArgs args{.m = 16, .n = 16, .k = 16, .a_row = 16, .b_row = 16};
    args.config = &config;
    args.whole_k = whole_k;
    EXPECT_EQ(fp8_gemm_workspace_bytes(args), 0u);
    EXPECT_FALSE(fp8_gemm_numerics(args).empty());
    EXPECT_FALSE(fp8_gemm_note(args).empty());
    const auto done = launch_fp8_gemm(*target().target.kernels->fp8_gemm, args, nullptr, nullptr);
    return done ? std::string() : done.error().message();
  };
  const Fp8GemmConfig right = choose_fp8_gemm({.m = 16, .n = 16, .k = 16});
  auto expect = [&](const char* member, auto change, bool whole_k = false) {
    Fp8GemmConfig config = right;
    change(config);
    const std::string text = message(config, whole_k);
    EXPECT_NE(text.find(std::string("config.") + member), std::string::npos) << text;
  };
  for (int kernel : {-1, 1000}) expect("kernel", [&](auto& c) { c.kernel = kernel; });
  for (int raster : {-1, 0, 33, 1 << 30}) expect("raster", [&](auto& c) { c.raster = raster; });
  for (int rounds : {-1, 3, 1 << 30}) expect("cut_rounds", [&](auto& c) { c.cut_rounds = rounds; });
  expect(
      "cut_rounds", [](auto& c) { c.cut_rounds = 1; }, true);
  for (int share : {-1, 3})
    expect("share", [&](auto& c) { c.share = static_cast<Fp8Share>(share); });
  for (int i = 0; i < static_cast<int>(fp8_kernels().size()); i++) {
    const Fp8Kernel& k = fp8_kernels()[static_cast<size_t>(i)];
    if (k.sums != Fp8Sums::kPrecise) expect("kernel", [&](auto& c) { c.kernel = i; });
    if (k.sums == Fp8Sums::kPrecise && !may_cut_k(k))
      expect("cut_rounds", [&](auto& c) { c.kernel = i, c.cut_rounds = 1; });
  }
}

// Products that many configurations compute, by what tells them apart.
class SharedProducts {
 public:
  explicit SharedProducts(const TestTarget& target) : target_(target) {}

  // With the scales and sums that the configuration takes.
  SharedProduct& of(Fp8Product p, const Fp8GemmConfig& config) {
    const Fp8Sums sums = kernel_of(config).sums;
    p.fast = sums == Fp8Sums::kFast;
    if (sums == Fp8Sums::kBlock) p.scales = Fp8Scales::kBlock;
    std::unique_ptr<SharedProduct>& product = products_[p.text()];
    if (!product) product = std::make_unique<SharedProduct>(target_, p);
    return *product;
  }

 private:
  const TestTarget& target_;
  std::map<std::string, std::unique_ptr<SharedProduct>> products_;
};

// Only where a device makes it bearable: every kernel over several rounds of tiles.
TEST_P(Fp8Gemm, RunsLargeProducts) {
  if (target().is_emulated()) GTEST_SKIP() << "too slow without a device";
  SharedProducts products(target());
  for (const Fp8GemmConfig& config : every_config()) {
    Fp8Product p{.m = kernel_of(config).swapped ? 50 : 1300, .n = 1400, .k = 1104};
    p.data = config.share == Fp8Share::kRows ? Fp8Data::kNormal : Fp8Data::kIntegers;
    p.c_dtype = DType::kBF16;
    const bool fast = kernel_of(config).sums == Fp8Sums::kFast;
    // Few multiprocessors, so that each has several tiles.
    EXPECT_TRUE(products.of(p, config).is_right(engine(&config, false, 16), tolerance(fast)))
        << name_of(config);
  }
}

// Terms of one sign show what promotion is for: fast sums lose a part of 2^-13 in every step.
TEST_P(Fp8Gemm, PromotedSumsStayTrue) {
  if (target().is_emulated()) GTEST_SKIP() << "its sums are those of f32";
  Fp8Product p{.m = 130, .n = 200, .k = 16384, .data = Fp8Data::kPositive, .one_scale = true};
  EXPECT_TRUE(product_is_right(target(), p, engine(), 1e-3));
  p.fast = true;
  EXPECT_TRUE(product_is_right(target(), p, engine(), 4e-2));
}

// Races that depend on timing: the same call again and again beside another stream's work, a
// thousand times in all, each with the bits of the first.
TEST_P(Fp8Gemm, RepeatsItsBitsUnderLoad) {
  if (target().is_emulated()) GTEST_SKIP() << "the emulator has seeds for that";
  Expected<OwnStream> other = OwnStream::create(target().target.device.index);
  ASSERT_TRUE(other);
  DeviceBuffer noise(target(), size_t{64} << 20);
  SharedProducts products(target());
  const std::vector<Fp8GemmConfig> configs = every_config();
  const int rounds = 500 / static_cast<int>(configs.size()) + 1;  // of two calls
  int calls = 0;
  for (const Fp8GemmConfig& config : configs) {
    Fp8Product p{.m = kernel_of(config).swapped ? 60 : 700, .n = 1100, .k = 2048};
    p.c_dtype = DType::kBF16;
    SharedProduct& product = products.of(p, config);
    auto under_load = [&](const Fp8GemmArgs& args) -> Expected<void> {
      const int call = calls++;
      NRD_TRY(fill_bytes(noise.data(), call % 256, noise.bytes() >> (call % 5), other->get()));
      return engine(&config)(args);
    };
    std::vector<char> first;
    for (int round = 0; round < rounds; round++) {
      const Expected<std::vector<char>> bytes = product.bytes(under_load);
      ASSERT_TRUE(bytes) << name_of(config) << ": " << bytes.error().message();
      if (round == 0) first = *bytes;
      ASSERT_EQ(*bytes, first) << name_of(config);
    }
  }
  EXPECT_GE(calls, 1000);
}

NRD_ON_EVERY_TARGET(Fp8Gemm);

}  // namespace
}  // namespace nrd::cuda
