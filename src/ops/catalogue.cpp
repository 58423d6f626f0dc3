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

// Operators that users registered, under LockName::kOperators. Entries are never removed, so
// pointers to them stay valid.
struct UserOps {
  std::deque<Op> ops;
  std::deque<std::vector<Signature>> signatures;  // in the same order
};

constinit Lazy<UserOps> g_user_ops;
constinit const std::vector<Signature> g_no_signatures;  // of an Op nobody registered

Error name_taken(const std::string& name) {
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = name,
                     .argument = "name",
                     .got = "the name of an operator that exists",
                     .hint = "choose another name"});
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
  const UserOps& user = g_user_ops.get();
  const Locked lock(LockName::kOperators);
  for (size_t i = 0; i < user.ops.size(); i++)
    if (&user.ops[i] == &op) return user.signatures[i];
  return g_no_signatures;
}

Expected<const Op*> find_op(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Op& op : catalogue()) {
    if (op.name == name) return &op;
    names.push_back(op.name);
  }
  const UserOps& user = g_user_ops.get();
  const Locked lock(LockName::kOperators);
  for (const Op& op : user.ops) {
    if (op.name == name) return &op;
    names.push_back(op.name);
  }
  return make_error({.code = ErrorCode::kUnknownName,
                     .argument = "operator",
                     .got = fmt::format("'{}'", name),
                     .allowed = "the names that `nereid ops` lists",
                     .hint = did_you_mean(name, names)});
}

Expected<const Op*> add_op(Op op) {
  std::vector<Signature> parsed;
  for (const Variant& variant : op.variants) {
    Expected<Signature> signature = parse_signature(variant.signature);
    if (!signature) return signature.error();
    parsed.push_back(std::move(*signature));
  }
  UserOps& user = g_user_ops.get();
  const Locked lock(LockName::kOperators);  // looks up and adds as one step: two may race
  auto same_name = [&](const Op& other) { return other.name == op.name; };
  if (std::any_of(catalogue().begin(), catalogue().end(), same_name) ||
      std::any_of(user.ops.begin(), user.ops.end(), same_name))
    return name_taken(op.name);
  user.signatures.push_back(std::move(parsed));
  return &user.ops.emplace_back(std::move(op));
}

std::vector<const Op*> added_ops() {
  const UserOps& user = g_user_ops.get();
  const Locked lock(LockName::kOperators);
  std::vector<const Op*> list;
  for (const Op& op : user.ops) list.push_back(&op);
  return list;
}

}  // namespace nrd
