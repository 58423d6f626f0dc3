// SPDX-License-Identifier: MIT
// src/compiler/infer_signature.cpp: shapes by trying: which product of sizes is the extent?
#include "compiler/infer_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "trace/extents.h"
#include "trace/poly.h"
#include "trace/sample.h"

namespace nrd {
namespace {

// Distinct, even (pairs) and without common products, so that an extent names its sizes.
constexpr int64_t kTrials[3][6] = {
    {6, 10, 14, 22, 26, 34}, {8, 22, 34, 10, 38, 46}, {14, 26, 6, 58, 10, 62}};
constexpr size_t kMostSizes = 6;

struct Shape {
  std::vector<size_t> sizes;  // indices among the size parameters, outermost first
};

int64_t product(const Shape& shape, const int64_t* values) {
  int64_t p = 1;
  for (size_t s : shape.sizes) p *= values[s];
  return p;
}

// The subset of sizes (at most three of them) whose product is the extent in every trial.
std::optional<Shape> fit(const std::vector<std::vector<int64_t>>& touched, size_t pointer,
                         size_t sizes) {
  for (unsigned mask = 0; mask < 1u << sizes; mask++) {
    Shape shape;
    for (size_t s = 0; s < sizes; s++)
      if (mask >> s & 1u) shape.sizes.push_back(s);
    bool all = shape.sizes.size() <= 3;
    for (size_t t = 0; t < touched.size(); t++)
      all = all && touched[t][pointer] == product(shape, kTrials[t]);
    if (all) return shape;
  }
  return std::nullopt;
}

// Elements of each pointer that are touched where i32 indices are small; -1: cannot be told.
std::vector<int64_t> ends(const OpTrace& trace, std::span<const int64_t> sizes) {
  std::vector<LoadedRange> loaded;
  for (const TraceParam& p : trace.params)
    if (p.kind == TraceParamKind::kPointer) {
      loaded.emplace_back();
      if (p.dtype == DType::kI32) loaded.back().integers = Range{0, kLoadedIntegers - 1};
    }
  std::vector<int64_t> list;
  for (const Extent& e : extents(trace, sizes, loaded))
    list.push_back(e.fits(kUnboundedHigh - 1) ? e.end : -1);
  return list;
}

// How far apart neighbours along a loop lie in an index, in the first trial's sizes.
int64_t stride_of(const OpTrace& trace, const Value& access, const TraceLoop& loop) {
  const Poly index = poly_of(trace, access.args[0]);
  const auto linear = linear_in(trace, index, loop.iv);
  if (!linear) return 0;
  int64_t stride = 0;
  for (const PolyTerm& term : linear->coefficient.terms()) {
    int64_t value = term.coefficient;
    for (ValueId atom : term.factors()) {
      size_t rank = 0;
      for (uint16_t p = 0; p < trace[atom].index; p++)
        rank += trace.params[p].kind == TraceParamKind::kSize;
      value *= trace[atom].op == TraceOp::kParam ? kTrials[0][rank] : 1;
    }
    stride += value;
  }
  return stride;
}

// Orders the sizes of a matrix by the strides of the loops that run over them.
void order(const OpTrace& trace, uint16_t param, const std::vector<uint16_t>& size_params,
           Shape& shape) {
  if (shape.sizes.size() < 2) return;
  std::vector<int64_t> stride(size_params.size(), 0);
  for (const Value& v : trace.values) {
    if ((v.op != TraceOp::kLoad && v.op != TraceOp::kStore) || v.index != param) continue;
    for (const TraceLoop& loop : trace.loops) {
      const Value& extent = trace[loop.extent];
      if (extent.op != TraceOp::kParam) continue;
      for (size_t s = 0; s < size_params.size(); s++)
        if (size_params[s] == extent.index)
          stride[s] = std::max(stride[s], stride_of(trace, v, loop));
    }
  }
  std::stable_sort(shape.sizes.begin(), shape.sizes.end(),
                   [&](size_t a, size_t b) { return stride[a] > stride[b]; });
}

// Whether one instance may be cut along its only size: nothing but indices depends on where an
// element stands.
bool separable(const OpTrace& trace) {
  if (trace.op_class != OpClass::kElementwise || trace.loops.size() != 1) return false;
  const TraceLoop& loop = trace.loops[0];
  for (const Value& v : trace.values) {
    const bool access = v.op == TraceOp::kLoad || v.op == TraceOp::kStore;
    for (size_t a = 0; a < 3; a++) {
      if (v.args[a] == kNoValue) continue;
      const Value& used = trace[v.args[a]];
      const bool place =
          used.op == TraceOp::kIv || (used.op == TraceOp::kParam && used.type == TraceType::kI64);
      if (place && !(access && a == 0 && v.args[a] == loop.iv)) return false;
    }
  }
  return true;
}

}  // namespace

std::string_view class_suffix(DType element) {
  if (element == DType::kF64) return ":float_or_f64";
  if (element == DType::kI32) return ":i32";
  if (element == DType::kI8) return ":i8";
  if (element == DType::kU8) return ":int8";
  return "";
}

Expected<std::string> infer_signature(const OpTrace& trace) {
  std::vector<uint16_t> size_params, pointers;
  for (uint16_t p = 0; p < trace.params.size(); p++) {
    if (trace.params[p].kind == TraceParamKind::kSize) size_params.push_back(p);
    if (trace.params[p].kind == TraceParamKind::kPointer) pointers.push_back(p);
  }
  auto refuse = [&](std::string what, std::string got) -> Error {
    return make_error(
        {.code = ErrorCode::kInvalidArgument,
         .op = trace.name,
         .argument = std::move(what),
         .got = std::move(got),
         .hint = "give the operator's signature, such as \"x[n] -> out[n] ; core n\""});
  };
  if (size_params.size() > kMostSizes) return refuse("signature", "more than 6 sizes");
  std::vector<std::vector<int64_t>> touched;
  for (const auto& trial : kTrials)
    touched.push_back(ends(trace, std::span(trial).first(size_params.size())));
  std::string inputs, outputs;
  for (size_t i = 0; i < pointers.size(); i++) {
    const TraceParam& p = trace.params[pointers[i]];
    std::optional<Shape> shape = fit(touched, i, size_params.size());
    if (!shape) return refuse(p.name, "a shape that is no product of the sizes");
    order(trace, pointers[i], size_params, *shape);
    std::vector<std::string> axes;
    for (size_t s : shape->sizes) axes.push_back(trace.params[size_params[s]].name);
    (p.written ? outputs : inputs) +=
        fmt::format("{}[{}]{} ", p.name, fmt::join(axes, ","), class_suffix(p.dtype));
  }
  if (outputs.empty()) return refuse("signature", "no output");
  std::vector<std::string> core;
  for (uint16_t p : size_params) core.push_back(trace.params[p].name);
  return fmt::format("{}-> {}; core {}{}", inputs, outputs, fmt::join(core, ","),
                     separable(trace) ? "*" : "");
}

}  // namespace nrd
