// SPDX-License-Identifier: MIT
// tests/compiler/jit_memory_test.cpp: loads and stores of every dtype, whole and with tails, each
// buffer against an inaccessible page.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "jit_run.h"
#include "jit_values.h"
#include "tests/seed.h"
#include "workbench/memory.h"

namespace nrd::jit {
namespace {

constexpr DType kDtypes[] = {DType::kF64,    DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3,
                             DType::kF8E5M2, DType::kI8,  DType::kU8,  DType::kI32};

Lane lane_of(DType dtype) {
  if (dtype == DType::kF64) return Lane::kF64;
  return is_float(dtype) ? Lane::kF32 : Lane::kI32;
}

DType lane_dtype(Lane lane) {
  return lane == Lane::kF64 ? DType::kF64 : lane == Lane::kF32 ? DType::kF32 : DType::kI32;
}

// Bytes that end at a guard page, with a few known ones in front.
class Guarded {
 public:
  static constexpr size_t kFront = 64;
  explicit Guarded(size_t bytes) : bytes_(bytes) {
    auto made = Buffer::allocate(kFront + bytes, MemoryMode::kGuarded);
    if (!made) {
      ADD_FAILURE() << made.error().message();
      return;
    }
    buffer_ = std::move(*made);
    clear();
  }
  uint8_t* data() { return static_cast<uint8_t*>(buffer_.data()) + kFront; }
  void clear() { std::memset(buffer_.data(), 0xa5, kFront + bytes_); }
  bool front_is_clean() {
    const auto* front = static_cast<const uint8_t*>(buffer_.data());
    return std::all_of(front, front + kFront, [](uint8_t byte) { return byte == 0xa5; });
  }

 private:
  size_t bytes_;
  Buffer buffer_;
};

void fill_random(uint8_t* data, size_t bytes, uint64_t stream) {
  std::mt19937_64 random(test_seed(stream));
  for (size_t i = 0; i < bytes; i++) data[i] = static_cast<uint8_t>(random());
}

// Lanes in memory that tell conversions apart: specials and random bits.
void fill_lanes(uint8_t* data, size_t count, Lane lane, uint64_t stream) {
  std::mt19937_64 random(test_seed(stream));
  const auto narrow = special_f32();
  const auto wide = special_f64();
  for (size_t i = 0; i < count; i++) {
    if (lane == Lane::kF64) {
      const uint64_t bits = random() % 2 ? wide[random() % wide.size()] : random();
      std::memcpy(data + 8 * i, &bits, 8);
    } else {
      const uint32_t bits =
          random() % 2 ? narrow[random() % narrow.size()] : static_cast<uint32_t>(random());
      std::memcpy(data + 4 * i, &bits, 4);
    }
  }
}

class JitMemory : public JitTest {
 protected:
  std::vector<int> lane_counts(Lane lane) const {
    if (lane == Lane::kF64) return {target().lanes(true)};
    return {target().lanes(false), target().lanes(true)};
  }
};

TEST_P(JitMemory, LoadsWithEveryTail) {
  for (DType dtype : kDtypes) {
    const Lane lane = lane_of(dtype);
    for (int lanes : lane_counts(lane)) {
      Builder b("load", target(), lanes);
      const G count_of_lanes = number(b, 0);
      const Tail tail = b.tail(count_of_lanes);
      const V x = b.new_vector();
      const Label whole = b.label(), done = b.label();
      b.branch(Predicate::kEq, number(b, 1), 1, whole);
      b.load(dtype, lane, {in_pointer(b, 0)}, &tail, x);
      b.jump(done);
      b.bind(whole);
      b.load(dtype, lane, {in_pointer(b, 0)}, nullptr, x);
      b.bind(done);
      b.store(lane_dtype(lane), lane, {out_pointer(b)}, x);
      b.ret();
      const Program program = b.take();
      const Compiled compiled = compile(program, target());
      ASSERT_TRUE(compiled.code);
      for (int at = 0; at <= lanes + 1; at++) {  // the last one without a tail
        const int count = std::min(at, lanes);
        Guarded in(static_cast<size_t>(count) * byte_size(dtype));
        fill_random(in.data(), static_cast<size_t>(count) * byte_size(dtype), 11);
        std::vector<uint64_t> expected(16), got(16);
        Block block;
        block.in[0] = in.data();
        block.number[0] = count;
        block.number[1] = at > lanes;
        block.out[0] = expected.data();
        Interpreter(program).run(&block);
        block.out[0] = got.data();
        compiled.run(block);
        ASSERT_TRUE(same_elements(expected.data(), got.data(), static_cast<size_t>(lanes),
                                  lane_dtype(lane)))
            << word(dtype) << " lanes " << lanes << " count " << count;
      }
    }
  }
}

TEST_P(JitMemory, StoresWithEveryTail) {
  for (DType dtype : kDtypes) {
    const Lane lane = lane_of(dtype);
    for (int lanes : lane_counts(lane)) {
      Builder b("store", target(), lanes);
      const Tail tail = b.tail(number(b, 0));
      const V x = b.load(lane_dtype(lane), lane, {in_pointer(b, 0)});
      const Label whole = b.label(), done = b.label();
      b.branch(Predicate::kEq, number(b, 1), 1, whole);
      b.store(dtype, lane, {out_pointer(b)}, x, &tail);
      b.jump(done);
      b.bind(whole);
      b.store(dtype, lane, {out_pointer(b)}, x);
      b.bind(done);
      b.store(lane_dtype(lane), lane, {out_pointer(b, 1)}, x);  // x is whole afterwards
      b.ret();
      const Program program = b.take();
      const Compiled compiled = compile(program, target());
      ASSERT_TRUE(compiled.code);
      for (int at = 0; at <= lanes + 1; at++) {  // the last one without a tail
        const int count = std::min(at, lanes);
        const size_t bytes = static_cast<size_t>(count) * byte_size(dtype);
        Guarded expected(bytes), got(bytes);
        std::vector<uint64_t> in(16), again(16);
        fill_lanes(reinterpret_cast<uint8_t*>(in.data()), static_cast<size_t>(lanes), lane,
                   static_cast<uint64_t>(count));
        Block block;
        block.in[0] = in.data();
        block.number[0] = count;
        block.number[1] = at > lanes;
        block.out[0] = expected.data();
        block.out[1] = again.data();
        Interpreter(program).run(&block);
        block.out[0] = got.data();
        compiled.run(block);
        EXPECT_TRUE(got.front_is_clean());
        ASSERT_TRUE(same_elements(expected.data(), got.data(), static_cast<size_t>(count), dtype))
            << word(dtype) << " lanes " << lanes << " count " << count;
        ASSERT_EQ(std::memcmp(in.data(), again.data(),
                              static_cast<size_t>(lanes) * byte_size(lane_dtype(lane))),
                  0);
      }
    }
  }
}

// Strides apart, with and without a tail, forwards and backwards.
TEST_P(JitMemory, Strided) {
  for (DType dtype : kDtypes) {
    const Lane lane = lane_of(dtype);
    const size_t size = byte_size(dtype);
    for (int lanes : lane_counts(lane)) {
      for (bool has_tail : {false, true}) {
        Builder b("strided", target(), lanes);
        Tail tail;
        if (has_tail) tail = b.tail(number(b, 0));
        const Tail* used = has_tail ? &tail : nullptr;
        const G stride = number(b, 1);
        const V x = b.load_strided(dtype, lane, {in_pointer(b, 0)}, stride, used);
        b.store(lane_dtype(lane), lane, {out_pointer(b, 1)}, x);
        b.store_strided(dtype, lane, {out_pointer(b, 0)}, stride, x, used);
        b.ret();
        const Program program = b.take();
        const Compiled compiled = compile(program, target());
        ASSERT_TRUE(compiled.code);
        for (int count = has_tail ? 0 : lanes; count <= lanes; count++) {
          for (int64_t step : {1, 3, -2}) {
            const size_t last =
                static_cast<size_t>(std::max(count - 1, 0)) * static_cast<size_t>(std::abs(step));
            const size_t bytes = count == 0 ? 0 : (last + 1) * size;
            Guarded in(bytes), expected(bytes), got(bytes);
            fill_random(in.data(), bytes, 5);
            std::vector<uint64_t> lanes_expected(16), lanes_got(16);
            const size_t begin = step < 0 ? last * size : 0;
            Block block;
            block.number[0] = count;
            block.number[1] = step * static_cast<int64_t>(size);
            block.in[0] = in.data() + begin;
            block.out[0] = expected.data() + begin;
            block.out[1] = lanes_expected.data();
            Interpreter(program).run(&block);
            block.out[0] = got.data() + begin;
            block.out[1] = lanes_got.data();
            compiled.run(block);
            EXPECT_TRUE(got.front_is_clean());
            ASSERT_TRUE(same_elements(expected.data(), got.data(), bytes / size, dtype))
                << word(dtype) << " lanes " << lanes << " count " << count << " step " << step;
            ASSERT_TRUE(same_elements(lanes_expected.data(), lanes_got.data(),
                                      static_cast<size_t>(lanes), lane_dtype(lane)));
          }
        }
      }
    }
  }
}

TEST_P(JitMemory, Gather) {
  std::mt19937 random(test_seed(3));
  for (DType dtype : kDtypes) {
    const Lane lane = lane_of(dtype);
    const size_t size = byte_size(dtype);
    for (int lanes : lane_counts(lane)) {
      for (bool has_tail : {false, true}) {
        Builder b("gather", target(), lanes);
        Tail tail;
        if (has_tail) tail = b.tail(number(b, 0));
        const V index = b.load(DType::kI32, Lane::kI32, {in_pointer(b, 1)});
        const V x = b.gather(dtype, lane, {in_pointer(b, 0), number(b, 1), 1}, index,
                             has_tail ? &tail : nullptr);
        b.store(lane_dtype(lane), lane, {out_pointer(b)}, x);
        b.ret();
        const Program program = b.take();
        const Compiled compiled = compile(program, target());
        ASSERT_TRUE(compiled.code);
        constexpr size_t kElements = 40;
        Guarded in(kElements * size);
        fill_random(in.data(), kElements * size, 6);
        for (int count = has_tail ? 0 : lanes; count <= lanes; count++) {
          std::vector<int32_t> indices(16, 1 << 30);  // beyond the tail: never read
          for (int i = 0; i < count; i++) {
            indices[static_cast<size_t>(i)] = static_cast<int32_t>(random() % kElements) - 20;
          }
          std::vector<uint64_t> expected(16), got(16);
          Block block;
          block.in[0] = in.data();
          block.in[1] = indices.data();
          block.number[0] = count;
          block.number[1] = static_cast<int64_t>(20 * size);
          block.out[0] = expected.data();
          Interpreter(program).run(&block);
          block.out[0] = got.data();
          compiled.run(block);
          ASSERT_TRUE(same_elements(expected.data(), got.data(), static_cast<size_t>(lanes),
                                    lane_dtype(lane)))
              << word(dtype) << " lanes " << lanes << " count " << count;
        }
      }
    }
  }
}

// Every code of the narrow dtypes, loaded and broadcast.
TEST_P(JitMemory, WidensEveryCode) {
  for (DType dtype : kDtypes) {
    if (byte_size(dtype) > 2) continue;
    const Lane lane = lane_of(dtype);
    const size_t size = byte_size(dtype);
    // Every code in every lane of the 8-bit dtypes, in many of the 16-bit ones.
    const size_t codes = size == 1 ? 256 + 16 : 65536 + 16;
    const size_t step = size == 1 ? 1 : 7;
    std::vector<uint8_t> in(codes * size);
    for (size_t code = 0; code < codes; code++) std::memcpy(&in[code * size], &code, size);
    std::vector<uint32_t> expected(codes);
    if (lane == Lane::kF32) {
      convert(in.data(), dtype, expected.data(), DType::kF32, codes);
    } else {
      for (size_t code = 0; code < codes; code++) {
        expected[code] = dtype == DType::kU8 ? static_cast<uint32_t>(code & 0xff)
                                             : static_cast<uint32_t>(static_cast<int8_t>(code));
      }
    }
    for (int lanes : lane_counts(lane)) {
      Builder b("widen", target(), lanes);
      b.store(lane_dtype(lane), lane, {out_pointer(b)}, b.load(dtype, lane, {in_pointer(b, 0)}));
      b.store(lane_dtype(lane), lane, {out_pointer(b, 1)},
              b.broadcast(dtype, lane, {in_pointer(b, 0)}));
      b.ret();
      const Compiled compiled = compile(b.take(), target());
      ASSERT_TRUE(compiled.code);
      for (size_t at = 0; at + 16 < codes; at += step) {
        uint32_t got[16], all[16];
        Block block;
        block.in[0] = &in[at * size];
        block.out[0] = got;
        block.out[1] = all;
        compiled.run(block);
        ASSERT_TRUE(same_elements(&expected[at], got, static_cast<size_t>(lanes), lane_dtype(lane)))
            << word(dtype) << " from code " << at;
        for (int i = 0; i < lanes; i++) {
          ASSERT_TRUE(same_element(&expected[at], &all[i], lane_dtype(lane)))
              << word(dtype) << " broadcast code " << at;
        }
      }
    }
  }
}

// f32 values in the neighbourhood of every value of the dtype and of every midpoint, and random
// bits.
std::vector<uint32_t> narrowing_inputs(DType dtype) {
  std::vector<uint32_t> bits = special_f32();
  const uint32_t codes = byte_size(dtype) == 1 ? 256 : 65536;
  const uint32_t half = dtype == DType::kF8E4M3   ? 1u << 19
                        : dtype == DType::kF8E5M2 ? 1u << 20
                        : dtype == DType::kF16    ? 1u << 12
                                                  : 1u << 15;
  for (uint32_t code = 0; code < codes; code++) {
    const auto value = std::bit_cast<uint32_t>(static_cast<float>(decode(code, dtype)));
    for (uint32_t centre : {value, value + half, value + 2 * half}) {
      for (uint32_t nudge : {0xffffffffu, 0u, 1u}) bits.push_back(centre + nudge);
    }
  }
  std::mt19937 random(test_seed(9));
  for (int i = 0; i < 300000 || bits.size() % 16 != 0; i++) bits.push_back(random());
  return bits;
}

TEST_P(JitMemory, NarrowsAsTheConvertersDo) {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2}) {
    const std::vector<uint32_t> in = narrowing_inputs(dtype);
    std::vector<uint8_t> expected(in.size() * byte_size(dtype));
    convert(in.data(), DType::kF32, expected.data(), dtype, in.size());
    for (int lanes : lane_counts(Lane::kF32)) {
      Builder b("narrow", target(), lanes);
      b.store(dtype, Lane::kF32, {out_pointer(b)},
              b.load(DType::kF32, Lane::kF32, {in_pointer(b, 0)}));
      b.ret();
      const Compiled compiled = compile(b.take(), target());
      ASSERT_TRUE(compiled.code);
      const size_t size = byte_size(dtype);
      for (size_t at = 0; at < in.size(); at += static_cast<size_t>(lanes)) {
        uint8_t got[32];
        Block block;
        block.in[0] = &in[at];
        block.out[0] = got;
        compiled.run(block);
        ASSERT_TRUE(same_elements(&expected[at * size], got, static_cast<size_t>(lanes), dtype))
            << word(dtype) << " of " << std::hex << in[at];
        // The sign of a NaN is kept.
        for (size_t i = 0; i < static_cast<size_t>(lanes); i++) {
          ASSERT_EQ(got[i * size + size - 1] & 0x80, expected[(at + i) * size + size - 1] & 0x80);
        }
      }
    }
  }
}

TEST_P(JitMemory, NonTemporalStoresAndAddresses) {
  Builder b("nt", target(), target().lanes(false));
  const G base = in_pointer(b, 0), index = number(b, 0);
  const V x = b.load(DType::kF32, Lane::kF32, {base, index, 4, -16});
  const G address = b.gaddress({base, index, 8, 24});
  const V y = b.load(DType::kF32, Lane::kF32, {address, {}, 1, 0});
  b.prefetch({base, index, 2, 8});
  b.store(DType::kF32, Lane::kF32, {out_pointer(b)}, b.op2(Op::kSub, Lane::kF32, x, y), nullptr,
          true);
  b.fence();
  b.ret();
  const Program program = b.take();
  const Compiled compiled = compile(program, target());
  ASSERT_TRUE(compiled.code);
  alignas(64) float expected[16], got[16];
  std::vector<float> in(128);
  for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<float>(i * i);
  Block block;
  block.in[0] = in.data();
  block.number[0] = 10;
  block.out[0] = expected;
  Interpreter(program).run(&block);
  block.out[0] = got;
  compiled.run(block);
  EXPECT_TRUE(same_elements(expected, got, static_cast<size_t>(program.lanes), DType::kF32));
}

NRD_FOR_EACH_ISA(JitMemory);

}  // namespace
}  // namespace nrd::jit
