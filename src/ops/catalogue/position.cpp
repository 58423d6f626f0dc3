// SPDX-License-Identifier: MIT
// src/ops/catalogue/position.cpp: the entries of rotary position embedding.
#include "ops/catalogue/attributes.h"
#include "ops/definitions.h"

namespace nrd {
namespace {

constexpr const char* kRope =
    "x[tokens,heads,head_dim] cos[tokens,head_dim] sin[tokens,head_dim] -> "
    "out[tokens,heads,head_dim] ; core head_dim ; even head_dim";
constexpr const char* kRopeWithPos =
    "x[tokens,heads,head_dim] cos[table,head_dim] sin[table,head_dim] positions[tokens]:i32 -> "
    "out[tokens,heads,head_dim] ; core table,head_dim ; even head_dim";
constexpr const char* kRopeTable =
    "positions[tokens]:i32 -> cos[tokens,head_dim] sin[tokens,head_dim] ; core head_dim ; even "
    "head_dim";

}  // namespace

std::vector<Op> position_ops() {
  using enum NumberRange;
  return {
      {.name = "rope",
       .group = "position",
       .summary = "x*cos + rotate_half(x)*sin",
       .choices = {pairs()},
       .variants = {{.when = "pairs=half", .signature = kRope, .builds = NRD_BUILDS(rope_half)},
                    {.when = "pairs=interleaved",
                     .signature = kRope,
                     .builds = NRD_BUILDS(rope_interleaved)}},
       .flops = 3,
       .tolerance = {.f32 = 1e-6},
       .in_place = InPlace::kYes,
       .shape = "tokens=64,heads=8,head_dim=64"},
      {.name = "rope_with_pos",
       .group = "position",
       .summary = "rope with the rows of cos and sin that positions name",
       .choices = {pairs()},
       .variants = {{.when = "pairs=half",
                     .signature = kRopeWithPos,
                     .builds = NRD_BUILDS(rope_with_pos_half)},
                    {.when = "pairs=interleaved",
                     .signature = kRopeWithPos,
                     .builds = NRD_BUILDS(rope_with_pos_interleaved)}},
       .flops = 3,
       .tolerance = {.f32 = 1e-6},
       .in_place = InPlace::kYes,
       .gathers = "cos sin",
       .shape = "tokens=64,heads=8,head_dim=64,table=4096"},
      {.name = "rope_table",
       .group = "position",
       .summary = "cos and sin of position*theta^(-2i/d), stretched by YaRN if factor > 1",
       .numbers = {{"theta", 10000, "the base of the frequencies", kPositive},
                   {"factor", 1, "YaRN: the context grows by this", kOneOrMore},
                   {"beta_fast", 32, "YaRN: turns from which on a frequency is kept", kPositive},
                   {"beta_slow", 1, "YaRN: turns up to which it is stretched", kPositive},
                   {"original", 4096, "YaRN: the context of the training", kPositive}},
       .choices = {{"truncate", {"no", "yes"}, "YaRN: ends of the ramp on whole pairs?"}},
       .variants = {{.when = "truncate=no",
                     .signature = kRopeTable,
                     .builds = NRD_BUILDS(rope_table)},
                    {.when = "truncate=yes",
                     .signature = kRopeTable,
                     .builds = NRD_BUILDS(rope_table_truncate)}},
       .flops = 8,
       .tolerance = {.f32 = 5e-7},
       .shape = "tokens=256,head_dim=64"},
  };
}

}  // namespace nrd
