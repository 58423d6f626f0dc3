// SPDX-License-Identifier: MIT
// src/trace/cursor.h: the words of one line of the text form. Private to the reader.
#pragma once

#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/trace.h"

namespace nrd {

inline bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// A cursor over one line.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) { skip(); }

  bool done() const { return rest_.empty(); }
  bool peek(char c) const { return !rest_.empty() && rest_.front() == c; }

  // A word must not go on where `text` ends: "in" is not the start of "inout".
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    const bool is_word = is_word_char(text.back());
    if (is_word && rest_.size() > text.size() && is_word_char(rest_[text.size()])) return false;
    advance(text.size());
    return true;
  }

  std::string_view word() {
    size_t n = 0;
    while (n < rest_.size() && is_word_char(rest_[n])) n++;
    return advance(n);
  }

  std::string_view until_space() {
    const size_t n = rest_.find(' ');
    return advance(n == rest_.npos ? rest_.size() : n);
  }

  std::optional<uint64_t> digits() {
    uint64_t number = 0;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (failed != std::errc{}) return std::nullopt;
    advance(static_cast<size_t>(end - rest_.data()));
    return number;
  }

 private:
  std::string_view advance(size_t n) {
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    skip();
    return taken;
  }
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

// The bits of a constant as the text writes it; nothing where the type has no such literal.
std::optional<uint64_t> literal_bits(TraceType type, std::string_view word);

}  // namespace nrd
