// SPDX-License-Identifier: MIT
// src/compiler/prove_code.cpp: code against the bounded interpreter.
#include "compiler/prove_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/convert.h"
#include "compiler/operator.h"
#include "trace/bounded.h"
#include "trace/sample.h"

namespace nrd {
namespace {

constexpr double kFactor = kDecisionSlack;
constexpr size_t kSlackElements = 64;  // behind each buffer: must stay as they were

double load(const char* base, DType dtype, size_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, base + i * byte_size(dtype), byte_size(dtype));
  if (dtype == DType::kI32) return static_cast<int32_t>(bits);
  if (dtype == DType::kI8) return static_cast<int8_t>(bits);
  if (dtype == DType::kU8) return static_cast<uint8_t>(bits);
  return decode(bits, dtype);
}

// One operand as the code sees it, in its storage dtype, and as the interpreter does.
struct Memory {
  const TraceParam* param = nullptr;
  DType dtype = DType::kF32;
  size_t count = 0;
  std::vector<char> stored, before;
  std::vector<Bounded> wide;

  Memory(const TraceParam& p, DType storage, const std::vector<char>& sample)
      : param(&p), dtype(storage), count(sample.size() / byte_size(p.dtype)) {
    stored.resize((count + kSlackElements) * byte_size(storage), 0x5a);
    convert(sample.data(), p.dtype, stored.data(), storage, count);
    before = stored;
  }
  // As doubles without an error, for the interpreter.
  void widen() {
    wide.resize(count);
    for (size_t i = 0; i < count; i++) wide[i].value = load(before.data(), dtype, i);
  }
  bool native() const { return !is_float(param->dtype) && !param->written; }
};

// Half a unit of the storage dtype around the value, and what overflows it.
bool fits(double got, const Bounded& want, DType dtype) {
  if (within(got, want, kFactor)) return true;
  if (dtype == DType::kF32 || dtype == DType::kF64 || !is_float(dtype)) return false;
  if (std::isnan(want.value)) return std::isnan(got);
  const double spread = kFactor * want.bound;
  const double low = round_through(want.value - spread, dtype, Overflow::kIeee);
  const double high = round_through(want.value + spread, dtype, Overflow::kIeee);
  if (std::isnan(got)) return std::isnan(low) || std::isnan(high);
  return (got >= low || std::isnan(low)) && (got <= high || std::isnan(high));
}

Expected<void> compare(const OpTrace& trace, const Sample& sample, const Memory& m,
                       std::string_view isa) {
  const size_t bytes = byte_size(m.dtype);
  for (size_t i = 0; i < m.count + kSlackElements; i++) {
    const char *now = m.stored.data() + i * bytes, *then = m.before.data() + i * bytes;
    const bool untouched = std::memcmp(now, then, bytes) == 0;
    const bool inside = i < m.count && m.param->written;
    if (!inside && untouched) continue;
    const double got = load(m.stored.data(), m.dtype, i);
    if (inside && fits(got, m.wide[i], m.dtype)) continue;
    return make_error(
        {.code = ErrorCode::kUnsupported,
         .op = trace.name,
         .argument = fmt::format("{}[{}]", m.param->name, i),
         .got = inside ? fmt::format("{:.9g} from the {} code ({})", got, isa, sample.text())
                       : fmt::format("a store outside from the {} code ({})", isa, sample.text()),
         .allowed =
             inside ? fmt::format("{:.9g} +- {:.3g}", m.wide[i].value, kFactor * m.wide[i].bound)
                    : "nothing",
         .hint = "the function itself runs instead"});
  }
  return {};
}

// The sample's buffers in the storage dtypes; with in_place the first output starts as the first
// input of its dtype and length.
std::vector<Memory> memories(const OpTrace& trace, const Sample& sample,
                             const std::vector<DType>& dtypes) {
  std::vector<Memory> list;
  for (const TraceParam& p : trace.params)
    if (p.kind == TraceParamKind::kPointer)
      list.emplace_back(p, dtypes[list.size()], sample.buffers[list.size()]);
  return list;
}

// The input that shares memory with the first output, or -1.
int shared_input(const std::vector<Memory>& list, size_t output) {
  for (size_t i = 0; i < list.size(); i++)
    if (!list[i].param->written && list[i].dtype == list[output].dtype &&
        list[i].param->dtype == list[output].param->dtype && list[i].count == list[output].count)
      return static_cast<int>(i);
  return -1;
}

// The operands of one run. In place the first output lies on an input of its shape.
struct Operands {
  std::vector<Memory> list;
  std::vector<void*> pointers;
  size_t output = 0;
  int shared = -1;  // the input below the output

  Operands(const OpTrace& trace, const Sample& sample, const std::vector<DType>& dtypes,
           bool in_place)
      : list(memories(trace, sample, dtypes)) {
    while (output < list.size() && !list[output].param->written) output++;
    if (in_place && output < list.size()) shared = shared_input(list, output);
    if (shared >= 0) {
      Memory &in = list[static_cast<size_t>(shared)], &out = list[output];
      out.stored = out.before = in.stored;
    }
    for (Memory& m : list) pointers.push_back(m.stored.data());
    if (shared >= 0) pointers[static_cast<size_t>(shared)] = pointers[output];
  }
};

// 64-byte aligned memory for a body.
class Room {
 public:
  explicit Room(size_t bytes) : bytes_(bytes + 64) {}
  void* data() {
    return bytes_.data() + (64 - reinterpret_cast<uintptr_t>(bytes_.data()) % 64) % 64;
  }

 private:
  std::vector<char> bytes_;
};

void run_body(const Body& body, const Sample& sample, const Operands& operands) {
  const std::vector<size_t> sizes(sample.sizes.begin(), sample.sizes.end());
  Room scratch(body.scratch_bytes(sizes.data()));
  const std::vector<int64_t> strides(operands.pointers.size(), 0);
  body.run({operands.pointers.data(), sizes.data(), sample.numbers.data(), sample.ints.data()},
           strides.data(), 1, scratch.data());
}

Expected<void> try_sample(const OpTrace& trace, const Body& body, const Sample& sample,
                          const std::vector<DType>& dtypes, bool in_place, std::string_view isa) {
  Operands operands(trace, sample, dtypes, in_place);
  if (in_place && operands.shared < 0) return {};
  std::vector<void*> wide;
  for (Memory& m : operands.list) {
    m.widen();
    wide.push_back(m.native() ? static_cast<void*>(m.stored.data()) : m.wide.data());
  }
  interpret_bounded(trace,
                    {wide.data(), sample.sizes.data(), sample.numbers.data(), sample.ints.data()});
  run_body(body, sample, operands);
  for (size_t i = 0; i < operands.list.size(); i++)
    if (static_cast<int>(i) != operands.shared)
      NRD_TRY(compare(trace, sample, operands.list[i], isa));
  return {};
}

// One instance long enough for several threads: the code that they share gives the bits of the
// code above.
Expected<void> try_shared(const OpTrace& trace, const Body& body, const Sample& sample,
                          const std::vector<DType>& dtypes, bool in_place, std::string_view isa) {
  const std::vector<size_t> sizes(sample.sizes.begin(), sample.sizes.end());
  if (!body.shares(sizes.data())) return {};
  Operands one(trace, sample, dtypes, in_place), many(trace, sample, dtypes, in_place);
  if (in_place && one.shared < 0) return {};
  run_body(body, sample, one);
  constexpr int64_t kParts = 3;
  Room room(body.shared_bytes(sizes.data(), kParts));
  body.run_shared({many.pointers.data(), sizes.data(), sample.numbers.data(), sample.ints.data()},
                  room.data(), kParts, Exec{});
  for (size_t i = 0; i < one.list.size(); i++)
    if (one.list[i].stored != many.list[i].stored)
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = trace.name,
                         .argument = one.list[i].param->name,
                         .got = fmt::format("other bits from the {} code for several threads ({})",
                                            isa, sample.text()),
                         .allowed = "those of one thread",
                         .hint = "the function itself runs instead"});
  return {};
}

// Two chunks of a reduction and a piece.
constexpr int64_t kSharedSize = 2 * 16384 + 77;

int64_t sizes_of(const OpTrace& trace) {
  return std::count_if(trace.params.begin(), trace.params.end(),
                       [](const TraceParam& p) { return p.kind == TraceParamKind::kSize; });
}

}  // namespace

Expected<void> prove_code(const OpTrace& trace, const jit::Target& target,
                          const CodeProof& options) {
  std::vector<DType> dtypes = options.dtypes;
  std::vector<int> ints = options.ints;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kPointer && options.dtypes.empty()) dtypes.push_back(p.dtype);
    if (p.kind == TraceParamKind::kInt && options.ints.empty())
      ints.push_back(static_cast<int>(DType::kF32));
  }
  Expected<std::shared_ptr<const Body>> body =
      compile_trace(trace, {dtypes, ints, options.non_temporal}, target);
  if (!body) return body.error();
  uint64_t seed = 1000;
  for (const std::vector<int64_t>& sizes :
       options.sizes.empty() ? sample_sizes(trace, options.most_points) : options.sizes)
    for (Spread spread : {Spread::kNormal, Spread::kSpecial, Spread::kWide}) {
      Expected<Sample> sample = make_sample(trace, sizes, spread, seed++);
      if (!sample) return sample.error();
      sample->ints = ints;
      NRD_TRY(try_sample(trace, **body, *sample, dtypes, options.in_place, target.isa));
    }
  if (sizes_of(trace) != 1) return {};
  Expected<Sample> sample = make_sample(trace, {kSharedSize}, Spread::kNormal, seed);
  if (!sample) return sample.error();
  sample->ints = ints;
  return try_shared(trace, **body, *sample, dtypes, options.in_place, target.isa);
}

}  // namespace nrd
