// SPDX-License-Identifier: MIT
// src/cli/report.cpp: rows to the terminal and into files.
#include "cli/report.h"

#include <fmt/format.h>

#include <iostream>
#include <map>

#include "cli/session.h"
#include "workbench/json_fields.h"
#include "workbench/report_html.h"

namespace nrd::cli {
namespace {

template <class Item>
void append_lines(std::string& list, const std::vector<Item>& items) {
  for (const Item& item : items)
    list += (list.empty() ? "\n  " : ",\n  ") + dump_line(to_json(item));
}

template <class Item>
std::vector<Item> from(const std::vector<Item>& list, size_t first) {
  return {list.begin() + static_cast<ptrdiff_t>(first), list.end()};
}

}  // namespace

namespace {

void add_optional_file(CLI::App& verb, ReportTarget& target, const char* what) {
  verb.add_option(target.flag, target.given, what)->expected(0, 1)->type_name("[FILE]");
}

// Its file, known to be writable; ends the program where it is not.
void open_file(ReportTarget& target) {
  if (!target.asked || target.given.empty() || target.given.front().empty()) return;
  target.file = or_fail(OutputFile::open(target.given.front()));
}

constexpr const char* kJsonHelp = "write JSON to FILE, or alone to standard output";

}  // namespace

void JsonOption::add_to(CLI::App& verb) { add_optional_file(verb, target_, kJsonHelp); }

void JsonOption::open(const CLI::App& verb) {
  target_.asked = verb.count(target_.flag) > 0;
  open_file(target_);
}

void JsonOption::write(const nlohmann::json& object) const {
  if (!target_.asked) return;
  const std::string text =
      object.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (!target_.file)
    std::cout << text << std::flush;
  else if (Expected<void> written = target_.file->write(text); !written)
    fail(written.error());
}

void ReportOptions::add_to(CLI::App& verb) {
  add_optional_file(verb, json, kJsonHelp);
  add_optional_file(verb, csv, "write CSV likewise");
  add_optional_file(verb, md, "write Markdown likewise");
  verb.add_option(html.flag, html.given, "write one self-contained page to FILE")
      ->expected(1)
      ->type_name("FILE");
}

void ReportOptions::open(const CLI::App& verb) {
  for (ReportTarget* target : all()) target->asked = verb.count(target->flag) > 0;
  open();
}

void ReportOptions::open() {
  std::map<std::string, std::string> taken;  // by path, or "standard output"
  for (ReportTarget* target : all()) {
    if (!target->asked) continue;
    open_file(*target);
    if (!target->file && target == &html)
      fail(kUsage, "--html: got no file, allowed: the name of one");
    const std::string place = target->file ? target->file->target() : "standard output";
    const auto [other, fresh] = taken.try_emplace(place, target->flag);
    if (!fresh && place != "/dev/null")
      fail(kUsage, fmt::format("{} and {} both write to {}; give one of them another file",
                               other->second, target->flag, place));
  }
}

RunReport::RunReport(const ReportOptions& options, nlohmann::json environment, ReportForm form)
    : options_(options),
      form_(std::move(form)),
      environment_(std::move(environment)),
      csv_(csv_head()),
      md_(markdown_head(environment_)),
      table_(color_output(), output_width()) {
  if (options_.csv.to_stdout()) show(csv_);
  if (options_.md.to_stdout()) show(md_);
  // What is not there yet is there from now on. An older file stays until there is a row.
  for (const ReportTarget* target : {&options_.json, &options_.csv, &options_.md, &options_.html})
    if (target->file && target->file->replaceable() && !target->file->exists())
      write(*target, target == &options_.json  ? json_text()
                     : target == &options_.csv ? csv_
                     : target == &options_.md  ? md_
                                               : html_text());
}

void RunReport::add(const Results& so_far, const nlohmann::json& environment) {
  environment_ = environment;
  take_new(so_far, false);
  write_files(false);
}

bool RunReport::finish(const Results& results, const nlohmann::json& environment) {
  environment_ = environment;
  take_new(results, true);
  complete_ = results.complete();
  write_files(true);
  if (options_.json.to_stdout()) show(json_text());
  return !failed_;
}

void RunReport::take_new(const Results& so_far, bool last) {
  const std::vector<Row> rows = from(so_far.rows, rows_);
  const std::vector<RatioRow> ratios = from(so_far.ratios, ratios_);
  append_lines(json_rows_, rows);
  append_lines(json_ratios_, ratios);
  const std::string csv = csv_rows(rows), md = markdown_rows(rows, ratios);
  csv_ += csv;
  md_ += md;
  if (options_.csv.to_stdout()) show(csv);
  if (options_.md.to_stdout()) show(md);
  if (!options_.uses_stdout())
    show(form_.lines ? form_.lines(rows, ratios) : table_.rows(rows, ratios));
  if (form_.content) content_ = form_.content(so_far, last);
  rows_ = so_far.rows.size();
  ratios_ = so_far.ratios.size();
}

void RunReport::show(const std::string& text) {
  if (text.empty()) return;
  show_progress("", 0);
  std::cout << text << std::flush;
}

void RunReport::write(const ReportTarget& target, const std::string& content) {
  Expected<void> written = target.file->write(content);
  if (written) return;
  if (!failed_) std::cerr << "nereid: " << target.flag << ": " << written.error().message() << "\n";
  failed_ = true;
}

void RunReport::write_files(bool last) {
  // What takes its content once gets it at the end.
  auto due = [&](const ReportTarget& t) { return t.file && (last || t.file->replaceable()); };
  if (last) failed_ = false;  // the last attempt is what counts
  if (due(options_.json)) write(options_.json, json_text());
  if (due(options_.csv)) write(options_.csv, csv_);
  if (due(options_.md)) write(options_.md, md_);
  if (due(options_.html)) write(options_.html, html_text());
}

std::string RunReport::json_text() const {
  const std::string more =
      content_.is_null() ? "" : fmt::format(",\n \"{}\": {}", form_.field, dump_line(content_));
  return fmt::format(
      "{{\n \"schema\": 1,\n \"complete\": {},\n \"environment\": {},\n \"results\": [{}],\n "
      "\"ratios\": [{}]{}\n}}\n",
      complete_, environment_.dump(1, ' ', false, nlohmann::json::error_handler_t::replace),
      json_rows_, json_ratios_, more);
}

std::string RunReport::html_text() const { return render_html(json_text()); }

}  // namespace nrd::cli
