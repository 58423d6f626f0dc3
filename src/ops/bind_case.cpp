// SPDX-License-Identifier: MIT
// src/ops/bind_case.cpp: from sizes and dtype words, as the command line gives them, to a Desc.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "base/suggest.h"
#include "ops/desc.h"

namespace nrd {
namespace {

struct DTypeList {
  std::vector<DType> words;
  bool per_operand = false;  // "bf16,f32->bf16" and not one word for all floating operands
};

Expected<DTypeList> parse_dtypes(std::string text) {
  DTypeList list;
  list.per_operand = text.find(',') != text.npos || text.find("->") != text.npos;
  if (size_t arrow = text.find("->"); arrow != text.npos) text.replace(arrow, 2, ",");
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find(',', begin), text.size());
    Expected<DType> dtype = parse_dtype(text.substr(begin, end - begin));
    if (!dtype) return dtype.error();
    list.words.push_back(*dtype);
    begin = end + 1;
  }
  return list;
}

DType first_allowed(DTypeClass c) {
  for (const DTypeInfo& d : all_dtypes())
    if (allows(c, d.dtype)) return d.dtype;
  return DType::kF32;
}

bool is_given(const CaseRequest& request, const OperandSpec& spec) {
  return !spec.optional || std::find(request.optional.begin(), request.optional.end(), spec.name) !=
                               request.optional.end();
}

std::string key_list(const Signature& s) {
  std::string keys;
  for (const Axis& axis : s.axes)
    if (axis.is_key()) keys += (keys.empty() ? "" : ",") + axis.name;
  return keys;
}

// Of an attribute that shapes may depend on; bind refuses what is no integer.
int64_t given_integer(const CaseRequest& request, const Axis& axis) {
  const auto found = request.attributes.find(axis.name);
  if (found == request.attributes.end()) return axis.preset;
  if (const double* number = std::get_if<double>(&found->second))
    return static_cast<int64_t>(*number);
  const std::string& word = std::get<std::string>(found->second);
  int64_t value = axis.preset;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

Expected<std::vector<int64_t>> axis_sizes(const Op& op, const Signature& s,
                                          const CaseRequest& request) {
  std::vector<std::string_view> names;
  for (const Axis& axis : s.axes) names.push_back(axis.name);
  for (const auto& [key, size] : request.sizes) {
    int axis = s.find_axis(key);
    if (axis < 0 || !s.axes[static_cast<size_t>(axis)].is_key())
      return make_error({.code = ErrorCode::kUnknownName,
                         .op = op.name,
                         .argument = "shape key '" + key + "'",
                         .allowed = key_list(s),
                         .hint = did_you_mean(key, names)});
    if (size < 0)
      return make_error({.code = ErrorCode::kInvalidArgument,
                         .op = op.name,
                         .argument = key,
                         .got = fmt::format("{}", size),
                         .allowed = "0 or more"});
  }
  std::vector<int64_t> sizes;
  for (const Axis& axis : s.axes) {
    auto found = request.sizes.find(axis.name);
    if (found != request.sizes.end())
      sizes.push_back(found->second);
    else if (axis.attribute)
      sizes.push_back(given_integer(request, axis));
    else if (!axis.is_key())
      sizes.push_back(axis.fixed);
    else
      return make_error({.code = ErrorCode::kInvalidArgument,
                         .op = op.name,
                         .argument = "shape key '" + axis.name + "'",
                         .got = "nothing",
                         .allowed = "a size",
                         .hint = fmt::format("for example --shape '{}'", op.shape)});
  }
  for (size_t i = 0; i < sizes.size(); i++) {
    if (s.axes[i].numerator < 0) continue;
    int64_t d = sizes[static_cast<size_t>(s.axes[i].denominator)];
    sizes[i] = d > 0 ? sizes[static_cast<size_t>(s.axes[i].numerator)] / d : 0;
  }
  NRD_TRY(fill_formulas(s, sizes));
  return sizes;
}

class OperandMaker {
 public:
  OperandMaker(const Op& op, const Signature& s, const CaseRequest& request,
               const DTypeList& dtypes)
      : op_(op), s_(s), request_(request), dtypes_(dtypes) {}

  Expected<std::vector<NamedOperand>> make() {
    Expected<std::vector<int64_t>> sizes = axis_sizes(op_, s_, request_);
    if (!sizes) return sizes.error();
    std::vector<NamedOperand> operands;
    for (const OperandSpec& spec : s_.operands) {
      if (!is_given(request_, spec)) continue;
      NamedOperand operand{.name = spec.name, .desc = {}};
      for (const AxisRef& ref : spec.axes) operand.desc.sizes.push_back(size_of(ref, *sizes));
      Expected<DType> dtype = next_dtype(spec);
      if (!dtype) return dtype.error();
      operand.desc.dtype = *dtype;
      operand.desc.strides = contiguous_strides(operand.desc.sizes);
      operands.push_back(std::move(operand));
    }
    if (dtypes_.per_operand && used_ != dtypes_.words.size()) return count_error(operands.size());
    return operands;
  }

 private:
  Error count_error(size_t wanted) const {
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = op_.name,
                       .argument = "dtype",
                       .got = fmt::format("{} words", dtypes_.words.size()),
                       .allowed = fmt::format("one, or {} (one an operand)", wanted),
                       .hint = "the signature is " + s_.text});
  }

  // One word serves every operand that is free to take it; the others have their own dtype.
  Expected<DType> next_dtype(const OperandSpec& spec) {
    if (dtypes_.per_operand) {
      if (used_ == dtypes_.words.size()) return count_error(used_ + 1);
      return dtypes_.words[used_++];
    }
    DType one = dtypes_.words.front();
    if (allows(spec.dtypes, one)) return one;
    if (spec.dtypes == DTypeClass::kFloat || spec.dtypes == DTypeClass::kFloatOrF64)
      return make_error({.code = ErrorCode::kUnsupportedDtype,
                         .op = op_.name,
                         .argument = spec.name,
                         .got = std::string(word(one)),
                         .allowed = allowed_words(spec.dtypes)});
    return first_allowed(spec.dtypes);
  }

  const Op& op_;
  const Signature& s_;
  const CaseRequest& request_;
  const DTypeList& dtypes_;
  size_t used_ = 0;
};

// Optional operands that are asked for are those of some variant.
Expected<void> check_optional(const Op& op, const CaseRequest& request) {
  for (const std::string& name : request.optional) {
    bool known = false;
    std::string allowed;
    for (const Signature& s : signatures(op)) {
      known = known || s.find_operand(name) >= 0;
      for (const OperandSpec& spec : s.operands)
        if (spec.optional && allowed.find("+" + spec.name) == allowed.npos)
          allowed += (allowed.empty() ? "+" : ", +") + spec.name;
    }
    if (known) continue;
    return make_error({.code = ErrorCode::kUnknownName,
                       .op = op.name,
                       .argument = "operand '+" + name + "'",
                       .got = "a name that it does not have",
                       .allowed = allowed.empty() ? "no optional operand" : allowed});
  }
  return {};
}

}  // namespace

CaseRequest example_request(const Op& op) {
  CaseRequest request;
  std::istringstream parts(op.shape);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equals = part.find('=');
    request.sizes[part.substr(0, equals)] = std::stoll(part.substr(equals + 1));
  }
  return request;
}

// Which variant is meant can depend on the dtypes, and the operands depend on the variant: try
// them in order and take the first that binds to itself. The first variant's complaint is the
// one reported, unless a later one fits.
Expected<Desc> bind_case(const Op& op, const CaseRequest& request) {
  Expected<DTypeList> dtypes = parse_dtypes(request.dtypes);
  if (!dtypes) return dtypes.error();
  NRD_TRY(check_optional(op, request));
  std::optional<Error> complaint;
  for (size_t v = 0; v < op.variants.size(); v++) {
    OperandMaker maker(op, signatures(op)[v], request, *dtypes);
    Expected<std::vector<NamedOperand>> operands = maker.make();
    if (!operands) {
      if (!complaint || v + 1 == op.variants.size()) complaint = operands.error();
      continue;
    }
    Expected<Desc> desc = bind(op, request.attributes, *operands);
    if (desc) desc->batch_invariant = request.batch_invariant;
    if (desc && desc->variant == static_cast<int>(v)) return desc;
    if (!desc) complaint = desc.error();
  }
  if (complaint) return *complaint;
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = op.name,
                     .argument = "case",
                     .got = request.dtypes,
                     .hint = "no variant takes these dtypes and options"});
}

}  // namespace nrd
