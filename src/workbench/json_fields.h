// SPDX-License-Identifier: MIT
// src/workbench/json_fields.h: readers of a results document that never throw.
//
// A stored file may hold anything: a missing key, null or a wrong type is "not there".
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nrd {

const nlohmann::json& member(const nlohmann::json& object, std::string_view key);
std::optional<double> number(const nlohmann::json& object, std::string_view key);  // finite
std::string text(const nlohmann::json& object, std::string_view key);  // a string, a whole number
const std::vector<nlohmann::json>& list(const nlohmann::json& object, std::string_view key);

// One line, whatever its strings hold: bytes that are no UTF-8 are replaced.
std::string dump_line(const nlohmann::json& value);

}  // namespace nrd
