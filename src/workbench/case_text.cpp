// SPDX-License-Identifier: MIT
// src/workbench/case_text.cpp: the command line's language for shapes and options.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <set>

#include "workbench/case.h"

namespace nrd {
namespace {

constexpr size_t kMaxCombinations = 10000;

Error bad(std::string argument, std::string_view got, std::string allowed, std::string hint = "") {
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .argument = std::move(argument),
                     .got = fmt::format("'{}'", got),
                     .allowed = std::move(allowed),
                     .hint = std::move(hint)});
}

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find(by, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Expected<int64_t> parse_size(std::string_view text) {
  int64_t value = 0;
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec == std::errc::result_out_of_range)
    return bad("size", text, fmt::format("at most {}", std::numeric_limits<int64_t>::max()));
  if (ec != std::errc() || end != text.data() + text.size() || text.empty())
    return bad("size", text, "a whole number", "a shape reads m=1,16;n=1024..8192:*2;k=4096");
  if (value < 0) return bad("size", text, "0 or more");
  return value;
}

// 64, or 64..512:*2, or 64..512:+64
Expected<std::vector<int64_t>> parse_values(std::string_view text) {
  size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    Expected<int64_t> one = parse_size(text);
    if (!one) return one.error();
    return std::vector<int64_t>{*one};
  }
  size_t colon = text.find(':', dots);
  Expected<int64_t> first = parse_size(text.substr(0, dots));
  if (!first) return first.error();
  Expected<int64_t> last =
      parse_size(text.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2));
  if (!last) return last.error();
  std::string_view step = colon == std::string_view::npos ? "*2" : text.substr(colon + 1);
  if (step.size() < 2 || (step[0] != '*' && step[0] != '+'))
    return bad("range step", step, "*FACTOR or +STEP", "for example 64..512:*2 or 64..512:+64");
  Expected<int64_t> by = parse_size(step.substr(1));
  if (!by) return by.error();
  if (*first > *last || *by < (step[0] == '*' ? 2 : 1) || (step[0] == '*' && *first == 0))
    return bad("range", text, "first..last with first <= last and a step that grows");
  std::vector<int64_t> values;
  for (int64_t v = *first; v <= *last;) {
    values.push_back(v);
    if (values.size() > kMaxCombinations) return bad("range", text, "at most 10000 values");
    if (step[0] == '*' ? v > *last / *by : v > *last - *by) break;
    v = step[0] == '*' ? v * *by : v + *by;
  }
  return values;
}

struct KeyValues {
  std::string key;
  std::vector<int64_t> values;
};

Expected<std::vector<KeyValues>> parse_keys(std::string_view text) {
  std::vector<KeyValues> keys;
  for (const std::string& clause : split(text, ';')) {
    for (const std::string& part : split(clause, ',')) {
      if (part.empty()) continue;
      size_t equals = part.find('=');
      std::string_view values = part;
      if (equals != std::string::npos) {
        if (equals == 0) return bad("shape", part, "KEY=SIZE");
        keys.push_back({part.substr(0, equals), {}});
        values.remove_prefix(equals + 1);
      }
      if (keys.empty()) return bad("shape", text, "KEY=SIZE", "for example rows=128,cols=4096");
      Expected<std::vector<int64_t>> parsed = parse_values(values);
      if (!parsed) return parsed.error();
      keys.back().values.insert(keys.back().values.end(), parsed->begin(), parsed->end());
    }
  }
  for (size_t i = 0; i < keys.size(); i++)
    for (size_t j = 0; j < i; j++)
      if (keys[i].key == keys[j].key) return bad("shape", text, "each key once");
  return keys;
}

}  // namespace

Expected<std::vector<std::map<std::string, int64_t, std::less<>>>> parse_shapes(
    std::string_view text) {
  Expected<std::vector<KeyValues>> keys = parse_keys(text);
  if (!keys) return keys.error();
  std::vector<std::map<std::string, int64_t, std::less<>>> shapes(1);
  for (const KeyValues& key : *keys) {
    if (shapes.size() * key.values.size() > kMaxCombinations)
      return bad("shape", text, fmt::format("at most {} combinations", kMaxCombinations));
    std::vector<std::map<std::string, int64_t, std::less<>>> next;
    for (const auto& shape : shapes) {
      for (int64_t value : key.values) {
        next.push_back(shape);
        next.back()[key.key] = value;
      }
    }
    shapes = std::move(next);
  }
  return shapes;
}

namespace {

// One KEY=VALUE; two keys are no attributes of operators.
Expected<void> apply_option(CaseSpec& spec, const std::string& key, const std::string& value) {
  if (key == "b") {
    if (value != "kn" && value != "nk")
      return bad("option b", value, "nk (K-contiguous, the default) or kn");
    spec.b_kn = value == "kn";
  } else if (key == "batch_invariant") {
    if (value != "yes" && value != "no") return bad("option batch_invariant", value, "yes or no");
    spec.request.batch_invariant = value == "yes";
  } else {
    spec.request.attributes[key] = value;
  }
  return {};
}

}  // namespace

Expected<void> apply_options(CaseSpec& spec, std::string_view text) {
  std::set<std::string> given;
  for (const std::string& part : split(text, ',')) {
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    if (!given.insert(key).second) return bad("option", key, "each option once");
    if (part.starts_with('+')) {
      spec.request.optional.push_back(part.substr(1));
      continue;
    }
    if (equals == std::string::npos || equals == 0)
      return bad("option", part, "KEY=VALUE, or +OPERAND for an optional operand");
    NRD_TRY(apply_option(spec, key, part.substr(equals + 1)));
  }
  return {};
}

}  // namespace nrd
