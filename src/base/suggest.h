// SPDX-License-Identifier: MIT
// src/base/suggest.h: "did you mean ...?" for unknown names.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nrd {

// Levenshtein distance.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); j++) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// "did you mean 'rms_norm'?", or empty when nothing is near.
inline std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  constexpr size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = std::min(std::max<size_t>(3, name.size() / 3 + 1), name.size());
  for (std::string_view candidate : known) {
    size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best.empty() ? std::string() : "did you mean '" + std::string(best) + "'?";
}

}  // namespace nrd
