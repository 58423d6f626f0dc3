// SPDX-License-Identifier: MIT
// src/cli/session.cpp: the registry of a run, messages and reports.
#include "cli/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/device.h"
#include "base/env.h"
#include "base/files.h"
#include "dispatch/strict.h"
#include "workbench/backends/peers.h"
#include "workbench/report.h"
#include "workbench/report_html.h"
#include "workbench/user_ops.h"

namespace nrd::cli {

void fail(int code, const std::string& message) {
  std::cerr << "nereid: " << message << "\n";
  std::exit(code);
}

void fail(const Error& error) {
  const bool misuse = error.code != ErrorCode::kEnvironment && error.code != ErrorCode::kInternal &&
                      error.code != ErrorCode::kNumericalOverflow;
  fail(misuse ? kUsage : kFailed, error.message());
}

KernelRegistry& Session::registry() {
  if (registry_) return *registry_;
  register_user_ops();
  if (Expected<bool> strict = strict_from_environment(); !strict)
    fail(kUsage, strict.error().message());
  Expected<Machine> machine = Machine::host();
  if (!machine) fail(machine.error());
  registry_ = std::make_unique<KernelRegistry>(std::move(*machine));
  for (std::unique_ptr<Backend>& peer : make_peer_backends())
    if (Expected<void> added = registry_->add(std::move(peer)); !added) fail(added.error());
  std::istringstream more(env("NEREID_PLUGINS").value_or(""));
  for (std::string path; std::getline(more, path, ':');)
    if (!path.empty()) plugins.push_back(path);
  for (const std::string& path : plugins)
    if (Expected<std::string> name = registry_->add_plugin(path); !name)
      fail(kUsage, name.error().message());
  return *registry_;
}

std::string Session::register_user_ops() {
  if (registered_) return last_op_;
  registered_ = true;
  for (std::string& text : user_ops) {
    Expected<LibraryFunction> function = parse_library_function(text);
    if (!function) fail(function.error());
    if (function->c_signature.empty()) function->c_signature = c_signature;
    if (function->signature.empty()) function->signature = op_signature;
    text = library_function_text(*function);  // what workers are given
    Expected<UserOpRequest> request = load_library_function(*function);
    if (!request) fail(request.error());
    Expected<UserOp> op = register_user_op(*request, prove_in_child);
    if (!op) fail(op.error());
    last_op_ = function->symbol;
  }
  return last_op_;
}

bool color_output() { return isatty(STDOUT_FILENO) && !env("NO_COLOR"); }

void show_progress(const std::string& what, double fraction) {
  if (!isatty(STDERR_FILENO)) return;
  if (what.empty()) {
    std::cerr << "\r\033[K" << std::flush;
    return;
  }
  std::cerr << fmt::format("\r\033[K[{:3.0f}%] {:.90}", 100 * fraction, what) << std::flush;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

void ReportOptions::add_to(CLI::App& verb) {
  auto optional_file = [&](const char* flag, std::vector<std::string>& file, const char* what) {
    verb.add_option(flag, file, what)->expected(0, 1)->type_name("[FILE]");
  };
  optional_file("--json", json, "write JSON to FILE, or alone to standard output");
  optional_file("--csv", csv, "write CSV likewise");
  optional_file("--md", md, "write Markdown likewise");
  verb.add_option("--html", html, "write one self-contained page to FILE");
}

void ReportOptions::note_given(const CLI::App& verb) {
  json_given = verb.count("--json") > 0;
  csv_given = verb.count("--csv") > 0;
  md_given = verb.count("--md") > 0;
}

namespace {

void write_file(const std::string& path, const std::string& content) {
  if (Expected<void> saved = save_file(path, content); !saved) {
    Error error = saved.error();
    error.hint = "the report could not be written";
    fail(error);
  }
}

// True when the report went to standard output.
bool write_report(bool given, const std::vector<std::string>& file, const std::string& content) {
  if (!given) return false;
  if (!file.empty() && !file.front().empty()) {
    write_file(file.front(), content);
    return false;
  }
  std::cout << content;
  return true;
}

}  // namespace

void ReportOptions::write(const nlohmann::json& document) const {
  bool quiet = write_report(json_given, json, document.dump(1) + "\n");
  quiet = write_report(csv_given, csv, csv_given ? render_csv(document) : "") || quiet;
  quiet = write_report(md_given, md, md_given ? render_markdown(document) : "") || quiet;
  if (!html.empty()) write_file(html, render_html(document));
  if (!quiet) std::cout << render_table(document, color_output());
}

void CaseOptions::add_to(CLI::App& verb, bool timing) {
  verb.add_option("--shape", shapes, "sizes, e.g. 'm=1,16;n=1024..8192:*2;k=4096'; may be repeated")
      ->delimiter('\0');
  verb.add_option("--dtype", dtypes, "f32, or one word an operand: bf16,f32->bf16; may be repeated")
      ->delimiter('\0');
  verb.add_option("--opt", options, "key=value,... attributes; b=kn; batch_invariant=yes; +operand")
      ->delimiter('\0');
  verb.add_option("--device", device, "cpu, cuda or cuda:N");
  verb.add_option("--data", data, "normal; wide, outliers, denormal, special, constant, full")
      ->capture_default_str();
  verb.add_option("--seed", seed, "seed of the data")->capture_default_str();
  verb.add_option("--threads", threads, "a list, e.g. 1,2")->capture_default_str();
  if (!timing) return;
  verb.add_option("--cache", cache, "warm, cold or both; on a device cold unless said")
      ->check(CLI::IsMember({"warm", "cold", "both"}));
  verb.add_option("--regime", regime, "on a device: back_to_back, gapped or both")
      ->check(CLI::IsMember({"back_to_back", "gapped", "both"}));
}

bool CaseOptions::take_word(const std::string& word) {
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::pair<const char*, std::string*> fields[] = {{"device", &device},
                                                         {"threads", &threads},
                                                         {"cache", &cache},
                                                         {"regime", &regime},
                                                         {"data", &data}};
  for (const auto& [name, field] : fields) {
    if (equals == word.npos || key != name) continue;
    *field = word.substr(equals + 1);
    return true;
  }
  return false;
}

bool takes_f64(const Op& op) {
  bool any = false;
  for (const OperandSpec& operand : signatures(op).front().operands) {
    if (operand.dtypes == DTypeClass::kFloat) return false;
    any = any || operand.dtypes == DTypeClass::kFloatOrF64;
  }
  return any;
}

namespace {

template <class T>
T or_fail(Expected<T> value) {
  if (!value) fail(value.error());
  return std::move(*value);
}

int thread_count(const std::string& text) {
  char* end = nullptr;
  const long count = std::strtol(text.c_str(), &end, 10);
  if (*end != 0 || count < 1)
    fail(kUsage, fmt::format("--threads: got '{}', allowed: a whole number of 1 or more", text));
  return static_cast<int>(std::min(count, 1L << 20));
}

std::vector<CacheState> cache_states(const std::string& text, bool on_cpu) {
  const std::string chosen = text.empty() ? on_cpu ? "warm" : "cold" : text;
  std::vector<CacheState> list;
  for (CacheState state : {CacheState::kWarm, CacheState::kCold})
    if (chosen == "both" || chosen == word(state)) list.push_back(state);
  if (list.empty()) fail(kUsage, fmt::format("cache: got '{}', allowed: warm, cold, both", text));
  return list;
}

std::vector<Regime> regimes(const std::string& text, bool on_cpu) {
  if (text == "both") return {Regime::kBackToBack, Regime::kGapped};
  if (text.empty()) return {on_cpu ? Regime::kEager : Regime::kBackToBack};
  return {or_fail(parse_regime(text))};
}

}  // namespace

std::vector<CaseSpec> CaseOptions::cases() const {
  const Op& found = *or_fail(find_op(op));
  const std::vector<std::string> shape_list = shapes.empty() ? std::vector{found.shape} : shapes;
  const std::vector<std::string> dtype_list =
      dtypes.empty() ? std::vector<std::string>{takes_f64(found) ? "f64" : "f32"} : dtypes;
  CaseSpec spec;
  spec.op = op;
  spec.seed = seed;
  spec.device = device.empty() ? Device{} : or_fail(parse_device(device));
  spec.distribution = or_fail(parse_distribution(data));
  for (const std::string& option : options)
    if (Expected<void> applied = apply_options(spec, option); !applied) fail(applied.error());
  const bool on_cpu = spec.device.kind == DeviceKind::kCpu;
  std::vector<CaseSpec> list;
  for (const std::string& shape : shape_list) {
    for (const auto& sizes : or_fail(parse_shapes(shape))) {
      spec.request.sizes = sizes;
      for (const std::string& dtype : dtype_list) {
        spec.request.dtypes = dtype;
        for (const std::string& count : split_list(threads)) {
          spec.threads = thread_count(count);
          for (CacheState state : cache_states(cache, on_cpu)) {
            spec.cache = state;
            for (Regime one : regimes(regime, on_cpu)) {
              spec.regime = one;
              list.push_back(spec);
            }
          }
        }
      }
    }
  }
  return list;
}

}  // namespace nrd::cli
