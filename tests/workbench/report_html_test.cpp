// SPDX-License-Identifier: MIT
// tests/workbench/report_html_test.cpp: the HTML report's structure, escaping and completeness.
#include "workbench/report_html.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

json sample() {
  std::ifstream in(std::string(NEREID_TEST_DATA) + "/sample_report.json");
  return json::parse(in);
}

json row(const std::string& backend, double us) {
  return {{"op", "silu"},    {"shape", "n=4096"}, {"dtype", "f32"},     {"options", ""},
          {"threads", 1},    {"cache", "warm"},   {"backend", backend}, {"ok", true},
          {"median_us", us}, {"verdict", "pass"}};
}

json report_of(std::vector<json> rows) {
  return {{"schema", 1}, {"environment", json::object()}, {"results", std::move(rows)}};
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

// The page without style, scripts and data: what a browser parses as markup.
std::string markup(std::string page) {
  for (const std::string name : {"style", "script"}) {
    std::size_t at = 0;
    while ((at = page.find("<" + name, at)) != std::string::npos) {
      const std::string end = "</" + name + ">";
      page.erase(at, page.find(end, at) + end.size() - at);
    }
  }
  return page;
}

// The first tag that does not match; empty if all are balanced.
std::string unbalanced(const std::string& page) {
  static const std::set<std::string> kVoid{"meta", "input", "wbr", "!DOCTYPE"};
  std::vector<std::string> open;
  const std::string text = markup(page);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return "a tag that does not end";
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end;
    const bool closes = tag[0] == '/';
    const std::string name = tag.substr(closes, tag.find_first_of(" /\n", closes) - closes);
    if (closes) {
      if (open.empty() || open.back() != name) return "</" + name + ">";
      open.pop_back();
    } else if (tag.back() != '/' && !kVoid.contains(name)) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "<" + open.back() + ">";
}

// The rows of the results table.
std::size_t table_rows(const std::string& page) { return count(page, "<tr class=\"v-"); }

void expect_sound(const std::string& page) {
  EXPECT_EQ(unbalanced(page), "");
  for (const char* id :
       {"headline", "environment", "method", "results", "plots", "failures", "data"}) {
    EXPECT_EQ(count(page, std::string("<section id=\"") + id + "\""), 1u) << id;
  }
  const std::string text = markup(page);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("\"inf"), std::string::npos);
  EXPECT_EQ(text.find("-inf"), std::string::npos);
}

TEST(ReportHtml, SampleHasAllPartsInOrder) {
  const std::string page = nrd::render_html(sample());
  expect_sound(page);
  std::size_t last = 0;
  for (const char* id :
       {"headline", "environment", "method", "results", "plots", "failures", "data"}) {
    const std::size_t at = page.find(std::string("<section id=\"") + id);
    EXPECT_GT(at, last) << id;
    last = at;
  }
  for (const char* title : {"Speed-up", "Roofline, 1 thread", "Cases and backends", "Error",
                            "Units in the last place", "Time against size"}) {
    EXPECT_NE(page.find(std::string("<h3>") + title), std::string::npos) << title;
  }
}

TEST(ReportHtml, NoRowIsDropped) {
  const json report = sample();
  const std::string page = nrd::render_html(report);
  EXPECT_EQ(table_rows(page), report["results"].size());
  const std::string failures = page.substr(page.find("<section id=\"failures\""));
  for (const json& one : report["results"]) {
    if (one["verdict"] == "skipped") {
      EXPECT_NE(failures.find(one["reason"].get<std::string>().substr(0, 12)), std::string::npos);
    }
  }
  EXPECT_EQ(count(failures, "class=\"badge"), 4u);
}

TEST(ReportHtml, AsksForNothingFromOutside) {
  const std::string page = nrd::render_html(sample());
  for (const char* word : {"http://", "https://", "@import", "url(", "<link", "src="}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
}

TEST(ReportHtml, EscapesEverythingFromTheReport) {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror='x'>\"&<!--";
  json bad = row("cpu", 3.0);
  for (const char* key : {"op", "shape", "dtype", "options", "backend", "isa", "cache", "regime",
                          "numerics", "reason", "kernel", "bound", "first_bad_index", "threads"}) {
    bad[key] = evil;
  }
  bad["flags"] = {evil};
  json failing = bad;
  failing["verdict"] = "fail";
  json report = report_of({bad, failing, row("cpu", 2), row(evil, 3)});
  report["environment"] = {{"cpu", evil},
                           {"command", evil},
                           {"warnings", {evil}},
                           {evil, evil},
                           {"backends", {{{"name", evil}, {"reason", evil}}}},
                           {"method", {{"timer", evil}}}};
  report["ratios"] = {{{"case", evil}, {"backend", evil}, {"against", evil}, {"median", 2.0}}};
  const std::string page = nrd::render_html(report);
  expect_sound(page);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_EQ(count(page, "</script>"), 2u);
}

TEST(ReportHtml, EmbedsTheReportUnchanged) {
  json report = sample();
  report["environment"]["note"] = "</script> <!-- \u2028 ü";
  const std::string page = nrd::render_html(report);
  const std::string open = "id=\"report-data\">";
  const std::size_t from = page.find(open) + open.size();
  EXPECT_EQ(json::parse(page.substr(from, page.find("</script>", from) - from)), report);
}

TEST(ReportHtml, EmptyReports) {
  for (const json& report : {json(), json::object(), json::array(), report_of({}),
                             json{{"results", nullptr}, {"environment", nullptr}}}) {
    const std::string page = nrd::render_html(report);
    expect_sound(page);
    EXPECT_NE(page.find("Nothing was measured"), std::string::npos);
  }
}

TEST(ReportHtml, OneRow) {
  const std::string page = nrd::render_html(report_of({row("cpu", 12.34)}));
  expect_sound(page);
  EXPECT_EQ(table_rows(page), 1u);
  EXPECT_NE(page.find("<h1 id=\"title\">silu on cpu</h1>"), std::string::npos);
  EXPECT_NE(page.find("None: 1 row passed."), std::string::npos);
}

TEST(ReportHtml, OnlyFailures) {
  json failed = row("cpu", 5.0), crashed = row("openblas", 0.0);
  failed.update({{"ok", false}, {"verdict", "fail"}, {"reason", "zeros"}});
  crashed.update(
      {{"ok", false}, {"verdict", "error"}, {"reason", "SIGILL"}, {"median_us", nullptr}});
  const std::string page = nrd::render_html(report_of({failed, crashed}));
  expect_sound(page);
  EXPECT_NE(page.find("No row passed"), std::string::npos);
  EXPECT_EQ(table_rows(page), 2u);
  EXPECT_NE(page.find("zeros"), std::string::npos);
  EXPECT_NE(page.find("SIGILL"), std::string::npos);
}

TEST(ReportHtml, WithoutRatiosTheMediansSpeak) {
  const std::string page = nrd::render_html(report_of({row("cpu", 10), row("onednn", 20)}));
  expect_sound(page);
  EXPECT_NE(page.find("cpu is 2.00× as fast as onednn"), std::string::npos);
  EXPECT_NE(page.find("no paired ratios"), std::string::npos);
}

TEST(ReportHtml, SpeaksOfOursWhereOursIsTheBaseline) {
  json report = report_of({row("cpu", 10), row("onednn", 20)});
  report["ratios"] = {{{"case", "silu n=4096 f32 threads=1 warm"},
                       {"backend", "onednn"},
                       {"against", "cpu"},
                       {"median", 0.5},
                       {"low", 0.4},
                       {"high", 0.625}}};
  const std::string page = nrd::render_html(report);
  EXPECT_NE(page.find("cpu is 2.00× as fast as onednn"), std::string::npos);
  EXPECT_NE(page.find("1.60× to 2.50×, 95 %"), std::string::npos);
  EXPECT_NE(page.find("Speed-ups are against <b>cpu</b>"), std::string::npos);
  EXPECT_NE(page.find("<b>0.50×</b> <small>0.40–0.62</small>"), std::string::npos);
}

TEST(ReportHtml, GeomeanHasAnIntervalAndLeavesOutTheImpossible) {
  json report = report_of({row("cpu", 10), row("onednn", 20)});
  json over = row("cpu", 1), peer = row("onednn", 100);
  over["shape"] = peer["shape"] = "n=8192";
  over["flags"] = {"over 100 % of roofline"};
  report["results"].push_back(over);
  report["results"].push_back(peer);
  const auto ratio = [](const char* shape, double median) {
    return json{{"case", std::string("silu ") + shape + " f32  threads=1 warm"},
                {"backend", "cpu"},
                {"against", "onednn"},
                {"median", median},
                {"low", median * 0.95},
                {"high", median * 1.05}};
  };
  report["ratios"] = {ratio("n=4096", 2.0), ratio("n=8192", 100.0)};
  const std::string page = nrd::render_html(report);
  EXPECT_NE(page.find("cpu is 2.00× as fast as onednn"), std::string::npos);
  EXPECT_NE(page.find("1.90× to 2.10×, 95 %"), std::string::npos);
  EXPECT_NE(page.find("Geometric mean of 1 case; 1 left out"), std::string::npos);
}

TEST(ReportHtml, WrongTypesAndUnknownFields) {
  json odd = row("cpu", 1);
  for (const char* key : {"median_us", "p10_us", "gflops", "slices_us", "flags", "bound"}) {
    odd[key] = {{"not", "expected"}};
  }
  odd["novel"] = {1, 2, 3};
  json nulls = row("openblas", 1);
  for (auto& [key, value] : nulls.items()) value = nullptr;
  json zero = row("cpu", 0);
  zero.update({{"gflops", 0},
               {"flops", 0},
               {"bytes", 0},
               {"l2_rel", 0},
               {"shape", "n=0"},
               {"slices_us", {0, 0}},
               {"p10_us", 0},
               {"p90_us", 0}});
  json report = report_of({odd, nulls, json(7), zero});
  report["environment"] = {{"gpu", {{"name", "none"}}},
                           {"measured", {1, nullptr}},
                           {"warnings", "text"},
                           {"nominal", 3}};
  report["ratios"] = {nullptr, {{"median", -1}}, {{"median", 1.5}}};
  const std::string page = nrd::render_html(report);
  expect_sound(page);
  EXPECT_EQ(table_rows(page), 4u);
  EXPECT_NE(page.find("name none"), std::string::npos);
}

TEST(ReportHtml, ManyCasesStayReadable) {
  std::vector<json> rows;
  for (int i = 1; i <= 300; ++i) {
    for (const char* backend : {"cpu", "onednn"}) {
      json one = row(backend, i * (backend[0] == 'c' ? 1.0 : 1.0 + i / 300.0));
      one["shape"] = "n=" + std::to_string(i * 1024);
      rows.push_back(one);
    }
  }
  const std::string page = nrd::render_html(report_of(rows));
  expect_sound(page);
  EXPECT_EQ(table_rows(page), 600u);
  EXPECT_EQ(count(page, "class=\"bar s0"), 48u);
}

}  // namespace
