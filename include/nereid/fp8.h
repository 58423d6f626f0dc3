// SPDX-License-Identifier: MIT
// nereid/fp8.h: 8-bit floats with scales, and products of them. x ~ q * scale.
//
// Errors: ShapeMismatchError, UnsupportedDtypeError, NumericalOverflowError, KernelError. Thread
// safe. Views may have any strides; results are new tensors on the device of the inputs.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "nereid/call.h"
#include "nereid/choices.h"

namespace nereid {

// What shares a scale: all elements, a block (1 x 128 or 128 x 128), or with an axis all elements
// that differ only in their index along it: -1 (or the last) a scale a row, -2 a scale a column.
struct Fp8Block {
  int64_t rows = 0, cols = 0;
  explicit operator bool() const { return rows != 0 || cols != 0; }
};

// A given scale that is too small: is raised and returned, is kept, or is a NumericalOverflowError
// (the only form that waits for a device).
enum class Fp8Overflow {
  adjust = static_cast<int>(Fp8QuantizeOverflow::adjust),
  saturate = static_cast<int>(Fp8QuantizeOverflow::saturate),
  raise
};
inline const char* word(Fp8Overflow value) {
  return value == Fp8Overflow::raise ? "raise" : word(static_cast<Fp8QuantizeOverflow>(value));
}

struct QuantizeFp8Options {
  TensorView scale = {};  // f32; else from the largest finite magnitude
  std::optional<int> axis = {};
  Fp8Block block = {};           // {1, 128} or {128, 128}
  DType format = DType::f8e4m3;  // or f8e5m2
  Choice<Fp8Overflow> overflow = Fp8Overflow::adjust;
  const char* backend = nullptr;
  int threads = 0;
  const Context* context = nullptr;
  void* stream = nullptr;
};

struct QuantizedFp8 {
  Tensor q;      // the shape of x
  Tensor scale;  // f32: [], [rows], [cols], [rows, ceil(cols/128)] or both in blocks
};

namespace detail {

inline Granularity granularity(const char* op, int rank, std::optional<int> axis,
                               const Fp8Block& block) {
  if (block && axis)
    throw_error(
        make_error(NEREID_INVALID_ARGUMENT, op, "block", "a block and an axis", "one of the two"));
  if (block) {
    if (block.cols == 128 && block.rows == 1) return Granularity::block_1x128;
    if (block.cols == 128 && block.rows == 128) return Granularity::block_128x128;
    throw_error(make_error(NEREID_INVALID_ARGUMENT, op, "block",
                           std::to_string(block.rows) + " x " + std::to_string(block.cols),
                           "1 x 128, 128 x 128"));
  }
  if (!axis) return Granularity::tensor;
  const int from_end = *axis < 0 ? *axis : *axis - rank;
  if (from_end == -1) return Granularity::row;
  if (from_end == -2) return Granularity::column;
  throw_error(make_error(NEREID_INVALID_ARGUMENT, op, "axis", std::to_string(*axis),
                         "one of the last two axes"));
}

// A matrix: vectors are one row. With one scale for everything, every axis but the last is a row.
inline TensorView matrix_of(const TensorView& x, const char* op, bool one_scale) {
  if (x.rank() < 1)
    throw_error(make_error(NEREID_SHAPE_MISMATCH, op, "x", "shape []", "one axis or more"));
  if (x.rank() > 2 && one_scale && x.is_contiguous())
    return x.reshape({x.size(-1) ? x.count() / x.size(-1) : 0, x.size(-1)});
  if (x.rank() > 2 && one_scale)
    throw_error(make_error(NEREID_SHAPE_MISMATCH, op, "x", "a strided view " + x.shape_text(),
                           "two axes, or a contiguous tensor"));
  if (x.rank() >= 2) return x;
  return x.as_strided({1, x.size(0)}, {0, x.stride(0)});
}

// A single value as a row of one.
inline TensorView row_of(const TensorView& view) {
  return view.rank() == 0 ? view.as_strided({1}, {1}) : view;
}

// Where a scale had to be raised above what was given, or empty.
inline std::string first_raised(const Tensor& scale, const TensorView& given,
                                const CallOptions& how) {
  const Tensor copied(DType::f32, scale.sizes(), scale.device());
  const TensorView from = row_of(given), to = row_of(copied);
  Call("cast", how).operand("x", from).operand("out", to).run();
  const Tensor before = copied.to(Device::cpu(), how.stream);
  const Tensor after = scale.to(Device::cpu(), how.stream);
  for (int64_t i = 0; i < scale.count(); i++) {
    const float was = before.data<float>()[i], needed = after.data<float>()[i];
    if (!(needed > was)) continue;
    char text[96];
    std::snprintf(text, sizeof text, "%g at element %lld, where %g is needed", was,
                  static_cast<long long>(i), needed);
    return text;
  }
  return {};
}

}  // namespace detail

// q = x / scale rounded to nearest even, scale = largest finite magnitude / 448 (57344 for
// f8e5m2), 1 where that is 0. x: f32, f16, bf16. NaN stays NaN; Inf becomes the largest value.
inline QuantizedFp8 quantize_fp8(const TensorView& x, const QuantizeFp8Options& options = {}) {
  const Granularity shared =
      detail::granularity("fp8_quantize", x.rank(), options.axis, options.block);
  const bool raises = options.overflow.is(Fp8Overflow::raise);
  const TensorView matrix = detail::matrix_of(x, "fp8_quantize", shared == Granularity::tensor);
  const CallOptions how{options.backend, options.threads, options.context, options.stream};
  const TensorView q_shape(nullptr, options.format, matrix.sizes(), x.device());
  auto fill = [&](Call& call, const TensorView& q) {
    call.operand("x", matrix).operand("scale_in", options.scale).operand("q", q);
    call.attribute("granularity", shared);
    call.attribute("overflow", raises ? Fp8Overflow::adjust : options.overflow);
  };
  Call shapes("fp8_quantize", how);
  fill(shapes, q_shape);
  const std::vector<Shape> outputs = shapes.infer();

  QuantizedFp8 result{Tensor(options.format, x.sizes(), x.device()),
                      Tensor(f32, outputs.at(1).sizes, x.device())};
  const TensorView q(result.q.view().data(), options.format, matrix.sizes(), x.device());
  Call call("fp8_quantize", how);
  fill(call, q);
  call.operand("scale", result.scale.view());
  call.run();
  if (raises && options.scale) {
    if (std::string got = detail::first_raised(result.scale, options.scale, how); !got.empty())
      throw_error(make_error(NEREID_NUMERICAL_OVERFLOW, "fp8_quantize", "scale", got,
                             "a scale under which every finite value fits"));
  }
  return result;
}

struct DequantizeFp8Options {
  std::optional<int> axis = {};  // needed only where the shape of the scales does not tell
  Fp8Block block = {};
  const char* backend = nullptr;
  int threads = 0;
  const Context* context = nullptr;
  void* stream = nullptr;
};

namespace detail {

inline int64_t blocks(int64_t size) { return (size + 127) / 128; }

// What the shape of the scales says of a [rows, cols] matrix; rows and columns alike: rows.
inline Granularity granularity_of(const TensorView& q, const TensorView& scale) {
  if (q.rank() < 1)
    throw_error(
        make_error(NEREID_SHAPE_MISMATCH, "fp8_dequantize", "q", "shape []", "one axis or more"));
  const int64_t rows = q.rank() > 1 ? q.size(-2) : 1, cols = q.size(-1);
  if (scale.count() == 1 && scale.rank() < 2) return Granularity::tensor;
  if (scale.rank() >= 2 && scale.size(-1) == blocks(cols)) {
    if (scale.size(-2) == rows) return Granularity::block_1x128;
    if (scale.size(-2) == blocks(rows)) return Granularity::block_128x128;
  }
  if (scale.rank() >= 1 && scale.size(-1) == rows) return Granularity::row;
  if (scale.rank() >= 1 && scale.size(-1) == cols) return Granularity::column;
  throw_error(make_error(
      NEREID_SHAPE_MISMATCH, "fp8_dequantize", "scale", "shape " + scale.shape_text(),
      "[], [rows], [cols], [rows, cols/128] or [rows/128, cols/128] for " + q.shape_text()));
}

inline TensorView scalar_of(const TensorView& scale) {
  return scale.count() == 1 ? scale.as_strided({}, {}) : scale;
}

}  // namespace detail

// q * scale, rounded to dtype (f32, f16, bf16). The shape of the scales says what shares one.
inline Tensor dequantize_fp8(const TensorView& q, const TensorView& scale, DType dtype = DType::f32,
                             const DequantizeFp8Options& options = {}) {
  const Granularity shared =
      options.axis || options.block
          ? detail::granularity("fp8_dequantize", q.rank(), options.axis, options.block)
          : detail::granularity_of(q, scale);
  const bool one_scale = shared == Granularity::tensor;
  const TensorView matrix = detail::matrix_of(q, "fp8_dequantize", one_scale);
  const TensorView scales = one_scale ? detail::scalar_of(scale) : scale;
  Tensor result(dtype, q.sizes(), q.device());
  const TensorView out(result.view().data(), dtype, matrix.sizes(), q.device());
  Call("fp8_dequantize", {options.backend, options.threads, options.context, options.stream})
      .operand("q", matrix)
      .operand("scale", scales)
      .operand("out", out)
      .attribute("granularity", shared)
      .run();
  return result;
}

struct Fp8ProductOptions {
  TensorView a_scale = {}, b_scale = {};  // f32: [] and [], [M] and [N], or blocks of 128
  std::optional<DType> out_dtype = {};    // f32, f16, bf16; that of a, else bf16
  Choice<Accumulate> accumulate = Accumulate::precise;  // or fast
  TensorView bias = {};                                 // [N]
  std::optional<Choice<Scales>> scales = {};  // tensor, row_column or block; none: as given
  TensorView out = {};                        // memory for the result
  const char* backend = nullptr;
  int threads = 0;
  const Context* context = nullptr;
  void* stream = nullptr;
};

namespace detail {

// A 1 on a device. Made once and never given back: a kernel may be reading it to the very end. (A
// second one, where two threads come at once, does no harm.)
inline TensorView one_on(Device device) {
  static const float one = 1;
  if (device.is_cpu()) return TensorView(&one, {});
  struct Kept {
    Tensor tensor;
    Kept* next;
  };
  static Kept* first = nullptr;
  Kept* head = __atomic_load_n(&first, __ATOMIC_ACQUIRE);
  for (const Kept* kept = head; kept; kept = kept->next)
    if (kept->tensor.device() == device) return kept->tensor;
  Kept* made = new Kept{TensorView(&one, {}).to(device), head};
  while (!__atomic_compare_exchange_n(&first, &made->next, made, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
  return made->tensor;
}

class Fp8GemmCall {
 public:
  Fp8GemmCall(const TensorView& a, const TensorView& b, const Fp8ProductOptions& options)
      : o_(options),
        a_(a),
        b_(b),
        a_scale_(o_.a_scale),
        b_scale_(o_.b_scale),
        scales_(o_.scales.value_or(scales_of())) {
    if (scales_.is(Scales::tensor)) {
      complete(a_, a_scale_);
      complete(b_, b_scale_);
    }
  }

  void validate() const {
    Call call("fp8_gemm", how());
    fill(call);
    call.infer();
  }

  Tensor run() {
    if (a_scale_ && !o_.a_scale) a_scale_ = one_on(a_.device());
    if (b_scale_ && !o_.b_scale) b_scale_ = one_on(b_.device());
    Call call("fp8_gemm", how());
    fill(call);
    Tensor result;
    TensorView out = o_.out;
    const Shape c = call.infer().at(0);
    if (!out) {
      result = Tensor(o_.out_dtype.value_or(default_dtype()), c.sizes, a_.device());
      out = result.view();
    }
    call.operand("c", out);
    call.run();
    return result;
  }

 private:
  static bool is_fp8(const TensorView& v) { return v.dtype() == f8e4m3 || v.dtype() == f8e5m2; }
  CallOptions how() const { return {o_.backend, o_.threads, o_.context, o_.stream}; }
  DType default_dtype() const { return is_fp8(a_) ? bf16 : a_.dtype(); }

  Scales scales_of() const {
    const bool a_blocks = a_scale_ && a_scale_.rank() >= 2,
               a_rows = a_scale_ && a_scale_.rank() == 1;
    const bool b_blocks = b_scale_ && b_scale_.rank() >= 2,
               b_cols = b_scale_ && b_scale_.rank() == 1;
    if (a_blocks || b_blocks) return Scales::block;
    const bool one = (!a_rows || a_scale_.count() == 1) && (!b_cols || b_scale_.count() == 1);
    return one ? Scales::tensor : Scales::row_column;
  }
  // 8-bit inputs without a scale mean what they say: a scale of 1, which run() brings.
  static void complete(const TensorView& operand, TensorView& scale) {
    if (scale)
      scale = scalar_of(scale);
    else if (is_fp8(operand))
      scale = TensorView(nullptr, f32, {}, operand.device());
  }
  void fill(Call& call) const {
    call.operand("a", a_).operand("b", b_);
    call.operand("a_scale", a_scale_).operand("b_scale", b_scale_).operand("bias", o_.bias);
    call.attribute("scales", scales_).attribute("accumulate", o_.accumulate);
  }

  const Fp8ProductOptions& o_;
  TensorView a_, b_, a_scale_, b_scale_;
  Choice<Scales> scales_;
};

}  // namespace detail

// a[M,K] b[K,N] of 8-bit floats with their scales, or of f32, f16, bf16, which are quantised to
// E4M3 first; + bias. f32 accumulation: relative L2 error at most 1e-3 against the product of the
// dequantised inputs. b with any strides: weight.t() for an [N,K] weight.
inline Tensor fp8_gemm(const TensorView& a, const TensorView& b,
                       const Fp8ProductOptions& options = {}) {
  return detail::Fp8GemmCall(a, b, options).run();
}

// Throws what fp8_gemm would throw for these shapes and dtypes; runs nothing.
inline void validate_fp8_gemm_inputs(const TensorView& a, const TensorView& b,
                                     const Fp8ProductOptions& options = {}) {
  detail::Fp8GemmCall(a, b, options).validate();
}

}  // namespace nereid
