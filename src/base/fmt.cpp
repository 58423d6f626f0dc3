// SPDX-License-Identifier: MIT
// src/base/fmt.cpp: the one source that compiles {fmt}; every other sees its declarations only.
//
// So that programs which link us need no libfmt of the version that we were built with.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
namespace dragonbox {

template auto to_decimal(float x) noexcept -> decimal_fp<float>;
template auto to_decimal(double x) noexcept -> decimal_fp<double>;

}  // namespace dragonbox

template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;

}  // namespace detail
FMT_END_NAMESPACE
