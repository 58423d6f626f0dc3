// SPDX-License-Identifier: MIT
// src/workbench/report_html.cpp: puts the page's parts and the document together.
#include "workbench/report_html.h"

#include <fmt/format.h>

namespace nrd {

// Files of src/workbench/html, embedded by cmake/embed.cmake.
extern const std::string_view kHtmlPageCss;
extern const std::string_view kHtmlPageJs;
extern const std::string_view kHtmlPageBody;

namespace {

// JSON inside a script element: without '<' neither "</script" nor "<!--" can occur.
std::string for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string render_html(std::string_view document) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<title>Nereid benchmark</title>\n<style>\n{}</style>\n<script>\n{}</script>\n</head>\n{}"
      "<script type=\"application/json\" id=\"report-data\">{}</script>\n</body>\n</html>\n",
      kHtmlPageCss, kHtmlPageJs, kHtmlPageBody, for_script(document));
}

}  // namespace nrd
