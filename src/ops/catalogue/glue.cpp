// SPDX-License-Identifier: MIT
// src/ops/catalogue/glue.cpp: the entries of what stands between the others.
#include "ops/definitions.h"
#include "ops/op.h"

namespace nrd {

std::vector<Op> glue_ops() {
  constexpr const char* kCast = "x[n]:number -> out[n]:number ; core n*";
  return {
      {.name = "cast",
       .group = "glue",
       .summary = "x in another dtype, by way of f32",
       .choices = {{"overflow",
                    {"ieee", "saturate"},
                    "what does not fit: Inf or NaN, or the largest value of its sign"}},
       .variants = {{.when = "overflow=ieee", .signature = kCast, .builds = NRD_BUILDS(cast_ieee)},
                    {.when = "overflow=saturate",
                     .signature = kCast,
                     .builds = NRD_BUILDS(cast_saturate),
                     .types = "out"}},
       .flops = 0,
       .tolerance = {.exact = true},
       .in_place = InPlace::kYes,
       .shape = "n=65536"},
      {.name = "embedding",
       .group = "glue",
       .summary = "the rows of table that ids name",
       .variants = {{.signature = "table[vocab,dim] ids[tokens]:i32 -> out[tokens,dim] "
                                  "; core vocab,dim",
                     .builds = NRD_BUILDS(embedding)}},
       .flops = 0,
       .tolerance = {.f32 = 0},
       .gathers = "table",
       .shape = "tokens=64,vocab=1000,dim=512"},
      {.name = "argmax",
       .group = "glue",
       .summary = "index of the first largest of a row; of the first NaN if there is one",
       .variants = {{.signature = "x[rows,cols] -> index[rows]:i32 ; core cols",
                     .builds = NRD_BUILDS(argmax)}},
       .flops = 1,
       .tolerance = {.exact = true},
       .shape = "rows=16,cols=4096"},
      {.name = "quantize_i8",
       .group = "glue",
       .summary = "q = round(x/scale), scale = largest |x| of the row / 127, over finite values",
       .variants = {{.signature = "x[rows,cols] -> q[rows,cols]:i8 scale[rows]:f32 ; core cols",
                     .builds = NRD_BUILDS(quantize_i8)}},
       .flops = 4,
       .tolerance = {.exact = true},
       .shape = "rows=64,cols=1024"},
  };
}

}  // namespace nrd
