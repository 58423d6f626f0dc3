// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/signature.cpp: two small parsers.
#include "signature.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace judge {
namespace {

std::string trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

// Splits at a character outside of brackets.
std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : text) {
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c == at && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trim(part);
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

struct TypeRow {
  std::string_view words;
  CParam::Kind kind;
  nereid_dtype element;
  bool is_signed;
  int bytes;
};
constexpr nereid_dtype kNone{};
constexpr TypeRow kTypes[] = {
    {"void", CParam::kVoid, kNone, true, 1},
    {"float", CParam::kFloat, NEREID_F32, true, 4},
    {"double", CParam::kDouble, NEREID_F64, true, 8},
    {"int", CParam::kInteger, NEREID_I32, true, 4},
    {"int32_t", CParam::kInteger, NEREID_I32, true, 4},
    {"unsigned", CParam::kInteger, kNone, false, 4},
    {"uint32_t", CParam::kInteger, kNone, false, 4},
    {"long", CParam::kInteger, kNone, true, 8},
    {"int64_t", CParam::kInteger, kNone, true, 8},
    {"ptrdiff_t", CParam::kInteger, kNone, true, 8},
    {"size_t", CParam::kInteger, kNone, false, 8},
    {"uint64_t", CParam::kInteger, kNone, false, 8},
    {"int8_t", CParam::kInteger, NEREID_I8, true, 1},
    {"uint8_t", CParam::kInteger, NEREID_U8, false, 1},
    {"char", CParam::kInteger, kNone, true, 1},
    {"bool", CParam::kInteger, kNone, false, 1},
    {"int16_t", CParam::kInteger, kNone, true, 2},
    {"uint16_t", CParam::kInteger, kNone, false, 2},
};

CParam parse_parameter(std::string_view text) {
  CParam param;
  std::string words, word;
  bool pointer = false;
  auto take = [&] {
    if (word.empty()) return;
    const TypeRow* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                      [&](const TypeRow& r) { return r.words == word; });
    if (word == "const") {
      param.is_const = true;
    } else if (row != std::end(kTypes)) {
      param.kind = row->kind;
      param.element = row->element;
      param.is_signed = row->is_signed;
      param.bytes = row->bytes;
    } else if (word != "restrict" && word != "__restrict") {
      param.name = word;
    }
    word.clear();
  };
  for (char c : text) {
    if (is_word(c)) {
      word += c;
      continue;
    }
    take();
    pointer |= c == '*';
  }
  take();
  if (pointer) param.kind = CParam::kPointer;
  return param;
}

// expression = product {("+" | "-") product}, product = atom {("*" | "/") atom}: `/` rounds up,
// which is what it means in a signature, unless floor( ) stands around it.
class Evaluator {
 public:
  Evaluator(std::string_view text, const Values& values) : text_(text), values_(values) {}

  int64_t whole() {
    const int64_t value = sum(false);
    if (at_ != text_.size()) throw std::runtime_error("axis expression: " + std::string(text_));
    return value;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    at_++;
    return true;
  }

  int64_t sum(bool down) {
    int64_t value = product(down);
    for (;;) {
      if (take('+'))
        value += product(down);
      else if (take('-'))
        value -= product(down);
      else
        return value;
    }
  }

  static int64_t divide(int64_t a, int64_t b, bool down) {
    if (b == 0) return -1;
    int64_t q = a / b;
    if (a % b != 0 && ((a < 0) == (b < 0)) && !down) q++;
    if (a % b != 0 && ((a < 0) != (b < 0)) && down) q--;
    return q;
  }

  int64_t product(bool down) {
    int64_t value = atom(down);
    for (;;) {
      if (take('*'))
        value *= atom(down);
      else if (take('/'))
        value = divide(value, atom(down), down);
      else if (take('%')) {
        const int64_t m = atom(down);
        value = m == 0 ? -1 : value % m;
      } else {
        return value;
      }
    }
  }

  int64_t atom(bool down) {
    if (take('-')) return -atom(down);
    if (take('(')) return closed(sum(down));
    std::string word;
    for (peek(); at_ < text_.size() && is_word(text_[at_]);) word += text_[at_++];
    if (word.empty()) throw std::runtime_error("axis expression: " + std::string(text_));
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return std::stoll(word);
    if (take('(')) return call(word);
    const auto found = values_.find(word);
    if (found == values_.end()) throw std::runtime_error("no axis " + word);
    return found->second;
  }

  int64_t call(const std::string& word) {
    if (word == "floor") return closed(sum(true));
    if (word == "ceil") return closed(sum(false));
    int64_t value = sum(false);
    while (take(',')) {
      const int64_t other = sum(false);
      value = word == "max" ? std::max(value, other) : std::min(value, other);
    }
    if (word != "max" && word != "min") throw std::runtime_error("no function " + word);
    return closed(value);
  }

  int64_t closed(int64_t value) {
    if (!take(')')) throw std::runtime_error("axis expression: " + std::string(text_));
    return value;
  }

  std::string_view text_;
  const Values& values_;
  size_t at_ = 0;
};

void add_names(std::string_view expression, std::vector<std::string>& names) {
  std::string word;
  auto take = [&](char next) {
    if (!word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])) && next != '(' &&
        std::find(names.begin(), names.end(), word) == names.end())
      names.push_back(word);
    word.clear();
  };
  for (char c : expression)
    if (is_word(c))
      word += c;
    else
      take(c);
  take('\0');
}

OperandSpec parse_operand(std::string_view text, bool output) {
  OperandSpec spec;
  spec.output = output;
  const size_t open = text.find('['), close = text.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos)
    throw std::runtime_error("operand: " + std::string(text));
  for (char c : text.substr(0, open))
    if (is_word(c)) spec.name += c;  // "&" says that it is read, too
  spec.axes = split(text.substr(open + 1, close - open - 1), ',');
  return spec;
}

}  // namespace

bool CFunction::is_map() const {
  return result.kind != CParam::kVoid &&
         std::all_of(params.begin(), params.end(),
                     [](const CParam& p) { return p.kind != CParam::kPointer; });
}

CFunction parse_listing_line(std::string_view line) {
  CFunction f;
  const size_t bar = line.find('|');
  f.name = trim(line.substr(0, bar));
  f.type = trim(line.substr(bar + 1));
  const size_t open = f.type.find('('), close = f.type.rfind(')');
  f.result = parse_parameter(std::string_view(f.type).substr(0, open));
  for (const std::string& text :
       split(std::string_view(f.type).substr(open + 1, close - open - 1), ','))
    f.params.push_back(parse_parameter(text));
  return f;
}

OpSignature parse_op_signature(std::string_view text) {
  OpSignature s;
  const std::vector<std::string> clauses = split(text, ';');
  if (clauses.empty()) throw std::runtime_error("an empty signature");
  const size_t arrow = clauses[0].find("->");
  if (arrow == std::string::npos) throw std::runtime_error("no arrow in the signature");
  for (bool output : {false, true})
    for (const std::string& operand :
         split(output ? clauses[0].substr(arrow + 2) : clauses[0].substr(0, arrow), ' '))
      if (!operand.empty()) s.operands.push_back(parse_operand(operand, output));
  for (const OperandSpec& spec : s.operands)
    for (const std::string& axis : spec.axes) add_names(axis, s.axes);
  for (size_t i = 1; i < clauses.size(); i++) {
    std::istringstream words(clauses[i]);
    std::string verb, rest;
    words >> verb;
    std::getline(words, rest);
    if (verb == "core") {
      for (const std::string& name : split(rest, ',')) add_names(name, s.axes);
    } else if (verb == "int") {
      for (const std::string& item : split(rest, ','))
        s.ints.push_back(trim(item.substr(0, item.find('='))));
    } else if (verb == "even") {
      s.even = split(rest, ',');
    }
  }
  std::erase_if(s.axes, [&](const std::string& name) {
    return std::find(s.ints.begin(), s.ints.end(), name) != s.ints.end();
  });
  return s;
}

int64_t evaluate(std::string_view expression, const Values& values) {
  return Evaluator(expression, values).whole();
}

}  // namespace judge
