// SPDX-License-Identifier: MIT
// src/workbench/report.h: a results document as text for people and for spreadsheets.
//
// Every report is made from the JSON document that --json writes, so that a stored result can be
// shown again later. The HTML page has its own header, report_html.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nrd {

// Aligned columns, one block an operator; colour where `color`.
std::string render_table(const nlohmann::json& report, bool color);
std::string render_markdown(const nlohmann::json& report);
// One line a row, every field, full precision, RFC 4180 quoting.
std::string render_csv(const nlohmann::json& report);

// "12.3 us", "4.56 ms": three digits.
std::string time_text(double us);

}  // namespace nrd
