// SPDX-License-Identifier: MIT
// src/api/generate_wrappers.cpp: writes nereid/ops.h, one function an operator, from the catalogue,
// and nereid/choices.h.
//
// Operands that every variant has are parameters, in the order of the signature; the others are
// fields of the options, beside the attributes. Runs on the build host (or in an emulator).
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "api/generate_choices.h"
#include "ops/op.h"

namespace nrd {
namespace {

constexpr std::string_view kHead = R"(// SPDX-License-Identifier: MIT
// nereid/ops.h: one function an operator. Generated from the catalogue; do not edit.
//
// Each comment gives the formula and the shapes: inputs -> outputs. Operands are f32, f16 or bf16
// unless they say :class (fp8: f8e4m3 f8e5m2; int8: i8 u8; number: all but f64; a word: itself),
// with any strides, aligned to their element size, all on one device. Further leading axes in front
// of the named ones are outer loops and broadcast. Outputs must not overlap anything, but where "in
// place" is said may be exactly an input. Arithmetic is f32, rounded once at the store; the same
// call gives the same bits for any number of threads. Errors: ShapeMismatchError,
// UnsupportedDtypeError and KernelError, each with operator, argument, what came and what is
// allowed. Thread safe.
#pragma once

#include "nereid/call.h"
#include "nereid/choices.h"

namespace nereid {
)";

constexpr std::string_view kTail = R"(
}  // namespace nereid
)";

struct Parameter {
  std::string name;
  bool required = true;
  bool output = false;
};

// The operands of all variants, in the order of first appearance.
std::vector<Parameter> parameters(const Op& op) {
  std::vector<Parameter> list;
  auto find = [&](const std::string& name) {
    for (Parameter& p : list)
      if (p.name == name) return &p;
    return static_cast<Parameter*>(nullptr);
  };
  for (const Signature& s : signatures(op))
    for (const OperandSpec& spec : s.operands)
      if (!find(spec.name)) list.push_back({spec.name, true, spec.output});
  for (Parameter& p : list)
    for (const Signature& s : signatures(op)) {
      const int at = s.find_operand(p.name);
      if (at < 0 || s.operands[static_cast<size_t>(at)].optional) p.required = false;
    }
  return list;
}

std::string join(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

// The shapes of the variants, without what only the engine needs to know.
void add_shapes(const Op& op, std::string& text) {
  constexpr size_t kMost = 4;
  std::vector<std::string> shapes;
  std::set<std::string> seen;
  for (const Variant& variant : op.variants) {
    std::string shape = variant.signature.substr(0, variant.signature.find(" ;"));
    if (seen.insert(shape).second) shapes.push_back(std::move(shape));
  }
  for (size_t i = 0; i < shapes.size() && i < kMost; i++) text += "//   " + shapes[i] + "\n";
  if (shapes.size() > kMost)
    text += fmt::format("//   and {} more, see operators() in registry.h\n", shapes.size() - kMost);
}

std::string comment(const Op& op) {
  std::string text = fmt::format("\n// {}\n", op.summary);
  add_shapes(op, text);
  if (op.in_place == InPlace::kYes) text += "// In place.\n";
  if (!op.constant.empty())
    text +=
        fmt::format("// Prepare a plan with {} constant (call.h), or see packed.h.\n", op.constant);
  return text;
}

bool has_options(const Op& op, const std::vector<Parameter>& list) {
  for (const Parameter& p : list)
    if (!p.required) return true;
  return !op.numbers.empty() || !op.choices.empty();
}

std::string options_struct(const Op& op, const std::vector<Parameter>& list) {
  std::string text = fmt::format("struct {}Options {{\n", pascal_case(op.name));
  for (const NumberAttribute& n : op.numbers)
    text +=
        fmt::format("  double {} = {};  // {}{}\n", n.name, n.value, n.meaning,
                    n.range == NumberRange::kAny ? "" : fmt::format("; {}", range_text(n.range)));
  for (const ChoiceAttribute& c : op.choices)
    text += fmt::format("  // {}\n  // {}\n  Choice<{}> {} = {};\n", c.meaning,
                        join(c.values, " | "), choice_type(op, c), c.name, choice_value(op, c, 0));
  for (const Parameter& p : list)
    if (!p.required)
      text += fmt::format("  TensorView {} = {{}};  // {}\n", p.name,
                          p.output ? "an output that may be asked for" : "optional");
  return text +
         "  const char* backend = nullptr;  // as in CallOptions\n"
         "  int threads = 0;\n"
         "  const Context* context = nullptr;\n"
         "  void* stream = nullptr;\n"
         "};\n";
}

// Words with blanks between, broken before column 100.
std::string wrap(std::string line, const std::vector<std::string>& words, std::string_view indent) {
  constexpr size_t kColumns = 98;
  std::string text;
  for (const std::string& word : words) {
    if (line.size() + word.size() > kColumns) {
      while (line.ends_with(' ')) line.pop_back();
      text += line + "\n";
      line = indent;
    }
    line += word;
  }
  return text + line;
}

// "x", "out"
std::vector<std::string> quoted(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < names.size(); i++)
    parts.push_back(fmt::format("\"{}\"{}", names[i], i + 1 < names.size() ? ", " : ""));
  return parts;
}

// A list in braces and what follows it, broken before column 100.
std::string braces(std::string head, std::vector<std::string> parts, std::string_view tail) {
  parts.back() += tail;
  return wrap(std::move(head), parts, "      ") + "\n";
}

std::string body(const Op& op, const std::vector<Parameter>& list, bool own_options) {
  std::vector<std::string> names, attributes, views, values;
  for (const Parameter& p : list) {
    names.push_back(p.name);
    views.push_back(fmt::format("&{}{}{}", p.required ? "" : "options.", p.name,
                                names.size() < list.size() ? ", " : ""));
  }
  for (const NumberAttribute& n : op.numbers) attributes.push_back(n.name);
  for (const ChoiceAttribute& c : op.choices) attributes.push_back(c.name);
  for (const std::string& name : attributes)
    values.push_back(fmt::format("detail::value(options.{}){}", name,
                                 values.size() + 1 < attributes.size() ? ", " : ""));
  std::string text = braces(fmt::format("  static const detail::Names names(\"{}\", {{", op.name),
                            quoted(names), attributes.empty() ? "});" : "},");
  if (!attributes.empty()) text += braces("      {", quoted(attributes), "});");
  const char* how = own_options
                        ? "{options.backend, options.threads, options.context, options.stream}"
                        : "options";
  if (attributes.empty())
    return text + braces(fmt::format("  detail::run(names, {}, {{", how), views, "});");
  text += braces("  const nereid_attribute values[] = {", values, "};");
  return text + braces(fmt::format("  detail::run(names, {}, {{", how), views, "}, values);");
}

std::string wrapper(const Op& op) {
  const std::vector<Parameter> list = parameters(op);
  const bool own_options = has_options(op, list);
  std::vector<std::string> arguments;
  for (const Parameter& p : list)
    if (p.required) arguments.push_back(fmt::format("const TensorView& {}, ", p.name));
  arguments.push_back(fmt::format("const {}Options& options = {{}}) {{\n",
                                  own_options ? pascal_case(op.name) : "Call"));
  const std::string head = fmt::format("inline void {}(", op.name);
  std::string text = own_options ? comment(op) + options_struct(op, list) : comment(op);
  text += wrap(head, arguments, std::string(head.size(), ' '));
  return text + body(op, list, own_options) + "}\n";
}

}  // namespace
}  // namespace nrd

namespace {

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (file.flush()) return true;
  std::fprintf(stderr, "nereid_generate_wrappers: cannot write %s\n", path.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: nereid_generate_wrappers OPS.h CHOICES.h\n");
    return 2;
  }
  std::string text(nrd::kHead);
  for (const nrd::Op& op : nrd::catalogue()) text += nrd::wrapper(op);
  text += nrd::kTail;
  return write(argv[1], text) && write(argv[2], nrd::choices_header()) ? 0 : 1;
}
