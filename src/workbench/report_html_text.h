// SPDX-License-Identifier: MIT
// src/workbench/report_html_text.h: escaping and number formats of the HTML report.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workbench/json_fields.h"

namespace nrd::html {

using Json = nlohmann::json;
using Number = std::optional<double>;

inline constexpr std::string_view kNotTaken = "–";

// Text from the report goes into the page through this and nothing else.
std::string escape(std::string_view text);

// Shortens `text` in the middle to about `limit` characters.
std::string shorten(const std::string& text, std::size_t limit);

// Runs of blanks become one; none at the ends.
std::string single_blanks(std::string_view text);

std::string significant(double value);  // 0.052  1.23  12.3  123  12 300
std::string error_text(double value);   // 0  1.2e-7  0.013
std::string ratio_text(double value);   // 1.34×  12.3×
std::string duration_text(double us);   // 85 ns  12.3 µs  4.56 ms
std::string bytes_text(double bytes);   // 512 B  1.5 KiB  36 MiB
std::string count_text(std::size_t count, std::string_view singular, std::string_view plural);

// Any JSON value in words: yes/no, few digits, lists with commas, objects as "key value".
std::string describe(const Json& value);
std::string text(const Json& object, std::string_view key);  // a field in words

}  // namespace nrd::html
