// SPDX-License-Identifier: MIT
// tests/fuzz/lift_bytes.cpp: see lift_bytes.h.
#include "lift_bytes.h"

#include "lift/function.h"
#include "lift/image.h"
#include "trace/classify.h"
#include "trace/text.h"
#include "trace/verify.h"

namespace nrd::lift {
namespace {

constexpr uint64_t kBase = 0x400000;

// Every kind of parameter and result.
constexpr std::string_view kSignatures[] = {
    "void(const float* x, float* out, size_t n)",
    "float(float a, float b, float c)",
    "void(const float* x, const float* w, float* out, int n, float eps)",
    "void(const float* a, const float* b, float* c, size_t m, size_t n, size_t k)",
    "void(const float* a, const float* b, float* c, int m, int n, int k)",
    "void(const float* x, int32_t* out, int n)",
    "void(const int8_t* q, const float* scale, float* out, unsigned n)",
    "void(const double* x, double* out, int64_t n)",
    "double(double a, double b)",
    "void(const struct{const float* x; float* out; size_t n}* a)",
    "void(const float* table, const int32_t* id, uint8_t* out, size_t n, double s)",
    "float(const float* x, size_t n)",
};

// What calls reach: one of each kind, a few bytes before the code, where short jumps go as well.
constexpr std::string_view kNames[] = {
    "expf",   "fmaxf", "sqrt",   "powf",   "sincosf",          "memcpy",
    "memset", "abort", "floorf", "mcount", "nrd_round_to_f32", "unheard_of",
};

MemoryImage make_image(std::span<const uint8_t> code) {
  MemoryImage image({code.begin(), code.end()}, kBase);
  uint64_t address = kBase;
  for (const std::string_view name : kNames) {
    address -= 16;
    image.name_function(address, std::string(name));
    image.name_slot(address - 0x1000, std::string(name));
  }
  return image;
}

// lift_now of lift.cpp, for any image and machine.
Expected<OpTrace> lift(const LiftRequest& request, const Image& image, FrontEnd& front_end) {
  Expected<Function> function = build_function(request, image, front_end, nullptr);
  if (!function) return function.error();
  return analyse(std::move(*function), request);
}

std::string complaint_about(OpTrace trace) {
  if (const Expected<void> sound = verify_trace(trace); !sound)
    return "the verifier refuses the trace: " + sound.error().message() + "\n" + trace_text(trace);
  trace.name = "f";
  trace.op_class = classify(trace);
  const std::string text = trace_text(trace);
  const Expected<OpTrace> again = parse_trace(text);
  if (!again) return "its text is not read: " + again.error().message() + "\n" + text;
  return trace_text(*again) == text ? "" : "its text is read as another trace:\n" + text;
}

}  // namespace

bool has_front_end(Machine machine) {
  return (machine == Machine::kX86 ? make_x86_front_end() : make_a64_front_end()) != nullptr;
}

std::string complaint_about(Machine machine, std::span<const uint8_t> input, std::string* reason) {
  if (input.empty()) return {};
  const std::unique_ptr<FrontEnd> front_end =
      machine == Machine::kX86 ? make_x86_front_end() : make_a64_front_end();
  const LiftRequest request{"f", reinterpret_cast<const void*>(kBase),
                            *parse_signature(kSignatures[input[0] % std::size(kSignatures)])};
  Expected<OpTrace> trace = lift(request, make_image(input.subspan(1)), *front_end);
  if (trace) return complaint_about(std::move(*trace));
  if (reason != nullptr) *reason = trace.error().hint;
  if (trace.error().code != ErrorCode::kUnsupported || trace.error().hint.empty())
    return "refused for no reason: " + trace.error().message();
  return {};
}

}  // namespace nrd::lift
