// SPDX-License-Identifier: MIT
// tests/fuzz/lift_bytes_test.cpp: the lifter on bytes that are no function: the committed seeds
// (functions, and inputs that once went wrong), all their beginnings, what chance makes of them,
// and any bytes.
#include "lift_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "lift/definition.h"
#include "lift/image.h"
#include "tests/seed.h"

namespace nrd::lift {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kMutations = 20000;
constexpr int kRandom = 20000;
constexpr size_t kLongest = 256;

std::vector<Bytes> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

// The definitions as this machine compiled them: what follows a function is part of its bytes too.
std::vector<Bytes> definitions() {
  std::vector<Bytes> list;
  for (const LiftRequest& request : catalogue_requests()) {
    const auto address = reinterpret_cast<uint64_t>(request.function);
    const size_t size = std::min(process_image().code_bytes(address), kLongest);
    const uint8_t* code = process_image().code(address);
    Bytes& bytes = list.emplace_back(1, static_cast<uint8_t>(list.size()));
    bytes.insert(bytes.end(), code, code + size);
  }
  return list;
}

class LiftBytes : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    if (!has_front_end(GetParam())) GTEST_SKIP() << "built without this machine's decoder";
    seeds_ = read_seeds(std::filesystem::path(NEREID_SEEDS) /
                        (GetParam() == Machine::kX86 ? "x86" : "a64"));
    ASSERT_FALSE(seeds_.empty());
  }
  void expect_sound(const Bytes& input) { EXPECT_EQ(complaint_about(GetParam(), input), ""); }
  size_t below(size_t limit) { return random_() % limit; }  // as every standard library does it

  Bytes mutated() {
    Bytes input = seeds_[below(seeds_.size())];
    for (size_t changes = 1 + below(4); changes > 0 && input.size() > 2; changes--) {
      const size_t at = 1 + below(input.size() - 1);
      const Bytes& other = seeds_[below(seeds_.size())];
      switch (below(4)) {
        case 0: input[at] ^= static_cast<uint8_t>(1u << below(8)); break;
        case 1: input[at] = static_cast<uint8_t>(below(256)); break;
        case 2: input.erase(input.begin() + static_cast<ptrdiff_t>(at)); break;
        default:
          std::copy_n(other.begin(), std::min(other.size(), input.size() - at),
                      input.begin() + static_cast<ptrdiff_t>(at));
      }
    }
    return input;
  }

  std::vector<Bytes> seeds_;
  std::mt19937_64 random_{test_seed(0)};
};

TEST_P(LiftBytes, SeedsAndTheirBeginnings) {
  for (const Bytes& seed : seeds_)
    for (size_t size = 0; size <= seed.size(); size++)
      expect_sound({seed.begin(), seed.begin() + static_cast<ptrdiff_t>(size)});
}

TEST_P(LiftBytes, SeedsChangedByChance) {
  for (int i = 0; i < kMutations; i++) expect_sound(mutated());
}

TEST_P(LiftBytes, AnyBytes) {
  for (int i = 0; i < kRandom; i++) {
    Bytes input(1 + below(kLongest));
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random_());
    expect_sound(input);
  }
}

// Only one of the machines reads these as they are meant; for the other they are bytes.
TEST_P(LiftBytes, BeginningsOfTheCatalogue) {
  for (const Bytes& whole : definitions())
    for (size_t size = whole.size(); size > 1; size = size * 3 / 4)
      expect_sound({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)});
}

// Code that asks for more work than any operator needs; x86, where it is short to write.
class LiftBytesBounds : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_front_end(Machine::kX86)) GTEST_SKIP() << "built without Zydis";
  }
  static void append(Bytes& code, std::initializer_list<uint8_t> bytes, int times = 1) {
    for (int i = 0; i < times; i++) code.insert(code.end(), bytes);
  }
  static std::string reason(const Bytes& code) {
    std::string why;
    EXPECT_EQ(complaint_about(Machine::kX86, code, &why), "");
    return why;
  }

  Bytes code_{1};  // float(float, float, float)
};

TEST_F(LiftBytesBounds, Instructions) {
  append(code_, {0x0f, 0x28, 0xc1}, 5000);  // movaps xmm0, xmm1
  append(code_, {0xc3});
  EXPECT_EQ(reason(code_), "the function has more than 4096 instructions");
}

TEST_F(LiftBytesBounds, InstructionsOfHelpers) {
  for (int i = 0; i < 100; i++) {  // call the helper behind the ret
    const int32_t distance = (100 - i - 1) * 5 + 1;
    append(code_,
           {0xe8, static_cast<uint8_t>(distance), static_cast<uint8_t>(distance >> 8), 0, 0});
  }
  append(code_, {0xc3});
  append(code_, {0x0f, 0x28, 0xc1}, 3000);
  append(code_, {0xc3});
  EXPECT_NE(reason(code_).find("with its helpers the function has more than 16384 instructions"),
            std::string::npos)
      << reason(code_);
}

TEST_F(LiftBytesBounds, Blocks) {
  append(code_, {0x0f, 0x2e, 0xc1, 0x76, 0x04, 0xf3, 0x0f, 0x58, 0xc1}, 200);  // if (..) a += b
  append(code_, {0xc3});
  EXPECT_EQ(reason(code_), "the function has more than 256 basic blocks");
}

TEST_F(LiftBytesBounds, DepthOfAnExpression) {
  append(code_, {0xf3, 0x0f, 0x58, 0xc1}, 4000);  // addss xmm0, xmm1
  append(code_, {0xc3});
  EXPECT_EQ(reason(code_), "an expression is more than 1024 operations deep");
  code_[0] = 0;  // void(const float*, float*, size_t)
  code_.resize(1);
  append(code_, {0x48, 0x0f, 0xaf, 0xd2}, 2000);                                // imul rdx, rdx
  append(code_, {0xf3, 0x0f, 0x10, 0x04, 0x97, 0xf3, 0x0f, 0x11, 0x06, 0xc3});  // out[0] = x[rdx]
  EXPECT_EQ(reason(code_), "an expression is more than 1024 operations deep");
}

INSTANTIATE_TEST_SUITE_P(Machines, LiftBytes, testing::Values(Machine::kX86, Machine::kA64),
                         [](const auto& info) {
                           return info.param == Machine::kX86 ? "x86" : "a64";
                         });

}  // namespace
}  // namespace nrd::lift
