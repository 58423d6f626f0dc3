// SPDX-License-Identifier: MIT
// src/ops/catalogue.cpp: the list of all operators, and how to find one.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/suggest.h"
#include "ops/op.h"

namespace nrd {
namespace {

struct Catalogue {
  std::vector<Op> ops;
  std::unordered_map<const Op*, std::vector<Signature>> signatures;
};

const Catalogue& instance() {
  static const Catalogue built = [] {
    Catalogue c;
    for (auto family :
         {blas_ops, matrix_ops, activation_ops, norm_ops, position_ops, glue_ops, fused_ops}) {
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
  }();
  return built;
}

}  // namespace

std::span<const Op> catalogue() { return instance().ops; }

const std::vector<Signature>& signatures(const Op& op) { return instance().signatures.at(&op); }

Expected<const Op*> find_op(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Op& op : catalogue()) {
    if (op.name == name) return &op;
    names.push_back(op.name);
  }
  return make_error({.code = ErrorCode::kUnknownName,
                     .argument = "operator",
                     .got = fmt::format("'{}'", name),
                     .allowed = "the names that `nereid ops` lists",
                     .hint = did_you_mean(name, names)});
}

}  // namespace nrd
