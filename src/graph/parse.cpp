// SPDX-License-Identifier: MIT
// src/graph/parse.cpp: reads a composite's text (the grammar is in graph.h).
#include "graph/parse.h"

#include <fmt/format.h>

#include <cctype>
#include <sstream>

namespace nrd {
namespace {

Error bad(const Desc& desc, const std::string& line, std::string why) {
  return make_error({.code = ErrorCode::kInternal,
                     .op = desc.op->name,
                     .argument = "graph",
                     .got = "'" + line + "'",
                     .hint = std::move(why)});
}

bool is_view(std::string_view name) {
  return name == "transpose" || name == "split" || name == "merge" || name == "spread" ||
         name == "rows";
}

// A cursor over one line.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool peek(char c) {
    skip();
    return !rest_.empty() && rest_.front() == c;
  }
  // Letters, digits, and what numbers and attribute words are made of.
  std::string word() {
    skip();
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) ||
                                std::string_view("_.$-+").find(rest_[n]) != std::string_view::npos))
      n++;
    std::string taken(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return taken;
  }
  bool done() {
    skip();
    return rest_.empty();
  }

 private:
  void skip() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

bool operand_present(const Desc& desc, std::string_view name) {
  int index = desc.signature().find_operand(name);
  return index >= 0 && desc.operands[static_cast<size_t>(index)].present;
}

bool guard_holds(const Desc& desc, const std::string& guard) {
  if (size_t at = guard.find("!="); at != guard.npos)
    return desc.choice(guard.substr(0, at)) != guard.substr(at + 2);
  if (size_t at = guard.find('='); at != guard.npos)
    return desc.choice(guard.substr(0, at)) == guard.substr(at + 1);
  if (guard.starts_with('!')) return !operand_present(desc, guard.substr(1));
  return operand_present(desc, guard);
}

// Takes the guards off the line; false when one does not hold.
bool resolve_guards(const Desc& desc, std::string& line) {
  bool all = true;
  while (true) {
    size_t first = line.find_first_not_of(' ');
    if (first == line.npos || line[first] != '[') break;
    size_t close = line.find(']', first);
    if (close == line.npos) break;
    all = all && guard_holds(desc, line.substr(first + 1, close - first - 1));
    line.erase(0, close + 1);
  }
  return all;
}

void fill_choices(const Desc& desc, std::string& line) {
  for (size_t i = 0; i < desc.op->choices.size(); i++) {
    const std::string mark = "{" + desc.op->choices[i].name + "}";
    for (size_t at; (at = line.find(mark)) != line.npos;)
      line.replace(at, mark.size(), desc.choices[i]);
  }
}

bool parse_expression(Scanner& scanner, std::string name, Expression& out) {
  if (!scanner.peek('(')) {
    out.name = std::move(name);
    return !out.name.empty();
  }
  if (!is_view(name)) return false;
  out.view = std::move(name);
  scanner.take('(');
  do {
    Expression argument;
    if (!parse_expression(scanner, scanner.word(), argument)) return false;
    out.arguments.push_back(std::move(argument));
  } while (scanner.take(','));
  return scanner.take(')');
}

bool parse_argument(Scanner& scanner, Argument& out) {
  std::string first = scanner.word();
  if (scanner.take('=')) {
    out.key = std::move(first);
    first = scanner.word();
    out.word = first;
  }
  out.is_value = parse_expression(scanner, first, out.value);
  return out.is_value;
}

bool parse_right_side(Scanner& scanner, Statement& out) {
  std::string name = scanner.word();
  if (is_view(name) || !scanner.peek('(')) {
    Argument argument;
    argument.is_value = parse_expression(scanner, name, argument.value);
    out.arguments.push_back(argument);
    return argument.is_value && scanner.done();
  }
  out.op = std::move(name);
  scanner.take('(');
  do {
    Argument argument;
    if (!parse_argument(scanner, argument)) return false;
    out.arguments.push_back(std::move(argument));
  } while (scanner.take(','));
  return scanner.take(')') && scanner.done();
}

bool parse_line(const std::string& line, Statement& out) {
  size_t equals = line.find('=');
  if (equals == line.npos) return false;
  Scanner left(std::string_view(line).substr(0, equals));
  do {
    Target target{.name = left.word(), .stored_like = ""};
    if (left.take(':')) target.stored_like = left.word();
    if (target.name.empty()) return false;
    out.targets.push_back(std::move(target));
  } while (left.take(','));
  Scanner right(std::string_view(line).substr(equals + 1));
  return left.done() && parse_right_side(right, out);
}

}  // namespace

Expected<std::vector<Statement>> parse_statements(const Desc& composite) {
  std::vector<Statement> statements;
  std::istringstream text(composite.bound().graph);
  for (std::string line; std::getline(text, line);) {
    if (line.find_first_not_of(' ') == line.npos) continue;
    if (!resolve_guards(composite, line)) continue;
    fill_choices(composite, line);
    Statement statement{.line = line, .targets = {}, .op = "", .arguments = {}};
    if (!parse_line(line, statement)) return bad(composite, line, "is no statement");
    statements.push_back(std::move(statement));
  }
  if (statements.empty()) return bad(composite, "", "has no statement");
  return statements;
}

}  // namespace nrd
