// SPDX-License-Identifier: MIT
// src/trace/parse.cpp: the reader of the text form (text.h), one line after the other.
#include <fmt/format.h>

#include <algorithm>

#include "trace/builder.h"
#include "trace/cursor.h"
#include "trace/op_info.h"
#include "trace/text.h"
#include "trace/verify.h"

namespace nrd {
namespace {

constexpr size_t kMaxNumber = 1 << 20;  // of a %value: a table of that length is kept

constexpr int kMaxNesting = 100;  // of parentheses, which are read recursively

struct Depth {
  explicit Depth(int& depth) : depth(depth) { depth++; }
  ~Depth() { depth--; }
  int& depth;
};

// Each method returns false or kNoValue once `expected_` says what should have stood there.
class Reader {
 public:
  Expected<OpTrace> read(std::string_view text) {
    size_t number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      number++;
      at_ = Cursor(line);
      if (at_.done()) continue;
      if (!read_line()) return error(number, line);
    }
    if (!named_) fail("trace NAME : CLASS");
    if (builder_.open_loops() != 0) fail("} for every loop");
    if (!expected_.empty()) return error(number + 1, "the end");
    OpTrace trace = builder_.finish();
    NRD_TRY(verify_trace(trace));
    return trace;
  }

 private:
  Error error(size_t number, std::string_view line) const {
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = "trace",
                       .argument = fmt::format("line {}", number),
                       .got = fmt::format("'{}'", line),
                       .allowed = expected_,
                       .hint = ""});
  }

  bool fail(std::string expected) {
    if (expected_.empty()) expected_ = std::move(expected);
    return false;
  }
  ValueId no_value(std::string expected) {
    fail(std::move(expected));
    return kNoValue;
  }
  bool want(std::string_view text) { return at_.take(text) || fail(fmt::format("'{}'", text)); }

  bool read_line() {
    if (!named_) return want("trace") && read_header() && want_end();
    if (at_.take("param")) return read_param() && want_end();
    if (at_.take("table")) return read_table();
    if (at_.take("for")) return read_loop() && want_end();
    if (at_.take("}")) return end_loop() && want_end();
    if (at_.take("store")) return read_store() && want_end();
    if (!at_.peek('%')) return fail("%N = ..., store, for, }, param or table");
    size_t number = 0;
    Value value;
    if (!new_number(number) || !want("=") || !read_value(value) || !want_end()) return false;
    return define(number, builder_.append(value));
  }

  bool want_end() { return at_.done() || fail("nothing more on this line"); }

  bool read_header() {
    builder_ = TraceBuilder(std::string(at_.until_space()));
    if (builder_.trace().name.empty()) return fail("a name");
    if (!want(":")) return false;
    const auto op_class = op_class_of(at_.word());
    if (!op_class) return fail("a class: elementwise, reduction, ...");
    builder_.trace().op_class = *op_class;
    named_ = true;
    return true;
  }

  bool read_param() {
    TraceParam p{.name = std::string(at_.word())};
    if (p.name.empty()) return fail("a name");
    if (!want(":")) return false;
    if (at_.take("size")) {
      p.kind = TraceParamKind::kSize;
    } else if (at_.take("int")) {
      p.kind = TraceParamKind::kInt;
      p.dtype = DType::kI32;
    } else {
      if (at_.take("number")) {
        p.kind = TraceParamKind::kNumber;
      } else if (!read_use(p)) {
        return fail("in, out, inout, unused, size, int or number");
      }
      const Expected<DType> dtype = parse_dtype(at_.word());
      if (!dtype) return fail("a dtype");
      p.dtype = *dtype;
    }
    builder_.add_param(std::move(p));
    return true;
  }

  bool read_use(TraceParam& p) {
    p.read = p.written = at_.take("inout");
    if (p.read) return true;
    p.read = at_.take("in");
    p.written = !p.read && at_.take("out");
    return p.read || p.written || at_.take("unused");
  }

  bool read_table() {
    auto& tables = builder_.trace().tables;
    if (at_.word() != fmt::format("t{}", tables.size()))
      return fail(fmt::format("the next table, t{}", tables.size()));
    if (!want(":")) return false;
    const auto type = trace_type_of(at_.word());
    if (!type || !has_type(op_info(TraceOp::kLookup).types, *type)) return fail("f32, f64 or i32");
    TraceTable table{.type = *type, .elements = {}};
    while (!at_.done()) {
      const auto bits = literal_bits(*type, at_.until_space());
      if (!bits) return fail(fmt::format("literals of type {}", trace_type_word(*type)));
      table.elements.push_back(*bits);
    }
    if (table.elements.empty()) return fail("an element");
    tables.push_back(std::move(table));
    return true;
  }

  bool read_loop() {
    uint64_t number = 0;
    if (!read_counter(at_.word(), number)) return fail("a counter: i0, i1, ...");
    if (number < counters_.size() && counters_[number] != kNoValue &&
        builder_.is_visible(counters_[number]))
      return fail("a counter that is free here");
    if (!want("<")) return false;
    const ValueId extent = read_index();
    if (extent == kNoValue) return false;
    // Initial values are of the scope outside, so they come before the loop begins.
    std::vector<size_t> numbers;
    std::vector<ValueId> inits;
    if (at_.take("carry")) {
      do {
        numbers.emplace_back();
        if (!new_number(numbers.back()) || !want("=")) return false;
        inits.push_back(read_atom());
        if (inits.back() == kNoValue) return false;
      } while (at_.take(","));
    }
    if (!want("{")) return false;
    const uint16_t loop = builder_.begin_loop(extent);
    if (counters_.size() <= number) counters_.resize(number + 1, kNoValue);
    counters_[number] = builder_.iv(loop);
    open_.push_back(loop);
    for (size_t i = 0; i < inits.size(); i++) define(numbers[i], builder_.carry(inits[i]));
    return true;
  }

  bool end_loop() {
    if (open_.empty()) return fail("no } without a loop");
    const uint16_t loop = open_.back();
    const size_t count = builder_.trace().loops[loop].carries.size();
    std::vector<ValueId> next(count, kNoValue);
    for (size_t i = 0; i < count; i++) {
      if (!want(i == 0 ? "next" : ",")) return false;
      next[i] = read_atom();
      if (next[i] == kNoValue) return false;
    }
    builder_.end_loop(next);
    open_.pop_back();
    for (size_t i = 0; i < count; i++) {
      size_t number = 0;
      if (!want(i == 0 ? "->" : ",") || !new_number(number)) return false;
      define(number, builder_.result(loop, i));
    }
    return true;
  }

  bool read_store() {
    Value v{.op = TraceOp::kStore};
    if (!read_element(v)) return false;
    v.args[1] = read_atom();
    if (v.args[1] == kNoValue) return false;
    if (at_.take("if") && (v.args[2] = read_atom()) == kNoValue) return false;
    builder_.append(v);
    return true;
  }

  bool read_value(Value& v) {
    const auto op = trace_op_of(at_.word());
    if (!op || (!is_pure(*op) && *op != TraceOp::kLoad)) return fail("an operation");
    v.op = *op;
    v.type = implied_type(v.op);
    if (v.op == TraceOp::kCmp) {
      const auto predicate = predicate_of(at_.word());
      if (!predicate) return fail("a predicate: oeq, lt, ...");
      v.predicate = *predicate;
    } else if (v.type == TraceType::kNone) {
      const auto type = trace_type_of(at_.word());
      if (!type || !has_type(op_info(v.op).types, *type)) return fail("a type of this operation");
      v.type = *type;
    }
    if (v.op == TraceOp::kConst) return read_literal(v);
    if (v.op == TraceOp::kParam) return read_name(v) || fail("a parameter");
    if (v.op == TraceOp::kLoad) return read_load(v);
    if (v.op == TraceOp::kLookup && !find_table(at_.word(), v.index)) return fail("a table");
    for (int i = 0; i < trace_op_arity(v.op); i++) {
      if ((v.args[static_cast<size_t>(i)] = read_atom()) == kNoValue) return false;
    }
    return true;
  }

  bool read_literal(Value& v) {
    const auto bits = literal_bits(v.type, at_.until_space());
    if (!bits) return fail(fmt::format("a literal of type {}", trace_type_word(v.type)));
    v.bits = *bits;
    return true;
  }

  bool read_load(Value& v) {
    if (!read_element(v)) return false;
    if (!at_.take("if")) return true;
    v.args[1] = read_atom();
    if (v.args[1] == kNoValue || !want("else")) return false;
    return (v.args[2] = read_atom()) != kNoValue;
  }

  bool read_element(Value& v) {
    if (!read_name(v) || builder_.trace().params[v.index].kind != TraceParamKind::kPointer)
      return fail("a pointer parameter");
    if (!want("[")) return false;
    v.args[0] = read_index();
    return v.args[0] != kNoValue && want("]");
  }

  bool read_name(Value& v) { return find_param(at_.word(), v.index); }

  bool find_param(std::string_view name, uint16_t& index) const {
    const auto& params = builder_.trace().params;
    for (size_t i = 0; i < params.size(); i++) {
      if (params[i].name != name) continue;
      index = static_cast<uint16_t>(i);
      return true;
    }
    return false;
  }

  bool find_table(std::string_view name, uint16_t& index) const {
    for (index = 0; index < builder_.trace().tables.size(); index++)
      if (name == fmt::format("t{}", index)) return true;
    return false;
  }

  bool new_number(size_t& number) {
    if (!want("%")) return false;
    const auto digits = at_.digits();
    if (!digits || *digits >= kMaxNumber) return fail("a number after %");
    number = *digits;
    if (number < values_.size() && values_[number] != kNoValue)
      return fail(fmt::format("a new number: %{} is taken", number));
    return true;
  }

  bool define(size_t number, ValueId id) {
    if (values_.size() <= number) values_.resize(number + 1, kNoValue);
    values_[number] = id;
    return true;
  }

  ValueId read_index() {
    const Depth depth(nesting_);
    if (nesting_ > kMaxNesting) return no_value("fewer parentheses");
    ValueId left = read_product();
    while (left != kNoValue) {
      const bool plus = at_.take("+");
      if (!plus && !at_.take("-")) break;
      left = binary(plus ? TraceOp::kAdd : TraceOp::kSub, left, read_product());
    }
    return left;
  }

  ValueId read_product() {
    ValueId left = read_atom();
    while (left != kNoValue) {
      TraceOp op = TraceOp::kMul;
      if (at_.take("/")) {
        op = TraceOp::kDivFloor;
      } else if (at_.take("%")) {
        op = TraceOp::kModFloor;
      } else if (!at_.take("*")) {
        break;
      }
      left = binary(op, left, read_atom());
    }
    return left;
  }

  ValueId binary(TraceOp op, ValueId left, ValueId right) {
    if (left == kNoValue || right == kNoValue) return kNoValue;
    return builder_.pure(op, TraceType::kI64, left, right);
  }

  ValueId read_atom() {
    if (at_.take("%")) return read_reference();
    if (at_.take("(")) {
      const ValueId inner = read_index();
      return inner != kNoValue && want(")") ? inner : kNoValue;
    }
    const bool minus = at_.take("-");
    if (minus && at_.take("(")) {
      const ValueId inner = read_index();
      if (inner == kNoValue || !want(")")) return kNoValue;
      return builder_.pure(TraceOp::kNeg, TraceType::kI64, inner);
    }
    if (const auto digits = at_.digits())
      return builder_.i64(static_cast<int64_t>(minus ? 0 - *digits : *digits));
    if (minus) return no_value("a number or ( after -");
    return read_named_atom();
  }

  ValueId read_reference() {
    const auto number = at_.digits();
    if (!number || *number >= values_.size() || values_[*number] == kNoValue)
      return no_value("a value that is defined above");
    const ValueId id = values_[*number];
    if (!builder_.is_visible(id))
      return no_value(fmt::format("a value of this scope or one around it, not %{}", *number));
    return id;
  }

  ValueId read_named_atom() {
    const std::string_view name = at_.word();
    if ((name == "min" || name == "max") && at_.take("(")) {
      const ValueId a = read_index();
      if (a == kNoValue || !want(",")) return kNoValue;
      const ValueId b = read_index();
      if (b == kNoValue || !want(")")) return kNoValue;
      return binary(name == "min" ? TraceOp::kMin : TraceOp::kMax, a, b);
    }
    uint64_t number = 0;
    if (read_counter(name, number) && number < counters_.size() && counters_[number] != kNoValue &&
        builder_.is_visible(counters_[number]))
      return counters_[number];
    uint16_t param = 0;
    if (find_param(name, param) && builder_.trace().params[param].kind == TraceParamKind::kSize)
      return builder_.param(param);
    return no_value("%N, a size, a counter of a loop around, a number, min( or max(");
  }

  static bool read_counter(std::string_view word, uint64_t& number) {
    if (word.size() < 2 || word[0] != 'i') return false;
    const auto [end, failed] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
    return failed == std::errc{} && end == word.data() + word.size() && number < kMaxNumber;
  }

  Cursor at_{""};
  int nesting_ = 0;
  TraceBuilder builder_{""};
  bool named_ = false;
  std::string expected_;
  std::vector<ValueId> values_;    // by the number after %
  std::vector<ValueId> counters_;  // by the number after i
  std::vector<uint16_t> open_;
};

}  // namespace

Expected<OpTrace> parse_trace(std::string_view text) { return Reader().read(text); }

}  // namespace nrd
