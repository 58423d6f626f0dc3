// SPDX-License-Identifier: MIT
// src/workbench/json_fields.cpp
#include "workbench/json_fields.h"

#include <cmath>

namespace nrd {

using nlohmann::json;

const json& member(const json& object, std::string_view key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(std::string(key));
  return found == object.end() ? kNull : *found;
}

std::optional<double> number(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_number()) return std::nullopt;
  const double figure = value.get<double>();
  return std::isfinite(figure) ? std::optional(figure) : std::nullopt;
}

std::string text(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_integer() ? value.dump() : "";
}

const std::vector<json>& list(const json& object, std::string_view key) {
  static const std::vector<json> kEmpty;
  const json& value = member(object, key);
  return value.is_array() ? value.get_ref<const json::array_t&>() : kEmpty;
}

std::string dump_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace nrd
