// SPDX-License-Identifier: MIT
// src/api/call_words.h: a call as a row of words that are equal when calls are.
//
// visit_call() goes over everything of a call but addresses and threads, word by word. One sink
// writes the words down when a plan is kept, the other compares them when a call comes: so the two
// cannot disagree on what makes calls equal. All of it is inlined: what went through memory between
// two small functions would take longer than the comparison.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "api/call.h"

namespace nrd {

// A call as it came, not yet looked at; the struct has the size that we know.
struct FreshCall {
  uint64_t context_id = 0;
  uint64_t generation = 0;  // plan_generation()
  const nereid_call* call = nullptr;
  const char* backend = nullptr;  // the call's or the thread's; null: as the context says
};

// Text as words of eight bytes, the last with a zero in it.
constexpr size_t words_of_text(size_t length) { return length / sizeof(uint64_t) + 1; }

class WordRecorder {
 public:
  static constexpr size_t kMostWords = 256;

  explicit WordRecorder(std::vector<uint64_t>& words) : words_(words) {}
  bool word(uint64_t word) {
    words_.push_back(word);
    return words_.size() <= kMostWords;
  }
  bool text(const char* text) {
    const std::string_view view(text);
    const size_t at = words_.size();
    if (view.size() > kMostWords) return false;
    words_.resize(at + words_of_text(view.size()), 0);
    std::copy(view.begin(), view.end(), reinterpret_cast<char*>(words_.data() + at));
    return words_.size() <= kMostWords;
  }

 private:
  std::vector<uint64_t>& words_;
};

// Goes along kept words. It need not ask where they end: the words so far tell what follows them
// (counts, ranks, the zero of a text), so that what agreed up to here has a next word too.
class WordMatcher {
 public:
  explicit WordMatcher(const uint64_t* words) : at_(words) {}
  [[gnu::always_inline]] bool word(uint64_t word) { return *at_++ == word; }
  [[gnu::always_inline]] bool text(const char* text) {
    const auto* kept = reinterpret_cast<const char*>(at_);
    size_t length = 0;
    while (kept[length] != '\0' && kept[length] == text[length]) length++;
    at_ += words_of_text(length);
    return kept[length] == text[length];
  }

 private:
  const uint64_t* at_;
};

[[gnu::always_inline]] inline uint64_t two_in_one(uint32_t high, uint32_t low) {
  return uint64_t{high} << 32 | low;
}

// An absent one is one word that no present one begins with.
template <class Sink>
[[gnu::always_inline]] inline bool visit_tensor(const nereid_tensor* tensor, Sink& sink) {
  constexpr uint64_t kAbsent = 0, kPresent = 1 << 8, kHasStrides = 1 << 9;
  if (!tensor) return sink.word(kAbsent);
  const nereid_tensor& t = *tensor;
  const auto rank = static_cast<uint32_t>(t.rank);
  if (t.struct_size != sizeof(nereid_tensor) || rank > kMaxRank || (rank > 0 && !t.sizes))
    return false;
  if (!sink.word(rank | kPresent | (t.strides ? kHasStrides : 0)) ||
      !sink.word(two_in_one(static_cast<uint32_t>(t.dtype), t.flags)) ||
      !sink.word(
          two_in_one(static_cast<uint32_t>(t.device), static_cast<uint32_t>(t.device_index))) ||
      !sink.word(reinterpret_cast<uintptr_t>(t.form)))
    return false;
  for (uint32_t d = 0; d < rank; d++)
    if (!sink.word(static_cast<uint64_t>(t.sizes[d]))) return false;
  if (t.strides)
    for (uint32_t d = 0; d < rank; d++)
      if (!sink.word(static_cast<uint64_t>(t.strides[d]))) return false;
  return true;
}

template <class Sink>
[[gnu::always_inline]] inline bool visit_names(const nereid_call& call, Sink& sink) {
  if (!call.op || !sink.text(call.op)) return false;
  for (int32_t i = 0; i < call.operand_count; i++)
    if (!call.operands[i].name || !sink.text(call.operands[i].name)) return false;
  for (int32_t i = 0; i < call.attribute_count; i++)
    if (!call.attributes[i].name || !sink.text(call.attributes[i].name)) return false;
  return true;
}

template <class Sink>
[[gnu::always_inline]] inline bool visit_attribute(const nereid_attribute& attribute, Sink& sink) {
  if (!sink.word(attribute.word != nullptr)) return false;
  return attribute.word ? sink.text(attribute.word)
                        : sink.word(std::bit_cast<uint64_t>(attribute.number));
}

// False when the sink says so, or when the call is unusual or wrong: who reads it with care will
// find out. What was written down came from a call that ran, so that counts which agree with it
// need no other check.
template <class Sink>
[[gnu::always_inline]] inline bool visit_call(const FreshCall& fresh, Sink& sink) {
  const nereid_call& call = *fresh.call;
  const nereid_names* names = call.names;
  if (!sink.word(fresh.context_id) || !sink.word(fresh.generation) ||
      !sink.word(two_in_one(names ? names->id : 0, fresh.backend != nullptr)) ||
      !sink.word(two_in_one(static_cast<uint32_t>(call.operand_count),
                            static_cast<uint32_t>(call.attribute_count))))
    return false;
  if ((call.operand_count > 0 && !call.operands) ||
      (call.attribute_count > 0 && !call.attributes) || call.threads < 0)
    return false;
  if (fresh.backend && !sink.text(fresh.backend)) return false;
  if (!names && !visit_names(call, sink)) return false;
  for (int32_t i = 0; i < call.operand_count; i++)
    if (!visit_tensor(call.operands[i].tensor, sink)) return false;
  for (int32_t i = 0; i < call.attribute_count; i++)
    if (!visit_attribute(call.attributes[i], sink)) return false;
  return true;
}

}  // namespace nrd
