// SPDX-License-Identifier: MIT
// src/lift/definition.cpp: parameters of a definition: pointers, sizes, numbers, rounding types.
#include "lift/definition.h"

#include <algorithm>
#include <sstream>

namespace nrd::lift {

LiftRequest definition_request(const Op& op, const Variant& variant, const Signature& signature) {
  const Definition& definition = variant.builds->scalar;
  LiftRequest request;
  request.name = std::string(variant.builds->name);
  request.function = reinterpret_cast<const void*>(definition.function);
  std::vector<CParam>& params = request.signature.params;
  for (size_t i = 0; i < signature.operands.size(); i++)
    params.push_back({.kind = CKind::kPointer,
                      .element = definition.native[i],
                      .is_const = !signature.operands[i].output,
                      .name = signature.operands[i].name});
  for (int axis : signature.core)
    params.push_back(
        {.kind = CKind::kUInt64, .name = signature.axes[static_cast<size_t>(axis)].name});
  for (const NumberAttribute& number : op.numbers)
    params.push_back({.kind = CKind::kFloat, .name = number.name});
  std::istringstream types(variant.types);
  for (std::string word; types >> word;)
    params.push_back({.kind = CKind::kInt32, .name = "type_" + word});
  return request;
}

std::vector<LiftRequest> catalogue_requests() {
  std::vector<LiftRequest> list;
  for (const Op& op : catalogue())
    for (size_t i = 0; i < op.variants.size(); i++) {
      if (!op.variants[i].builds) continue;
      LiftRequest request = definition_request(op, op.variants[i], signatures(op)[i]);
      const bool known = std::any_of(list.begin(), list.end(),
                                     [&](const LiftRequest& r) { return r.name == request.name; });
      if (!known) list.push_back(std::move(request));
    }
  return list;
}

}  // namespace nrd::lift
