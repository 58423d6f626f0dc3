// SPDX-License-Identifier: MIT
// src/base/float_state.cpp: MXCSR and FPCR.
#include "base/float_state.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace nrd {
namespace {

struct Bit {
  uint64_t mask;
  const char* meaning;
};

#if defined(__x86_64__)
constexpr uint64_t kDefault = 0x1f80;  // every exception masked
constexpr Bit kBits[] = {{0x8000, "denormal results are flushed to zero (FTZ)"},
                         {0x0040, "denormal operands are taken for zero (DAZ)"},
                         {0x6000, "another rounding than to nearest"}};
uint64_t read_state() { return _mm_getcsr(); }
void write_state(uint64_t state) { _mm_setcsr(static_cast<unsigned>(state)); }
#elif defined(__aarch64__)
constexpr uint64_t kDefault = 0;
constexpr Bit kBits[] = {{uint64_t{1} << 24, "denormals are flushed to zero (FZ)"},
                         {uint64_t{1} << 19, "denormals of 16 bits are flushed to zero (FZ16)"},
                         {uint64_t{1} << 25, "NaNs lose their payload (DN)"},
                         {uint64_t{3} << 22, "another rounding than to nearest"}};
uint64_t read_state() {
  uint64_t state = 0;
  asm volatile("mrs %0, fpcr" : "=r"(state));
  return state;
}
void write_state(uint64_t state) { asm volatile("msr fpcr, %0" : : "r"(state)); }
#else
#error "where is the floating-point state of this machine?"
#endif

}  // namespace

DefaultFloatState::DefaultFloatState() : before_(read_state()) { write_state(kDefault); }

DefaultFloatState::~DefaultFloatState() { write_state(before_); }

std::string unusual_float_state() {
  const uint64_t state = read_state();
  std::string text;
  for (const Bit& bit : kBits)
    if (state & bit.mask) text += std::string(text.empty() ? "" : ", ") + bit.meaning;
  return text;
}

}  // namespace nrd
