// SPDX-License-Identifier: MIT
// tests/cuda/op_case.cpp
#include "op_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/convert.h"
#include "op_operands.h"
#include "workbench/reference.h"

namespace nrd::cuda {
namespace {

constexpr unsigned char kPoison[2] = {0xa5, 0x5a};

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
  OpRun run{*contiguous, {}, std::string((*chosen)->name), (*operation)->note(), workspace.bytes()};
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
