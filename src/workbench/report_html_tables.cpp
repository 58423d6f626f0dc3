// SPDX-License-Identifier: MIT
// src/workbench/report_html_tables.cpp: the table of results, and that of failures and skips.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "workbench/report_html_sections.h"
#include "workbench/report_html_svg.h"

namespace nrd::html {
namespace {

struct Column {
  const char* title;
  const char* hint;
  const char* classes;  // "num" aligns right; "g-accuracy" and "g-cost" can be hidden
  std::function<std::string(const Row&)> cell;  // the whole <td>
};

std::string words_cell(const std::string& classes, const std::string& words) {
  if (words.empty()) return fmt::format("<td class=\"{} na\">{}</td>", classes, kNotTaken);
  return fmt::format("<td class=\"{}\">{}</td>", classes, escape(words));
}

std::string figure_cell(const std::string& classes, const Number& value, const std::string& words) {
  if (!value) return fmt::format("<td class=\"{} na\">{}</td>", classes, kNotTaken);
  return fmt::format("<td class=\"{}\" data-v=\"{:.6g}\">{}</td>", classes, *value, words);
}

using Format = std::string (*)(double);

Column figures(const char* title, const char* hint, const char* classes, Number Row::*field,
               Format format) {
  return {title, hint, classes, [=](const Row& row) {
            const Number& value = row.*field;
            return figure_cell(classes, value, value ? format(*value) : "");
          }};
}

Column words(const char* title, const char* hint, const char* classes, std::string Row::*field) {
  return {title, hint, classes, [=](const Row& row) { return words_cell(classes, row.*field); }};
}

// The slices' medians in round order: shows drift and outliers at a glance.
std::string sparkline(const Row& row) {
  if (row.slices_us.size() < 2) return "";
  const auto [least, most] = std::minmax_element(row.slices_us.begin(), row.slices_us.end());
  const double middle = (*least + *most) / 2;
  const double span = std::max(*most - *least, 0.1 * middle);  // 10 % fills the height at least
  const double step = 54.0 / static_cast<double>(row.slices_us.size() - 1);
  std::string points;
  for (std::size_t i = 0; i < row.slices_us.size(); ++i) {
    const double x = 1 + step * static_cast<double>(i);
    const double y = span > 0 ? 8 - 12 * (row.slices_us[i] - middle) / span : 8;
    points += fmt::format("{:.1f},{:.1f} ", x, y);
  }
  const std::string label = fmt::format("{} slices, {} to {}", row.slices_us.size(),
                                        duration_text(*least), duration_text(*most));
  return fmt::format(
      "<svg class=\"spark\" width=\"56\" height=\"16\" role=\"img\" "
      "aria-label=\"{}\">{}<polyline points=\"{}\"/></svg>",
      label, svg_title(label), points);
}

std::string speedup_cell(const Model& model, const Row& row) {
  if (row.backend == model.baseline && row.median_us) {
    return "<td class=\"num soft\" data-v=\"1\">baseline</td>";
  }
  const std::optional<Ratio> ratio = model.speedup(row);
  if (!ratio) return fmt::format("<td class=\"num na\">{}</td>", kNotTaken);
  const char* style = ratio->slower() ? " slower" : ratio->faster() ? " faster" : "";
  std::string interval;
  if (ratio->low && ratio->high) {
    interval = fmt::format(" <small>{:.2f}–{:.2f}</small>", *ratio->low, *ratio->high);
  }
  return fmt::format("<td class=\"num{}\" data-v=\"{:.6g}\"><b>{}</b>{}</td>", style, ratio->median,
                     ratio_text(ratio->median), interval);
}

std::string roofline_cell(const Row& row) {
  if (!row.roofline) return fmt::format("<td class=\"num na\">{}</td>", kNotTaken);
  const double share = std::clamp(*row.roofline / 100, 0.0, 1.0);
  const std::string nominal =
      row.nominal ? fmt::format(" title=\"{:.0f} % of nominal\"", *row.nominal) : "";
  return fmt::format(
      "<td class=\"num{}\" data-v=\"{:.6g}\"{}><span class=\"track\" "
      "aria-hidden=\"true\"><span style=\"width:{:.0f}%\"></span></span>"
      "{:.{}f}</td>",
      *row.roofline > 100 ? " over" : "", *row.roofline, nominal, share * 100, *row.roofline,
      *row.roofline < 9.95 ? 1 : 0);
}

std::string kernel_cell(const Row& row) {
  std::string detail;
  for (const std::string& part : {row.isa, row.numerics, row.note}) {
    if (!part.empty()) detail += (detail.empty() ? "" : ", ") + part;
  }
  if (row.kernel.empty() && detail.empty()) return words_cell("g-cost", "");
  return fmt::format("<td class=\"g-cost\">{} <small>{}</small></td>", escape(row.kernel),
                     escape(detail));
}

std::string verdict_cell(const Row& row) { return "<td>" + verdict_badge(row) + "</td>"; }

// On a phone this one cell stays in view and says the whole case.
std::string shape_cell(const Model& model, const Row& row) {
  std::string rest = row.op + " " + row.dtype;
  if (model.many_options && !row.options.empty()) rest += " " + row.options;
  if (model.many_threads && !row.threads.empty()) rest += " threads=" + row.threads;
  if (model.many_caches && !row.cache.empty()) rest += " " + row.cache;
  std::string shape = row.shape.empty() ? std::string(kNotTaken) : escape(row.shape);
  for (std::size_t at = 0; (at = shape.find(',', at)) != std::string::npos; at += 6) {
    shape.replace(at, 1, ",<wbr>");
  }
  return fmt::format("<td class=\"case shape\">{}<span class=\"only-narrow\">{}</span></td>", shape,
                     escape(rest));
}

std::string flags_cell(const Row& row) {
  std::string out;
  for (const std::string& flag : row.flags) {
    out += fmt::format("<span class=\"flag\">{}</span> ", escape(flag));
  }
  return "<td>" + out + "</td>";
}

std::string percent_text(double share) {
  return fmt::format("{:.{}f}", share * 100, share < 0.0995 ? 1 : 0);
}

std::string ulp_text(double ulp) {
  return ulp < 1000 ? fmt::format("{:.3g}", ulp) : significant(ulp);
}

std::vector<Column> columns(const Model& model) {
  std::vector<Column> out;
  out.push_back(words("Operator", "", "case", &Row::op));
  out.push_back(
      {"Shape", "", "case shape", [&model](const Row& row) { return shape_cell(model, row); }});
  out.push_back(words("Type", "dtype of the operands", "case", &Row::dtype));
  if (model.many_options) out.push_back(words("Options", "", "case", &Row::options));
  if (model.many_threads) out.push_back(words("Threads", "", "case num", &Row::threads));
  if (model.many_caches) out.push_back(words("Cache", "", "case", &Row::cache));
  if (model.many_regimes) out.push_back(words("Regime", "", "case", &Row::regime));
  out.push_back({"Backend", "", "", [&model](const Row& row) {
                   return fmt::format("<td class=\"backend {}\">{}</td>",
                                      series_class(model.series(row.backend)), escape(row.backend));
                 }});
  out.push_back({"Verdict", "accuracy against the definition in double", "", verdict_cell});
  out.push_back(
      figures("Median µs", "median time of a call", "num strong", &Row::median_us, significant));
  out.push_back({"± %", "half of p10..p90, per cent of the median", "num", [](const Row& row) {
                   const Number spread = row.spread();
                   return figure_cell("num", spread, spread ? percent_text(*spread) : "");
                 }});
  if (!model.baseline.empty()) {
    out.push_back({"Speed-up", "times faster than the baseline, with its 95 % interval", "num",
                   [&model](const Row& row) { return speedup_cell(model, row); }});
  }
  out.push_back(figures("GB/s", "", "num", &Row::gbps, significant));
  out.push_back(figures("GFLOP/s", "", "num", &Row::gflops, significant));
  out.push_back({"% of roofline", "of the measured limits", "num", roofline_cell});
  out.push_back(words("Bound", "what limits it", "", &Row::bound));
  out.push_back({"Slices", "median of each slice, in round order", "",
                 [](const Row& row) { return fmt::format("<td>{}</td>", sparkline(row)); }});
  if (std::any_of(model.rows.begin(), model.rows.end(),
                  [](const Row& row) { return !row.flags.empty(); })) {
    out.push_back({"Flags", "read these with care", "", flags_cell});
  }
  out.push_back(figures("Max abs", "", "num g-accuracy", &Row::max_abs, error_text));
  out.push_back(figures("Max rel", "", "num g-accuracy", &Row::max_rel, error_text));
  out.push_back(figures("Rel L2", "", "num g-accuracy", &Row::l2_rel, error_text));
  out.push_back(figures("ulp p50", "", "num g-accuracy", &Row::ulp_p50, ulp_text));
  out.push_back(figures("ulp p99", "", "num g-accuracy", &Row::ulp_p99, ulp_text));
  out.push_back(
      figures("Prepare µs", "once per weight", "num g-cost", &Row::prepare_us, significant));
  out.push_back(figures("Workspace", "", "num g-cost", &Row::workspace, bytes_text));
  out.push_back(figures("Peak", "peak memory", "num g-cost", &Row::peak, bytes_text));
  out.push_back({"Kernel", "kernel, ISA, numerics class", "g-cost", kernel_cell});
  return out;
}

std::string options(const std::vector<std::string>& names) {
  std::string out = "<option value=\"\">all</option>";
  for (const std::string& name : names) out += fmt::format("<option>{}</option>", escape(name));
  return out;
}

// Shown only where JavaScript runs.
std::string controls(const Model& model) {
  return fmt::format(
      "<form class=\"controls needs-js\" id=\"controls\">\n"
      "<label>Operator <select id=\"f-op\">{}</select></label>\n"
      "<label>Backend <select id=\"f-backend\">{}</select></label>\n"
      "<label>Verdict <select id=\"f-verdict\">{}</select></label>\n"
      "<label>Find <input id=\"f-text\" type=\"search\" placeholder=\"m=16, bf16 …\"></label>\n"
      "<label class=\"check\"><input type=\"checkbox\" id=\"c-accuracy\" checked> Accuracy"
      "</label>\n"
      "<label class=\"check\"><input type=\"checkbox\" id=\"c-cost\"> Kernel and memory</label>\n"
      "<output id=\"shown\" aria-live=\"polite\"></output>\n</form>\n",
      options(model.ops), options(model.backends), options({"pass", "fail", "error", "skipped"}));
}

std::string table_row(const std::vector<Column>& all, const Row& row, bool first) {
  std::string out = fmt::format(
      "<tr class=\"v-{}{}\" data-op=\"{}\" data-backend=\"{}\" data-verdict=\"{}\" "
      "data-case=\"{}\">",
      row.verdict_text, first ? " first" : "", escape(row.op), escape(row.backend),
      row.verdict_text, row.case_index);
  for (const Column& column : all) out += column.cell(row);
  return out + "</tr>\n";
}

}  // namespace

std::string verdict_badge(const Row& row) {
  static constexpr const char* kSigns[] = {"✓", "✗", "○", "!"};
  return fmt::format(
      "<span class=\"badge v-{0}\"{2}><span aria-hidden=\"true\">{1}</span> {0}"
      "</span>",
      row.verdict_text, kSigns[static_cast<int>(row.verdict)],
      row.reason.empty() ? "" : fmt::format(" title=\"{}\"", escape(row.reason)));
}

std::string results_section(const Model& model) {
  std::string out =
      "<section id=\"results\" aria-labelledby=\"h-results\">\n"
      "<h2 id=\"h-results\">Results</h2>\n";
  if (model.rows.empty()) return out + "<p class=\"soft\">The report has no rows.</p></section>\n";
  const std::vector<Column> all = columns(model);
  std::string head, body;
  for (const Column& column : all) {
    head +=
        fmt::format("<th scope=\"col\" class=\"{}\"{}>{}</th>", column.classes,
                    *column.hint ? fmt::format(" title=\"{}\"", column.hint) : "", column.title);
  }
  for (const Case& one : model.cases) {
    for (const std::size_t i : one.rows) {
      body += table_row(all, model.rows[i], i == one.rows.front());
    }
  }
  std::string caption;
  if (!model.baseline.empty()) {
    caption = fmt::format("Speed-ups are against <b>{}</b>.", escape(model.baseline));
  }
  if (!model.constants.empty()) {
    caption += fmt::format(" All rows: {}.", escape(model.constants));
  }
  return out + fmt::format(
                   "<p class=\"soft\">{}</p>\n{}<div class=\"scroll tall\" tabindex=\"0\" "
                   "role=\"region\" "
                   "aria-label=\"Results\">\n<table id=\"table\" class=\"results "
                   "grouped\"><caption>All rows, "
                   "one for each case and "
                   "backend</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table>"
                   "</div>\n</section>\n",
                   caption, controls(model), head, body);
}

std::string failures_section(const Model& model) {
  std::string body;
  for (const Verdict verdict : {Verdict::kFail, Verdict::kError, Verdict::kSkipped}) {
    for (const Row& row : model.rows) {
      if (row.verdict != verdict) continue;
      std::string reason = row.reason.empty() ? "no reason given" : escape(row.reason);
      if (!row.first_bad.empty()) reason += "; first bad index " + escape(row.first_bad);
      if (row.max_abs) reason += fmt::format("; max abs {}", error_text(*row.max_abs));
      if (row.max_rel) reason += fmt::format(", max rel {}", error_text(*row.max_rel));
      body += fmt::format(
          "<tr><td>{}</td><th scope=\"row\">{}</th><td>{}</td>"
          "<td class=\"wrap\">{}</td></tr>\n",
          verdict_badge(row), escape(row.backend), escape(model.cases[row.case_index].full),
          reason);
    }
  }
  std::string out =
      "<section id=\"failures\" aria-labelledby=\"h-failures\">\n"
      "<h2 id=\"h-failures\">Failures and skips</h2>\n";
  if (model.rows.empty()) return out + "<p class=\"soft\">No rows, so none.</p></section>\n";
  if (body.empty()) {
    return out + fmt::format("<p>None: {} passed.</p></section>\n",
                             count_text(model.rows.size(), "row", "rows"));
  }
  return out +
         "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Failures and "
         "skips\"><table class=\"plain\"><thead><tr><th scope=\"col\">Verdict</th><th "
         "scope=\"col\">Backend</th><th scope=\"col\">Case</th><th scope=\"col\">Reason</th>"
         "</tr></thead>\n<tbody>\n" +
         body + "</tbody></table></div>\n</section>\n";
}

}  // namespace nrd::html
