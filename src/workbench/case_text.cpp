// SPDX-License-Identifier: MIT
// src/workbench/case_text.cpp: the command line's language for shapes and options.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <set>

#include "base/device.h"
#include "workbench/case.h"

namespace nrd {
namespace {

constexpr size_t kMaxCombinations = 10000;
constexpr int64_t kMostPad = 1 << 20;

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

// One KEY=VALUE; three keys are no attributes of operators.
Expected<void> apply_option(CaseSpec& spec, const std::string& key, const std::string& value) {
  if (key == "b") {
    if (value != "kn" && value != "nk")
      return bad("option b", value, "nk (K-contiguous, the default) or kn");
    spec.b_kn = value == "kn";
  } else if (key == "pad") {
    Expected<int64_t> pad = parse_size(value);
    if (!pad || *pad > kMostPad) return bad("option pad", value, "0 to 1048576 elements");
    spec.pad = *pad;
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

namespace {

// 64 or 64..512
Expected<SizeRange> parse_range(std::string_view text) {
  const size_t dots = text.find("..");
  Expected<int64_t> low = parse_size(text.substr(0, dots));
  if (!low) return low.error();
  if (dots == std::string_view::npos) return SizeRange{*low, *low};
  Expected<int64_t> high = parse_size(text.substr(dots + 2));
  if (!high) return high.error();
  if (*low > *high) return bad("range", text, "first..last with first <= last");
  return SizeRange{*low, *high};
}

void add_word(std::string& command, std::string_view flag, const std::string& value) {
  const bool plain = value.find_first_of(";>'+ ") == value.npos;
  command += plain ? fmt::format(" {} {}", flag, value) : fmt::format(" {} '{}'", flag, value);
}

std::string options_given(const CaseSpec& spec) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : spec.request.attributes) {
    const double* number = std::get_if<double>(&value);
    parts.push_back(number ? fmt::format("{}={}", name, *number)
                           : name + "=" + std::get<std::string>(value));
  }
  for (const std::string& operand : spec.request.optional) parts.push_back("+" + operand);
  if (spec.b_kn) parts.emplace_back("b=kn");
  if (spec.pad > 0) parts.push_back(fmt::format("pad={}", spec.pad));
  if (spec.request.batch_invariant) parts.emplace_back("batch_invariant=yes");
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

Expected<SizeRanges> parse_ranges(std::string_view text) {
  SizeRanges ranges;
  std::string key;
  for (const std::string& clause : split(text, ';')) {
    for (const std::string& part : split(clause, ',')) {
      if (part.empty()) continue;
      const size_t equals = part.find('=');
      if (equals != std::string::npos) {
        key = part.substr(0, equals);
        if (ranges.contains(key)) return bad("shape", text, "each key once");
      }
      if (key.empty()) return bad("shape", text, "KEY=FIRST..LAST", "for example m=1..64;n=4096");
      Expected<SizeRange> range =
          parse_range(std::string_view(part).substr(equals == std::string::npos ? 0 : equals + 1));
      if (!range) return range.error();
      ranges[key].push_back(*range);
    }
  }
  return ranges;
}

std::string bench_command(const CaseSpec& spec, const std::vector<std::string>& backends) {
  std::string command = "nereid bench " + spec.op, shape;
  for (const auto& [key, size] : spec.request.sizes)
    shape += fmt::format("{}{}={}", shape.empty() ? "" : ";", key, size);
  add_word(command, "--shape", shape);
  add_word(command, "--dtype", spec.request.dtypes);
  if (const std::string options = options_given(spec); !options.empty())
    add_word(command, "--opt", options);
  if (spec.device.kind != DeviceKind::kCpu) {
    add_word(command, "--device", to_string(spec.device));
    add_word(command, "--regime", std::string(word(spec.regime)));
  }
  add_word(command, "--cache", std::string(word(spec.cache)));
  if (spec.distribution != Distribution::kNormal)
    add_word(command, "--data", std::string(word(spec.distribution)));
  add_word(command, "--threads", std::to_string(spec.threads));
  add_word(command, "--seed", std::to_string(spec.seed));
  add_word(command, "--backend", fmt::format("{}", fmt::join(backends, ",")));
  return command;
}

}  // namespace nrd
