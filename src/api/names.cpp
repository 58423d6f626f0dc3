// SPDX-License-Identifier: MIT
// src/api/names.cpp: one set of names for each that was asked for.
#include "api/names.h"

#include <memory>
#include <unordered_map>

#include "api/call.h"
#include "base/lazy.h"
#include "base/locks.h"

namespace nrd {
namespace {

Expected<void> check_names(std::string_view list, const char* const* names, int32_t count) {
  if (count < 0 || count > kMaxCallOperands)
    return make_error({ErrorCode::kInvalidArgument, "nereid_keep_names", std::string(list),
                       fmt::format("{} names", count), fmt::format("0 to {}", kMaxCallOperands),
                       ""});
  if (count > 0 && names == nullptr) return null_error(list, "names", "nereid_keep_names");
  for (int32_t i = 0; i < count; i++)
    if (names[i] == nullptr)
      return null_error(fmt::format("{}[{}]", list, i), "a name", "nereid_keep_names");
  return {};
}

// Under LockName::kNames.
constinit Lazy<std::unordered_map<std::string, std::unique_ptr<nereid_names>>> g_all;

// Names end with a zero, lists with an empty name; no name is empty, so that no two sets run
// together.
void add_list(std::span<const std::string> names, std::string& text) {
  for (const std::string& name : names) text.append(name).push_back('\0');
  text.push_back('\0');
}

}  // namespace

Expected<const nereid_names*> keep_names(const char* op, std::span<const char* const> operands,
                                         std::span<const char* const> attributes) {
  auto& all = g_all.get();
  auto names = std::make_unique<nereid_names>();
  names->op = op;
  names->operands.assign(operands.begin(), operands.end());
  names->attributes.assign(attributes.begin(), attributes.end());
  for (const auto* list : {&names->operands, &names->attributes})
    for (const std::string& name : *list)
      if (name.empty())
        return make_error({ErrorCode::kInvalidArgument, "nereid_keep_names", "a name", "''",
                           "names of operands and attributes", ""});
  std::string text = names->op;
  text.push_back('\0');
  add_list(names->operands, text);
  add_list(names->attributes, text);

  const Locked lock(LockName::kNames);
  std::unique_ptr<nereid_names>& kept = all[text];
  if (!kept) {
    names->id = static_cast<uint32_t>(all.size());
    kept = std::move(names);
  }
  return kept.get();
}

}  // namespace nrd

extern "C" nereid_status nereid_keep_names(const char* op, const char* const* operands,
                                           int32_t operand_count, const char* const* attributes,
                                           int32_t attribute_count, const nereid_names** names) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!op || !names)
      return nrd::null_error(op ? "names" : "op", "a pointer", "nereid_keep_names");
    NRD_TRY(nrd::check_names("operands", operands, operand_count));
    NRD_TRY(nrd::check_names("attributes", attributes, attribute_count));
    auto kept = nrd::keep_names(op, std::span(operands, static_cast<size_t>(operand_count)),
                                std::span(attributes, static_cast<size_t>(attribute_count)));
    if (!kept) return kept.error();
    *names = *kept;
    return {};
  });
}
