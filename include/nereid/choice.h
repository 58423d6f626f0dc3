// SPDX-License-Identifier: MIT
// nereid/choice.h: an option that is one of an operator's choices: its enum, or its word.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace nereid {

// The choices yes and no are true and false.
inline const char* word(bool yes) { return yes ? "yes" : "no"; }

namespace detail {

// The word of an enumerator; a number that is none gets no operator's word.
template <size_t kCount>
const char* word_at(const char* const (&words)[kCount], size_t index) {
  return index < kCount ? words[index] : "none of the enumerators";
}
template <class E>
const char* word_of(E value) {
  return word(value);
}

}  // namespace detail

// An enum of nereid/choices.h. Each has its word, by which the C ABI and the command line know it.
template <class E>
concept ChoiceEnum = std::is_enum_v<E> && requires(E value) {
  static_cast<const char*>(word(value));
};

// {.pairs = nereid::Pairs::half} or {.pairs = "half"}. The call judges words; a word must live as
// long as the options.
template <class E>
class Choice {
 public:
  Choice(E value) : word_(detail::word_of(value)) {}  // NOLINT: implicit
  Choice(const char* word) : word_(word) {}           // NOLINT: implicit
  const char* word() const { return word_; }
  bool is(E value) const { return word_ && std::strcmp(word_, detail::word_of(value)) == 0; }

 private:
  const char* word_;
};

}  // namespace nereid
