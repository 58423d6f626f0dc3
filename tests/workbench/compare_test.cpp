// SPDX-License-Identifier: MIT
// tests/workbench/compare_test.cpp: comparing result files, and files that are none.
#include "workbench/compare.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "workbench/report.h"

namespace nrd {
namespace {

using nlohmann::json;

json row(const char* op, const char* verdict, std::vector<double> slices) {
  return {{"op", op},          {"shape", "n=8"},     {"dtype", "f32"}, {"options", ""},
          {"backend", "cpu"},  {"isa", "avx2"},      {"threads", 1},   {"cache", "warm"},
          {"regime", "eager"}, {"verdict", verdict}, {"reason", ""},   {"slices_us", slices}};
}

json document(std::vector<json> rows) {
  return {{"schema", 1}, {"environment", json::object()}, {"results", rows}};
}

std::string verdict(const Changes& changes, const std::string& op) {
  for (const Change& c : changes.changes)
    if (c.row.starts_with(op + " ")) return c.verdict;
  return "";
}

TEST(Compare, JudgesEachRow) {
  const json before =
      document({row("a", "pass", {10, 10.1, 9.9}), row("b", "pass", {10, 10.1, 9.9}),
                row("c", "pass", {10, 10.1, 9.9}), row("d", "pass", {1}), row("e", "fail", {1}),
                row("gone", "pass", {1})});
  const json after = document({row("a", "pass", {5, 5.1, 4.9}), row("b", "pass", {20, 20.1, 19.9}),
                               row("c", "pass", {10, 10.1, 9.9}), row("d", "fail", {1}),
                               row("e", "pass", {1}), row("new", "pass", {1})});
  Expected<Changes> changes = compare_results(before, after, 0.03);
  ASSERT_TRUE(changes);
  EXPECT_EQ(verdict(*changes, "a"), "faster");
  EXPECT_EQ(verdict(*changes, "b"), "slower");
  EXPECT_EQ(verdict(*changes, "c"), "same");
  EXPECT_EQ(verdict(*changes, "d"), "failing");
  EXPECT_EQ(verdict(*changes, "e"), "fixed");
  EXPECT_EQ(verdict(*changes, "gone"), "missing");
  EXPECT_EQ(verdict(*changes, "new"), "new");
  EXPECT_TRUE(changes->regressed());
  EXPECT_FALSE(compare_results(before, before, 0.03)->regressed());
}

TEST(Compare, FilesThatAreNoResultsAreRefused) {
  const std::string path = ::testing::TempDir() + "nereid_compare_test.json";
  auto reads = [&](const char* content) {
    std::ofstream(path) << content;
    return static_cast<bool>(read_results(path));
  };
  EXPECT_FALSE(read_results("/no/such/file.json"));
  EXPECT_FALSE(reads(""));
  EXPECT_FALSE(reads(R"({"schema": 1, "results": [)"));
  EXPECT_FALSE(reads(R"([1, 2])"));
  EXPECT_FALSE(reads(R"({"schema": 2, "results": []})"));
  EXPECT_FALSE(reads(R"({"schema": 1, "results": [3]})"));
  EXPECT_TRUE(reads(R"({"schema": 1, "results": []})"));
  // Rows of odd content are compared as far as they go.
  const json odd =
      json::parse(R"({"schema":1,"results":[{"op":null,"threads":"x","slices_us":3}]})");
  EXPECT_TRUE(compare_results(odd, odd, 0.03));
  std::remove(path.c_str());
}

TEST(Reports, TableMarkdownAndCsvHoldEveryRow) {
  json report = document({row("alpha", "pass", {1, 2, 3}), row("beta", "error", {})});
  report["results"][1]["reason"] = "a \"quoted\", reason | with a bar";
  const std::string table = render_table(report, false), csv = render_csv(report),
                    markdown = render_markdown(report);
  for (const std::string* text : {&table, &csv, &markdown}) {
    EXPECT_NE(text->find("alpha"), std::string::npos);
    EXPECT_NE(text->find("beta"), std::string::npos);
  }
  EXPECT_EQ(table.find('\033'), std::string::npos);
  EXPECT_NE(render_table(report, true).find('\033'), std::string::npos);
  EXPECT_NE(csv.find("\"a \"\"quoted\"\", reason | with a bar\""), std::string::npos) << csv;
  EXPECT_NE(markdown.find("reason \\| with"), std::string::npos) << markdown;
}

TEST(Reports, TimesHaveThreeDigits) {
  EXPECT_EQ(time_text(0.25), "250 ns");
  EXPECT_EQ(time_text(4.561), "4.56 us");
  EXPECT_EQ(time_text(45.61), "45.6 us");
  EXPECT_EQ(time_text(456.1), "456 us");
  EXPECT_EQ(time_text(4561), "4.56 ms");
  EXPECT_EQ(time_text(2.5e6), "2.50 s");
}

}  // namespace
}  // namespace nrd
