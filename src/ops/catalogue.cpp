// SPDX-License-Identifier: MIT
// src/ops/catalogue.cpp: the list of all operators, and how to find one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>

#include "base/lazy.h"
#include "base/locks.h"
#include "base/suggest.h"
#include "ops/epilogue.h"
#include "ops/op.h"

namespace nrd {
namespace {

struct Catalogue {
  std::vector<Op> ops;
  std::unordered_map<const Op*, std::vector<Signature>> signatures;
};

constinit Lazy<const Catalogue> g_catalogue;

const Catalogue& instance() {
  return g_catalogue.get([] {
    Catalogue c;
    for (auto family : {blas_ops, matrix_ops, activation_ops, norm_ops, position_ops, glue_ops,
                        fused_ops, backward_ops}) {
      std::vector<Op> ops = family();
      std::move(ops.begin(), ops.end(), std::back_inserter(c.ops));
    }
    for (const Op& op : c.ops) {
      std::vector<Signature>& list = c.signatures[&op];
      for (const Variant& variant : op.variants) {
        Expected<Signature> parsed = parse_signature(variant.signature);
        list.push_back(parsed ? std::move(*parsed) : Signature{});  // catalogue_test names it
      }
    }
    return c;
  });
}

struct Entry {
  Op op;
  std::vector<Signature> signatures;
};

// What the catalogue does not list: users' operators, and products with epilogues that somebody
// asked for. Under LockName::kOperators. Entries are never removed, so pointers to them stay valid.
struct FurtherOps {
  std::deque<Entry> users;
  std::deque<Entry> with_epilogue;
};

constinit Lazy<FurtherOps> g_further;
// Nobody has so many by need: names that come from outside shall not fill the memory.
constexpr size_t kMostWithEpilogue = 4096;
constinit const std::vector<Signature> g_no_signatures;  // of an Op nobody registered

Error name_taken(const std::string& name) {
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = name,
                     .argument = "name",
                     .got = "the name of an operator that exists",
                     .hint = "choose another name"});
}

const Entry* find(const std::deque<Entry>& entries, std::string_view name) {
  for (const Entry& entry : entries)
    if (entry.op.name == name) return &entry;
  return nullptr;
}

Expected<Entry> parse_entry(Op op) {
  std::vector<Signature> parsed;
  for (const Variant& variant : op.variants) {
    Expected<Signature> signature = parse_signature(variant.signature);
    if (!signature) return signature.error();
    parsed.push_back(std::move(*signature));
  }
  return Entry{std::move(op), std::move(parsed)};
}

// Made when it is first asked for. Outside of the lock: the making asks for the steps' operators.
Expected<const Op*> find_with_epilogue(std::string_view name) {
  FurtherOps& further = g_further.get();
  {
    const Locked lock(LockName::kOperators);
    if (const Entry* known = find(further.with_epilogue, name)) return &known->op;
  }
  Expected<Op> op = make_product_with_epilogue(name);
  if (!op) return op.error();
  Expected<Entry> made = parse_entry(std::move(*op));
  if (!made) return made.error();
  const Locked lock(LockName::kOperators);
  if (const Entry* known = find(further.with_epilogue, name)) return &known->op;
  if (further.with_epilogue.size() >= kMostWithEpilogue)
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = std::string(name),
                       .argument = "operator",
                       .got = fmt::format("epilogue number {}", kMostWithEpilogue + 1),
                       .allowed = fmt::format("{} different ones a process", kMostWithEpilogue)});
  return &further.with_epilogue.emplace_back(std::move(*made)).op;
}

}  // namespace

bool allows(NumberRange range, double value) {
  const auto narrow = static_cast<float>(value);
  switch (range) {
    case NumberRange::kAny: return true;
    case NumberRange::kNotNegative: return std::isfinite(narrow) && value >= 0;
    case NumberRange::kPositive: return std::isfinite(narrow) && narrow > 0;
    case NumberRange::kOneOrMore: return std::isfinite(narrow) && value >= 1;
  }
  return false;
}

std::string_view range_text(NumberRange range) {
  switch (range) {
    case NumberRange::kAny: return "any number";
    case NumberRange::kNotNegative: return "0 or more";
    case NumberRange::kPositive: return "more than 0";
    case NumberRange::kOneOrMore: return "1 or more";
  }
  return "";
}

std::span<const Op> catalogue() { return instance().ops; }

const std::vector<Signature>& signatures(const Op& op) {
  const auto& built_in = instance().signatures;
  if (auto found = built_in.find(&op); found != built_in.end()) return found->second;
  const FurtherOps& further = g_further.get();
  const Locked lock(LockName::kOperators);
  for (const std::deque<Entry>* entries : {&further.users, &further.with_epilogue})
    for (const Entry& entry : *entries)
      if (&entry.op == &op) return entry.signatures;
  return g_no_signatures;
}

Expected<const Op*> find_op(std::string_view name) {
  if (is_epilogue_name(name)) return find_with_epilogue(name);
  std::vector<std::string_view> names;
  for (const Op& op : catalogue()) {
    if (op.name == name) return &op;
    names.push_back(op.name);
  }
  const FurtherOps& further = g_further.get();
  const Locked lock(LockName::kOperators);
  for (const Entry& entry : further.users) {
    if (entry.op.name == name) return &entry.op;
    names.push_back(entry.op.name);
  }
  return make_error({.code = ErrorCode::kUnknownName,
                     .argument = "operator",
                     .got = fmt::format("'{}'", name),
                     .allowed = "the names that `nereid ops` lists",
                     .hint = did_you_mean(name, names)});
}

Expected<const Op*> add_op(Op op) {
  Expected<Entry> entry = parse_entry(std::move(op));
  if (!entry) return entry.error();
  const std::string& name = entry->op.name;
  std::deque<Entry>& users = g_further.get().users;
  const Locked lock(LockName::kOperators);  // looks up and adds as one step: two may race
  const bool is_listed = std::any_of(catalogue().begin(), catalogue().end(),
                                     [&](const Op& other) { return other.name == name; });
  if (is_listed || find(users, name)) return name_taken(name);
  return &users.emplace_back(std::move(*entry)).op;
}

std::vector<const Op*> added_ops() {
  const FurtherOps& further = g_further.get();
  const Locked lock(LockName::kOperators);
  std::vector<const Op*> list;
  for (const Entry& entry : further.users) list.push_back(&entry.op);
  return list;
}

}  // namespace nrd
