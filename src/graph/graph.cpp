// SPDX-License-Identifier: MIT
// src/graph/graph.cpp: binds a composite's statements into a Graph.
#include "graph/graph.h"

#include <fmt/format.h>

#include <map>

#include "graph/parse.h"

namespace nrd {
namespace {

class Builder {
 public:
  explicit Builder(const Desc& composite) { graph_.desc = composite; }

  Expected<Graph> build() {
    Expected<std::vector<Statement>> statements = parse_statements(graph_.desc);
    if (!statements) return statements.error();
    add_operands();
    for (size_t i = 0; i < statements->size(); i++) {
      const Statement& s = (*statements)[i];
      for (const Target& t : s.targets) last_[t.name] = i;
    }
    for (size_t i = 0; i < statements->size(); i++) {
      index_ = i;
      NRD_TRY(add_statement((*statements)[i]));
    }
    return check_outputs();
  }

 private:
  Error bad(const Statement& s, std::string why) const {
    return make_error({.code = ErrorCode::kInternal,
                       .op = graph_.desc.op->name,
                       .argument = "graph",
                       .got = "'" + s.line + "'",
                       .hint = std::move(why)});
  }

  void add_operands() {
    const Signature& sig = graph_.desc.signature();
    for (size_t i = 0; i < sig.operands.size(); i++) {
      const OperandDesc& o = graph_.desc.operands[i];
      if (!o.present || sig.operands[i].output) continue;
      GraphValue v{.name = sig.operands[i].name,
                   .dtype = o.dtype,
                   .sizes = o.sizes,
                   .strides = o.strides,
                   .operand = static_cast<int>(i),
                   .form = o.form};
      names_[sig.operands[i].name] = add(std::move(v));
    }
  }

  GraphValueId add(GraphValue v) {
    graph_.values.push_back(std::move(v));
    return GraphValueId(static_cast<int>(graph_.values.size()) - 1);
  }
  GraphValue& value(GraphValueId id) { return graph_.values[static_cast<size_t>(id)]; }

  // A view is a value of its own over the same memory.
  Expected<GraphValueId> resolve(const Statement& s, const Expression& e) {
    if (e.view.empty()) {
      auto found = names_.find(e.name);
      if (found == names_.end()) return bad(s, "no value is named '" + e.name + "'");
      return found->second;
    }
    Expected<GraphValueId> base = resolve(s, e.arguments[0]);
    if (!base) return base;
    GraphValue v = value(*base);
    if (v.form)
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = graph_.desc.op->name,
                         .argument = v.name,
                         .got = v.form->text(),
                         .allowed = "elements as their strides say",
                         .hint = "it is read through a view: " + e.view});
    const int rank = v.sizes.size();
    if (e.view == "transpose") {
      if (rank < 2) return bad(s, "transpose needs two axes");
      std::swap(v.sizes[rank - 1], v.sizes[rank - 2]);
      std::swap(v.strides[rank - 1], v.strides[rank - 2]);
    } else if (e.view == "split") {
      if (e.arguments.size() != 2) return bad(s, "split takes a value and the one it follows");
      Expected<GraphValueId> other = resolve(s, e.arguments[1]);
      if (!other) return other;
      const int64_t inner = value(*other).sizes.back(), outer = v.sizes[rank - 1];
      if (rank == kMaxRank || inner <= 0 || outer % inner != 0)
        return make_error({.code = ErrorCode::kShapeMismatch,
                           .op = graph_.desc.op->name,
                           .argument = v.name,
                           .got = fmt::format("{} columns", outer),
                           .allowed = fmt::format("a multiple of {}", inner)});
      const int64_t stride = v.strides[rank - 1];
      v.sizes[rank - 1] = outer / inner;
      v.strides[rank - 1] = inner * stride;
      v.sizes.push_back(inner);
      v.strides.push_back(stride);
    } else if (e.view == "spread" || e.view == "rows") {
      NRD_TRY(repeat(s, e, v));
    } else {
      if (rank < 2 || v.strides[rank - 2] != v.sizes[rank - 1] * v.strides[rank - 1])
        return bad(s, "merge needs two adjacent axes");
      Dims sizes, strides;
      for (int d = 0; d + 2 < rank; d++) {
        sizes.push_back(v.sizes[d]);
        strides.push_back(v.strides[d]);
      }
      sizes.push_back(v.sizes[rank - 2] * v.sizes[rank - 1]);
      strides.push_back(v.strides[rank - 1]);
      v.sizes = sizes;
      v.strides = strides;
    }
    return add(std::move(v));
  }

  // A new axis of stride 0: the last one, or the one before it.
  Expected<void> repeat(const Statement& s, const Expression& e, GraphValue& v) {
    if (e.arguments.size() != 2) return bad(s, e.view + " takes a value and the one it follows");
    Expected<GraphValueId> other = resolve(s, e.arguments[1]);
    if (!other) return other.error();
    const Dims& like = value(*other).sizes;
    const bool is_last = e.view == "spread";
    if (v.sizes.size() == kMaxRank || like.size() < (is_last ? 1 : 2) ||
        (!is_last && v.sizes.empty()))
      return bad(s, e.view + " needs an axis");
    const int64_t size = v.sizes.empty() ? 0 : v.sizes.back();
    const int64_t stride = v.strides.empty() ? 0 : v.strides.back();
    v.sizes.push_back(is_last ? like.back() : size);
    v.strides.push_back(is_last ? 0 : stride);
    if (is_last) return {};
    v.sizes[v.sizes.size() - 2] = like[like.size() - 2];
    v.strides[v.strides.size() - 2] = 0;
    return {};
  }

  Expected<void> add_statement(const Statement& s) {
    if (!s.op.empty()) return add_call(s, s.op, s.arguments);
    Expected<GraphValueId> id = resolve(s, s.arguments[0].value);
    if (!id) return id.error();
    const Target& target = s.targets[0];
    if (!is_final_output(target.name)) {
      names_[target.name] = *id;
      return {};
    }
    return add_call(s, "cast", s.arguments);  // a view becomes an output: copy it there
  }

  bool is_final_output(const std::string& name) const {
    int operand = graph_.desc.signature().find_operand(name);
    return operand >= graph_.desc.signature().inputs && last_.at(name) == index_ &&
           graph_.desc.operands[static_cast<size_t>(operand)].present;
  }

  Expected<AttributeValue> attribute(const Statement& s, const std::string& word) const {
    if (!word.starts_with('$')) return AttributeValue(word);
    for (size_t i = 0; i < graph_.desc.op->numbers.size(); i++)
      if (graph_.desc.op->numbers[i].name == word.substr(1))
        return AttributeValue(graph_.desc.numbers[i]);
    return bad(s, "no number is named '" + word + "'");
  }

  Expected<void> add_call(const Statement& s, const std::string& op_name,
                          const std::vector<Argument>& arguments) {
    Expected<const Op*> op = find_op(op_name);
    if (!op) return op.error();
    Attributes attributes;
    std::map<std::string, GraphValueId> inputs;
    size_t position = 0;
    const Signature& any = signatures(**op).front();
    for (const Argument& a : arguments) {
      std::string name = a.key;
      if (name.empty()) {
        while (position < any.operands.size() && any.operands[position].optional) position++;
        if (position >= static_cast<size_t>(any.inputs)) return bad(s, "has too many arguments");
        name = any.operands[position++].name;
      }
      bool is_operand = false;
      for (const Signature& sig : signatures(**op))
        is_operand = is_operand || sig.find_operand(name) >= 0;
      if (is_operand) {
        Expected<GraphValueId> id = resolve(s, a.value);
        if (!id) return id.error();
        inputs[name] = *id;
      } else {
        Expected<AttributeValue> value = attribute(s, a.word);
        if (!value) return value.error();
        attributes[name] = *value;
      }
    }
    return add_node(s, **op, attributes, inputs);
  }

  Expected<void> add_node(const Statement& s, const Op& op, const Attributes& attributes,
                          std::map<std::string, GraphValueId>& values) {
    std::vector<NamedOperand> operands;
    for (const auto& [name, id] : values) {
      const GraphValue& v = value(id);
      operands.push_back(
          {name, {.dtype = v.dtype, .sizes = v.sizes, .strides = v.strides, .form = v.form}});
    }
    Expected<Desc> inferred = bind(op, attributes, operands);
    if (!inferred) return inferred.error();
    NRD_TRY(add_outputs(s, *inferred, values, operands));
    Expected<Desc> desc = bind(op, attributes, operands);
    if (!desc) return desc.error();
    if (!desc->bound().builds) return bad(s, "calls a composite; write out its primitives");
    Node node{.desc = std::move(*desc), .values = {}};
    for (const OperandSpec& spec : node.desc.signature().operands) {
      auto found = values.find(spec.name);
      node.values.push_back(found == values.end() ? GraphValueId(-1) : found->second);
    }
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  // Gives each target a value: the composite's own output, or a buffer.
  Expected<void> add_outputs(const Statement& s, const Desc& inferred,
                             std::map<std::string, GraphValueId>& values,
                             std::vector<NamedOperand>& operands) {
    const Signature& sig = inferred.signature();
    size_t next = static_cast<size_t>(sig.inputs);
    for (const Target& target : s.targets) {
      if (next >= sig.operands.size()) return bad(s, "has too many targets");
      const OperandDesc& shape = inferred.operands[next];
      GraphValue v{.name = target.name,
                   .dtype = shape.dtype,
                   .sizes = shape.sizes,
                   .strides = contiguous_strides(shape.sizes)};
      if (is_final_output(target.name)) {
        v.operand = graph_.desc.signature().find_operand(target.name);
        const OperandDesc& out = graph_.desc.operands[static_cast<size_t>(v.operand)];
        v.dtype = out.dtype;
        v.strides = out.strides;
        if (!(out.sizes == v.sizes)) return bad(s, "gives shape " + to_string(v.sizes));
      } else {
        if (allows(DTypeClass::kFloat, v.dtype)) v.dtype = DType::kF32;
        if (!target.stored_like.empty()) {
          v.dtype = value(names_.at(target.stored_like)).dtype;
          v.rounded = true;
        }
        v.buffer = static_cast<int>(graph_.buffer_elements.size());
        int64_t count = 1;
        for (int64_t size : v.sizes) count *= size;
        graph_.buffer_elements.push_back(count);
      }
      operands.push_back(
          {sig.operands[next].name, {.dtype = v.dtype, .sizes = v.sizes, .strides = v.strides}});
      values[sig.operands[next].name] = names_[target.name] = add(std::move(v));
      next++;
    }
    return {};
  }

  Expected<Graph> check_outputs() {
    const Signature& sig = graph_.desc.signature();
    for (size_t i = static_cast<size_t>(sig.inputs); i < sig.operands.size(); i++) {
      if (!graph_.desc.operands[i].present) continue;
      auto found = names_.find(sig.operands[i].name);
      if (found == names_.end() || value(found->second).operand != static_cast<int>(i))
        return make_error({.code = ErrorCode::kInternal,
                           .op = graph_.desc.op->name,
                           .argument = sig.operands[i].name,
                           .got = "no statement that sets it"});
    }
    return std::move(graph_);
  }

  Graph graph_;
  std::map<std::string, GraphValueId> names_;
  std::map<std::string, size_t> last_;
  size_t index_ = 0;
};

}  // namespace

Expected<Graph> build_graph(const Desc& composite) { return Builder(composite).build(); }

std::string Graph::text() const {
  std::string lines;
  for (const Node& node : nodes) {
    std::string in, out;
    for (size_t i = 0; i < node.values.size(); i++) {
      if (static_cast<int>(node.values[i]) < 0) continue;
      const GraphValue& v = values[static_cast<size_t>(node.values[i])];
      bool output = node.desc.signature().operands[i].output;
      std::string& side = output ? out : in;
      side += fmt::format("{}{}{}:{}", side.empty() ? "" : ", ", v.name, to_string(v.sizes),
                          word(v.dtype));
    }
    lines += fmt::format("{} = {}({}{}{})\n", out, node.desc.op->name, in,
                         node.desc.options_text().empty() ? "" : "; ", node.desc.options_text());
  }
  return lines;
}

}  // namespace nrd
