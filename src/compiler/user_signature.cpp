// SPDX-License-Identifier: MIT
// src/compiler/user_signature.cpp: text in, text out, with sizes tried in between.
#include "compiler/user_signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/infer_signature.h"
#include "ops/contract.h"
#include "trace/coverage.h"

namespace nrd {
namespace {

Error refuse(const UserOpRequest& request, std::string argument, std::string got,
             std::string allowed, std::string hint = "") {
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = request.name,
                     .argument = std::move(argument),
                     .got = std::move(got),
                     .allowed = std::move(allowed),
                     .hint = std::move(hint)});
}

// Lets every operand of a given signature that names no dtypes take those of its C type: an
// operand is a word up to its bracket, in the order of the function's operands.
std::string with_element_types(const std::string& text, const std::vector<DType>& elements) {
  std::string out;
  size_t operand = 0;
  for (size_t i = 0; i < text.size(); i++) {
    out += text[i];
    if (text[i] == ';') return out + text.substr(i + 1);
    if (text[i] != ']') continue;
    const bool named = i + 1 < text.size() && text[i + 1] == ':';
    if (operand < elements.size() && !named) out += class_suffix(elements[operand]);
    operand++;
  }
  return out;
}

// A signature that does not fit the function would read and write other memory than it says.
Expected<void> check_operands(const UserOpRequest& request, const UserFunction& user,
                              const Signature& s, bool proved) {
  const auto inputs = static_cast<size_t>(s.inputs);
  // Unread code has only its consts to tell inputs by, and some people leave them out.
  const bool inputs_fit =
      proved ? inputs == user.inputs : inputs >= user.inputs && inputs < s.operands.size();
  if (s.operands.size() != user.elements.size() || !inputs_fit || s.core.size() != user.sizes)
    return refuse(request, "signature",
                  fmt::format("'{}': {} inputs, {} outputs, {} core sizes", s.text, inputs,
                              s.operands.size() - inputs, s.core.size()),
                  fmt::format("{} inputs, {} outputs, {} core sizes, as the function has",
                              user.inputs, user.elements.size() - user.inputs, user.sizes));
  for (size_t i = 0; i < s.operands.size(); i++) {
    const OperandSpec& spec = s.operands[i];
    if (spec.optional)
      return refuse(request, spec.name, "an optional operand", "operands that are always there");
    if (!allows(spec.dtypes, user.elements[i]))
      return refuse(request, spec.name, fmt::format("dtypes {}", allowed_words(spec.dtypes)),
                    fmt::format("{}, which the function has there", word(user.elements[i])));
    bool core = false;
    for (const AxisRef& ref : spec.axes) {
      const Axis& axis = s.axes[static_cast<size_t>(ref.axis)];
      if (core && !axis.core)
        return refuse(request, spec.name,
                      fmt::format("the outer axis {} behind the core", axis.name),
                      "outer axes in front: one call of the function sees one piece of memory");
      core = core || axis.core;
    }
  }
  return {};
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ","));
}

// Integers that no shape determines are attributes.
std::string with_attributes(const Signature& s) {
  std::vector<std::string> list;
  for (const int axis : s.core)
    if (!s.determines(axis)) list.push_back(s.axes[static_cast<size_t>(axis)].name + "=1");
  return list.empty() ? s.text : fmt::format("{} ; int {}", s.text, joined(list));
}

// `&` behind the names of these outputs.
std::string with_contents(const Signature& s, const std::vector<bool>& needed) {
  std::string text = s.text;
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++) {
    if (!needed[i] || s.operands[i].read) continue;
    const std::string name = s.operands[i].name + "[";
    const size_t at = text.find(" " + name, text.find("->"));
    if (at != std::string::npos) text.insert(at + name.size(), "&");
  }
  return text;
}

// Sizes of all axes from a list, in turn: the function's integers first, then the others.
std::vector<int64_t> axis_sizes(const Signature& s, std::span<const int64_t> values) {
  std::vector<int64_t> axes;
  for (const Axis& axis : s.axes) axes.push_back(axis.fixed);
  size_t next = 0;
  const auto set = [&](size_t axis) {
    if (axes[axis] < 0) axes[axis] = values[next++ % values.size()];
  };
  for (const int axis : s.core) set(static_cast<size_t>(axis));
  for (size_t i = 0; i < axes.size(); i++)
    if (!s.axes[i].formula) set(i);
  for (size_t i = 0; i < axes.size(); i++)
    if (s.axes[i].numerator >= 0)
      axes[i] = axes[static_cast<size_t>(s.axes[i].numerator)] /
                std::max<int64_t>(1, axes[static_cast<size_t>(s.axes[i].denominator)]);
  return fill_formulas(s, axes) ? axes : std::vector<int64_t>();
}

std::vector<int64_t> core_sizes(const Signature& s, const std::vector<int64_t>& axes) {
  std::vector<int64_t> sizes;
  for (const int axis : s.core) sizes.push_back(axes[static_cast<size_t>(axis)]);
  return sizes;
}

int64_t core_elements(const Signature& s, const std::vector<int64_t>& axes, size_t operand) {
  int64_t count = 1;
  for (const AxisRef& ref : s.operands[operand].axes)
    if (s.axes[static_cast<size_t>(ref.axis)].core) count *= size_of(ref, axes);
  return count;
}

// Small ones, odd and even, and those with which an output of fixed length may not be written:
// outputs are walked through element by element.
constexpr int64_t kSmall[][3] = {{6, 4, 2},  {7, 3, 5}, {1, 2, 3}, {3, 5, 7}, {2, 1, 1}, {64, 2, 3},
                                 {33, 4, 1}, {0, 2, 3}, {2, 0, 3}, {3, 2, 0}, {0, 0, 0}};

// Whether it has an axis that no integer of the function knows: any length may be given.
bool has_any_length(const Signature& s, size_t operand) {
  for (const AxisRef& ref : s.operands[operand].axes) {
    const Axis& axis = s.axes[static_cast<size_t>(ref.axis)];
    const bool known = axis.fixed >= 0 || axis.formula || !axis.core ||
                       std::find(s.core.begin(), s.core.end(), ref.axis) != s.core.end();
    if (!known) return true;
  }
  return false;
}

// Outputs that may keep, or read, what they held. Nobody knows of unread code, nor how long an
// output of any length will be.
std::vector<bool> contents_needed(const UserFunction& user, const Signature& s, bool proved) {
  std::vector<bool> needed;
  for (size_t i = 0; i < s.operands.size(); i++) needed.push_back(!proved || has_any_length(s, i));
  for (const auto& values : kSmall) {
    const std::vector<int64_t> axes = axis_sizes(s, values);
    if (!proved || axes.empty()) continue;
    std::vector<int64_t> elements;
    for (size_t i = 0; i < s.operands.size(); i++) elements.push_back(core_elements(s, axes, i));
    const std::vector<bool> now = needs_contents(user.trace, core_sizes(s, axes), elements);
    for (size_t i = 0; i < now.size(); i++) needed[i] = needed[i] || now[i];
  }
  return needed;
}

// A given shape that is too small whatever the sizes is a mistake; where it hangs on them, each
// call will tell.
Expected<void> check_shapes(const UserOpRequest& request, const UserFunction& user,
                            const Signature& s) {
  static constexpr int64_t kSizes[][3] = {{64, 128, 192}, {192, 64, 128}, {128, 192, 64},
                                          {960, 64, 64},  {7, 5, 3},      {3, 7, 5}};
  std::vector<size_t> wrong(s.operands.size(), 0);
  std::vector<LoadedRange> loaded(s.operands.size());
  for (size_t i = 0; i < loaded.size(); i++) {
    loaded[i].integers = Range{0, 0};  // what data decides is looked at before each run
    loaded[i].floats = FloatRange{0, 0, false};
  }
  for (const auto& values : kSizes) {
    const std::vector<int64_t> axes = axis_sizes(s, values);
    if (axes.empty()) continue;
    const std::vector<Extent> touched = extents(user.trace, core_sizes(s, axes), loaded);
    for (size_t i = 0; i < touched.size(); i++) {
      const int64_t elements = core_elements(s, axes, i);
      if (touched[i].fits(elements) || has_any_length(s, i)) continue;
      if (++wrong[i] < std::size(kSizes)) continue;
      const bool below = touched[i].first < 0;
      return refuse(
          request, s.operands[i].name, fmt::format("{} elements", elements),
          "a shape that holds what the function touches",
          fmt::format("{} reaches element {} with {} = {}",
                      access_text(user.trace, below ? touched[i].lowest : touched[i].highest),
                      below ? touched[i].first : touched[i].end - 1,
                      s.core.empty() ? "no size" : s.axes[static_cast<size_t>(s.core[0])].name,
                      s.core.empty() ? 0 : axes[static_cast<size_t>(s.core[0])]));
    }
  }
  return {};
}

// A star lets threads cut an instance: only where the trace shows that it may be.
Expected<void> check_stars(const UserOpRequest& request, const UserFunction& user,
                           const Signature& s) {
  for (size_t i = 0; i < s.core.size(); i++) {
    const Axis& axis = s.axes[static_cast<size_t>(s.core[i])];
    if (axis.separable && separable_size(user.trace) != static_cast<int>(i))
      return refuse(request, axis.name, "a star, which lets threads cut the function there",
                    "stars where each output depends on its own place alone");
  }
  return {};
}

}  // namespace

Expected<Signature> user_signature(const UserOpRequest& request, const UserFunction& user,
                                   bool proved) {
  std::string text = with_element_types(request.signature, user.elements);
  if (text.empty()) {
    Expected<std::string> inferred = infer_signature(user.trace, lift::is_map(user.signature));
    if (!inferred) return inferred.error();
    text = *inferred;
  }
  auto parse = [&](const std::string& line) -> Expected<Signature> {
    Expected<Signature> parsed = parse_signature(line);
    if (!parsed) return refuse(request, "signature", parsed.error().got, "", parsed.error().hint);
    return parsed;
  };
  Expected<Signature> s = parse(text);
  if (!s) return s;
  NRD_TRY(check_operands(request, user, *s, proved));
  s = parse(with_attributes(*s));
  if (!s) return s;
  if (proved) NRD_TRY(check_shapes(request, user, *s));
  if (proved) NRD_TRY(check_stars(request, user, *s));
  return parse(with_contents(*s, contents_needed(user, *s, proved)));
}

}  // namespace nrd
