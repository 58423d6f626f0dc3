// SPDX-License-Identifier: MIT
// tests/workbench/compare_test.cpp: comparing result files, and files that are none.
#include "workbench/compare.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "workbench/report.h"
#include "workbench/result.h"

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
  std::vector<json> rows = {row("alpha", "pass", {1, 2, 3}), row("beta", "error", {})};
  rows[1]["reason"] = "a \"quoted\", reason | with a bar";
  const std::string table = TableReport(false).rows(rows, {}), csv = csv_head() + csv_rows(rows),
                    markdown = markdown_head(json::object()) + markdown_rows(rows, {});
  for (const std::string* text : {&table, &csv, &markdown}) {
    EXPECT_NE(text->find("alpha"), std::string::npos);
    EXPECT_NE(text->find("beta"), std::string::npos);
  }
  EXPECT_EQ(table.find('\033'), std::string::npos);
  EXPECT_NE(TableReport(true).rows(rows, {}).find('\033'), std::string::npos);
  EXPECT_NE(csv.find("\"a \"\"quoted\"\", reason | with a bar\""), std::string::npos) << csv;
  EXPECT_NE(markdown.find("reason \\| with"), std::string::npos) << markdown;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A row with something in every column.
json wide_row(std::string backend, double us) {
  json wide = row("rmsnorm_rope", "pass", {us});
  wide.update({{"shape", "batch=16,seq=4096,hidden=16384,head_dim=128"},
               {"dtype", "bf16,bf16,f32,f32->bf16"},
               {"options", "cast=before_weight,eps=1e-06"},
               {"backend", backend},
               {"kernel", "a_kernel_whose_name_takes_much_more_than_its_share"},
               {"median_us", us},
               {"p10_us", us},
               {"p90_us", 2 * us},
               {"gflops", 123456.7},
               {"gbps", 12345.6},
               {"percent_of_roofline", 1234.5},
               {"bound", "compute"},
               {"max_abs", 1.25e-5},
               {"l2_rel", 1.25e-5},
               {"note",
                "a remark that says a great deal, and more than fits into one line of a "
                "terminal that is eighty columns wide"}});
  return wide;
}

TEST(Reports, ATableFitsItsWidth) {
  const std::vector<json> rows = {wide_row("cpu", 1.5), wide_row("a_plugin_with_a_long_name", 123)};
  const std::vector<json> ratios = {{{"case", case_text(rows[0])},
                                     {"backend", "cpu"},
                                     {"against", "x"},
                                     {"median", 12.34},
                                     {"low", 11.1},
                                     {"high", 13.3}}};
  for (size_t width : {60u, 80u, 100u, 200u}) {
    const std::string table = TableReport(false, width).rows(rows, ratios);
    for (const std::string& line : lines_of(table)) EXPECT_LE(line.size(), width) << line;
    for (const char* word : {"1.50 us", "12.34x [11.10, 13.30]", "pass", "a_plugin_with"})
      EXPECT_NE(table.find(word), std::string::npos) << word << table;
  }
  const std::string all = TableReport(false, 200).rows(rows, ratios);
  for (const char* title :
       {"kernel", "+-", "GFLOP/s", "GB/s", "roof", "bound", "max abs", "rel L2"})
    EXPECT_NE(all.find(title), std::string::npos) << title;
}

// What accuracy alone is asked of has no empty columns of times.
TEST(Reports, ATableShowsWhatWasTaken) {
  json checked = row("alpha", "pass", {});
  checked["max_abs"] = 1e-7;
  const std::string table = TableReport(false).rows({checked}, {});
  EXPECT_NE(table.find("max abs"), std::string::npos);
  for (const char* title : {"time", "speed-up", "GFLOP/s", "rel L2"})
    EXPECT_EQ(table.find(title), std::string::npos) << title;
}

TEST(Reports, BlocksStandInLine) {
  TableReport table(false);
  const std::string first = table.rows({wide_row("a_long_backend_name", 10)}, {});
  json later = wide_row("cpu", 10);
  later["op"] = "other";
  const std::string second = table.rows({later}, {});
  EXPECT_EQ(lines_of(first)[3].find("time"), lines_of(second)[3].find("time"));
}

TEST(Reports, LinesBreakAtBlanks) {
  EXPECT_EQ(wrapped("aaa bbb ccc", 7, 2), "aaa bbb\n  ccc\n");
  EXPECT_EQ(wrapped("  aaa bbb", 7, 2), "  aaa\n  bbb\n");
  EXPECT_EQ(wrapped("a_word_that_is_too_long b", 7, 0), "a_word_that_is_too_long\nb\n");
  EXPECT_EQ(wrapped("", 7, 2), "\n");
}

// Rows, ratios and comparisons find each other by one text.
TEST(Reports, ACaseIsSpelledOnce) {
  Row made;
  made.op = "gemm";
  made.shape = "m=1,n=2,k=3";
  made.dtype = "bf16";
  made.cache = "cold";
  made.threads = 4;
  EXPECT_EQ(made.case_text(), "gemm m=1,n=2,k=3 bf16 threads=4 cold");
  EXPECT_EQ(case_text(to_json(made)), made.case_text());
  made.options = "b=kn";
  made.device = "cuda:1";
  made.regime = "gapped";
  EXPECT_EQ(made.case_text(), "gemm m=1,n=2,k=3 bf16 b=kn cuda:1 cold gapped");
  EXPECT_EQ(case_text(to_json(made)), made.case_text());
  json other = to_json(made);
  other["device"] = "cuda:0";
  Expected<Changes> changes = compare_results(document({to_json(made)}), document({other}), 0.03);
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->changes.size(), 2u);  // another device is another row
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
