// SPDX-License-Identifier: MIT
// tests/compiler/lift_build_test.cpp: machine code to SSA form: small functions by their structure,
// every definition of the catalogue by running what was built, broken code by its refusal.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "lift/call.h"
#include "lift/definition.h"
#include "lift/function.h"
#include "lift/function_machine.h"
#include "lift/image.h"
#include "lift/native.h"
#include "ops/round_to.h"
#include "tests/seed.h"

namespace nrd::lift {
namespace {

constexpr uint64_t kBase = 0x10000;
constexpr int64_t kMostSteps = 10'000'000;

FunctionRun run_function(const Function& function, std::span<const uint64_t> arguments,
                         std::span<const MemoryRegion> memory) {
  Expected<FunctionMachine> machine = FunctionMachine::make(function, process_image());
  if (!machine) return ADD_FAILURE() << machine.error().message(), FunctionRun{};
  return machine->run(arguments, memory, kMostSteps);
}

Expected<Function> build_bytes(std::vector<uint8_t> bytes, std::string_view signature,
                               FrontEnd& front_end, uint64_t offset = 0) {
  const MemoryImage image(std::move(bytes), kBase);
  const LiftRequest request{"f", reinterpret_cast<const void*>(kBase + offset),
                            *parse_signature(signature)};
  return build_function(request, image, front_end, nullptr);
}

class X86Build : public testing::Test {
 protected:
  void SetUp() override {
    if (front_end == nullptr) GTEST_SKIP() << "built without Zydis";
  }
  Expected<Function> build(std::vector<uint8_t> bytes, std::string_view signature) {
    return build_bytes(std::move(bytes), signature, *front_end);
  }
  std::string refusal(std::vector<uint8_t> bytes, std::string_view signature) {
    const Expected<Function> built = build(std::move(bytes), signature);
    return built ? "built" : built.error().message();
  }

  std::unique_ptr<FrontEnd> front_end = make_x86_front_end();
};

// xorps xmm0,xmm0; test rsi,rsi; je end; xor eax,eax;
// loop: addss xmm0,[rdi+rax*4]; inc rax; cmp rax,rsi; jne loop; end: ret
const std::vector<uint8_t> kSum = {0x0f, 0x57, 0xc0, 0x48, 0x85, 0xf6, 0x74, 0x0f,
                                   0x31, 0xc0, 0xf3, 0x0f, 0x58, 0x04, 0x87, 0x48,
                                   0xff, 0xc0, 0x48, 0x39, 0xf0, 0x75, 0xf3, 0xc3};

TEST_F(X86Build, LoopsHavePhisOfTheTypesThatAreRead) {
  const Expected<Function> f = build(kSum, "float(const float* x, size_t n)");
  ASSERT_TRUE(f) << f.error().message();
  ASSERT_EQ(f->loops.size(), 1u);
  const Block& header = f->blocks[f->loops[0].header];
  ASSERT_EQ(header.phis.size(), 2u);
  std::vector<Type> types;
  for (const Phi& phi : header.phis) types.push_back((*f)[phi.node].type);
  EXPECT_NE(std::find(types.begin(), types.end(), Type::kF32), types.end());
  EXPECT_NE(std::find(types.begin(), types.end(), Type::kI64), types.end());
  ASSERT_EQ(header.memory.size(), 1u);
  EXPECT_EQ((*f)[header.memory[0]].type, Type::kF32);
  EXPECT_NE(f->result, kNoNode);

  std::vector<float> x = {1, 2, 4, 8};
  const MemoryRegion memory[] = {{reinterpret_cast<char*>(x.data()), x.size() * sizeof(float)}};
  for (const uint64_t n : {0, 1, 4}) {
    const uint64_t arguments[] = {region_address(0), n};
    const FunctionRun run = run_function(*f, arguments, memory);
    EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(run.result)), n == 0   ? 0
                                                                       : n == 1 ? 1
                                                                                : 15);
  }
}

// push rbx; call helper; addss xmm0,xmm0; pop rbx; ret
// helper: push rbp; mov rbp,rsp; movss [rbp-4],xmm0; movss xmm0,[rbp-4]; mulss xmm0,[rbp-4];
//         pop rbp; ret
TEST_F(X86Build, HelpersAreInlinedAndSlotsGo) {
  const Expected<Function> f =
      build({0x53, 0xe8, 0x06, 0,    0,    0,    0xf3, 0x0f, 0x58, 0xc0, 0x5b,
             0xc3, 0x55, 0x48, 0x89, 0xe5, 0xf3, 0x0f, 0x11, 0x45, 0xfc, 0xf3,
             0x0f, 0x10, 0x45, 0xfc, 0xf3, 0x0f, 0x59, 0x45, 0xfc, 0x5d, 0xc3},
            "float(float x)");
  ASSERT_TRUE(f) << f.error().message();
  ASSERT_EQ(f->blocks.size(), 1u);
  EXPECT_TRUE(f->blocks[0].memory.empty());
  const Node& sum = (*f)[f->result];
  EXPECT_EQ(sum.op, TraceOp::kAdd);
  EXPECT_EQ((*f)[sum.args[0]].op, TraceOp::kMul);
}

// test rdi,rdi; jne over; ud2; over: movss xmm0,[rdi]; ret
TEST_F(X86Build, PathsThatEndInATrapAreLeftOut) {
  const Expected<Function> f =
      build({0x48, 0x85, 0xff, 0x75, 0x02, 0x0f, 0x0b, 0xf3, 0x0f, 0x10, 0x07, 0xc3},
            "float(const float* x)");
  ASSERT_TRUE(f) << f.error().message();
  EXPECT_EQ(f->blocks.size(), 1u);
}

TEST_F(X86Build, RefusalsSayWhy) {
  EXPECT_NE(
      refusal({0x48, 0x83, 0xec, 0x08, 0xe8, 0xf7, 0xff, 0xff, 0xff, 0x48, 0x83, 0xc4, 0x08, 0xc3},
              "float(float)")
          .find("recursive"),
      std::string::npos);
  EXPECT_NE(refusal({0xff, 0x24, 0xc5, 0, 0x10, 0, 0}, "float(float)").find("switch"),
            std::string::npos);
  EXPECT_NE(refusal({0xeb, 0xfe}, "float(float)").find("never returns"), std::string::npos);
  // test rdi,rdi; je 2; 1: dec rdi; 2: dec rdi; jne 1; ret
  EXPECT_NE(
      refusal({0x48, 0x85, 0xff, 0x74, 0x03, 0x48, 0xff, 0xcf, 0x48, 0xff, 0xcf, 0x75, 0xf8, 0xc3},
              "void(size_t n)")
          .find("irreducible"),
      std::string::npos);
  // addss xmm0,xmm1; ret
  EXPECT_NE(refusal({0xf3, 0x0f, 0x58, 0xc1, 0xc3}, "float(float)").find("never set"),
            std::string::npos);
  // movss [rsp-16],xmm0; movss xmm0,[rsp+rdi*4-16]; ret
  EXPECT_NE(refusal({0xf3, 0x0f, 0x11, 0x44, 0x24, 0xf0, 0xf3, 0x0f, 0x10, 0x44, 0xbc, 0xf0, 0xc3},
                    "float(float x, size_t i)")
                .find("local array"),
            std::string::npos);
  // lea rax,[rsp-8]; mov [rdi],rax; ret
  EXPECT_NE(refusal({0x48, 0x8d, 0x44, 0x24, 0xf8, 0x48, 0x89, 0x07, 0xc3}, "void(float* x)")
                .find("address of a local"),
            std::string::npos);
}

TEST_F(X86Build, CutOffCodeIsRefused) {
  for (size_t length = 0; length + 1 < kSum.size(); length++) {
    const std::vector<uint8_t> part(kSum.begin(), kSum.begin() + static_cast<ptrdiff_t>(length));
    EXPECT_FALSE(build(part, "float(const float* x, size_t n)")) << length;
  }
}

// Whatever the bytes are, the answer is a function or a reason.
TEST(LiftBuild, RandomBytesNeverCrash) {
  constexpr int kTrials = 3000;
  for (int trial = 0; trial < kTrials; trial++) {
    std::mt19937 random(test_seed(static_cast<uint64_t>(trial)));
    std::vector<uint8_t> bytes(1 + random() % 200);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    if (trial % 2 == 1 && bytes.size() > kSum.size()) {  // near something sensible
      std::copy(kSum.begin(), kSum.end(), bytes.begin());
      bytes[random() % kSum.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    for (const auto& front_end : {make_x86_front_end(), make_a64_front_end()}) {
      if (front_end == nullptr) continue;
      const Expected<Function> f =
          build_bytes(bytes, "float(const float* x, size_t n)", *front_end);
      if (!f) {
        EXPECT_FALSE(f.error().message().empty()) << trial;
      } else {
        EXPECT_FALSE(function_text(*f).empty()) << trial;
      }
    }
  }
}

// One call's arguments, twice: for the original and for what was built.
class Arguments {
 public:
  Arguments(const CSignature& signature, uint64_t seed) : signature_(signature), random_(seed) {
    for (const CParam& param : signature.params) add(param);
    copies_ = buffers_;
  }

  void call(const void* function) {
    std::vector<void*> pointers;
    for (std::vector<uint32_t>& buffer : buffers_) pointers.push_back(buffer.data());
    call_function(function, signature_, pointers.data(), integers_.data(), numbers_.data(),
                  nullptr);
  }

  FunctionRun run(const Function& function) {
    std::vector<uint64_t> bits;
    std::vector<MemoryRegion> memory;
    for (std::vector<uint32_t>& copy : copies_)
      memory.push_back({reinterpret_cast<char*>(copy.data()), copy.size() * sizeof(uint32_t)});
    size_t pointer = 0, integer = 0, number = 0;
    for (const CParam& param : signature_.params) {
      if (param.kind == CKind::kPointer)
        bits.push_back(region_address(pointer++));
      else if (param.kind == CKind::kFloat)
        bits.push_back(std::bit_cast<uint32_t>(static_cast<float>(numbers_[number++])));
      else if (param.kind == CKind::kInt32)
        bits.push_back(static_cast<uint32_t>(integers_[integer++]));
      else
        bits.push_back(static_cast<uint64_t>(integers_[integer++]));
    }
    return run_function(function, bits, memory);
  }

  // The first difference; any NaN equals any NaN.
  std::string difference() const {
    size_t pointer = 0;
    for (const CParam& param : signature_.params) {
      if (param.kind != CKind::kPointer) continue;
      const std::vector<uint32_t>&a = buffers_[pointer], &b = copies_[pointer];
      for (size_t i = 0; i < a.size(); i++) {
        const bool nans = param.element == DType::kF32 && std::isnan(std::bit_cast<float>(a[i])) &&
                          std::isnan(std::bit_cast<float>(b[i]));
        if (a[i] != b[i] && !nans)
          return param.name + "[" + std::to_string(i) + "]: " + std::to_string(a[i]) + " and " +
                 std::to_string(b[i]);
      }
      pointer++;
    }
    return {};
  }

 private:
  static constexpr size_t kWords = 1 << 14;

  uint32_t float_word() {
    switch (random_() % 32) {
      case 0: return std::bit_cast<uint32_t>(std::nanf(""));
      case 1: return std::bit_cast<uint32_t>(INFINITY);
      case 2: return std::bit_cast<uint32_t>(-0.0f);
      case 3: return std::bit_cast<uint32_t>(1e30f);
      default:
        return std::bit_cast<uint32_t>(
            static_cast<float>(static_cast<int>(random_() % 2001) - 1000) / 128.0f);
    }
  }

  void add(const CParam& param) {
    if (param.kind == CKind::kPointer) {
      std::vector<uint32_t>& buffer = buffers_.emplace_back(kWords);
      for (uint32_t& word : buffer) {
        const uint32_t any = static_cast<uint32_t>(random_());
        word = param.element == DType::kF32   ? float_word()
               : param.element == DType::kI32 ? any % 4
                                              : any;
      }
    } else if (param.kind == CKind::kFloat) {
      numbers_.push_back(static_cast<double>(static_cast<float>(random_() % 100) / 16.0f));
    } else if (param.kind == CKind::kInt32) {
      integers_.push_back(static_cast<int64_t>(random_() % 7));  // a dtype
    } else {
      integers_.push_back(static_cast<int64_t>(random_() % 5) * 2);
    }
  }

  const CSignature& signature_;
  std::mt19937 random_;
  std::vector<std::vector<uint32_t>> buffers_, copies_;
  std::vector<int64_t> integers_;
  std::vector<double> numbers_;
};

TEST(LiftBuild, DefinitionsRunAsTheyWereCompiled) {
  if (native_front_end() == nullptr) GTEST_SKIP() << "built without a decoder";
  register_name(reinterpret_cast<const void*>(&nrd_round_to_f32), "nrd_round_to_f32");
  for (const LiftRequest& request : catalogue_requests()) {
    SCOPED_TRACE(request.name);
    const Expected<Function> f =
        build_function(request, process_image(), *native_front_end(), nullptr, Keep::kTraps);
    ASSERT_TRUE(f) << f.error().message();
    for (unsigned trial = 0; trial < 8; trial++) {
      Arguments arguments(request.signature, test_seed(trial));
      arguments.call(request.function);
      ASSERT_EQ(arguments.run(*f).fault, Fault::kNone);
      ASSERT_EQ(arguments.difference(), "") << "trial " << trial << "\n" << function_text(*f);
    }
  }
}

}  // namespace
}  // namespace nrd::lift
