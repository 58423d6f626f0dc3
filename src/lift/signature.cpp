// SPDX-License-Identifier: MIT
// src/lift/signature.cpp: reads and writes a C function's signature.
//
//   signature = type "(" [parameter {"," parameter}] ")"
//   parameter = {qualifier} word {word | qualifier} ["*" {qualifier}] [name]
//             | {qualifier} "struct" [tag] "{" parameter {";" parameter} [";"] "}" "*" [name]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include "lift/lift.h"

namespace nrd::lift {
namespace {

// A type by its words; long and long long are the same on both machines.
struct TypeRow {
  std::string_view words;
  std::optional<CKind> number;   // as a parameter
  std::optional<DType> element;  // behind a pointer
};
constexpr TypeRow kTypes[] = {
    {"float", CKind::kFloat, DType::kF32},
    {"double", CKind::kDouble, DType::kF64},
    {"int", CKind::kInt32, DType::kI32},
    {"signed", CKind::kInt32, DType::kI32},
    {"signed int", CKind::kInt32, DType::kI32},
    {"int32_t", CKind::kInt32, DType::kI32},
    {"unsigned", CKind::kUInt32, {}},
    {"unsigned int", CKind::kUInt32, {}},
    {"uint32_t", CKind::kUInt32, {}},
    {"long", CKind::kInt64, {}},
    {"long int", CKind::kInt64, {}},
    {"long long", CKind::kInt64, {}},
    {"long long int", CKind::kInt64, {}},
    {"int64_t", CKind::kInt64, {}},
    {"ssize_t", CKind::kInt64, {}},
    {"ptrdiff_t", CKind::kInt64, {}},
    {"intptr_t", CKind::kInt64, {}},
    {"unsigned long", CKind::kUInt64, {}},
    {"unsigned long int", CKind::kUInt64, {}},
    {"unsigned long long", CKind::kUInt64, {}},
    {"unsigned long long int", CKind::kUInt64, {}},
    {"uint64_t", CKind::kUInt64, {}},
    {"size_t", CKind::kUInt64, {}},
    {"uintptr_t", CKind::kUInt64, {}},
    {"int8_t", {}, DType::kI8},
    {"signed char", {}, DType::kI8},
    {"uint8_t", {}, DType::kU8},
    {"unsigned char", {}, DType::kU8},
};

// Words of types, ours or not: who writes "long double" names no parameter "double".
constexpr std::string_view kTypeWords[] = {
    "bool",  "_Bool",  "char",   "short", "int",   "long",     "void",   "signed",  "unsigned",
    "float", "double", "struct", "enum",  "union", "_Float16", "__bf16", "volatile"};

const TypeRow* find_type(std::string_view words) {
  for (const TypeRow& row : kTypes)
    if (row.words == words) return &row;
  return nullptr;
}

// Whether `words` are the first words of a type.
bool starts_type(std::string_view words) {
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& row) {
    if (!row.words.starts_with(words)) return false;
    return row.words.size() == words.size() || row.words[words.size()] == ' ';
  });
}

bool is_qualifier(std::string_view word) {
  static constexpr std::array<std::string_view, 4> kWords{"const", "restrict", "__restrict",
                                                          "__restrict__"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  Expected<CSignature> parse();

 private:
  // The current token: a word, one other character, or empty at the end.
  void advance();
  bool take(std::string_view token);
  Expected<void> expect(std::string_view token);
  Error error(std::string what) const;

  void take_qualifiers(CParam& param);
  Expected<void> take_list(char separator, std::string_view end, std::vector<CParam>& list);
  Expected<CParam> take_parameter();
  Expected<CParam> take_struct(CParam param);
  Expected<std::string> take_type_words(CParam& param);
  Expected<void> take_name(CParam& param);
  Expected<void> check_names(const std::vector<CParam>& params);

  std::string_view text_, token_;
  size_t at_ = 0;     // of the token
  size_t after_ = 0;  // behind it
  bool in_struct_ = false;
  std::set<std::string> names_;
};

void Parser::advance() {
  at_ = after_;
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) at_++;
  after_ = at_;
  while (after_ < text_.size() && is_word(text_[after_])) after_++;
  if (after_ == at_ && at_ < text_.size()) after_++;
  token_ = text_.substr(at_, after_ - at_);
}

bool Parser::take(std::string_view token) {
  if (token_ != token) return false;
  advance();
  return true;
}

Error Parser::error(std::string what) const {
  const std::string found = token_.empty() ? "the end" : fmt::format("'{}'", token_);
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .argument = "signature",
                     .got = fmt::format("'{}'", text_),
                     .hint = fmt::format("at column {}, {}: {}", at_ + 1, found, what)});
}

Expected<void> Parser::expect(std::string_view token) {
  if (take(token)) return {};
  return error(fmt::format("expected '{}'", token));
}

void Parser::take_qualifiers(CParam& param) {
  for (; is_qualifier(token_); advance()) param.is_const |= token_ == "const";
}

// "unsigned long" and the like, qualifiers in between.
Expected<std::string> Parser::take_type_words(CParam& param) {
  take_qualifiers(param);
  std::string words;
  while (!token_.empty() && is_word(token_[0])) {
    const std::string longer =
        words.empty() ? std::string(token_) : fmt::format("{} {}", words, token_);
    if (!words.empty() && !starts_type(longer)) break;
    words = longer;
    advance();
    take_qualifiers(param);
  }
  if (words.empty()) return error("expected a type");
  return words;
}

Expected<void> Parser::take_name(CParam& param) {
  if (token_.empty() || !is_word(token_[0])) return {};
  if (std::find(std::begin(kTypeWords), std::end(kTypeWords), token_) != std::end(kTypeWords))
    return error("no type that an operator has; expected a name");
  param.name = token_;
  advance();
  return {};
}

Expected<CParam> Parser::take_parameter() {
  CParam param;
  take_qualifiers(param);
  if (token_ == "struct") return take_struct(std::move(param));
  const size_t start = at_;
  Expected<std::string> words = take_type_words(param);
  if (!words) return words.error();
  const auto fail = [&](std::string_view what) {
    token_ = *words;
    at_ = start;
    return error(std::string(what));
  };
  const TypeRow* row = find_type(*words);
  if (token_ != "*") {
    if (!row || !row->number)
      return fail("as a parameter: float, double, int32_t, uint32_t, int64_t or size_t");
    param.kind = *row->number;
    param.is_const = false;
  } else {
    if (!row || !row->element)
      return fail("behind a pointer: float, double, int32_t, int8_t, uint8_t or struct{...}");
    param.element = *row->element;
    advance();
    if (token_ == "*") return error("pointers to pointers are not supported");
    CParam pointer;  // float* const says nothing about the elements
    take_qualifiers(pointer);
  }
  NRD_TRY(take_name(param));
  return param;
}

uint32_t field_bytes(const CParam& field) {
  const bool half =
      field.kind == CKind::kFloat || field.kind == CKind::kInt32 || field.kind == CKind::kUInt32;
  return half ? 4 : 8;
}

Expected<CParam> Parser::take_struct(CParam param) {
  if (in_struct_) return error("a struct in a struct is not supported");
  in_struct_ = true;
  param.kind = CKind::kStruct;
  advance();
  if (token_ != "{") advance();  // a tag
  NRD_TRY(expect("{"));
  NRD_TRY(take_list(';', "}", param.fields));
  in_struct_ = false;
  if (param.fields.empty()) return error("a struct needs fields");
  uint32_t offset = 0;
  for (const CParam& field : param.fields) {
    const uint32_t size = field_bytes(field);
    offset = (offset + size - 1) / size * size;
    param.field_offset.push_back(offset);
    offset += size;
  }
  take_qualifiers(param);
  if (token_ != "*") return error("a struct is passed by pointer: expected '*'");
  advance();
  CParam pointer;
  take_qualifiers(pointer);
  NRD_TRY(take_name(param));
  return param;
}

Expected<void> Parser::take_list(char separator, std::string_view end, std::vector<CParam>& list) {
  while (!take(end)) {
    if (separator == ',' && !list.empty() && !take(",")) return error("expected ',' or ')'");
    Expected<CParam> param = take_parameter();
    if (!param) return param.error();
    list.push_back(std::move(*param));
    if (separator == ';' && token_ != end) NRD_TRY(expect(";"));
  }
  return {};
}

// Operands are given by name, those in structs like the others.
Expected<void> Parser::check_names(const std::vector<CParam>& params) {
  for (const CParam& param : params) {
    if (param.kind == CKind::kStruct)
      NRD_TRY(check_names(param.fields));
    else if (!param.name.empty() && !names_.insert(param.name).second)
      return error(fmt::format("two parameters are named '{}'", param.name));
  }
  return {};
}

Expected<CSignature> Parser::parse() {
  CSignature signature;
  if (!take("void")) {
    Expected<CParam> result = take_parameter();
    if (!result) return result.error();
    if (result->kind == CKind::kPointer || result->kind == CKind::kStruct)
      return error("a function returns void, float, double or an integer");
    signature.returns_void = false;
    signature.result = result->kind;
  }
  if (token_ != "(" && !token_.empty() && is_word(token_[0])) advance();  // the function's name
  NRD_TRY(expect("("));
  const Parser before = *this;
  if (!take("void") || !take(")")) {  // "(void)" lists nothing
    *this = before;
    NRD_TRY(take_list(',', ")", signature.params));
  }
  take(";");
  if (!token_.empty()) return error("expected the end");
  NRD_TRY(check_names(signature.params));
  return signature;
}

std::string_view number_word(CKind kind) {
  switch (kind) {
    case CKind::kFloat: return "float";
    case CKind::kDouble: return "double";
    case CKind::kInt32: return "int32_t";
    case CKind::kUInt32: return "uint32_t";
    case CKind::kInt64: return "int64_t";
    default: return "size_t";
  }
}

std::string_view element_word(DType dtype) {
  switch (dtype) {
    case DType::kF64: return "double";
    case DType::kI32: return "int32_t";
    case DType::kI8: return "int8_t";
    case DType::kU8: return "uint8_t";
    default: return "float";
  }
}

std::string param_text(const CParam& param) {
  const std::string name = param.name.empty() ? "" : " " + param.name;
  const std::string_view qualifier = param.is_const ? "const " : "";
  if (param.kind == CKind::kPointer)
    return fmt::format("{}{}*{}", qualifier, element_word(param.element), name);
  if (param.kind != CKind::kStruct) return fmt::format("{}{}", number_word(param.kind), name);
  std::string fields;
  for (const CParam& field : param.fields)
    fields += (fields.empty() ? "" : "; ") + param_text(field);
  return fmt::format("{}struct{{{}}}*{}", qualifier, fields, name);
}

}  // namespace

Expected<CSignature> parse_signature(std::string_view text) { return Parser(text).parse(); }

bool is_map(const CSignature& signature) {
  const auto is_number = [](const CParam& p) {
    return p.kind == CKind::kFloat || p.kind == CKind::kDouble;
  };
  return !signature.returns_void &&
         std::all_of(signature.params.begin(), signature.params.end(), is_number);
}

std::string signature_text(const CSignature& signature) {
  std::string params;
  for (const CParam& param : signature.params)
    params += (params.empty() ? "" : ", ") + param_text(param);
  return fmt::format("{}({})", signature.returns_void ? "void" : number_word(signature.result),
                     params);
}

}  // namespace nrd::lift
