// SPDX-License-Identifier: MIT
// src/workbench/report_html_environment.cpp: the machine, its limits, the backends, the method.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "workbench/report_html_sections.h"

namespace nrd::html {
namespace {

struct Fact {
  const char* key;
  const char* label;
};

constexpr std::array kMachine{Fact{"cpu", "CPU"},
                              Fact{"microarchitecture", "Microarchitecture"},
                              Fact{"isa", "ISA"},
                              Fact{"cores", "Cores"},
                              Fact{"threads_available", "Threads available"},
                              Fact{"caches", "Caches"},
                              Fact{"nominal", "Nominal limits"}};
constexpr std::array kSystem{Fact{"governor", "Governor"}, Fact{"turbo", "Turbo"},
                             Fact{"smt", "SMT"}, Fact{"thp", "Huge pages"},
                             Fact{"kernel", "Kernel"}};
constexpr std::array kRun{Fact{"nereid_version", "Nereid"}, Fact{"git", "Commit"},
                          Fact{"compiler", "Compiler"}, Fact{"date", "Date"}, Fact{"seed", "Seed"}};
constexpr std::array kMethod{Fact{"warmup", "Warm-up"}, Fact{"slice_ms", "Slice, ms"},
                             Fact{"rounds", "Rounds"}, Fact{"timer", "Timer"},
                             Fact{"cache", "Cache"}};

std::string caches_text(const Json& environment) {
  std::string out;
  for (const Json& cache : list(environment, "caches")) {
    const Number bytes = number(cache, "bytes");
    out += (out.empty() ? "" : ", ") + text(cache, "name");
    if (bytes) out += fmt::format(" {}", bytes_text(*bytes));
  }
  return out;
}

// f32_gflops_per_core -> f32 GFLOP/s per core
std::string words_of(std::string key) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = key.find(from);
    if (at != std::string::npos) key.replace(at, from.size(), to);
  };
  std::replace(key.begin(), key.end(), '_', ' ');
  replace("gflops", "GFLOP/s");
  replace("gops", "GOP/s");
  replace("gbps", "GB/s");
  replace("dram", "DRAM");
  replace("amx", "AMX");
  return key;
}

std::string nominal_text(const Json& environment) {
  std::string out;
  const Json& nominal = member(environment, "nominal");
  if (!nominal.is_object()) return describe(nominal);
  for (const auto& [key, value] : nominal.items()) {
    const std::string words = describe(value);
    if (words.empty() || words == "0") continue;
    std::string label = words_of(key);
    const std::size_t unit =
        std::min({label.find("GFLOP/s"), label.find("GOP/s"), label.find("GB/s")});
    if (unit == std::string::npos) {
      label += " " + words;
    } else {
      label.insert(unit, words + " ");
    }
    out += (out.empty() ? "" : ", ") + label;
  }
  return out;
}

// The kernel says 1 and 0.
std::string switch_text(const std::string& value) {
  return value == "1" ? "on" : value == "0" ? "off" : value;
}

std::string definition(const std::string& label, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(label), escape(value));
}

template <class Facts>
std::string facts_of(const Json& object, const Facts& facts) {
  std::string out;
  for (const Fact& fact : facts) {
    const std::string_view key = fact.key;
    std::string value = key == "caches"    ? caches_text(object)
                        : key == "nominal" ? nominal_text(object)
                                           : text(object, key);
    if (key == "smt" || key == "turbo") value = switch_text(value);
    out += definition(fact.label, value);
  }
  return out;
}

template <class... Lists>
std::string other_facts(const Json& object, std::set<std::string> known, const Lists&... lists) {
  const auto add = [&](const auto& facts) {
    for (const Fact& fact : facts) known.insert(fact.key);
  };
  (add(lists), ...);
  std::string out;
  if (!object.is_object()) return out;
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key)) out += definition(words_of(key), describe(value));
  }
  return out;
}

std::string group(const std::string& title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<div><h3>{}</h3>\n<dl class=\"facts-list\">\n{}</dl></div>\n", title, body);
}

std::string figure_cell(const Number& value) {
  return value && *value > 0 ? fmt::format("<td class=\"num\">{}</td>", significant(*value))
                             : fmt::format("<td class=\"num na\">{}</td>", kNotTaken);
}

std::string small_table(const std::string& title, const std::string& head,
                        const std::string& body) {
  if (body.empty()) return "";
  return fmt::format(
      "<div><h3>{0}</h3>\n<div class=\"scroll fit\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\"><table class=\"plain\"><thead><tr>{1}</tr></thead>\n<tbody>\n{2}"
      "</tbody></table></div></div>\n",
      title, head, body);
}

std::string column(const std::string& title) {
  return fmt::format("<th scope=\"col\" class=\"num\">{}</th>", title);
}

std::string arithmetic_table(const Json& environment) {
  static constexpr std::array kKinds{
      Fact{"f32_gflops", "f32 GFLOP/s"}, Fact{"bf16_dot_gflops", "bf16 GFLOP/s"},
      Fact{"int8_gops", "int8 GOP/s"}, Fact{"amx_bf16_gflops", "AMX bf16 GFLOP/s"},
      Fact{"amx_int8_gops", "AMX int8 GOP/s"}};
  const auto& measured = list(environment, "measured");
  std::string head = column("Threads"), body;
  std::vector<const char*> keys;
  for (const Fact& kind : kKinds) {
    const auto has = [&](const Json& entry) { return number(entry, kind.key).value_or(0) > 0; };
    if (!std::any_of(measured.begin(), measured.end(), has)) continue;
    keys.push_back(kind.key);
    head += column(kind.label);
  }
  if (keys.empty()) return "";
  for (const Json& entry : measured) {
    body +=
        fmt::format("<tr><th scope=\"row\" class=\"num\">{}</th>", escape(text(entry, "threads")));
    for (const char* key : keys) body += figure_cell(number(entry, key));
    body += "</tr>\n";
  }
  return small_table("Measured arithmetic", head, body);
}

std::string bandwidth_table(const Json& environment) {
  std::string body;
  for (const Json& entry : list(environment, "measured")) {
    for (const Json& stream : list(entry, "streams")) {
      body += fmt::format("<tr><th scope=\"row\" class=\"num\">{}</th><td>{}</td>",
                          escape(text(entry, "threads")), escape(text(stream, "level")));
      for (const char* key : {"read", "copy", "copy_nt"}) body += figure_cell(number(stream, key));
      body += "</tr>\n";
    }
  }
  return small_table("Measured bandwidth, GB/s",
                     column("Threads") + "<th scope=\"col\">Level</th>" + column("Read") +
                         column("Copy") + column("Copy, streaming"),
                     body);
}

std::string backends_table(const Json& environment) {
  std::string body;
  for (const Json& backend : list(environment, "backends")) {
    const Json& available = member(backend, "available");
    const bool here = available.is_boolean() && available.get<bool>();
    body += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>"
        "<td class=\"wrap\">{}</td></tr>\n",
        escape(text(backend, "name")), here ? "available" : "<span class=\"soft\">absent</span>",
        escape(text(backend, "version")), escape(text(backend, "reason")));
  }
  return small_table("Backends",
                     "<th scope=\"col\">Name</th><th scope=\"col\">State</th>"
                     "<th scope=\"col\">Version</th><th scope=\"col\">Note</th>",
                     body);
}

std::string warnings_box(const Json& environment) {
  std::string items;
  for (const Json& warning : list(environment, "warnings")) {
    items += fmt::format("<li>{}</li>\n", escape(describe(warning)));
  }
  if (items.empty()) return "";
  return "<div class=\"warnings\" role=\"note\"><h3>Warnings</h3>\n<ul>\n" + items +
         "</ul></div>\n";
}

}  // namespace

std::string environment_section(const Model& model) {
  const Json& environment = model.environment;
  std::string out =
      "<section id=\"environment\" aria-labelledby=\"h-environment\">\n"
      "<h2 id=\"h-environment\">Environment</h2>\n";
  out += warnings_box(environment);
  const std::string command = text(environment, "command");
  if (!command.empty()) {
    out += fmt::format("<pre class=\"command\" tabindex=\"0\"><code>{}</code></pre>\n",
                       escape(command));
  }
  const std::string groups =
      group("Machine", facts_of(environment, kMachine)) +
      group("System", facts_of(environment, kSystem)) +
      group("Build and run", facts_of(environment, kRun)) +
      group("Other",
            other_facts(environment, {"command", "measured", "backends", "method", "warnings"},
                        kMachine, kSystem, kRun));
  if (groups.empty()) out += "<p class=\"soft\">The report does not say where it was made.</p>\n";
  out += "<div class=\"groups\">\n" + groups + "</div>\n<div class=\"tables\">\n";
  out += arithmetic_table(environment) + bandwidth_table(environment) + backends_table(environment);
  return out + "</div>\n</section>\n";
}

std::string method_section(const Model& model) {
  const Json& method = member(model.environment, "method");
  std::string facts = facts_of(method, kMethod) + other_facts(method, {}, kMethod);
  if (!facts.empty()) facts = "<dl class=\"facts-list across\">\n" + facts + "</dl>\n";
  const char* source =
      model.derived
          ? "This report has no paired ratios: the speed-ups are quotients of medians, "
            "without an interval; even means within 3 %."
          : "A speed-up is the median over paired slices, taken in turns, with a "
            "bootstrap 95 % interval. Faster: the whole interval is over 1. Slower: the "
            "interval is under 1 or the median under 0.97. Else even. The mean’s "
            "interval combines those of its cases: it covers noise, not the choice of cases.";
  return fmt::format(
      "<section id=\"method\" aria-labelledby=\"h-method\">\n<h2 id=\"h-method\">Method</h2>\n{}"
      "<div class=\"prose\"><p>{}</p>\n<p>Times are medians; ± is half the distance from the 10th "
      "to the 90th percentile. Roofline is the least time that the measured arithmetic and "
      "bandwidth "
      "allow, over the time taken. A case in which a side failed, or shows more than 100 % of a "
      "limit, stays in the table and leaves the mean.</p></div>\n</section>\n",
      facts, source);
}

}  // namespace nrd::html
