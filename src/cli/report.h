// SPDX-License-Identifier: MIT
// src/cli/report.h: where rows go: the terminal and files, as they come.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/output_file.h"
#include "workbench/report.h"
#include "workbench/result.h"

namespace nrd::cli {

// One of the forms of a report that can grow, and where it goes.
struct ReportTarget {
  std::string flag;                // "--json"
  std::vector<std::string> given;  // its file, where one was given
  bool asked = false;
  std::optional<OutputFile> file;  // none: standard output

  bool to_stdout() const { return asked && !file; }
};

// --json [FILE] of a verb that says one object.
class JsonOption {
 public:
  void add_to(CLI::App& verb);
  // After parsing and before any work, as reports are.
  void open(const CLI::App& verb);
  bool replaces_text() const { return target_.to_stdout(); }
  // Where it was asked for; ends the program when the file cannot be written.
  void write(const nlohmann::json& object) const;

 private:
  ReportTarget target_{.flag = "--json", .given = {}, .file = {}};
};

// --json [FILE] --csv [FILE] --md [FILE] --html FILE
struct ReportOptions {
  ReportTarget json{.flag = "--json", .given = {}, .file = {}};
  ReportTarget csv{.flag = "--csv", .given = {}, .file = {}};
  ReportTarget md{.flag = "--md", .given = {}, .file = {}};
  ReportTarget html{.flag = "--html", .given = {}, .file = {}};

  void add_to(CLI::App& verb);
  // What was given, after parsing and before any work: every file is known to be writable when this
  // returns. Ends the program where one is not, or where two reports would mix.
  void open(const CLI::App& verb);
  void open();
  // A report takes the place of the table on standard output.
  bool uses_stdout() const { return json.to_stdout() || csv.to_stdout() || md.to_stdout(); }

 private:
  std::vector<ReportTarget*> all() { return {&json, &csv, &md, &html}; }
};

// How a run is told where that is not as `bench` does it.
struct ReportForm {
  // Rows that are new, and the ratios of these, for the terminal; the table unless it is there.
  std::function<std::string(const std::vector<Row>& rows, const std::vector<RatioRow>& ratios)>
      lines;
  // A further field of the document, made anew from all that there is so far.
  std::string field;
  std::function<nlohmann::json(const Results& so_far, bool last)> content;
};

// Shows the rows of a run and writes them into every file, case by case. What is in a file is whole
// at any time; the run goes on where a file cannot be written any more, and its end says so.
class RunReport {
 public:
  RunReport(const ReportOptions& options, nlohmann::json environment, ReportForm form = {});

  // What is new since the last call, with the environment as it is now known.
  void add(const Results& so_far, const nlohmann::json& environment);
  // After the last row. False when a file could not be written.
  bool finish(const Results& results, const nlohmann::json& environment);

 private:
  void take_new(const Results& so_far, bool last);
  void show(const std::string& text);
  void write(const ReportTarget& target, const std::string& content);
  void write_files(bool last);
  std::string json_text() const;
  std::string html_text() const;

  const ReportOptions& options_;
  ReportForm form_;
  nlohmann::json environment_, content_;
  bool complete_ = false;
  size_t rows_ = 0, ratios_ = 0;  // that were taken
  // Each row's text is made once, so that a run of thousands of cases is written in linear time.
  std::string json_rows_, json_ratios_, csv_, md_;
  TableReport table_;
  bool failed_ = false;
};

}  // namespace nrd::cli
