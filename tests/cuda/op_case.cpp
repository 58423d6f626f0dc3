// SPDX-License-Identifier: MIT
// tests/cuda/op_case.cpp
#include "op_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/convert.h"
#include "workbench/data.h"
#include "workbench/reference.h"

namespace nrd::cuda {
namespace {

constexpr unsigned char kPoison[2] = {0xa5, 0x5a};

int64_t count_of(const OperandDesc& o) {
  int64_t n = 1;
  for (int64_t size : o.sizes) n *= size;
  return n;
}

size_t extent_bytes(const OperandDesc& o) {
  int64_t last = 0;
  for (int d = 0; d < o.sizes.size(); d++) {
    if (o.sizes[d] == 0) return 0;
    last += (o.sizes[d] - 1) * o.strides[d];
  }
  return static_cast<size_t>(last + 1) * byte_size(o.dtype);
}

// Where element `index` of the logical order lies.
size_t offset_of(const OperandDesc& o, int64_t index) {
  int64_t offset = 0;
  for (int d = o.sizes.size() - 1; d >= 0; d--) {
    offset += index % o.sizes[d] * o.strides[d];
    index /= o.sizes[d];
  }
  return static_cast<size_t>(offset) * byte_size(o.dtype);
}

void apply(const Layout& layout, OperandDesc& o) {
  const int rank = o.sizes.size();
  if (!layout.strides.empty()) {
    o.strides = Dims(std::span(layout.strides));
    return;
  }
  if (layout.step == 1 && layout.row_padding == 0 && !layout.transposed) return;
  std::vector<int> order;  // innermost first
  for (int d = rank - 1; d >= 0; d--) order.push_back(d);
  if (layout.transposed && rank >= 2) std::swap(order[0], order[1]);
  int64_t stride = layout.step;
  for (size_t i = 0; i < order.size(); i++) {
    o.strides[order[i]] = stride;
    stride *= o.sizes[order[i]];
    if (i == 0) stride += layout.row_padding;
  }
}

Error failure(const OpCase& c, std::string what) {
  return make_error(
      {.code = ErrorCode::kInternal, .op = c.op, .argument = c.text(), .got = std::move(what)});
}

Expected<Case> contiguous_case(const OpCase& c) {
  CaseSpec spec;
  spec.op = c.op;
  spec.request = {
      .sizes = c.sizes, .dtypes = c.dtypes, .attributes = c.attributes, .optional = c.optional};
  spec.distribution = c.distribution;
  spec.seed = c.seed;
  return make_case(spec);
}

// The case as it is launched: on the device, with the layouts.
Expected<Case> laid_out(const OpCase& c, const TestTarget& target, const Case& contiguous) {
  Case own = contiguous;
  own.desc.device = {DeviceKind::kCuda, target.target.device.index};
  own.desc.batch_invariant = c.batch_invariant;
  for (const auto& [name, layout] : c.layouts) {
    const int index = own.desc.signature().find_operand(name);
    if (index < 0) return failure(c, "there is no operand " + name);
    apply(layout, own.desc.operands[static_cast<size_t>(index)]);
  }
  return own;
}

Expected<const Implementation*> choose(const OpCase& c, const Desc& desc, const Target& target) {
  std::string reasons;
  std::vector<const Implementation*> all;
  if (c.own)
    all = {c.own};
  else
    all.assign(implementations().begin(), implementations().end());
  for (const Implementation* i : all) {
    if (!c.implementation.empty() && i->name != c.implementation) continue;
    if (!i->serves(*desc.op)) continue;
    const Expected<void> accepted = i->accepts(desc, target);
    if (accepted) return i;
    reasons += fmt::format("\n  {}: {}", i->name, accepted.error().message());
  }
  return failure(c, "nothing accepts it" + reasons);
}

// The operands of a case in memory of the target.
class Operands {
 public:
  Operands(const OpCase& c, const TestTarget& target, const Case& own) : c_(c), own_(own) {
    const Signature& s = own.desc.signature();
    for (size_t i = 0; i < s.operands.size(); i++) {
      const OperandDesc& o = own.desc.operands[i];
      const auto layout = c.layouts.find(s.operands[i].name);
      const size_t misalignment = layout == c.layouts.end() ? 0 : layout->second.misalignment;
      const size_t bytes = o.present ? extent_bytes(o) : 0;
      buffers_.emplace_back(target, bytes, misalignment,
                            s.operands[i].output ? kOutputGuard : kInputGuard);
      host_.emplace_back(bytes, '\xff');
      if (o.present && !s.operands[i].output) fill(i);
    }
    if (c.in_place.empty()) return;
    shared_ = static_cast<size_t>(s.find_operand(c.in_place));
  }

  std::vector<void*> pointers() const {
    std::vector<void*> p;
    const Signature& s = own_.desc.signature();
    for (size_t i = 0; i < buffers_.size(); i++)
      p.push_back(own_.desc.operands[i].present ? buffers_[i].data() : nullptr);
    if (!c_.in_place.empty()) p[static_cast<size_t>(s.inputs)] = p[shared_];
    return p;
  }

  void reset(unsigned char poison) {
    for (size_t i = 0; i < buffers_.size(); i++) {
      if (own_.desc.signature().operands[i].output)
        buffers_[i].fill(poison);
      else
        buffers_[i].upload(host_[i].data());
    }
  }

  // What lies between the elements of an output counts as guard band too.
  Expected<std::vector<Output>> collect(unsigned char poison) const {
    std::vector<Output> outputs;
    const Signature& s = own_.desc.signature();
    for (size_t i = 0; i < buffers_.size(); i++) {
      if (!own_.desc.operands[i].present) continue;
      if (const auto guards = buffers_[i].check_guards(); !guards)
        return failure(c_, s.operands[i].name + ": " + guards.message());
      if (s.operands[i].output) {
        Expected<Output> output = gather(i, poison);
        if (!output) return output.error();
        outputs.push_back(std::move(*output));
      } else if ((c_.in_place.empty() || i != shared_) && buffers_[i].download() != host_[i]) {
        return failure(c_, "the input " + s.operands[i].name + " was changed");
      }
    }
    return outputs;
  }

 private:
  void fill(size_t i) {
    const OperandDesc& o = own_.desc.operands[i];
    const auto given = c_.values.find(own_.desc.signature().operands[i].name);
    if (given == c_.values.end()) {
      fill_operand(own_, i, host_[i].data());
      return;
    }
    for (int64_t e = 0; e < count_of(o); e++) {
      const uint64_t bits = encode(given->second[static_cast<size_t>(e)], o.dtype, Overflow::kIeee);
      std::memcpy(host_[i].data() + offset_of(o, e), &bits, byte_size(o.dtype));
    }
  }

  Expected<Output> gather(size_t i, unsigned char poison) const {
    const OperandDesc& o = own_.desc.operands[i];
    const Signature& s = own_.desc.signature();
    const bool is_shared = !c_.in_place.empty() && i == static_cast<size_t>(s.inputs);
    std::vector<char> memory = buffers_[is_shared ? shared_ : i].download();
    const size_t bytes = byte_size(o.dtype);
    Output output{.operand = i,
                  .data = std::vector<char>(static_cast<size_t>(count_of(o)) * bytes)};
    for (int64_t e = 0; e < count_of(o); e++) {
      char* at = memory.data() + offset_of(o, e);
      std::memcpy(output.data.data() + static_cast<size_t>(e) * bytes, at, bytes);
      std::memset(at, poison, bytes);
    }
    if (is_shared) return output;
    const auto is_poison = [&](char byte) { return static_cast<unsigned char>(byte) == poison; };
    if (!std::all_of(memory.begin(), memory.end(), is_poison))
      return failure(c_, s.operands[i].name + ": memory between its elements was written");
    return output;
  }

  const OpCase& c_;
  const Case& own_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<std::vector<char>> host_;
  size_t shared_ = 0;
};

std::string first_unwritten(const Desc& desc, const std::vector<Output>& a,
                            const std::vector<Output>& b) {
  for (size_t o = 0; o < a.size(); o++) {
    const size_t bytes = byte_size(desc.operands[a[o].operand].dtype);
    for (size_t at = 0; at < a[o].data.size(); at += bytes) {
      const auto holds = [&](const Output& out, unsigned char poison) {
        return std::all_of(out.data.begin() + static_cast<ptrdiff_t>(at),
                           out.data.begin() + static_cast<ptrdiff_t>(at + bytes),
                           [&](char c) { return static_cast<unsigned char>(c) == poison; });
      };
      if (holds(a[o], kPoison[0]) && holds(b[o], kPoison[1]))
        return fmt::format("{}[{}]", desc.signature().operands[a[o].operand].name, at / bytes);
    }
  }
  return {};
}

// The first element whose bits differ: "out[17]".
std::string difference(const OpRun& a, const OpRun& b) {
  for (size_t o = 0; o < a.outputs.outputs.size(); o++) {
    const Output &x = a.outputs.outputs[o], &y = b.outputs.outputs[o];
    const OperandDesc& operand = a.c.desc.operands[x.operand];
    const auto at = std::mismatch(x.data.begin(), x.data.end(), y.data.begin(), y.data.end()).first;
    if (at == x.data.end() && x.data.size() == y.data.size()) continue;
    return fmt::format("{}[{}]", a.c.desc.signature().operands[x.operand].name,
                       static_cast<size_t>(at - x.data.begin()) / byte_size(operand.dtype));
  }
  return {};
}

}  // namespace

std::string OpCase::text() const {
  std::string s = op;
  for (const auto& [name, size] : sizes) s += fmt::format(" {}={}", name, size);
  s += " " + dtypes;
  for (const auto& [name, value] : attributes) {
    s += " " + name + "=";
    s += std::holds_alternative<double>(value) ? fmt::format("{}", std::get<double>(value))
                                               : std::get<std::string>(value);
  }
  for (const std::string& name : optional) s += " +" + name;
  for (const auto& [name, l] : layouts) {
    s += fmt::format(" {}(step {}, padding {}, misalignment {}{})", name, l.step, l.row_padding,
                     l.misalignment, l.transposed ? ", transposed" : "");
  }
  if (!in_place.empty()) s += " in place of " + in_place;
  if (distribution != Distribution::kNormal) s += " " + std::string(word(distribution));
  return s;
}

Expected<OpRun> run_op(const TestTarget& target, const OpCase& c) {
  Expected<Case> contiguous = contiguous_case(c);
  if (!contiguous) return contiguous.error();
  Expected<Case> own = laid_out(c, target, *contiguous);
  if (!own) return own.error();
  Expected<const Implementation*> chosen = choose(c, own->desc, target.target);
  if (!chosen) return chosen.error();
  Operands operands(c, target, *own);
  operands.reset(kPoison[0]);
  const std::vector<void*> pointers = operands.pointers();
  NRD_TRY(check_pointers(own->desc, pointers));
  std::vector<void*> constants;
  for (size_t i = 0; i < pointers.size(); i++)
    constants.push_back(own->desc.operands[i].constant ? pointers[i] : nullptr);
  auto operation = (*chosen)->prepare(own->desc, target.target, constants);
  if (!operation) return operation.error();
  DeviceBuffer workspace(target, (*operation)->workspace_bytes());
  std::vector<Output> results[2];
  for (int round = 0; round < 2; round++) {
    operands.reset(kPoison[round]);
    workspace.fill(kPoison[round]);
    Expected<void> launched = (*operation)->launch(pointers.data(), workspace.data(), nullptr);
    if (launched) launched = finish(target);
    if (!launched) return explained(target, launched.error());
    Expected<std::vector<Output>> outputs = operands.collect(kPoison[round]);
    if (!outputs) return outputs.error();
    if (const auto guards = workspace.check_guards(); !guards)
      return failure(c, "workspace: " + std::string(guards.message()));
    results[round] = std::move(*outputs);
  }
  OpRun run{*contiguous, {}, std::string((*chosen)->name), (*operation)->note()};
  run.outputs.unwritten = first_unwritten(own->desc, results[0], results[1]);
  for (size_t o = 0; run.outputs.unwritten.empty() && o < results[0].size(); o++) {
    if (results[0][o].data != results[1][o].data) return failure(c, "two runs differ in bits");
  }
  run.outputs.outputs = std::move(results[1]);
  return run;
}

::testing::AssertionResult is_right(const TestTarget& target, const OpCase& c) {
  const Expected<OpRun> run = run_op(target, c);
  if (!run) return ::testing::AssertionFailure() << target.name << ": " << run.error().message();
  Expected<Reference> reference = make_reference(run->c, 1);
  if (!reference) return ::testing::AssertionFailure() << reference.error().message();
  const Verdict v = check_outputs(run->c, run->outputs, *reference);
  if (v.ok) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << c.text() << " by " << run->implementation << " ("
                                       << run->note << ") on " << target.name << ": " << v.reason;
}

::testing::AssertionResult is_right_in_any_order(const TestTarget& target, const OpCase& c,
                                                 int seeds) {
  if (const auto right = is_right(target, c); !right || !target.is_emulated()) return right;
  const Expected<OpRun> plain = run_op(target, c);
  for (int seed = 1; seed <= seeds; seed++) {
    const SeedScope scope(static_cast<uint64_t>(seed));
    const Expected<OpRun> run = run_op(target, c);
    if (!run)
      return ::testing::AssertionFailure() << "seed " << seed << ": " << run.error().message();
    if (const std::string what = difference(*plain, *run); !what.empty())
      return ::testing::AssertionFailure()
             << c.text() << ": seed " << seed << " differs at " << what;
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult gives_same_bits(const TestTarget& target, const OpCase& a,
                                           const OpCase& b) {
  const Expected<OpRun> first = run_op(target, a), second = run_op(target, b);
  for (const auto* run : {&first, &second}) {
    if (!*run) return ::testing::AssertionFailure() << run->error().message();
  }
  const std::string what = difference(*first, *second);
  if (what.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << a.text() << " (" << first->implementation << ") and " << b.text() << " ("
         << second->implementation << ") differ in the bits of " << what << " on " << target.name;
}

::testing::AssertionResult is_refused(const TestTarget& target, const OpCase& c,
                                      const std::string& text) {
  const Expected<OpRun> run = run_op(target, c);
  if (run) return ::testing::AssertionFailure() << run->implementation << " accepts " << c.text();
  if (run.error().message().find(text) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << run.error().message();
}

std::vector<double> output_values(const OpRun& run, std::string_view name) {
  std::vector<double> values;
  for (const Output& o : run.outputs.outputs) {
    if (run.c.desc.signature().operands[o.operand].name != name) continue;
    const DType dtype = run.c.desc.operands[o.operand].dtype;
    values.resize(o.data.size() / byte_size(dtype));
    convert(o.data.data(), dtype, values.data(), DType::kF64, values.size());
  }
  return values;
}

}  // namespace nrd::cuda
