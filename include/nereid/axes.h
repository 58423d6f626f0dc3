// SPDX-License-Identifier: MIT
// nereid/axes.h: one number for each axis: sizes and strides, however a program holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include "nereid/error.h"

namespace nereid {

// Any integer as a size or stride; one that is beyond int64_t is an error, not another number.
class AxisNumber {
 public:
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) constexpr AxisNumber(
      I number)  // NOLINT: implicit, so that sizes can be of any integer type
      : value_(static_cast<int64_t>(number)) {
    if constexpr (std::is_unsigned_v<I> && sizeof(I) >= sizeof(int64_t))
      if (value_ < 0) refuse(number);
  }
  constexpr int64_t value() const { return value_; }

 private:
  [[noreturn]] static void refuse(uint64_t number) {
    throw_error(make_error(NEREID_SHAPE_MISMATCH, "TensorView", "sizes", std::to_string(number),
                           "at most 9223372036854775807"));
  }
  int64_t value_;
};

// Sizes or strides, at most 8 of them: {rows, cols} in braces, or a vector, array or span of any
// integer type, so that a rank can come at run time. Holds copies.
class Axes {
 public:
  Axes() = default;
  Axes(std::initializer_list<AxisNumber> list) { take(list.begin(), list.size()); }
  template <class I>
  requires(std::is_integral_v<I>) Axes(std::initializer_list<I> list) {
    take(list.begin(), list.size());
  }
  template <class I, size_t kCount>
  requires(std::is_integral_v<I>) Axes(const I (&list)[kCount]) {  // NOLINT: implicit
    take(list, kCount);
  }
  template <class R>
  requires requires(const R& r) {
    requires std::is_integral_v<std::remove_cvref_t<decltype(*r.data())>>;
    r.size();
  }
  Axes(const R& range) {  // NOLINT: implicit
    take(range.data(), range.size());
  }

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const int64_t* data() const { return values_; }
  int64_t& operator[](size_t i) { return values_[i]; }
  int64_t operator[](size_t i) const { return values_[i]; }
  const int64_t* begin() const { return values_; }
  const int64_t* end() const { return values_ + count_; }
  operator std::span<const int64_t>() const { return {values_, count_}; }  // NOLINT: implicit

  void push_back(int64_t value) {
    if (count_ == NEREID_MAX_RANK) refuse(count_ + 1);
    values_[count_++] = value;
  }
  // `count` times the same value in front of the others.
  Axes behind(size_t count, int64_t value) const {
    Axes all;
    for (size_t i = 0; i < count; i++) all.push_back(value);
    for (int64_t one : *this) all.push_back(one);
    return all;
  }

 private:
  template <class Number>
  void take(const Number* numbers, size_t count) {
    if (count > NEREID_MAX_RANK) refuse(count);
    for (size_t i = 0; i < count; i++) values_[i] = AxisNumber(numbers[i]).value();
    count_ = count;
  }
  [[noreturn]] static void refuse(size_t count) {
    throw_error(make_error(NEREID_SHAPE_MISMATCH, "TensorView", "sizes",
                           std::to_string(count) + " axes", "at most 8 axes"));
  }

  size_t count_ = 0;
  int64_t values_[NEREID_MAX_RANK] = {};
};

inline std::string to_string(const Axes& axes) {  // "[2, 4096]"
  std::string text = "[";
  for (size_t i = 0; i < axes.size(); i++) text += (i ? ", " : "") + std::to_string(axes[i]);
  return text + "]";
}

}  // namespace nereid
