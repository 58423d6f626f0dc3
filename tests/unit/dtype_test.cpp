// SPDX-License-Identifier: MIT
// tests/unit/dtype_test.cpp: the table, and every conversion against ml_dtypes and its rule.
#include "base/dtype.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/convert.h"

namespace nrd {
namespace {

std::vector<DType> small_floats() {
  return {DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2, DType::kE8M0, DType::kE2M1};
}

uint64_t code_count(DType dtype) {
  return dtype == DType::kE2M1 ? 16 : uint64_t{1} << (8 * byte_size(dtype));
}

uint64_t code_at(const char* data, DType dtype, size_t index) {
  uint64_t code = 0;
  std::memcpy(&code, data + index * byte_size(dtype), byte_size(dtype));
  return code;
}

// ---- the table ----

TEST(DType, WordsParseBack) {
  ASSERT_EQ(all_dtypes().size(), 11u);
  for (const DTypeInfo& entry : all_dtypes()) {
    const Expected<DType> parsed = parse_dtype(entry.word);
    ASSERT_TRUE(parsed) << entry.word;
    EXPECT_EQ(*parsed, entry.dtype);
    EXPECT_EQ(&info(entry.dtype), &entry);
  }
}

TEST(DType, UnknownWordListsTheAllowedOnes) {
  const Expected<DType> parsed = parse_dtype("float32");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kUnknownName);
  EXPECT_EQ(parsed.error().message(),
            "dtype: got 'float32', allowed: f64 f32 f16 bf16 f8e4m3 f8e5m2 e8m0 e2m1 i8 u8 i32");
}

TEST(DType, ANumberThatIsNoDtypeIsInvalid) {
  EXPECT_EQ(word(static_cast<DType>(0)), "invalid");
  EXPECT_EQ(byte_size(static_cast<DType>(12)), 0u);
  EXPECT_EQ(byte_size(static_cast<DType>(-1)), 0u);
}

TEST(DType, TableAgreesWithTheCodes) {
  for (DType dtype : small_floats()) {
    SCOPED_TRACE(word(dtype));
    double largest = 0, smallest = INFINITY;
    bool has_inf = false, has_nan = false;
    for (uint64_t code = 0; code < code_count(dtype); code++) {
      const double value = decode(code, dtype);
      has_inf |= std::isinf(value);
      has_nan |= std::isnan(value);
      if (std::isfinite(value)) largest = std::max(largest, value);
      if (value > 0) smallest = std::min(smallest, value);
    }
    EXPECT_EQ(largest, info(dtype).max);
    EXPECT_EQ(smallest, info(dtype).min_subnormal);
    EXPECT_EQ(has_inf, info(dtype).has_inf);
    EXPECT_EQ(has_nan, info(dtype).has_nan);
  }
}

// ---- the oracle ----

struct Record {
  DType from, to;
  size_t count;
  const char* source;
  const char* expected;
};

std::vector<Record> read_records(const std::vector<char>& bytes) {
  std::vector<Record> records;
  size_t at = 0;
  while (at + 24 <= bytes.size()) {
    const auto name = [&](size_t offset) {
      return std::string(&bytes[at + offset], strnlen(&bytes[at + offset], 8));
    };
    Record record{*parse_dtype(name(0)), *parse_dtype(name(8)), 0, nullptr, nullptr};
    std::memcpy(&record.count, &bytes[at + 16], 8);
    record.source = bytes.data() + at + 24;
    record.expected = record.source + record.count * byte_size(record.from);
    at += 24 + record.count * (byte_size(record.from) + byte_size(record.to));
    records.push_back(record);
  }
  EXPECT_EQ(at, bytes.size()) << "the fixture is cut short";
  return records;
}

// What kSaturate makes of a value of which kIeee makes `ieee`; convert.h words the rule.
uint64_t saturated(double value, uint64_t ieee, DType to) {
  const double largest = std::copysign(info(to).max, value);
  const auto code_of = [to](double v) { return encode(v, to, Overflow::kIeee); };  // v is exact
  if (!is_float(to)) return ieee;
  if (std::isnan(value)) return to == DType::kE2M1 ? code_of(info(to).max) : ieee;
  if (to == DType::kE8M0 && value < 0) return ieee;
  if (to == DType::kE8M0 && value == 0) return code_of(info(to).min_normal);
  return std::isfinite(decode(ieee, to)) ? ieee : code_of(largest);
}

// Numpy keeps the payload of a NaN, hardware may not; other formats have one NaN a sign.
bool same_code(uint64_t got, uint64_t expected, DType dtype) {
  if (got == expected) return true;
  if (dtype != DType::kF64 && dtype != DType::kF32 && dtype != DType::kF16) return false;
  const double a = decode(got, dtype), b = decode(expected, dtype);
  return std::isnan(a) && std::isnan(b) && std::signbit(a) == std::signbit(b);
}

bool is_exact(DType from, DType to) {
  for (uint64_t code = 0; byte_size(from) < 4 && code < code_count(from); code++) {
    const double value = decode(code, from);
    if (decode(encode(value, to, Overflow::kIeee), to) != value && value == value) return false;
  }
  return byte_size(from) < 4 || to == DType::kF64;
}

void check_record(const Record& record, Overflow overflow) {
  const DType from = record.from, to = record.to;
  SCOPED_TRACE(std::string(word(from)) + " -> " + std::string(word(to)));
  std::vector<char> got(record.count * byte_size(to));
  convert(record.source, from, got.data(), to, record.count, overflow);
  const bool saturates = overflow == Overflow::kSaturate;
  const bool keeps = from == to || (saturates && is_float(from) && is_exact(from, to));
  size_t failures = 0;
  for (size_t i = 0; i < record.count && failures < 5; i++) {
    const uint64_t code = code_at(record.source, from, i);
    const double value = decode(code, from);
    const uint64_t ieee = code_at(record.expected, to, i);
    const uint64_t one = saturates ? saturated(value, ieee, to) : ieee;
    const uint64_t many = from == to ? code : keeps ? ieee : one;
    const uint64_t got_many = code_at(got.data(), to, i);
    // A copy keeps a NaN's payload, which encode() never sees; f64 is its source type.
    const bool is_copy = to == DType::kF64 || (from == to && std::isnan(value));
    const bool is_right = same_code(got_many, many, to) &&
                          (is_copy || same_code(encode(value, to, overflow), one, to));
    failures += !is_right;
    EXPECT_TRUE(is_right) << value << " (code " << code << "): convert " << got_many << ", encode "
                          << encode(value, to, overflow) << ", expected " << one;
  }
}

class Oracle : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("NEREID_DTYPE_FIXTURE");
    ASSERT_NE(path, nullptr) << "NEREID_DTYPE_FIXTURE must name the file of dtype_oracle.py";
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << path;
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    records_ = read_records(bytes_);
    ASSERT_GE(records_.size(), 100u);
  }
  std::vector<char> bytes_;
  std::vector<Record> records_;
};

TEST_F(Oracle, IeeeIsThatOfMlDtypes) {
  for (const Record& record : records_) check_record(record, Overflow::kIeee);
}

TEST_F(Oracle, SaturateFollowsItsRule) {
  for (const Record& record : records_) check_record(record, Overflow::kSaturate);
}

// ---- properties ----

TEST(Convert, CodesSurviveARoundTrip) {
  for (DType dtype : small_floats()) {
    for (uint64_t code = 0; code < code_count(dtype); code++) {
      const double value = decode(code, dtype);
      for (Overflow overflow : {Overflow::kIeee, Overflow::kSaturate}) {
        if (std::isnan(value) || (std::isinf(value) && overflow == Overflow::kSaturate)) continue;
        ASSERT_EQ(encode(value, dtype, overflow), code) << word(dtype);
      }
    }
  }
}

TEST(Convert, BuffersMayBeTheSameAndUnaligned) {
  std::vector<char> bytes(4 * 1000 + 1);
  char* data = bytes.data() + 1;
  for (int i = 0; i < 1000; i++) {
    const float value = static_cast<float>(i) * 0.75f;
    std::memcpy(data + 4 * i, &value, 4);
  }
  convert(data, DType::kF32, data, DType::kI32, 1000);
  for (int i = 0; i < 1000; i++) {
    ASSERT_EQ(static_cast<int32_t>(code_at(data, DType::kI32, i)), std::nearbyint(i * 0.75));
  }
  convert(data, DType::kI32, data, DType::kF32, 1000);
  ASSERT_EQ(decode(code_at(data, DType::kF32, 2), DType::kF32), 2.0);  // 1.5 to even
  convert(data, DType::kF32, data, DType::kF32, 0);
  convert(nullptr, DType::kF32, nullptr, DType::kF16, 0);
}

TEST(Convert, RoundThroughIsTheIdentityForWideTypes) {
  const double value = 0.1;
  EXPECT_EQ(round_through(value, DType::kF64, Overflow::kIeee), value);
  EXPECT_EQ(round_through(value, DType::kF32, Overflow::kIeee), value);
  EXPECT_EQ(round_through(300.0, DType::kF8E4M3, Overflow::kIeee), 288.0);
  EXPECT_EQ(round_through(1e9, DType::kF8E4M3, Overflow::kSaturate), 448.0);
  EXPECT_TRUE(std::isnan(round_through(1e9, DType::kF8E4M3, Overflow::kIeee)));
}

// A value of any size that f32 can hold, and sometimes far outside.
rc::Gen<double> any_value() {
  return rc::gen::map(
      rc::gen::pair(rc::gen::inRange(-(1 << 30), 1 << 30), rc::gen::inRange(-190, 120)),
      [](const std::pair<int, int>& p) { return std::ldexp(p.first, p.second); });
}

RC_GTEST_PROP(Convert, IsMonotone, ()) {
  const DType dtype = *rc::gen::elementOf(small_floats());
  const double a = *any_value(), b = *any_value();
  const double low = std::min(a, b), high = std::max(a, b);
  RC_PRE(dtype != DType::kE8M0 || low > 0);
  RC_ASSERT(round_through(low, dtype, Overflow::kSaturate) <=
            round_through(high, dtype, Overflow::kSaturate));
}

RC_GTEST_PROP(Convert, IsNearest, ()) {
  const DType dtype = *rc::gen::elementOf(small_floats());
  const double value = *any_value();
  RC_PRE(std::fabs(value) <= info(dtype).max);
  RC_PRE(dtype != DType::kE8M0 || value >= 0x1p-126);
  const double rounded = round_through(value, dtype, Overflow::kIeee);
  for (uint64_t code = 0; code < code_count(dtype); code++) {
    const double other = decode(code, dtype);
    RC_ASSERT(!(std::fabs(other - value) < std::fabs(rounded - value)));
  }
}

}  // namespace
}  // namespace nrd
