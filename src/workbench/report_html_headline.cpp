// SPDX-License-Identifier: MIT
// src/workbench/report_html_headline.cpp: what the report says, first and in large letters.
#include <fmt/format.h>

#include <algorithm>

#include "workbench/report_html_sections.h"
#include "workbench/report_html_svg.h"
#include "workbench/stats.h"

namespace nrd::html {
namespace {

std::string case_name(const Model& model, const Ratio& ratio) {
  return ratio.case_index < model.cases.size() ? model.cases[ratio.case_index].label
                                               : ratio.case_text;
}

std::string joined(const std::vector<std::string>& names, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < limit; ++i) {
    out += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > limit) out += fmt::format(" and {} more", names.size() - limit);
  return out;
}

std::string sentence(const Model& model) {
  if (model.rows.empty()) return "Nothing was measured";
  if (model.count(Verdict::kPass) == 0) return "No row passed";
  for (const Pair& pair : model.pairs) {
    if (pair.counted.empty()) continue;
    return fmt::format("{} is {} as fast as {}", escape(pair.backend),
                       ratio_text(pair.geomean.value), escape(pair.against));
  }
  return fmt::format("{} on {}", escape(joined(model.ops, 4)), escape(joined(model.backends, 4)));
}

// All ratios of a pair as ticks on one line, the geomean's interval as a band, 1.0 as a rule.
std::string ratio_strip(const Model& model, const Pair& pair) {
  std::vector<double> values{0.8, 1.25};
  for (const Ratio* ratio : pair.counted) values.push_back(ratio->median);
  const LogScale scale = scale_around(values, 0.04);
  constexpr double kTop = 4, kBottom = 26;
  std::string body = svg_line(0, kBottom, 1, kBottom, "grid");
  for (const double tick : ticks(scale)) {
    body += svg_text(percent(scale.share(tick)), 40, "tick middle", tick_text(tick));
  }
  body += svg_line(scale.share(1), 0, scale.share(1), kBottom, "one");
  for (const Ratio* ratio : pair.counted) {
    const double x = scale.share(ratio->median);
    const std::string words =
        fmt::format("{}: {}", case_name(model, *ratio), ratio_text(ratio->median));
    body += fmt::format("<g>{}{}</g>", svg_title(words),
                        svg_line(x, kTop + 4, x, kBottom, "ratio-tick"));
  }
  const double mean = scale.share(pair.geomean.value);
  body += fmt::format(R"(<use class="mean" href="#m4" x="{}" y="{}"/>)", percent(mean), kTop);
  return svg(44,
             fmt::format("All {} speed-ups of {} against {} on a logarithmic line",
                         pair.counted.size(), pair.backend, pair.against),
             body);
}

std::string extreme(const Model& model, const char* word, const Ratio& ratio) {
  return fmt::format("<dt>{}</dt><dd><b>{}</b> {}</dd>", word, ratio_text(ratio.median),
                     escape(case_name(model, ratio)));
}

std::string interval_text(const Geomean& mean) {
  if (!mean.low || !mean.high) return "no interval: taken from medians";
  return fmt::format("{} to {}, 95 %", ratio_text(*mean.low), ratio_text(*mean.high));
}

std::string score(const Pair& pair) {
  const auto tally = [&](auto predicate) {
    return std::count_if(pair.counted.begin(), pair.counted.end(), predicate);
  };
  const auto faster = tally([](const Ratio* r) { return r->faster() && !r->slower(); });
  const auto slower = tally([](const Ratio* r) { return r->slower(); });
  const auto even = static_cast<long>(pair.counted.size()) - faster - slower;
  return fmt::format(
      R"(<p class="score"><span><b>{}</b> faster</span> <span><b>{}</b> even</span> )"
      R"(<span{}><b>{}</b> slower</span></p>)",
      faster, even, slower > 0 ? R"( class="bad")" : "", slower);
}

std::string pair_card(const Model& model, const Pair& pair) {
  std::string out =
      fmt::format("<article class=\"card\"><h3>{} <span class=\"soft\">against</span> {}</h3>\n",
                  escape(pair.backend), escape(pair.against));
  if (pair.counted.empty()) {
    return out +
           "<p class=\"soft\">No case counts: in each of them one side failed or shows an "
           "impossible figure.</p></article>\n";
  }
  const auto by_median = [](const Ratio* a, const Ratio* b) { return a->median < b->median; };
  const auto [worst, best] =
      std::minmax_element(pair.counted.begin(), pair.counted.end(), by_median);
  out += fmt::format("<p class=\"big\">{} <small>{}</small></p>\n", ratio_text(pair.geomean.value),
                     interval_text(pair.geomean));
  out += score(pair) + ratio_strip(model, pair) + "<dl class=\"extremes\">";
  out += extreme(model, "Worst", **worst);
  if (pair.counted.size() > 1) out += extreme(model, "Best", **best);
  out += "</dl>";
  const std::size_t left_out = pair.ratios.size() - pair.counted.size();
  out += fmt::format("<p class=\"note\">Geometric mean of {}{}</p></article>\n",
                     count_text(pair.counted.size(), "case", "cases"),
                     left_out == 0 ? "."
                                   : fmt::format("; {} left out: a side failed or is over "
                                                 "100 % of a limit.",
                                                 left_out));
  return out;
}

std::string tally_card(const Model& model) {
  struct Part {
    Verdict verdict;
    const char* word;
    const char* style;
  };
  static constexpr Part kParts[] = {{Verdict::kPass, "passed", "v-pass"},
                                    {Verdict::kFail, "failed", "v-fail"},
                                    {Verdict::kError, "in error", "v-error"},
                                    {Verdict::kSkipped, "skipped", "v-skipped"}};
  const double total = std::max<double>(1, static_cast<double>(model.rows.size()));
  std::string bar, words;
  double at = 0;
  for (const Part& part : kParts) {
    const std::size_t count = model.count(part.verdict);
    const double share = static_cast<double>(count) / total;
    bar += fmt::format(R"(<rect class="{}" x="{}" width="{}" height="10"/>)", part.style,
                       percent(at), percent(share));
    at += share;
    words += fmt::format(R"(<li class="{}"><b>{}</b> {}</li>)", part.style, count, part.word);
  }
  const auto flagged = std::count_if(model.rows.begin(), model.rows.end(),
                                     [](const Row& row) { return !row.flags.empty(); });
  return fmt::format(
      "<article class=\"card\"><h3>Rows</h3>\n<p class=\"big\">{} <small>{}, {}</small></p>\n{}"
      "<ul class=\"tally\">{}</ul>\n<p class=\"note\">{}{}</p></article>\n",
      model.rows.size(), count_text(model.cases.size(), "case", "cases"),
      count_text(model.backends.size(), "backend", "backends"),
      svg(10, "Share of rows that passed, failed, ended in error and were skipped", bar), words,
      flagged > 0 ? fmt::format("{} flagged. ", flagged) : "",
      "Every row is in the <a href=\"#results\">table</a>; "
      "<a href=\"#failures\">reasons</a> are below it.");
}

std::string by_operator(const Model& model) {
  if (model.ops.size() < 2 || model.pairs.empty()) return "";
  std::string head = "<th scope=\"col\">Operator</th>", body;
  for (const Pair& pair : model.pairs) {
    head += fmt::format("<th scope=\"col\" class=\"num\">{} <span class=\"soft\">/ {}</span></th>",
                        escape(pair.backend), escape(pair.against));
  }
  for (const std::string& op : model.ops) {
    body += fmt::format("<tr><th scope=\"row\">{}</th>", escape(op));
    for (const Pair& pair : model.pairs) {
      std::vector<const Ratio*> mine;
      for (const Ratio* ratio : pair.counted) {
        const bool known = ratio->case_index < model.cases.size();
        if (known && model.rows[model.cases[ratio->case_index].rows[0]].op == op) {
          mine.push_back(ratio);
        }
      }
      const Geomean mean = geomean(mine);
      body += mean.count == 0
                  ? fmt::format("<td class=\"num na\">{}</td>", kNotTaken)
                  : fmt::format("<td class=\"num{}\">{} <span class=\"soft\">of {}</span></td>",
                                mean.value < kNotSlower ? " bad" : "", ratio_text(mean.value),
                                mean.count);
    }
    body += "</tr>\n";
  }
  return fmt::format(
      "<h3>By operator</h3>\n<div class=\"scroll fit\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Speed-up by operator\"><table class=\"plain\"><thead><tr>{}</tr></thead>"
      "<tbody>\n{}</tbody></table></div>\n",
      head, body);
}

}  // namespace

std::string headline_section(const Model& model) {
  std::string facts;
  const auto fact = [&](const std::string& words) {
    if (!words.empty()) facts += "<span>" + escape(words) + "</span> ";
  };
  fact(text(model.environment, "cpu"));
  fact(model.constants);
  fact(text(model.environment, "date"));
  std::string out = "<section id=\"headline\" aria-labelledby=\"title\">\n";
  out +=
      fmt::format("<h1 id=\"title\">{}</h1>\n<p class=\"facts\">{}</p>\n", sentence(model), facts);
  const std::size_t warnings = list(model.environment, "warnings").size();
  if (warnings > 0) {
    out += fmt::format(
        "<p class=\"alert\"><a href=\"#environment\">{} about this machine</a>: "
        "read the figures with care.</p>\n",
        count_text(warnings, "warning", "warnings"));
  }
  out += "<div class=\"cards\">\n";
  for (const Pair& pair : model.pairs) out += pair_card(model, pair);
  return out + tally_card(model) + "</div>\n" + by_operator(model) + "</section>\n";
}

}  // namespace nrd::html
