// SPDX-License-Identifier: MIT
// src/compiler/infer_signature.cpp: shapes by trying: which formula gives the extents?
#include "compiler/infer_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/fit_shape.h"
#include "trace/extents.h"
#include "trace/poly.h"
#include "trace/program.h"

namespace nrd {
namespace {

constexpr size_t kMostIntegers = 6;

// Numbers that the trace divides integers by.
std::vector<int64_t> divisors_of(const OpTrace& trace) {
  std::vector<int64_t> list;
  for (const Value& v : trace.values) {
    const bool shift = v.op == TraceOp::kShr || v.op == TraceOp::kSar;
    if (!shift && v.op != TraceOp::kDivFloor && v.op != TraceOp::kModFloor) continue;
    const Value& by = trace[v.args[1]];
    if (by.op != TraceOp::kConst) continue;
    const auto number = static_cast<int64_t>(by.bits);
    if (shift && number > 0 && number < 20) list.push_back(int64_t{1} << number);
    if (!shift && number > 1) list.push_back(number);
  }
  return list;
}

// Elements of each pointer that are touched where i32 indices lie in [0, rows); -1: cannot be told.
std::vector<int64_t> ends(const OpTrace& trace, std::span<const int64_t> sizes, int64_t rows) {
  std::vector<LoadedRange> loaded;
  for (const TraceParam& p : trace.params)
    if (p.kind == TraceParamKind::kPointer) {
      loaded.emplace_back();
      if (p.dtype == DType::kI32) loaded.back().integers = Range{0, rows - 1};
    }
  std::vector<int64_t> list;
  for (const Extent& e : extents(trace, sizes, loaded))
    list.push_back(e.fits(kUnboundedHigh - 1) ? e.end : -1);
  return list;
}

// What every pointer touches in every trial: [pointer][trial].
std::vector<std::vector<int64_t>> touched(const OpTrace& trace, const Trials& trials,
                                          int64_t rows) {
  std::vector<std::vector<int64_t>> list;
  for (const std::vector<int64_t>& sizes : trials.values) {
    const std::vector<int64_t> now = ends(trace, sizes, rows);
    list.resize(now.size());
    for (size_t i = 0; i < now.size(); i++) list[i].push_back(now[i]);
  }
  return list;
}

// Orders the sizes of a matrix: what a counter is multiplied by lies further in. (i*cols + j)
void order(const OpTrace& trace, uint16_t param, const std::vector<uint16_t>& size_params,
           const Trials& trials, Shape& shape) {
  if (shape.sizes.size() < 2) return;
  std::vector<int64_t> multiplied(size_params.size(), 0);
  for (const Value& v : trace.values) {
    if ((v.op != TraceOp::kLoad && v.op != TraceOp::kStore) || v.index != param) continue;
    const Poly index = poly_of(trace, v.args[0]);
    for (const PolyTerm& term : index.terms())
      for (const ValueId atom : term.factors())
        for (size_t s = 0; s < size_params.size() && term.degree > 1; s++)
          multiplied[s] += trace[atom].op == TraceOp::kParam && trace[atom].index == size_params[s];
  }
  std::stable_sort(shape.sizes.begin(), shape.sizes.end(),
                   [&](size_t a, size_t b) { return multiplied[a] < multiplied[b]; });
  shape.axes.clear();
  for (const size_t s : shape.sizes) shape.axes.push_back(trials.names[s]);
}

// An input of which the last few elements are not read is one as long as the others: x[i-1] where
// i > 0 is of x[n].
void round_up(const std::vector<std::string>& names, Shape& shape) {
  for (std::string& axis : shape.axes)
    for (const std::string& name : names)
      if (axis.starts_with(name + "-") &&
          axis.find_first_not_of("0123456789", name.size() + 1) == std::string::npos)
        axis = name;
}

// A table whose rows an index chooses: [rows], or [rows, cols] where one more row is `cols` more
// elements.
Shape fit_rows(const Trials& trials, const std::vector<int64_t>& few,
               const std::vector<int64_t>& more, std::string rows) {
  Shape shape{{std::move(rows)}, {}};
  std::vector<int64_t> row;
  for (size_t k = 0; k < few.size(); k++) {
    if (few[k] < 1 || more[k] != 2 * few[k]) return shape;
    row.push_back(few[k]);
  }
  if (std::optional<Shape> one = fit_shape(trials, row))
    shape.axes.insert(shape.axes.end(), one->axes.begin(), one->axes.end());
  return shape;
}

}  // namespace

int separable_size(const OpTrace& trace) {
  if (trace.op_class != OpClass::kElementwise || trace.loops.size() != 1) return -1;
  const TraceLoop& loop = trace.loops[0];
  const Value& extent = trace[loop.extent];
  if (extent.op != TraceOp::kParam) return -1;
  std::vector<ValueId> index(trace.params.size(),
                             kNoValue);  // of each pointer, the same throughout
  for (const Value& v : trace.values) {
    const bool access = v.op == TraceOp::kLoad || v.op == TraceOp::kStore;
    if (access) {
      ValueId& known = index[v.index];
      if (known != kNoValue && known != v.args[0]) return -1;
      known = v.args[0];
      const Value& at = trace[known];
      if (known != loop.iv && !(at.op == TraceOp::kConst && at.bits == 0)) return -1;
    }
    for (size_t a = access ? 1 : 0; a < 3; a++) {
      if (v.args[a] == kNoValue) continue;
      const Value& used = trace[v.args[a]];
      if (used.op == TraceOp::kIv) return -1;
      if (used.op == TraceOp::kParam && used.index == extent.index) return -1;
    }
  }
  return static_cast<int>(param_ranks(trace)[extent.index]);
}

std::string_view class_suffix(DType element) {
  if (element == DType::kF64) return ":float_or_f64";
  if (element == DType::kI32) return ":i32";
  if (element == DType::kI8) return ":i8";
  if (element == DType::kU8) return ":int8";
  return "";
}

Expected<std::string> infer_signature(const OpTrace& trace, bool is_map) {
  std::vector<uint16_t> integers, pointers;
  std::vector<std::string> names;
  for (uint16_t p = 0; p < trace.params.size(); p++) {
    if (trace.params[p].kind == TraceParamKind::kPointer) pointers.push_back(p);
    if (trace.params[p].kind != TraceParamKind::kSize) continue;
    integers.push_back(p);
    names.push_back(trace.params[p].name);
  }
  if (integers.size() > kMostIntegers)
    return make_error(
        {.code = ErrorCode::kInvalidArgument,
         .op = trace.name,
         .argument = "signature",
         .got = fmt::format("{} integers", integers.size()),
         .allowed = fmt::format("at most {}", kMostIntegers),
         .hint = "give the operator's signature, such as \"x[n] -> out[n] ; core n\""});
  const Trials trials = make_trials(names, divisors_of(trace));
  const std::vector<std::vector<int64_t>> few = touched(trace, trials, 1),
                                          more = touched(trace, trials, 2);
  std::string inputs, outputs, tables;
  for (size_t i = 0; i < pointers.size(); i++) {
    const TraceParam& p = trace.params[pointers[i]];
    std::optional<Shape> shape;
    const bool untouched = !p.read && !p.written;
    if (untouched && is_map) {  // read before every call all the same
      shape = Shape{names, {}};
    } else if (!untouched && few[i] == more[i] && few[i].front() >= 0) {
      shape = fit_shape(trials, few[i]);
      if (shape) order(trace, pointers[i], integers, trials, *shape);
      if (shape && !p.written) round_up(names, *shape);
    }
    if (!shape) {  // any number of rows: what is touched is looked at when it is called
      shape = fit_rows(trials, few[i], more[i], p.name + "_rows");
      tables += (tables.empty() ? "" : ",") + p.name + "_rows";
    }
    (p.written ? outputs : inputs) +=
        fmt::format("{}[{}]{} ", p.name, fmt::join(shape->axes, ","), class_suffix(p.dtype));
  }
  std::vector<std::string> cores = names;  // a star behind the size of the only loop
  if (const int cut = separable_size(trace); cut >= 0) cores[static_cast<size_t>(cut)] += "*";
  std::string text = fmt::format("{}-> {}", inputs, outputs);
  if (!names.empty()) text += fmt::format("; core {}", fmt::join(cores, ","));
  if (!tables.empty()) text += fmt::format("{}; any {}", names.empty() ? "" : " ", tables);
  return text;
}

}  // namespace nrd
