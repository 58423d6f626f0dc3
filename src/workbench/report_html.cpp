// SPDX-License-Identifier: MIT
// src/workbench/report_html.cpp: assembles the report's page; the order of its parts is here.
#include "workbench/report_html.h"

#include <fmt/format.h>

#include <string_view>

#include "workbench/report_html_sections.h"
#include "workbench/report_html_svg.h"

namespace nrd {

// html/page.css and html/page.js, embedded by cmake/embed.cmake.
extern const std::string_view kHtmlPageCss;
extern const std::string_view kHtmlPageJs;

namespace html {
namespace {

// JSON inside a script element: without '<' neither "</script" nor "<!--" can occur.
std::string json_for_script(const Json& report) {
  const std::string raw = report.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(raw.size());
  for (const char c : raw) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string head(const Model& model) {
  std::string title = "Nereid benchmark";
  if (model.ops.size() == 1) title += ": " + model.ops.front();
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n<script>\n{}</script>\n</head>\n",
      escape(title), kHtmlPageCss, kHtmlPageJs);
}

std::string top_bar() {
  return "<header class=\"top\"><div class=\"inner\"><a class=\"brand\" href=\"#headline\">Nereid"
         "</a>\n<nav aria-label=\"Sections\"><a href=\"#environment\">Environment</a> "
         "<a href=\"#method\">Method</a> <a href=\"#results\">Results</a> "
         "<a href=\"#plots\">Plots</a> <a href=\"#failures\">Failures</a> "
         "<a href=\"#data\">Data</a></nav>\n"
         "<button id=\"theme\" class=\"needs-js\" type=\"button\">Dark</button></div></header>\n";
}

std::string data_section(const Json& report) {
  return "<section id=\"data\" aria-labelledby=\"h-data\">\n<h2 id=\"h-data\">Data</h2>\n"
         "<p class=\"prose\">This page carries the report that it was made from, complete and "
         "unrounded, in the element <code>report-data</code>.</p>\n"
         "<p class=\"needs-js\"><button id=\"download\" type=\"button\">Download the JSON"
         "</button></p>\n<script type=\"application/json\" id=\"report-data\">" +
         json_for_script(report) + "</script>\n</section>\n";
}

}  // namespace
}  // namespace html

std::string render_html(const nlohmann::json& report) {
  using namespace html;
  const Model model = read_model(report);
  std::string page = head(model);
  page += "<body>\n" + marker_definitions() + top_bar() + "<main>\n";
  page += headline_section(model);
  page += environment_section(model);
  page += method_section(model);
  page += results_section(model);
  page += plots_section(model);
  page += failures_section(model);
  page += data_section(report);
  const std::string version = escape(html::text(model.environment, "nereid_version"));
  page += fmt::format("</main>\n<footer><p>Made by Nereid{}{}.</p></footer>\n</body>\n</html>\n",
                      version.empty() ? "" : " ", version);
  return page;
}

}  // namespace nrd
