// SPDX-License-Identifier: MIT
// nereid/fused.h: whole steps of a layer in one call: RMSNorm + RoPE, the gated MLP, RoPE tables.
//
// Inputs are f32, f16 or bf16 views with any strides; arithmetic is f32, values are rounded once
// when they are stored. Results are new tensors on the device of the inputs unless an option names
// memory for them. Errors: ShapeMismatchError, UnsupportedDtypeError, KernelError. Thread safe.
#pragma once

#include <optional>
#include <string>

#include "nereid/call.h"
#include "nereid/choices.h"

namespace nereid {

// Stretches the context of a rope_table; factor 1 is plain RoPE.
struct Yarn {
  double factor = 1;
  double beta_fast = 32;
  double beta_slow = 1;
  double original = 4096;
  bool truncate = false;
};

struct RopeTable {
  Tensor cos, sin;  // [tokens, head_dim], both halves filled
};

// cos and sin of position * theta^(-2i / head_dim) for i32 positions[tokens]; with YaRN stretched
// and multiplied by 0.1 ln(factor) + 1. Computed in double.
inline RopeTable rope_table(const TensorView& positions, int64_t head_dim, double theta = 10000,
                            const Yarn& yarn = {}, DType dtype = DType::f32,
                            const CallOptions& options = {}) {
  Axes sizes = positions.sizes();
  sizes.push_back(head_dim);
  const Device device = positions.device();
  RopeTable table{Tensor(dtype, sizes, device), Tensor(dtype, sizes, device)};
  Call("rope_table", options)
      .operand("positions", positions)
      .operand("cos", table.cos.view())
      .operand("sin", table.sin.view())
      .attribute("theta", theta)
      .attribute("factor", yarn.factor)
      .attribute("beta_fast", yarn.beta_fast)
      .attribute("beta_slow", yarn.beta_slow)
      .attribute("original", yarn.original)
      .attribute("truncate", yarn.truncate)
      .run();
  return table;
}

struct FusedRmsnormRopeOptions {
  double eps = 1e-6;
  int64_t num_heads = 0;  // 0: hidden / the last axis of cos, which is D; needed for [S,D/2] tables
  TensorView positions = {};                  // i32 [B,S] or [S]: rows of the tables
  TensorView residual = {};                   // [B,S,H], added to x first
  Choice<Pairs> pairs = Pairs::half;          // or interleaved
  Choice<Cast> cast = Cast::after_weight;     // or before_weight: round to x's dtype there too
  bool round_between = false;                 // round to x's dtype before the rotation
  std::optional<DType> out_dtype = {};        // that of x; f8e4m3 and f8e5m2 come with row scales
  TensorView out = {}, sum = {}, scale = {};  // memory for the results
  const char* backend = nullptr;
  int threads = 0;
  const Context* context = nullptr;
  void* stream = nullptr;
};

struct RmsnormRope {
  Tensor out;    // [B,S,H]
  Tensor sum;    // [B,S,H]: x + residual, when there is one
  Tensor scale;  // [B,S] f32: of 8-bit outputs
};

namespace detail {

[[noreturn]] inline void shape_mismatch(const char* op, const char* argument,
                                        const std::string& got, const std::string& allowed) {
  throw_error(make_error(NEREID_SHAPE_MISMATCH, op, argument, got, allowed));
}

// An axis of size 1 in front: a single sequence or a single row is a batch of one.
inline TensorView with_batch(const TensorView& view, int rank) {
  if (!view || view.rank() >= rank) return view;
  const size_t missing = static_cast<size_t>(rank - view.rank());
  return view.as_strided(Axes(view.sizes()).behind(missing, 1),
                         Axes(view.strides()).behind(missing, 0));
}

// [S,D] of a table given as [S,D], [1,S,D] or [1,S,1,D].
inline TensorView plain_table(const TensorView& table, const char* name) {
  const int rank = table.rank();
  const bool ok = rank == 2 || (rank == 3 && table.size(0) == 1) ||
                  (rank == 4 && table.size(0) == 1 && table.size(2) == 1);
  if (!ok)
    shape_mismatch("rmsnorm_rope", name, "shape " + table.shape_text(),
                   "[S, D], [S, D/2], [1, S, D] or [1, S, 1, D]");
  const int rows = rank == 2 ? 0 : 1;
  return table.as_strided({table.size(rows), table.size(-1)},
                          {table.stride(rows), table.stride(-1)});
}

// A table of D/2 entries with each entry where both elements of its pair look for it.
inline Tensor doubled_table(const TensorView& table, bool interleaved, const CallOptions& how) {
  const int64_t rows = table.size(0), half = table.size(1);
  Tensor full(table.dtype(), {rows, 2 * half}, table.device());
  const TensorView from = table.as_strided({rows, 1, half}, {table.stride(0), 0, table.stride(1)});
  const TensorView to = full.view().as_strided(
      {rows, 2, half}, {2 * half, interleaved ? 1 : half, interleaved ? 2 : 1});
  Call("cast", how).operand("x", from).operand("out", to).run();
  return full;
}

// The operands of one call of rmsnorm_rope, brought into the operator's shapes.
class RmsnormRopeCall {
 public:
  RmsnormRopeCall(const TensorView& x, const TensorView& weight, const TensorView& cos,
                  const TensorView& sin, const FusedRmsnormRopeOptions& options)
      : o_(options), x_(with_batch(x, 3)), weight_(weight), rank_(x.rank()) {
    if (x.rank() < 2) shape_mismatch("rmsnorm_rope", "x", "shape " + x.shape_text(), "[B, S, H]");
    if (o_.num_heads < 0)
      shape_mismatch("rmsnorm_rope", "num_heads", std::to_string(o_.num_heads), "0 or more");
    cos_ = table(cos, "cos", cos_memory_);
    sin_ = table(sin, "sin", sin_memory_);
    residual_ = with_batch(o_.residual, 3);
    positions_ = o_.positions;
    if (positions_ && positions_.rank() == 1)  // the same for each sequence
      positions_ =
          positions_.as_strided({x_.size(0), positions_.size(0)}, {0, positions_.stride(0)});
  }

  void validate() {
    RmsnormRope none;
    make_outputs(none, false);
    Call call("rmsnorm_rope", how());
    fill(call);
    call.infer();
  }

  RmsnormRope run() {
    validate();
    RmsnormRope result;
    make_outputs(result, true);
    Call call("rmsnorm_rope", how());
    fill(call);
    call.run();
    return result;
  }

 private:
  CallOptions how() const { return {o_.backend, o_.threads, o_.context, o_.stream}; }
  bool quantizes() const { return o_.out_dtype == f8e4m3 || o_.out_dtype == f8e5m2; }

  TensorView table(const TensorView& given, const char* name, Tensor& memory) {
    const TensorView plain = plain_table(given, name);
    const int64_t hidden = x_.size(-1), d = plain.size(1), heads = o_.num_heads;
    if (heads == 0) return plain;
    const int64_t head_dim = hidden % heads == 0 ? hidden / heads : -1;
    if (d == head_dim) return plain;
    if (d != head_dim - d)
      shape_mismatch("rmsnorm_rope", name,
                     "head_dim " + std::to_string(d) + " with num_heads " + std::to_string(heads),
                     "num_heads * head_dim = " + std::to_string(hidden));
    memory = doubled_table(plain, o_.pairs.is(Pairs::interleaved), how());
    return memory.view();
  }

  // A view of what the caller gave, else of a new tensor; without memory when only shapes count.
  TensorView output(const TensorView& given, DType dtype, std::span<const int64_t> sizes,
                    bool allocate, Tensor& tensor) {
    if (given) return given;
    if (!allocate) return TensorView(nullptr, dtype, sizes, x_.device());
    tensor = Tensor(dtype, sizes, x_.device());
    return tensor.view();
  }

  void make_outputs(RmsnormRope& result, bool allocate) {
    const auto sizes = x_.sizes().last(static_cast<size_t>(rank_));  // as x was given
    const DType dtype = o_.out_dtype.value_or(x_.dtype());
    out_ = with_batch(output(o_.out, dtype, sizes, allocate, result.out), 3);
    sum_ = scale_ = {};
    if (residual_) sum_ = with_batch(output(o_.sum, x_.dtype(), sizes, allocate, result.sum), 3);
    if (quantizes())
      scale_ = with_batch(
          output(o_.scale, f32, sizes.first(sizes.size() - 1), allocate, result.scale), 2);
  }

  void fill(Call& call) const {
    call.operand("x", x_).operand("weight", weight_).operand("cos", cos_).operand("sin", sin_);
    call.operand("positions", positions_).operand("residual", residual_);
    call.operand("out", out_).operand("sum", sum_).operand("scale", scale_);
    call.attribute("eps", o_.eps).attribute("pairs", o_.pairs).attribute("cast", o_.cast);
    call.attribute("round_between", o_.round_between);
  }

  const FusedRmsnormRopeOptions& o_;
  TensorView x_, weight_, cos_, sin_, residual_, positions_, out_, sum_, scale_;
  Tensor cos_memory_, sin_memory_;
  int rank_;
};

}  // namespace detail

// y = (x + residual) * rsqrt(mean of squares + eps) * weight over H, then per head of D
// y * cos + rotate_half(y) * sin. x[B,S,H] or [S,H], weight[H], cos and sin [S,D], [1,S,D] or
// [1,S,1,D] (all D entries are used), or with num_heads [S,D/2] for equal halves: without it the
// last axis of cos is D, as the plan's text shows (head_dim=...). out may be x.
// num_heads * D != H is a ShapeMismatchError; a position outside the tables a KernelError (on a
// GPU: a row of NaN).
inline RmsnormRope fused_rmsnorm_rope(const TensorView& x, const TensorView& weight,
                                      const TensorView& cos, const TensorView& sin,
                                      const FusedRmsnormRopeOptions& options = {}) {
  return detail::RmsnormRopeCall(x, weight, cos, sin, options).run();
}

// Throws what fused_rmsnorm_rope would throw for these shapes and dtypes; runs nothing.
inline void validate_rmsnorm_rope_inputs(const TensorView& x, const TensorView& weight,
                                         const TensorView& cos, const TensorView& sin,
                                         const FusedRmsnormRopeOptions& options = {}) {
  detail::RmsnormRopeCall(x, weight, cos, sin, options).validate();
}

struct FusedGatedMlpOptions {
  Choice<Activation> activation = Activation::silu;  // or gelu, gelu_tanh, swiglu_oai
  Choice<Activate> activate = Activate::up;          // or gate: Llama's order
  TensorView gate_bias = {}, up_bias = {};    // [I]; one [2I] as gate_bias for a joint weight
  TensorView gate_scale = {}, up_scale = {};  // f32 [I]: of 8-bit weights
  TensorView out = {};                        // memory for the result
  const char* backend = nullptr;
  int threads = 0;
  const Context* context = nullptr;
  void* stream = nullptr;
};

namespace detail {

class GatedMlpCall {
 public:
  GatedMlpCall(const TensorView& x, const TensorView& gate_weight, const TensorView& up_weight,
               const FusedGatedMlpOptions& options)
      : o_(options),
        x_(with_batch(x, 2)),
        gate_weight_(gate_weight),
        up_weight_(up_weight),
        gate_bias_(o_.gate_bias),
        up_bias_(o_.up_bias),
        gate_scale_(o_.gate_scale),
        up_scale_(o_.up_scale),
        rank_(x.rank()) {
    if (x.rank() < 1) shape_mismatch("gated_mlp", "x", "shape []", "[..., H]");
    if (up_weight) return;
    split("gate_weight", gate_weight_, up_weight_);
    if (gate_bias_ && !up_bias_) split("gate_bias", gate_bias_, up_bias_);
    if (gate_scale_ && !up_scale_) split("gate_scale", gate_scale_, up_scale_);
  }

  void validate() const {
    Call call("gated_mlp", how());
    fill(call);
    call.infer();
  }

  Tensor run() {
    validate();
    Tensor result;
    out_ = o_.out;
    if (!out_) {
      Axes sizes = x_.sizes().last(static_cast<size_t>(rank_));
      sizes[sizes.size() - 1] = gate_weight_.size(0);
      result = Tensor(x_.dtype(), sizes, x_.device());
      out_ = result.view();
    }
    out_ = with_batch(out_, 2);
    Call call("gated_mlp", how());
    fill(call);
    call.operand("out", out_);
    call.run();
    return result;
  }

 private:
  CallOptions how() const { return {o_.backend, o_.threads, o_.context, o_.stream}; }

  // Rows 0, 2, 4 ... are gate's, rows 1, 3, 5 ... up's.
  static void split(const char* name, TensorView& gate, TensorView& up) {
    if (!gate || gate.rank() < 1 || gate.size(0) % 2 != 0)
      shape_mismatch("gated_mlp", name, "shape " + gate.shape_text(),
                     "[2I, ...] as up_weight is not given");
    const TensorView both = gate;
    gate = both.slice(0, 0, both.size(0), 2);
    up = both.slice(0, both.size(0) ? 1 : 0, both.size(0), 2);
  }

  void fill(Call& call) const {
    call.operand("x", x_).operand("gate_weight", gate_weight_).operand("up_weight", up_weight_);
    call.operand("gate_bias", gate_bias_).operand("up_bias", up_bias_);
    call.operand("gate_scale", gate_scale_).operand("up_scale", up_scale_);
    call.attribute("activation", o_.activation).attribute("activate", o_.activate);
  }

  const FusedGatedMlpOptions& o_;
  TensorView x_, gate_weight_, up_weight_, gate_bias_, up_bias_, gate_scale_, up_scale_, out_;
  int rank_;
};

}  // namespace detail

// gate_proj(x) * act(up_proj(x)), or act(gate_proj(x)) * up_proj(x) with activate = "gate":
// x[..., H], weights [I,H] of f32, f16, bf16 or an 8-bit float (with scales); result [..., I] in
// x's dtype. Without up_weight, gate_weight is a joint [2I,H] whose rows alternate gate, up.
inline Tensor fused_gated_mlp(const TensorView& x, const TensorView& gate_weight,
                              const TensorView& up_weight,
                              const FusedGatedMlpOptions& options = {}) {
  return detail::GatedMlpCall(x, gate_weight, up_weight, options).run();
}

// Throws what fused_gated_mlp would throw for these shapes and dtypes; runs nothing.
inline void validate_gated_mlp_inputs(const TensorView& x, const TensorView& gate_weight,
                                      const TensorView& up_weight,
                                      const FusedGatedMlpOptions& options = {}) {
  detail::GatedMlpCall(x, gate_weight, up_weight, options).validate();
}

}  // namespace nereid
