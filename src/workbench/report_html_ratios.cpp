// SPDX-License-Identifier: MIT
// src/workbench/report_html_ratios.cpp: ratios, the baseline, geometric means and their intervals.
#include <algorithm>
#include <cmath>
#include <set>

#include "workbench/report_html_model.h"
#include "workbench/stats.h"

namespace nrd::html {
namespace {

constexpr double kNormal95 = 1.96;
constexpr std::size_t kNoCase = static_cast<std::size_t>(-1);

bool counts(const Row* row) { return row == nullptr || (row->passed() && !row->impossible()); }

void add_ratio(Model& model, Ratio ratio) {
  ratio.counted = counts(model.find(ratio.case_index, ratio.backend)) &&
                  counts(model.find(ratio.case_index, ratio.against));
  model.ratios.push_back(std::move(ratio));
}

void read_given(const Json& report, Model& model) {
  std::map<std::string, std::size_t> case_of;
  for (const Row& row : model.rows) case_of.try_emplace(row.ratio_key, row.case_index);
  for (const Json& json : list(report, "ratios")) {
    const Number median = number(json, "median");
    if (!median || *median <= 0) continue;
    Ratio ratio;
    ratio.case_text = single_blanks(text(json, "case"));
    ratio.backend = text(json, "backend");
    ratio.against = text(json, "against");
    ratio.median = *median;
    ratio.low = number(json, "low");
    ratio.high = number(json, "high");
    if (ratio.low && *ratio.low <= 0) ratio.low.reset();
    const auto found = case_of.find(ratio.case_text);
    ratio.case_index = found == case_of.end() ? kNoCase : found->second;
    add_ratio(model, std::move(ratio));
  }
}

// Without a ratios list: the first backend (ours, if it is there) against each other one.
void derive_from_medians(Model& model) {
  model.derived = true;
  if (model.backends.size() < 2) return;
  const std::string& subject = model.backends.front();
  for (std::size_t c = 0; c < model.cases.size(); ++c) {
    const Row* ours = model.find(c, subject);
    if (ours == nullptr || !ours->median_us || *ours->median_us <= 0) continue;
    for (std::size_t b = 1; b < model.backends.size(); ++b) {
      const Row* peer = model.find(c, model.backends[b]);
      if (peer == nullptr || !peer->median_us || *peer->median_us <= 0) continue;
      Ratio ratio;
      ratio.case_text = ours->ratio_key;
      ratio.backend = subject;
      ratio.against = peer->backend;
      ratio.median = *peer->median_us / *ours->median_us;
      ratio.case_index = c;
      add_ratio(model, std::move(ratio));
    }
  }
}

Ratio inverse(const Ratio& ratio) {
  Ratio out = ratio;
  std::swap(out.backend, out.against);
  out.median = 1 / ratio.median;
  out.low = ratio.high ? Number(1 / *ratio.high) : Number();
  out.high = ratio.low ? Number(1 / *ratio.low) : Number();
  return out;
}

// A pair and its mirror image say the same thing: the first one seen is kept.
void pair_up(Model& model) {
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const Ratio& ratio : model.ratios) {
    if (known.contains({ratio.against, ratio.backend})) continue;
    const auto [found, added] =
        known.try_emplace({ratio.backend, ratio.against}, model.pairs.size());
    if (added) model.pairs.push_back({ratio.backend, ratio.against, {}, {}, {}});
    Pair& pair = model.pairs[found->second];
    pair.ratios.push_back(&ratio);
    if (ratio.counted) pair.counted.push_back(&ratio);
  }
  for (Pair& pair : model.pairs) pair.geomean = geomean(pair.counted);
}

// `scalar` and `autovec` are the definitions themselves: a yardstick only where no peer ran.
bool is_definition(const std::string& backend) {
  return backend == "scalar" || backend == "autovec";
}

using Votes = std::map<std::string, std::size_t>;

// How many ratios are against each backend; peers come before definitions.
Votes count_against(const Model& model) {
  Votes votes;
  const std::size_t all = model.ratios.size();
  for (const Ratio& ratio : model.ratios) {
    votes.try_emplace(ratio.against, is_definition(ratio.against) ? 0 : all).first->second += 1;
  }
  return votes;
}

void choose_baseline(Model& model) {
  Votes votes = count_against(model);
  std::size_t most = 0;
  for (const Ratio& ratio : model.ratios) {  // in the report's order, so that ties are stable
    if (votes[ratio.against] <= most) continue;
    most = votes[ratio.against];
    model.baseline = ratio.against;
  }
}

// Headline and bars speak of our backends: a peer's ratio against ours is turned round.
void orient(Model& model) {
  for (Ratio& ratio : model.ratios) {
    if (is_ours(ratio.against) && !is_ours(ratio.backend)) ratio = inverse(ratio);
  }
}

void order_pairs(Model& model) {
  Votes votes = count_against(model);
  std::stable_sort(model.pairs.begin(), model.pairs.end(), [&](const Pair& a, const Pair& b) {
    return votes[a.against] > votes[b.against];
  });
}

}  // namespace

Geomean geomean(const std::vector<const Ratio*>& ratios) {
  Geomean out;
  out.count = ratios.size();
  if (ratios.empty()) return out;
  double variance = 0;
  std::vector<double> medians;
  bool all_have_intervals = true;
  for (const Ratio* ratio : ratios) {
    medians.push_back(ratio->median);
    if (ratio->low && ratio->high && *ratio->high >= *ratio->low) {
      const double deviation = std::log(*ratio->high / *ratio->low) / 2 / kNormal95;
      variance += deviation * deviation;
    } else {
      all_have_intervals = false;
    }
  }
  const double n = static_cast<double>(ratios.size());
  out.value = geometric_mean(medians);
  if (!all_have_intervals) return out;
  const double half = kNormal95 * std::sqrt(variance) / n;
  out.low = out.value * std::exp(-half);
  out.high = out.value * std::exp(half);
  return out;
}

std::optional<Ratio> Model::speedup(const Row& row) const {
  if (baseline.empty() || row.backend == baseline || !row.median_us) return {};
  const auto direct = ratio_index.find({row.ratio_key, row.backend, baseline});
  if (direct != ratio_index.end()) return ratios[direct->second];
  const auto mirrored = ratio_index.find({row.ratio_key, baseline, row.backend});
  if (mirrored != ratio_index.end()) return inverse(ratios[mirrored->second]);
  const Row* base = find(row.case_index, baseline);
  if (base == nullptr || !base->median_us || *row.median_us <= 0) return {};
  Ratio ratio;
  ratio.backend = row.backend;
  ratio.against = baseline;
  ratio.median = *base->median_us / *row.median_us;
  return ratio;
}

void read_ratios(const Json& report, Model& model) {
  read_given(report, model);
  if (model.ratios.empty()) derive_from_medians(model);
  choose_baseline(model);
  orient(model);
  pair_up(model);
  order_pairs(model);
  for (std::size_t i = 0; i < model.ratios.size(); ++i) {
    const Ratio& ratio = model.ratios[i];
    model.ratio_index.try_emplace({ratio.case_text, ratio.backend, ratio.against}, i);
  }
}

}  // namespace nrd::html
