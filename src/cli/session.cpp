// SPDX-License-Identifier: MIT
// src/cli/session.cpp: the registry of a run, messages, and cases out of options.
#include "cli/session.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <limits>
#include <sstream>

#include "base/device.h"
#include "base/env.h"
#include "dispatch/strict.h"
#include "workbench/backends/peers.h"
#include "workbench/report.h"
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

Prover Session::prover() const {
  if (prove == "here") return prove_function;
  if (prove == "no") return prove_nothing;
  return prove_in_child;
}

std::string Session::register_user_ops() {
  if (registered_) return last_op_;
  registered_ = true;
  const auto needs_op = [&](const char* option, const std::string& given) {
    if (user_ops.empty() && !given.empty())
      fail(kUsage, fmt::format("{}: got '{}' without --op, allowed: beside --op", option, given));
  };
  needs_op("--signature", c_signature);
  needs_op("--as", op_signature);
  for (std::string& text : user_ops) {
    Expected<LibraryFunction> function = parse_library_function(text);
    if (!function) fail(function.error());
    if (function->c_signature.empty()) function->c_signature = c_signature;
    if (function->signature.empty()) function->signature = op_signature;
    text = library_function_text(*function);  // what workers are given
    Expected<UserOpRequest> request = load_library_function(*function);
    if (!request) fail(request.error());
    Expected<UserOp> op = register_user_op(*request, prover());
    if (!op) fail(op.error());
    last_op_ = function->symbol;
  }
  return last_op_;
}

namespace {

// A terminal that knows no escape sequences says so.
bool is_terminal(int fd) { return isatty(fd) && env("TERM") != "dumb"; }

size_t terminal_width(int fd) {
  winsize size{};
  const bool known = isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kTableWidth;
}

}  // namespace

bool color_output() { return is_terminal(STDOUT_FILENO) && env("NO_COLOR").value_or("").empty(); }

size_t output_width() { return terminal_width(STDOUT_FILENO); }

void show_progress(const std::string& what, double fraction) {
  if (!is_terminal(STDERR_FILENO)) return;
  if (what.empty()) {
    std::cerr << "\r\033[K" << std::flush;
    return;
  }
  const size_t room = std::max<size_t>(terminal_width(STDERR_FILENO), 10) - 8;
  std::cerr << fmt::format("\r\033[K[{:3.0f}%] {:.{}}", 100 * fraction, what, room) << std::flush;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

namespace {

// The whole text as a number of digits only: no sign, no blank, no overflow.
std::optional<uint64_t> parse_whole(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

CLI::Validator validator(std::string allowed, std::function<bool(const std::string&)> passes) {
  return CLI::Validator(
      [=](std::string& text) {
        return passes(text) ? "" : fmt::format("got '{}', allowed: {}", text, allowed);
      },
      "");
}

}  // namespace

CLI::Validator number_between(double low, double high) {
  return validator(fmt::format("a number from {} to {}", low, high), [=](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == 0 && value >= low && value <= high;
  });
}

CLI::Validator whole_between(uint64_t low, uint64_t high) {
  return validator(fmt::format("a whole number from {} to {}", low, high),
                   [=](const std::string& text) {
                     const std::optional<uint64_t> value = parse_whole(text);
                     return value && *value >= low && *value <= high;
                   });
}

std::vector<int> thread_counts(const std::string& text) {
  std::vector<int> counts;
  for (const std::string& part : split_list(text)) {
    const std::optional<uint64_t> count = parse_whole(part);
    if (!count || *count < 1 || *count > kMostThreads)
      fail(kUsage, fmt::format("--threads: got '{}', allowed: 1 to {}", part, kMostThreads));
    counts.push_back(static_cast<int>(*count));
  }
  if (counts.empty())
    fail(kUsage, fmt::format("--threads: got '{}', allowed: a list of counts, e.g. 1,2", text));
  return counts;
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
  verb.add_option("--seed", seed, "seed of the data")
      ->check(whole_between(0, std::numeric_limits<uint64_t>::max()))
      ->capture_default_str();
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
        for (int count : thread_counts(threads)) {
          spec.threads = count;
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
