// SPDX-License-Identifier: MIT
// src/workbench/report_html.h: a benchmark report as one self-contained HTML page.
#pragma once

#include <string>
#include <string_view>

namespace nrd {

// The page carries `document`, the JSON that --json writes, and its script (src/workbench/html/)
// draws everything from that. It needs no network.
std::string render_html(std::string_view document);

}  // namespace nrd
