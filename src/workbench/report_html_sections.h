// SPDX-License-Identifier: MIT
// src/workbench/report_html_sections.h: the parts of the page, in the order in which they appear.
#pragma once

#include <string>

#include "workbench/report_html_model.h"

namespace nrd::html {

std::string headline_section(const Model& model);
std::string environment_section(const Model& model);
std::string method_section(const Model& model);
std::string results_section(const Model& model);
std::string plots_section(const Model& model);
std::string failures_section(const Model& model);

// The figures of the plots section; empty where the report has nothing to draw.
std::string speedup_figure(const Model& model);
std::string heat_figure(const Model& model);
std::string roofline_figures(const Model& model);
std::string accuracy_figures(const Model& model);
std::string size_figures(const Model& model);

// Pieces that several sections use.
std::string verdict_badge(const Row& row);
std::string legend(const Model& model);  // the backends, each with its marker
std::string figure(const std::string& title, const std::string& caption, const std::string& body);

}  // namespace nrd::html
