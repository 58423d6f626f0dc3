// SPDX-License-Identifier: MIT
// src/base/convert.cpp: conversions between dtypes; the bit arithmetic is in float_format.h.
#include "base/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_format.h"

namespace nrd {
namespace {

// memcpy, because a caller's buffer holds floats and need not be aligned; it costs nothing.
template <class T>
T load(const void* base, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(void* base, size_t index, T value) {
  std::memcpy(static_cast<char*>(base) + index * sizeof(T), &value, sizeof(T));
}

// ---- one value ----

constexpr uint64_t kE8M0Nan = 255;

constexpr double decode_e8m0(uint32_t code) {
  if (code == kE8M0Nan) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>(static_cast<uint64_t>(code + 1023 - 127) << 52);
}

uint64_t encode_e8m0(double value, Overflow overflow) {
  const bool is_ieee = overflow == Overflow::kIeee;
  if (!(value >= 0)) return kE8M0Nan;
  if (value == 0) return is_ieee ? kE8M0Nan : 0;
  if (value < 0x1p-126) return value > 0x1p-127;
  const uint64_t half = uint64_t{1} << 51;
  const uint64_t code = ((std::bit_cast<uint64_t>(value) + half) >> 52) - (1023 - 127);
  return code < kE8M0Nan ? code : is_ieee ? kE8M0Nan : kE8M0Nan - 1;
}

float encode_f32(double value, Overflow overflow) {
  const float narrow = static_cast<float>(value);
  if (overflow == Overflow::kIeee || !std::isinf(narrow)) return narrow;
  return std::copysign(std::numeric_limits<float>::max(), narrow);
}

template <class T>
T encode_integer(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kLow = std::numeric_limits<T>::min();
  constexpr double kHigh = std::numeric_limits<T>::max();
  return static_cast<T>(std::nearbyint(std::clamp(value, kLow, kHigh)));
}

template <FloatFormat kFormat>
double decode_format(uint64_t code) {
  return std::bit_cast<double>(widen<kFormat, SourceF64>(static_cast<uint32_t>(code)));
}

template <FloatFormat kFormat>
uint64_t encode_format(double value, Overflow overflow) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  return overflow == Overflow::kIeee ? narrow<kFormat, SourceF64, Overflow::kIeee>(bits)
                                     : narrow<kFormat, SourceF64, Overflow::kSaturate>(bits);
}

// ---- tables of the 8-bit formats, as f32 bits ----

template <FloatFormat kFormat>
constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t code = 0; code < 256; code++) table[code] = widen<kFormat, SourceF32>(code);
  return table;
}

constexpr std::array<uint32_t, 256> make_e8m0_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t code = 1; code < kE8M0Nan; code++) table[code] = code << 23;
  table[0] = 1u << 22;  // 2^-127 is a subnormal of f32
  table[kE8M0Nan] = 0x7fc00000;
  return table;
}

constexpr auto kTableF8E4M3 = make_table<kFormatF8E4M3>();
constexpr auto kTableF8E5M2 = make_table<kFormatF8E5M2>();
constexpr auto kTableE2M1 = make_table<kFormatE2M1>();
constexpr auto kTableE8M0 = make_e8m0_table();

// ---- f32 <-> a small format, whole buffers ----

template <FloatFormat kTo, class Code, Overflow kRule>
void narrow_loop(const void* from, void* to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    store(to, i, static_cast<Code>(narrow<kTo, SourceF32, kRule>(load<uint32_t>(from, i))));
  }
}

template <FloatFormat kFrom>
void widen_loop(const void* from, void* to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    store(to, i, widen<kFrom, SourceF32>(load<uint16_t>(from, i)));
  }
}

void table_loop(const std::array<uint32_t, 256>& table, const void* from, void* to, size_t count) {
  for (size_t i = 0; i < count; i++) store(to, i, table[load<uint8_t>(from, i)]);
}

template <Overflow kRule>
bool convert_from_f32(const void* from, void* to, DType to_dtype, size_t count) {
  switch (to_dtype) {
    case DType::kF16: narrow_loop<kFormatF16, uint16_t, kRule>(from, to, count); return true;
    case DType::kBF16: narrow_loop<kFormatBF16, uint16_t, kRule>(from, to, count); return true;
    case DType::kF8E4M3: narrow_loop<kFormatF8E4M3, uint8_t, kRule>(from, to, count); return true;
    case DType::kF8E5M2: narrow_loop<kFormatF8E5M2, uint8_t, kRule>(from, to, count); return true;
    case DType::kE2M1: narrow_loop<kFormatE2M1, uint8_t, kRule>(from, to, count); return true;
    default: return false;
  }
}

bool convert_to_f32(const void* from, DType from_dtype, void* to, size_t count) {
  switch (from_dtype) {
    case DType::kF16: widen_loop<kFormatF16>(from, to, count); return true;
    case DType::kBF16: widen_loop<kFormatBF16>(from, to, count); return true;
    case DType::kF8E4M3: table_loop(kTableF8E4M3, from, to, count); return true;
    case DType::kF8E5M2: table_loop(kTableF8E5M2, from, to, count); return true;
    case DType::kE2M1: table_loop(kTableE2M1, from, to, count); return true;
    case DType::kE8M0: table_loop(kTableE8M0, from, to, count); return true;
    default: return false;
  }
}

// ---- any other pair, through blocks of doubles (exact), one switch a block ----

constexpr size_t kBlock = 512;

template <class Code, class Decode>
void read_loop(const void* from, size_t first, size_t count, double* values, Decode decode) {
  for (size_t i = 0; i < count; i++) values[i] = decode(load<Code>(from, first + i));
}

void read_block(const void* from, DType dtype, size_t first, size_t count, double* values) {
  const auto as_is = [](auto value) { return static_cast<double>(value); };
  switch (dtype) {
    case DType::kF64: return read_loop<double>(from, first, count, values, as_is);
    case DType::kF32: return read_loop<float>(from, first, count, values, as_is);
    case DType::kI8: return read_loop<int8_t>(from, first, count, values, as_is);
    case DType::kU8: return read_loop<uint8_t>(from, first, count, values, as_is);
    case DType::kI32: return read_loop<int32_t>(from, first, count, values, as_is);
    case DType::kF16:
      return read_loop<uint16_t>(from, first, count, values, decode_format<kFormatF16>);
    case DType::kBF16:
      return read_loop<uint16_t>(from, first, count, values, decode_format<kFormatBF16>);
    case DType::kF8E4M3:
      return read_loop<uint8_t>(from, first, count, values, decode_format<kFormatF8E4M3>);
    case DType::kF8E5M2:
      return read_loop<uint8_t>(from, first, count, values, decode_format<kFormatF8E5M2>);
    case DType::kE2M1:
      return read_loop<uint8_t>(from, first, count, values, decode_format<kFormatE2M1>);
    case DType::kE8M0: return read_loop<uint8_t>(from, first, count, values, decode_e8m0);
  }
}

template <class Code, class Encode>
void write_loop(void* to, size_t first, size_t count, const double* values, Encode encode) {
  for (size_t i = 0; i < count; i++) store(to, first + i, static_cast<Code>(encode(values[i])));
}

template <FloatFormat kTo, class Code, Overflow kRule>
void write_format(void* to, size_t first, size_t count, const double* values) {
  write_loop<Code>(to, first, count, values, [](double value) {
    return narrow<kTo, SourceF64, kRule>(std::bit_cast<uint64_t>(value));
  });
}

template <Overflow kRule>
void write_block(void* to, DType dtype, size_t first, size_t count, const double* values) {
  const auto e8m0 = [](double value) { return encode_e8m0(value, kRule); };
  const auto f32 = [](double value) { return encode_f32(value, kRule); };
  switch (dtype) {
    case DType::kF64:
      return write_loop<double>(to, first, count, values, [](double value) { return value; });
    case DType::kF32: return write_loop<float>(to, first, count, values, f32);
    case DType::kF16: return write_format<kFormatF16, uint16_t, kRule>(to, first, count, values);
    case DType::kBF16: return write_format<kFormatBF16, uint16_t, kRule>(to, first, count, values);
    case DType::kF8E4M3:
      return write_format<kFormatF8E4M3, uint8_t, kRule>(to, first, count, values);
    case DType::kF8E5M2:
      return write_format<kFormatF8E5M2, uint8_t, kRule>(to, first, count, values);
    case DType::kE2M1: return write_format<kFormatE2M1, uint8_t, kRule>(to, first, count, values);
    case DType::kE8M0: return write_loop<uint8_t>(to, first, count, values, e8m0);
    case DType::kI8: return write_loop<int8_t>(to, first, count, values, encode_integer<int8_t>);
    case DType::kU8: return write_loop<uint8_t>(to, first, count, values, encode_integer<uint8_t>);
    case DType::kI32: return write_loop<int32_t>(to, first, count, values, encode_integer<int32_t>);
  }
}

// Every value of `from` exists in `to`.
bool is_exact(DType from, DType to) {
  const DTypeInfo& a = info(from);
  const DTypeInfo& b = info(to);
  return a.is_float && b.is_float && a.exponent_bits <= b.exponent_bits &&
         a.mantissa_bits <= b.mantissa_bits;
}

template <Overflow kRule>
void convert_by_rule(const void* from, DType from_dtype, void* to, DType to_dtype, size_t count) {
  if (from_dtype == DType::kF32 && convert_from_f32<kRule>(from, to, to_dtype, count)) return;
  if (to_dtype == DType::kF32 && convert_to_f32(from, from_dtype, to, count)) return;
  double values[kBlock];
  for (size_t first = 0; first < count; first += kBlock) {
    const size_t length = std::min(kBlock, count - first);
    read_block(from, from_dtype, first, length, values);
    write_block<kRule>(to, to_dtype, first, length, values);
  }
}

}  // namespace

double decode(uint64_t code, DType dtype) {
  switch (dtype) {
    case DType::kF64: return std::bit_cast<double>(code);
    case DType::kF32: return std::bit_cast<float>(static_cast<uint32_t>(code));
    case DType::kF16: return decode_format<kFormatF16>(code);
    case DType::kBF16: return decode_format<kFormatBF16>(code);
    case DType::kF8E4M3: return decode_format<kFormatF8E4M3>(code);
    case DType::kF8E5M2: return decode_format<kFormatF8E5M2>(code);
    case DType::kE8M0: return decode_e8m0(static_cast<uint8_t>(code));
    case DType::kE2M1: return decode_format<kFormatE2M1>(code);
    case DType::kI8: return static_cast<int8_t>(code);
    case DType::kU8: return static_cast<uint8_t>(code);
    case DType::kI32: return static_cast<int32_t>(code);
  }
  return 0;
}

uint64_t encode(double value, DType dtype, Overflow overflow) {
  switch (dtype) {
    case DType::kF64: return std::bit_cast<uint64_t>(value);
    case DType::kF32: return std::bit_cast<uint32_t>(encode_f32(value, overflow));
    case DType::kF16: return encode_format<kFormatF16>(value, overflow);
    case DType::kBF16: return encode_format<kFormatBF16>(value, overflow);
    case DType::kF8E4M3: return encode_format<kFormatF8E4M3>(value, overflow);
    case DType::kF8E5M2: return encode_format<kFormatF8E5M2>(value, overflow);
    case DType::kE8M0: return encode_e8m0(value, overflow);
    case DType::kE2M1: return encode_format<kFormatE2M1>(value, overflow);
    case DType::kI8: return static_cast<uint8_t>(encode_integer<int8_t>(value));
    case DType::kU8: return encode_integer<uint8_t>(value);
    case DType::kI32: return static_cast<uint32_t>(encode_integer<int32_t>(value));
  }
  return 0;
}

double round_through(double value, DType dtype, Overflow overflow) {
  if (dtype == DType::kF64 || dtype == DType::kF32) return value;
  return decode(encode(value, dtype, overflow), dtype);
}

void convert(const void* from, DType from_dtype, void* to, DType to_dtype, size_t count,
             Overflow overflow) {
  if (from_dtype == to_dtype) {
    if (count > 0) std::memmove(to, from, count * byte_size(to_dtype));
  } else if (overflow == Overflow::kIeee || is_exact(from_dtype, to_dtype)) {
    convert_by_rule<Overflow::kIeee>(from, from_dtype, to, to_dtype, count);
  } else {
    convert_by_rule<Overflow::kSaturate>(from, from_dtype, to, to_dtype, count);
  }
}

}  // namespace nrd
