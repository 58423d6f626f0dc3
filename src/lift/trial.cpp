// SPDX-License-Identifier: MIT
// src/lift/trial.cpp: see trial.h.
#include "lift/trial.h"

#include <bit>
#include <cstring>
#include <limits>

#include "lift/call.h"
#include "ops/round_to.h"

namespace nrd::lift {
namespace {

constexpr size_t kSlackBytes = 4096;

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

double element(const Copies& copies, size_t pointer, bool f64, int64_t i) {
  double wide = 0;
  float narrow = 0;
  if (f64) return std::memcpy(&wide, copies.data(pointer) + i * 8, 8), wide;
  return std::memcpy(&narrow, copies.data(pointer) + i * 4, 4), static_cast<double>(narrow);
}

}  // namespace

Copies::Copies(const Sample& sample) : memory(sample.buffers) {
  for (std::vector<char>& m : memory) {
    m.resize(m.size() + kSlackBytes, 0x5a);
    pointers.push_back(m.data());
  }
}

Copies::Copies(const Sample& sample, size_t input, size_t output) : Copies(sample) {
  pointers[output] = pointers[input];
}

// A function of numbers is called once an element; the trace is its map over arrays.
// `each` gets the arguments and gives the bits of the result.
template <class Each>
void Trial::for_each_element(const Sample& sample, Copies& copies, const Each& each) {
  const size_t inputs = request_.signature.params.size();
  const size_t bytes = request_.signature.result == CKind::kDouble ? 8 : 4;
  std::vector<double> numbers(inputs);
  auto* out = static_cast<char*>(copies.pointers[inputs]);
  for (int64_t i = 0; i < sample.sizes[0]; i++) {
    for (size_t a = 0; a < inputs; a++)
      numbers[a] = element(copies, a, request_.signature.params[a].kind == CKind::kDouble, i);
    const uint64_t result = each(numbers.data());
    std::memcpy(out + static_cast<size_t>(i) * bytes, &result, bytes);
  }
}

void Trial::call(const Sample& sample, Copies& copies) {
  const std::vector<int64_t> whole = integers(trace_, sample);
  const auto run = [&](const double* numbers, double* result) {
    call_function(request_.function, request_.signature, copies.pointers.data(), whole.data(),
                  numbers, result);
  };
  if (!is_map(request_.signature)) return run(sample.numbers.data(), nullptr);
  const bool f64 = request_.signature.result == CKind::kDouble;
  for_each_element(sample, copies, [&](const double* numbers) -> uint64_t {
    double result = 0;
    run(numbers, &result);
    if (f64) return std::bit_cast<uint64_t>(result);
    return std::bit_cast<uint32_t>(static_cast<float>(result));
  });
}

// Operands are regions in the order of the pointers, structs those behind them.
FunctionRun Trial::follow_once(const CallWords& call, const Copies& copies, const Sample& sample,
                               int64_t most_steps) {
  std::vector<MemoryRegion> memory;
  for (size_t i = 0; i < sample.buffers.size(); i++)
    memory.push_back({static_cast<char*>(copies.pointers[i]), sample.buffers[i].size()});
  std::vector<uint64_t> words(call.words.begin(), call.words.end());
  std::vector<std::vector<int64_t>> structs = call.structs;
  for (size_t i = 0, next = 0; i < words.size(); i++) {
    if (request_.signature.params[i].kind != CKind::kStruct) continue;
    words[i] = region_address(memory.size());
    memory.push_back({reinterpret_cast<char*>(structs[next].data()), structs[next].size() * 8});
    next++;
  }
  return machine_.run(words, memory, most_steps);
}

// What a function of pointers returns is the last output.
void Trial::store_result(uint64_t result, Copies& copies) const {
  const size_t bytes = request_.signature.result == CKind::kDouble ? 8 : 4;
  std::memcpy(copies.pointers.back(), &result, bytes);  // little endian
}

FunctionRun Trial::follow(const Sample& sample, Copies& copies, int64_t most_steps) {
  std::vector<void*> pointers;
  for (size_t i = 0; i < copies.pointers.size(); i++) {
    size_t region = 0;  // the first with this memory: an output may lie on an input
    while (copies.pointers[region] != copies.pointers[i]) region++;
    pointers.push_back(reinterpret_cast<void*>(region_address(region)));
  }
  const std::vector<int64_t> whole = integers(trace_, sample);
  const auto words = [&](const double* numbers) {
    return call_words(request_.signature, pointers.data(), whole.data(), numbers);
  };
  if (!is_map(request_.signature)) {
    const FunctionRun once = follow_once(words(sample.numbers.data()), copies, sample, most_steps);
    if (!request_.signature.returns_void) store_result(once.result, copies);
    return once;
  }
  FunctionRun all;
  for_each_element(sample, copies, [&](const double* numbers) {
    if (all.fault != Fault::kNone) return all.result;
    const int64_t before = all.steps;
    all = follow_once(words(numbers), copies, sample, most_steps - before);
    all.steps += before;
    return all.result;
  });
  return all;
}

TraceRun Trial::interpret(const Sample& sample, Copies& copies, int64_t most_steps, int nan_sign) {
  return interpret_within(trace_,
                          {copies.pointers.data(), sample.sizes.data(), sample.numbers.data(),
                           sample.ints.data(), nrd_round_to_f32, nan_sign},
                          sample.elements.data(), most_steps);
}

std::string Trial::difference(const Sample& sample, const Copies& traced, const Copies& other) {
  std::vector<Copies> ways;  // with either sign of every NaN; made when first needed
  const auto hangs_on_a_sign = [&](size_t pointer, DType dtype, int64_t i) {
    if (ways.empty())
      for (const int sign : {1, -1}) {
        Copies& way = ways.emplace_back(sample);
        static_cast<void>(interpret(sample, way, std::numeric_limits<int64_t>::max(), sign));
      }
    return !same_element(dtype, ways[0].data(pointer), ways[1].data(pointer), i);
  };
  size_t pointer = 0;
  for (const TraceParam& p : trace_.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const char *a = traced.data(pointer), *b = other.data(pointer);
    const auto bytes = byte_size(p.dtype);
    const auto count = static_cast<int64_t>(traced.bytes(pointer) / bytes);
    if (std::memcmp(a, b, static_cast<size_t>(count) * bytes) != 0)
      for (int64_t i = 0; i < count; i++)
        if (!same_element(p.dtype, a, b, i) && !hangs_on_a_sign(pointer, p.dtype, i))
          return p.name + "[" + std::to_string(i) + "]";
    pointer++;
  }
  return {};
}

}  // namespace nrd::lift
