// SPDX-License-Identifier: MIT
// src/workbench/report_html_plots.cpp: the plots section; speed-up bars and the heat map.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workbench/report_html_sections.h"
#include "workbench/report_html_svg.h"

namespace nrd::html {
namespace {

constexpr std::size_t kMostCases = 48;  // a plot of more is no longer read; the table has them all
constexpr std::size_t kLabelLimit = 56;
constexpr double kTop = 26;    // room for the axis above the first case
constexpr double kLabel = 18;  // height of a case's label
constexpr double kGap = 10;    // between two cases

struct BarGroup {
  std::size_t case_index = 0;
  std::string label, full;
  std::vector<const Ratio*> bars;
};

std::vector<BarGroup> bar_groups(const Model& model) {
  std::vector<BarGroup> groups;
  std::map<std::string, std::size_t> known;
  for (const Pair& pair : model.pairs) {
    for (const Ratio* ratio : pair.ratios) {
      const auto [found, added] = known.try_emplace(ratio->case_text, groups.size());
      if (added) {
        const bool has_case = ratio->case_index < model.cases.size();
        const std::string& label =
            has_case ? model.cases[ratio->case_index].label : ratio->case_text;
        groups.push_back({ratio->case_index, label, ratio->case_text, {}});
      }
      groups[found->second].bars.push_back(ratio);
    }
  }
  std::stable_sort(groups.begin(), groups.end(), [](const BarGroup& a, const BarGroup& b) {
    return a.case_index < b.case_index;
  });
  return groups;
}

// Keeps the slowest and the fastest ones where there are too many. Returns what was left out.
std::size_t keep_extremes(std::vector<BarGroup>& groups) {
  if (groups.size() <= kMostCases) return 0;
  std::vector<double> order;
  for (const BarGroup& group : groups) order.push_back(group.bars.front()->median);
  std::sort(order.begin(), order.end());
  const double slow = order[kMostCases / 2 - 1], fast = order[order.size() - kMostCases / 2];
  const std::size_t before = groups.size();
  std::erase_if(groups, [&](const BarGroup& group) {
    const double median = group.bars.front()->median;
    return median > slow && median < fast;
  });
  return before - groups.size();
}

LogScale bar_scale(const std::vector<BarGroup>& groups) {
  std::vector<double> values{0.8, 1.25};
  for (const BarGroup& group : groups) {
    for (const Ratio* ratio : group.bars) {
      values.push_back(ratio->median);
      if (ratio->low && ratio->high) {
        values.push_back(*ratio->low);
        values.push_back(*ratio->high);
      }
    }
  }
  return scale_around(values, 0.14);
}

std::string bar(const LogScale& scale, const Ratio& ratio, std::size_t series, double y) {
  const double one = scale.share(1), end = scale.share(ratio.median);
  const bool right = end >= one;
  double edge = end;
  const bool even = !ratio.faster() && !ratio.slower();
  std::string words = fmt::format("{}: {} is {} as fast as {}", ratio.case_text, ratio.backend,
                                  ratio_text(ratio.median), ratio.against);
  std::string whisker;
  if (ratio.low && ratio.high) {
    words += fmt::format(" ({:.2f} to {:.2f})", *ratio.low, *ratio.high);
    whisker = svg_line(scale.share(*ratio.low), y + 6, scale.share(*ratio.high), y + 6, "whisker");
    edge = right ? scale.share(*ratio.high) : scale.share(*ratio.low);
  }
  if (!ratio.counted) words += "; not in the mean";
  const char* state = !ratio.counted ? " out" : even ? " even" : "";
  std::string out =
      fmt::format(R"(<g>{}<rect class="bar {}{}" x="{}" y="{:.1f}" width="{}" height="12"/>{})",
                  svg_title(words), series_class(series), state, percent(std::min(one, end)), y,
                  percent(std::abs(end - one)), whisker);
  out += svg_text(percent(edge), y + 10, right ? "value" : "value end", ratio_text(ratio.median),
                  right ? R"(dx="6")" : R"(dx="-6")");
  return out + "</g>\n";
}

std::string axis_above(const LogScale& scale, double height) {
  std::string out;
  for (const double tick : ticks(scale)) {
    const double x = scale.share(tick);
    out += svg_line(x, kTop - 6, x, height, "grid");
    out += svg_text(percent(x), 12, "tick middle", tick_text(tick) + "×");
  }
  return out + "\n";
}

const char* heat_step(double share) {
  if (share >= 0.97) return "h4";
  if (share >= 0.8) return "h3";
  if (share >= 0.6) return "h2";
  return share >= 0.4 ? "h1" : "h0";
}

std::string heat_cell(const Row* row, double best, double x, double width, double y) {
  std::string step = "none", words{kNotTaken}, title = "not measured";
  if (row != nullptr) {
    title = row->backend + ", " + row->ratio_key + ": " + row->verdict_text;
    if (!row->passed()) words = row->verdict_text;
    if (row->passed() && row->median_us && *row->median_us > 0) {
      const double share = best / *row->median_us;
      step = heat_step(share);
      words = duration_text(*row->median_us);
      title += fmt::format(", {}, {:.0f} % of the best speed", words, share * 100);
    } else if (row->verdict == Verdict::kFail || row->verdict == Verdict::kError) {
      step = "bad";
    }
  }
  return fmt::format(R"(<g class="heat {}">{}<rect x="{}" y="{:.1f}" width="{}" height="24"/>)"
                     "{}</g>",
                     step, svg_title(title), percent(x), y, percent(width),
                     svg_text(percent(x + width / 2), y + 16, "middle", words));
}

std::string heat_row(const Model& model, std::size_t index, double y) {
  const double width = 1.0 / static_cast<double>(model.backends.size());
  double best = 0;
  for (const std::string& backend : model.backends) {
    const Row* row = model.find(index, backend);
    if (row == nullptr || !row->passed() || !row->median_us || *row->median_us <= 0) continue;
    best = best == 0 ? *row->median_us : std::min(best, *row->median_us);
  }
  const Case& one = model.cases[index];
  std::string out = fmt::format("<g>{}{}</g>", svg_title(one.full),
                                svg_text("0", y + 12, "label", shorten(one.label, kLabelLimit)));
  for (std::size_t b = 0; b < model.backends.size(); ++b) {
    out += heat_cell(model.find(index, model.backends[b]), best, static_cast<double>(b) * width,
                     width, y + kLabel);
  }
  return out + "\n";
}

std::string speedup_caption(const Model& model, std::size_t left_out) {
  std::string out =
      "Right of the line is faster. Thin rules are 95 % intervals; pale bars are "
      "even with 1.0, hollow ones are not in the mean.";
  if (model.derived) out = "From medians, without intervals. Right of the line is faster.";
  if (left_out > 0) {
    out += fmt::format(" The {} slowest and fastest cases; {} between them are in the table only.",
                       kMostCases, left_out);
  }
  return out;
}

}  // namespace

std::string figure(const std::string& title, const std::string& caption, const std::string& body) {
  return fmt::format("<figure>\n<figcaption><h3>{}</h3>\n<p>{}</p></figcaption>\n{}</figure>\n",
                     title, caption, body);
}

std::string legend(const Model& model) {
  std::string out = "<ul class=\"legend\">";
  for (std::size_t i = 0; i < model.backends.size(); ++i) {
    out += fmt::format("<li><svg width=\"16\" height=\"14\" aria-hidden=\"true\">{}</svg>{}</li>",
                       marker(i, 0.5, 7, model.backends[i]), escape(model.backends[i]));
  }
  return out + "</ul>\n";
}

std::string speedup_figure(const Model& model) {
  std::vector<BarGroup> groups = bar_groups(model);
  if (groups.empty()) return "";
  const std::size_t left_out = keep_extremes(groups);
  const LogScale scale = bar_scale(groups);
  const bool one_subject = std::all_of(model.pairs.begin(), model.pairs.end(), [&](const Pair& p) {
    return p.backend == model.pairs.front().backend;
  });
  const bool by_peer = one_subject && model.pairs.size() > 1;  // else all bars had one colour
  std::string bars;
  double y = kTop;
  for (const BarGroup& group : groups) {
    bars += fmt::format("<g>{}{}</g>", svg_title(group.full),
                        svg_text("0", y + 12, "label halo", shorten(group.label, kLabelLimit)));
    y += kLabel;
    const double one = scale.share(1), depth = 16 * static_cast<double>(group.bars.size());
    bars += svg_line(one, y - 2, one, y + depth - 2, "one");
    for (const Ratio* ratio : group.bars) {
      bars += bar(scale, *ratio, model.series(by_peer ? ratio->against : ratio->backend), y);
      y += 16;
    }
    y += kGap;
  }
  std::string key = "<ul class=\"legend\">";
  for (const Pair& pair : model.pairs) {
    key += fmt::format("<li><span class=\"swatch {}\"></span>{} against {}</li>",
                       series_class(model.series(by_peer ? pair.against : pair.backend)),
                       escape(pair.backend), escape(pair.against));
  }
  key += "</ul>\n";
  return figure("Speed-up", speedup_caption(model, left_out),
                key + svg(y, "Speed-up bars on a logarithmic axis with a line at 1.0",
                          axis_above(scale, y) + bars));
}

std::string heat_figure(const Model& model) {
  if (model.backends.size() < 2 || model.cases.size() < 2) return "";
  const std::size_t shown = std::min(model.cases.size(), kMostCases);
  const double width = 1.0 / static_cast<double>(model.backends.size());
  std::string body;
  for (std::size_t b = 0; b < model.backends.size(); ++b) {
    body += svg_text(percent((static_cast<double>(b) + 0.5) * width), 12, "tick middle head",
                     shorten(model.backends[b], 14));
  }
  double y = kTop;
  for (std::size_t i = 0; i < shown; ++i) {
    body += heat_row(model, i, y);
    y += kLabel + 24 + kGap;
  }
  std::string caption = "Median time of a call; the fastest backend of a case is darkest.";
  if (shown < model.cases.size()) {
    caption += fmt::format(" The first {} of {} cases; the rest is in the table.", shown,
                           model.cases.size());
  }
  static constexpr const char* kKey =
      "<ul class=\"legend heat-key\"><li><span class=\"h4\"></span>best</li><li><span "
      "class=\"h3\"></span>over 80 %</li><li><span class=\"h2\"></span>over 60 %</li><li><span "
      "class=\"h1\"></span>over 40 %</li><li><span class=\"h0\"></span>less of its speed</li>"
      "</ul>\n";
  return figure("Cases and backends", caption,
                kKey + svg(y, "Heat map of median times, cases by backends", body));
}

std::string plots_section(const Model& model) {
  const std::string figures = speedup_figure(model) + roofline_figures(model) + heat_figure(model) +
                              accuracy_figures(model);
  const std::string sizes = size_figures(model);
  std::string out =
      "<section id=\"plots\" aria-labelledby=\"h-plots\">\n"
      "<h2 id=\"h-plots\">Plots</h2>\n";
  if (figures.empty() && sizes.empty()) {
    return out + "<p class=\"soft\">There is nothing to draw.</p></section>\n";
  }
  if (!figures.empty()) out += "<div class=\"figures\">\n" + figures + "</div>\n";
  return out + sizes + "</section>\n";
}

}  // namespace nrd::html
