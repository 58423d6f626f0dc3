// SPDX-License-Identifier: MIT
// tests/workbench/report_html_test.cpp: the page carries its document, whatever that holds, and
// asks for nothing else. What its script makes of it: report_html_render_test.py.
#include "workbench/report_html.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

std::string sample() {
  std::ifstream in(std::string(NEREID_TEST_DATA) + "/sample_report.json");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

json embedded(const std::string& page) {
  const std::string open = "id=\"report-data\">";
  const std::size_t from = page.find(open) + open.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(ReportHtml, HasAllPartsInOrder) {
  const std::string page = nrd::render_html(sample());
  std::size_t last = 0;
  for (const char* id :
       {"headline", "environment", "method", "results", "plots", "failures", "data"}) {
    const std::string section = std::string("<section id=\"") + id + "\"";
    EXPECT_EQ(count(page, section), 1u) << id;
    EXPECT_GT(page.find(section), last) << id;
    last = page.find(section);
  }
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST(ReportHtml, AsksForNothingFromOutside) {
  const std::string page = nrd::render_html(sample());
  for (const char* word : {"http://", "https://", "@import", "url(", "<link", "src=", "innerHTML"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
}

TEST(ReportHtml, EmbedsTheReportUnchanged) {
  json report = json::parse(sample());
  EXPECT_EQ(embedded(nrd::render_html(sample())), report);
  report["environment"]["note"] = "</script> <!-- \u2028 ü";
  EXPECT_EQ(embedded(nrd::render_html(report.dump())), report);
}

TEST(ReportHtml, NothingInTheReportIsMarkup) {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror='x'>\"&<!--";
  const json report = {{"environment", {{evil, evil}}}, {"results", {{{"op", evil}}}}};
  const std::string page = nrd::render_html(report.dump());
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_EQ(count(page, "</script>"), 2u);
  EXPECT_EQ(embedded(page), report);
}

}  // namespace
