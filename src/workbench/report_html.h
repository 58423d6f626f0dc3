// SPDX-License-Identifier: MIT
// src/workbench/report_html.h: a benchmark report as one self-contained HTML page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nrd {

// `report` is the JSON that `nereid bench --json` writes: schema, environment, results, ratios.
// Every key may be missing or null. The page needs no network and reads well without JavaScript.
std::string render_html(const nlohmann::json& report);

}  // namespace nrd
