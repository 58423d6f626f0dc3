// SPDX-License-Identifier: MIT
// tests/workbench/compare_test.cpp: comparing result files, and files that are none.
#include "workbench/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "workbench/report.h"
#include "workbench/result.h"

namespace nrd {
namespace {

using nlohmann::json;

Row row(const char* op, Outcome outcome, std::vector<double> slices) {
  Row row;
  row.op = op;
  row.shape = "n=8";
  row.dtype = "f32";
  row.backend = "cpu";
  row.isa = "avx2";
  row.cache = "warm";
  row.outcome = outcome;
  row.slices_us = std::move(slices);
  return row;
}

std::string verdict(const Changes& changes, const std::string& op) {
  for (const Change& c : changes.changes)
    if (c.row.starts_with(op + " ")) return c.verdict;
  return "";
}

TEST(Compare, JudgesEachRow) {
  constexpr Outcome kPass = Outcome::kPass, kFail = Outcome::kFail;
  const std::vector<Row> before = {row("a", kPass, {10, 10.1, 9.9}),
                                   row("b", kPass, {10, 10.1, 9.9}),
                                   row("c", kPass, {10, 10.1, 9.9}),
                                   row("d", kPass, {1}),
                                   row("e", kFail, {1}),
                                   row("gone", kPass, {1})};
  const std::vector<Row> after = {row("a", kPass, {5, 5.1, 4.9}),
                                  row("b", kPass, {20, 20.1, 19.9}),
                                  row("c", kPass, {10, 10.1, 9.9}),
                                  row("d", kFail, {1}),
                                  row("e", kPass, {1}),
                                  row("new", kPass, {1})};
  const Changes changes = compare_results(before, after, 0.03);
  EXPECT_EQ(verdict(changes, "a"), "faster");
  EXPECT_EQ(verdict(changes, "b"), "slower");
  EXPECT_EQ(verdict(changes, "c"), "same");
  EXPECT_EQ(verdict(changes, "d"), "failing");
  EXPECT_EQ(verdict(changes, "e"), "fixed");
  EXPECT_EQ(verdict(changes, "gone"), "missing");
  EXPECT_EQ(verdict(changes, "new"), "new");
  EXPECT_TRUE(changes.regressed());
  EXPECT_FALSE(compare_results(before, before, 0.03).regressed());
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
  const Document odd = document_from_json(
      json::parse(R"({"schema":1,"results":[{"op":null,"threads":"x","slices_us":3}, 7]})"));
  EXPECT_EQ(compare_results(odd.rows, odd.rows, 0.03).changes.size(), 1u);
  std::remove(path.c_str());
}

TEST(Reports, TableMarkdownAndCsvHoldEveryRow) {
  std::vector<Row> rows = {row("alpha", Outcome::kPass, {1, 2, 3}),
                           row("beta", Outcome::kError, {})};
  rows[1].reason = "a \"quoted\", reason | with a bar";
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
Row wide_row(std::string backend, double us) {
  Row wide = row("rmsnorm_rope", Outcome::kPass, {us});
  wide.shape = "batch=16,seq=4096,hidden=16384,head_dim=128";
  wide.dtype = "bf16,bf16,f32,f32->bf16";
  wide.options = "cast=before_weight,eps=1e-06";
  wide.backend = std::move(backend);
  wide.kernel = "a_kernel_whose_name_takes_much_more_than_its_share";
  wide.median_us = wide.p10_us = us;
  wide.p90_us = 2 * us;
  wide.gflops = 123456.7;
  wide.gbps = 12345.6;
  wide.percent_of_roofline = 1234.5;
  wide.bound = "compute";
  wide.max_abs = wide.l2_rel = 1.25e-5;
  wide.note =
      "a remark that says a great deal, and more than fits into one line of a terminal that is "
      "eighty columns wide";
  return wide;
}

TEST(Reports, ATableFitsItsWidth) {
  const std::vector<Row> rows = {wide_row("cpu", 1.5), wide_row("a_plugin_with_a_long_name", 123)};
  const std::vector<RatioRow> ratios = {{case_text(rows[0]), "cpu", "x", {12.34, 11.1, 13.3}}};
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
  Row checked = row("alpha", Outcome::kPass, {});
  checked.max_abs = 1e-7;
  const std::string table = TableReport(false).rows({checked}, {});
  EXPECT_NE(table.find("max abs"), std::string::npos);
  for (const char* title : {"time", "speed-up", "GFLOP/s", "rel L2"})
    EXPECT_EQ(table.find(title), std::string::npos) << title;
}

TEST(Reports, BlocksStandInLine) {
  TableReport table(false);
  const std::string first = table.rows({wide_row("a_long_backend_name", 10)}, {});
  Row later = wide_row("cpu", 10);
  later.op = "other";
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
  EXPECT_EQ(case_text(made), "gemm m=1,n=2,k=3 bf16 threads=4 cold");
  made.options = "b=kn";
  made.device = "cuda:1";
  made.regime = "gapped";
  EXPECT_EQ(case_text(made), "gemm m=1,n=2,k=3 bf16 b=kn cuda:1 cold gapped");
  EXPECT_EQ(to_json(made)["case"], case_text(made));
  Row other = made;
  other.device = "cuda:0";
  EXPECT_EQ(compare_results({made}, {other}, 0.03).changes.size(), 2u);  // another device
}

// What comes back from a file is what was written, in every field.
TEST(Reports, RowsComeBackFromJson) {
  Row full = wide_row("cpu", 1.5);
  full.outcome = Outcome::kFail;
  full.threads = 7;
  full.first_bad = "out[17]";
  full.flags = {"noisy", "over"};
  full.throttled = true;
  full.watts = 12.5;
  const json written = to_json(full);
  EXPECT_EQ(to_json(row_from_json(written)), written);
  EXPECT_EQ(identity(row_from_json(written)), identity(full));
  for_each_field(full, [&](const char* name, const auto&) { EXPECT_TRUE(written.contains(name)); });
  full.median_us = HUGE_VAL;  // JSON has no such number
  EXPECT_FALSE(row_from_json(to_json(full)).median_us);
  const RatioRow ratio{"case", "cpu", "x", {1.5, 1.25, 2}};
  EXPECT_EQ(to_json(ratio_from_json(to_json(ratio))), to_json(ratio));
  EXPECT_EQ(row_from_json(json(7)).outcome, Outcome::kError);
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
