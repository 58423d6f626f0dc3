// SPDX-License-Identifier: MIT
// src/lift/lift.h: machine code -> OpTrace. Start reading at lift.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace nrd::lift {

// One parameter of a C function. A pointer to a struct lists its fields.
enum class CKind : uint8_t { kPointer, kFloat, kDouble, kInt32, kUInt32, kInt64, kUInt64, kStruct };
struct CParam {
  CKind kind = CKind::kPointer;
  DType element = DType::kF32;  // of a pointer
  bool is_const = false;        // of a pointer: only read
  std::string name;
  std::vector<CParam> fields;          // of a struct behind a pointer
  std::vector<uint32_t> field_offset;  // bytes
};

// "void(const float* x, float* out, size_t n)", "float(float, float)". Names are optional.
// Structs: "void(const struct{const float* x; float* y; size_t n}* p)".
struct CSignature {
  CKind result = CKind::kFloat;
  bool returns_void = true;
  std::vector<CParam> params;
};
// A function of numbers alone that returns one: its operator applies it to each element.
bool is_map(const CSignature& signature);
Expected<CSignature> parse_signature(std::string_view text);
std::string signature_text(const CSignature& signature);

struct LiftRequest {
  std::string name;
  const void* function = nullptr;
  CSignature signature;
};

struct LiftStats {
  double decode_us = 0, build_us = 0, analyse_us = 0, total_us = 0;
  int instructions = 0, blocks = 0, nodes = 0;
};

// The trace, or an error whose text says what was not understood and where. Parameters of the
// trace are those of the signature in order, structs flattened into their fields. A function of
// numbers that returns one becomes a map over arrays: its parameters turn into input pointers,
// followed by an output pointer "out" and a size "n". Of a function of pointers the returned value
// is stored to an output pointer "out" behind its parameters, at out[0].
// Never reads outside mapped code and read-only data; never runs the function.
Expected<OpTrace> lift_function(const LiftRequest& request, LiftStats* stats = nullptr);

// The lifter's forms as text, for `nereid lift --dump lift` and NEREID_DUMP=lift.
std::string dump_lift(const LiftRequest& request);

}  // namespace nrd::lift
