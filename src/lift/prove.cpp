// SPDX-License-Identifier: MIT
// src/lift/prove.cpp: interpreter against function, on sizes and values that tend to break.
#include "lift/prove.h"

#include <fmt/format.h>

#include <cstring>

#include "lift/call.h"
#include "ops/round_to.h"
#include "trace/interpret.h"
#include "trace/sample.h"

namespace nrd::lift {
namespace {

// The function gets this much beyond what the trace touches: one that was lifted wrongly and goes
// further is found out, not killed.
constexpr size_t kSlackBytes = 4096;

struct Copies {
  std::vector<std::vector<char>> memory;
  std::vector<void*> pointers;

  explicit Copies(const Sample& sample) : memory(sample.buffers) {
    for (std::vector<char>& m : memory) {
      m.resize(m.size() + kSlackBytes, 0x5a);
      pointers.push_back(m.data());
    }
  }
};

// A function that returns a value is called once an element; the trace is its map over arrays.
void call_each(const LiftRequest& request, const Sample& sample, Copies& copies) {
  const size_t inputs = request.signature.params.size();
  std::vector<double> numbers(inputs);
  auto element = [](const char* base, bool f64, int64_t i) {
    double wide;
    float narrow;
    if (f64) return std::memcpy(&wide, base + i * 8, 8), wide;
    return std::memcpy(&narrow, base + i * 4, 4), static_cast<double>(narrow);
  };
  const bool f64 = request.signature.result == CKind::kDouble;
  for (int64_t i = 0; i < sample.sizes[0]; i++) {
    for (size_t a = 0; a < inputs; a++)
      numbers[a] =
          element(copies.memory[a].data(), request.signature.params[a].kind == CKind::kDouble, i);
    double result = 0;
    call_function(request.function, request.signature, nullptr, nullptr, numbers.data(), &result);
    char* out = copies.memory[inputs].data();
    const auto narrow = static_cast<float>(result);
    if (f64)
      std::memcpy(out + i * 8, &result, 8);
    else
      std::memcpy(out + i * 4, &narrow, 4);
  }
}

// Integers of the C function, sizes and ints, in the order of its flattened parameters.
std::vector<int64_t> integers(const OpTrace& trace, const Sample& sample) {
  std::vector<int64_t> list;
  size_t size = 0, other = 0;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kSize) list.push_back(sample.sizes[size++]);
    if (p.kind == TraceParamKind::kInt) list.push_back(sample.ints[other++]);
  }
  return list;
}

template <class T>
bool same(const char* a, const char* b, int64_t i) {
  T x, y;
  std::memcpy(&x, a + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  std::memcpy(&y, b + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return std::memcmp(&x, &y, sizeof(T)) == 0 || (x != x && y != y);
}

bool same_element(DType dtype, const char* a, const char* b, int64_t i) {
  if (dtype == DType::kF32) return same<float>(a, b, i);
  if (dtype == DType::kF64) return same<double>(a, b, i);
  if (dtype == DType::kI32) return same<int32_t>(a, b, i);
  return a[i] == b[i];
}

Copies traced_copies(const OpTrace& trace, const Sample& sample, int nan_sign) {
  Copies copies(sample);
  interpret(trace, {copies.pointers.data(), sample.sizes.data(), sample.numbers.data(),
                    sample.ints.data(), nrd_round_to_f32, nan_sign});
  return copies;
}

// What a NaN's sign decides (copysign, bits) is nobody's promise: compilers exchange the operands
// of a sum, and which NaN comes out hangs on that. Such an element differs by the sign chosen.
class NanSigns {
 public:
  NanSigns(const OpTrace& trace, const Sample& sample) : trace_(trace), sample_(sample) {}
  bool decide(size_t pointer, DType dtype, int64_t i) {
    if (ways_.empty())
      for (const int sign : {1, -1}) ways_.push_back(traced_copies(trace_, sample_, sign));
    return !same_element(dtype, ways_[0].memory[pointer].data(), ways_[1].memory[pointer].data(),
                         i);
  }

 private:
  const OpTrace& trace_;
  const Sample& sample_;
  std::vector<Copies> ways_;  // made when first asked
};

Expected<void> compare(const OpTrace& trace, const Sample& sample, const Copies& traced,
                       const Copies& called) {
  NanSigns signs(trace, sample);
  size_t pointer = 0;
  for (const TraceParam& p : trace.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const std::vector<char>&a = traced.memory[pointer], &b = called.memory[pointer];
    const auto count = static_cast<int64_t>(a.size() / byte_size(p.dtype));
    for (int64_t i = 0; i < count; i++)
      if (!same_element(p.dtype, a.data(), b.data(), i) && !signs.decide(pointer, p.dtype, i))
        return make_error(
            {.code = ErrorCode::kUnsupported,
             .op = trace.name,
             .argument = fmt::format("{}[{}]", p.name, i),
             .got = fmt::format("another value from the trace than from the function ({})",
                                sample.text()),
             .hint = "the function itself runs instead"});
    pointer++;
  }
  return {};
}

}  // namespace

Expected<void> prove_trace(const OpTrace& trace, const LiftRequest& request) {
  uint64_t seed = 1;
  for (const std::vector<int64_t>& sizes : sample_sizes(trace, kProofPoints))
    for (Spread spread : {Spread::kNormal, Spread::kSpecial, Spread::kWide}) {
      Expected<Sample> sample = make_sample(trace, sizes, spread, seed++);
      if (!sample) return sample.error();
      const Copies traced = traced_copies(trace, *sample, 0);
      Copies called(*sample);
      if (request.signature.returns_void)
        call_function(request.function, request.signature, called.pointers.data(),
                      integers(trace, *sample).data(), sample->numbers.data(), nullptr);
      else
        call_each(request, *sample, called);
      NRD_TRY(compare(trace, *sample, traced, called));
    }
  return {};
}

}  // namespace nrd::lift
