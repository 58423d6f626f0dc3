// SPDX-License-Identifier: MIT
// src/workbench/report_html_text.cpp: escaping and number formats of the HTML report.
#include "workbench/report_html_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace nrd::html {
namespace {

// Removes the padding of an exponent: 1.2e-07 -> 1.2e-7, 1.2e+06 -> 1.2e6.
std::string short_exponent(std::string value) {
  const std::size_t e = value.find('e');
  if (e == std::string::npos) return value;
  std::size_t digits = e + 2;
  while (digits + 1 < value.size() && value[digits] == '0') value.erase(digits, 1);
  if (value[e + 1] == '+') value.erase(e + 1, 1);
  return value;
}

std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", std::fabs(value));
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, "\u202f");
  return value < 0 ? "−" + digits : digits;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        const bool control = byte < 0x20 && c != '\n' && c != '\t';
        out += control ? ' ' : c;
      }
    }
  }
  return out;
}

std::string shorten(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const auto inside_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t head = limit * 3 / 5;
  std::size_t tail = text.size() - limit * 2 / 5;
  while (head > 0 && inside_character(head)) --head;
  while (tail < text.size() && inside_character(tail)) ++tail;
  return text.substr(0, head) + "…" + text.substr(tail);
}

std::string single_blanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string significant(double value) {
  const double size = std::fabs(value);
  if (size == 0) return "0";
  if (size >= 1e9 || size < 5e-4) return short_exponent(fmt::format("{:.2e}", value));
  if (size >= 999.5) {
    const double step = size >= 99950 ? 100 : size >= 9995 ? 10 : 1;
    return grouped(std::round(value / step) * step);
  }
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string error_text(double value) {
  if (value == 0) return "0";
  const double size = std::fabs(value);
  if (size >= 0.01 && size < 1000) return fmt::format("{:.2g}", value);
  return short_exponent(fmt::format("{:.1e}", value));
}

std::string ratio_text(double value) {
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3;
  return fmt::format("{:.{}f}×", value, decimals);
}

std::string duration_text(double us) {
  if (us < 1) return fmt::format("{:.3g} ns", us * 1e3);
  if (us < 999.5) return fmt::format("{} µs", significant(us));
  if (us < 999.5e3) return fmt::format("{} ms", significant(us / 1e3));
  return fmt::format("{} s", significant(us / 1e6));
}

std::string bytes_text(double bytes) {
  static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = bytes >= 99.95 || std::fabs(bytes - std::round(bytes)) < 0.05;
  return fmt::format("{:.{}f} {}", bytes, whole ? 0 : 1, kUnits[unit]);
}

std::string count_text(std::size_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", grouped(static_cast<double>(count)), count == 1 ? singular : plural);
}

std::string text(const Json& object, std::string_view key) { return describe(member(object, key)); }

std::string describe(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return significant(value.get<double>());
  std::string out;
  for (const auto& [key, item] : value.items()) {
    const std::string words = describe(item);
    if (words.empty()) continue;
    if (!out.empty()) out += ", ";
    out += value.is_object() ? key + " " + words : words;
  }
  return out;
}

}  // namespace nrd::html
