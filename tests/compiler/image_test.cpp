// SPDX-License-Identifier: MIT
// tests/compiler/image_test.cpp: what is read of this process: code, constants, names.
#include "lift/image.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

namespace nrd::lift {
namespace {

template <class T>
uint64_t address_of(T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

[[gnu::noinline]] float helper(float x) { return x + 1; }
const int constant_number = 42;
int changing_number = 42;
// Relocated when the program starts, read-only from then on.
extern float (*const relocated_pointers[])(float);
float (*const relocated_pointers[])(float) = {&helper, &helper};

TEST(ProcessImage, CodeIsReadable) {
  const Image& image = process_image();
  const uint64_t code = address_of(&helper);
  ASSERT_GT(image.code_bytes(code), 0u);
  EXPECT_EQ(address_of(image.code(code)), code);
#if defined(__x86_64__)  // elsewhere constants may share the segment of the code
  EXPECT_EQ(image.code_bytes(address_of(&constant_number)), 0u);
#endif
  EXPECT_EQ(image.code_bytes(address_of(&changing_number)), 0u);
}

TEST(ProcessImage, NothingOutsideModulesIsTouched) {
  const Image& image = process_image();
  const auto on_heap = std::make_unique<uint64_t>(7);
  uint64_t on_stack = 7, out = 0;
  for (uint64_t address : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, ~uint64_t{0} - 8,
                           address_of(on_heap.get()), address_of(&on_stack)}) {
    EXPECT_EQ(image.code_bytes(address), 0u);
    EXPECT_FALSE(image.read_only(address, 8, &out));
    EXPECT_EQ(image.slot_content(address), 0u);
    EXPECT_FALSE(image.name_of_slot(address));
    EXPECT_FALSE(image.name_of_function(address));
  }
}

TEST(ProcessImage, OnlyWhatCannotChangeIsConstant) {
  const Image& image = process_image();
  int value = 0;
  EXPECT_TRUE(image.read_only(address_of(&constant_number), sizeof value, &value));
  EXPECT_EQ(value, 42);
  EXPECT_FALSE(image.read_only(address_of(&changing_number), sizeof value, &value));
  float (*pointer)(float) = nullptr;
  EXPECT_TRUE(image.read_only(address_of(relocated_pointers), sizeof pointer, &pointer));
  EXPECT_EQ(pointer, &helper);
}

TEST(ProcessImage, ConstantsEndWithTheirSegment) {
  const Image& image = process_image();
  const uint64_t code = address_of(&helper);
  const size_t bytes = image.code_bytes(code);
  std::vector<uint8_t> out(bytes + 1);
  EXPECT_TRUE(image.read_only(code, bytes, out.data()));
  EXPECT_FALSE(image.read_only(code, ~size_t{0}, out.data()));
}

TEST(ProcessImage, FunctionsOfTheLibraryAreKnownByAddress) {
  const Image& image = process_image();
  EXPECT_EQ(image.name_of_function(address_of(&::expf)), "expf");
  EXPECT_EQ(image.name_of_function(address_of(&::tanh)), "tanh");
  EXPECT_EQ(image.name_of_function(address_of(&::fmaxf)), "fmaxf");
  EXPECT_EQ(image.name_of_function(address_of(&::memcpy)), "memcpy");
  EXPECT_FALSE(image.name_of_function(address_of(&::expf) + 1));
}

[[gnu::noinline]] float hidden(float x) { return x * 2; }

TEST(ProcessImage, HiddenFunctionsCanBeNamed) {
  EXPECT_FALSE(process_image().name_of_function(address_of(&hidden)));
  register_name(reinterpret_cast<const void*>(&hidden), "hidden");
  EXPECT_EQ(process_image().name_of_function(address_of(&hidden)), "hidden");
}

#if defined(__x86_64__)
[[gnu::noinline]] float calls_cbrt(float x) { return std::cbrt(x) + 1; }

// The slot that a call goes through: named by the call itself, or by the stub it leads to.
uint64_t slot_of(FrontEnd& front_end, Instruction in) {
  for (uint64_t address = in.target; in.call_slot == 0 && in.flow != Flow::kReturn;) {
    std::string reason;
    if (!front_end.decode(process_image(), address, in, reason)) return 0;
    address += in.length;
  }
  return in.call_slot;
}

bool calls(uint64_t address, std::string_view name) {
  std::unique_ptr<FrontEnd> front_end = make_x86_front_end();
  Instruction in;
  std::string reason;
  while (front_end->decode(process_image(), address, in, reason) && in.flow != Flow::kReturn) {
    if (in.flow == Flow::kCall && process_image().name_of_slot(slot_of(*front_end, in)) == name)
      return true;
    address += in.length;
  }
  return false;
}

TEST(ProcessImage, CallsAreNamedThroughTheirSlot) {
  if (make_x86_front_end() == nullptr) GTEST_SKIP() << "built without Zydis";
  EXPECT_TRUE(calls(address_of(&calls_cbrt), "cbrtf"));
  EXPECT_FALSE(calls(address_of(&calls_cbrt), "expf"));
}
#endif

TEST(ProcessImage, LaterModulesAreFound) {
  const Image& image = process_image();
  void* library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
  void* function = library ? dlsym(library, "ns_get16") : nullptr;
  if (!function) GTEST_SKIP() << "no library to load";
  EXPECT_GT(image.code_bytes(address_of(function)), 0u);
  EXPECT_TRUE(image.name_of_function(address_of(function)));
  dlclose(library);
}

TEST(ProcessImage, SeveralThreadsAtOnce) {
  std::atomic<int> failures = 0;
  const auto work = [&] {
    for (int i = 0; i < 200; i++) {
      failures += process_image().code_bytes(address_of(&helper)) == 0;
      failures += process_image().name_of_function(address_of(&::expf)) != "expf";
      void* library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
      failures += process_image().code_bytes(1) != 0;
      if (library) dlclose(library);
    }
  };
  std::thread other(work), naming([] {
    for (int i = 0; i < 100; i++) register_name(&changing_number, "a number");
  });
  work();
  other.join();
  naming.join();
  EXPECT_EQ(failures, 0);
}

TEST(MemoryImage, HoldsItsBytesAndNoMore) {
  MemoryImage image({1, 2, 3, 4, 5, 6, 7, 8, 9}, 0x1000);
  EXPECT_EQ(image.code_bytes(0x1000), 9u);
  EXPECT_EQ(image.code_bytes(0x1008), 1u);
  EXPECT_EQ(image.code_bytes(0x1009), 0u);
  EXPECT_EQ(image.code_bytes(0xfff), 0u);
  EXPECT_EQ(*image.code(0x1003), 4);
  EXPECT_EQ(image.slot_content(0x1000), 0x0807060504030201u);
  EXPECT_EQ(image.slot_content(0x1002), 0u);
  uint8_t out[4];
  EXPECT_FALSE(image.read_only(0x1006, 4, out));
  image.name_function(0x1000, "f");
  image.name_slot(0x1000, "g");
  EXPECT_EQ(image.name_of_function(0x1000), "f");
  EXPECT_EQ(image.name_of_slot(0x1000), "g");
  EXPECT_FALSE(image.name_of_function(0x1001));
}

#if defined(__x86_64__)
TEST(MemoryImage, CutCodeIsRefused) {
  if (make_x86_front_end() == nullptr) GTEST_SKIP() << "built without Zydis";
  std::unique_ptr<FrontEnd> front_end = make_x86_front_end();
  const MemoryImage image({0x48, 0xb8, 1, 2, 3}, 0x1000);  // movabs rax, without its end
  Instruction in;
  std::string reason;
  EXPECT_FALSE(front_end->decode(image, 0x1000, in, reason));
  EXPECT_EQ(reason, "the code ends inside the instruction at 0x1000");
  EXPECT_FALSE(front_end->decode(image, 0x2000, in, reason));
  EXPECT_EQ(reason, "0x2000 is not code of a loaded module");
  const MemoryImage other({0x06, 0x06, 0x06}, 0x1000);  // push es is gone in 64-bit mode
  EXPECT_FALSE(front_end->decode(other, 0x1000, in, reason));
  EXPECT_EQ(reason, "the bytes at 0x1000 are no x86-64 instruction");
}
#endif

}  // namespace
}  // namespace nrd::lift
