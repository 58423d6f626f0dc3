// SPDX-License-Identifier: MIT
// src/ops/catalogue/attributes.h: attributes that several entries have.
#pragma once

#include "ops/op.h"

namespace nrd {

inline NumberAttribute eps() {
  return {"eps", 1e-6, "added to the mean of squares", NumberRange::kNotNegative};
}

inline ChoiceAttribute pairs() {
  return {"pairs",
          {"half", "interleaved"},
          "which elements turn together: i and i + d/2, or 2i and 2i + 1"};
}

}  // namespace nrd
