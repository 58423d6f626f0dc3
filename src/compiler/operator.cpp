// SPDX-License-Identifier: MIT
// src/compiler/operator.cpp: lowers, encodes and keeps code.
#include "compiler/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/lazy.h"
#include "base/locks.h"
#include "base/log.h"
#include "compiler/catalogue_traces.h"
#include "compiler/compiled_body.h"
#include "compiler/dump.h"
#include "compiler/prove_code.h"

namespace nrd {
namespace {

// Storage dtypes that code loads and stores as they are.
bool stores_directly(DType memory, DType traced) {
  if (memory == traced) return true;
  return traced == DType::kF32 && (memory == DType::kF16 || memory == DType::kBF16 ||
                                   memory == DType::kF8E4M3 || memory == DType::kF8E5M2);
}

struct Compiled {
  jit::Lowered lowered;
  std::vector<uint8_t> bytes;
};

Expected<Compiled> emit(const OpTrace& trace, const jit::Binding& binding,
                        const jit::Target& target) {
  Expected<jit::Lowered> lowered = jit::lower(trace, binding, target);
  if (!lowered) return lowered.error();
  if (lowered->layout.bytes() > static_cast<int64_t>(kMostBlockBytes))
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = trace.name,
                       .argument = "parameters",
                       .got = "more than a block holds"});
  Expected<std::vector<uint8_t>> bytes = jit::encode(lowered->program, target);
  if (!bytes) return bytes.error();
  dump_stages(*lowered, *bytes, target);
  return Compiled{std::move(*lowered), std::move(*bytes)};
}

Expected<std::shared_ptr<const jit::Code>> map_code(const OpTrace& trace,
                                                    const std::vector<uint8_t>& bytes,
                                                    const jit::Target& target) {
  return jit::make_code(fmt::format("nereid_{}_{}", trace.name, target.isa), bytes);
}

// What cannot be cut into steps runs on one thread: null.
std::unique_ptr<const CompiledSteps> compile_steps(const OpTrace& trace,
                                                   const jit::Binding& binding,
                                                   const jit::Target& target) {
  Expected<jit::LoweredSteps> lowered = jit::lower_in_steps(trace, binding, target);
  if (!lowered || lowered->layout.bytes() > static_cast<int64_t>(kMostBlockBytes)) return nullptr;
  auto steps = std::make_unique<CompiledSteps>();
  for (jit::Step& step : lowered->steps) {
    Expected<std::vector<uint8_t>> bytes = jit::encode(step.program, target);
    if (!bytes) return nullptr;
    Expected<std::shared_ptr<const jit::Code>> code = map_code(trace, *bytes, target);
    if (!code) return nullptr;
    steps->code.push_back(std::move(*code));
    step.program = {};  // encoded; no longer needed
  }
  steps->lowered = std::move(*lowered);
  return steps;
}

Expected<std::shared_ptr<const Body>> compile(const OpTrace& trace, const jit::Binding& binding,
                                              const jit::Target& target) {
  Expected<Compiled> emitted = emit(trace, binding, target);
  if (!emitted) return emitted.error();
  Expected<std::shared_ptr<const jit::Code>> code = map_code(trace, emitted->bytes, target);
  if (!code) return code.error();
  return std::shared_ptr<const Body>(std::make_shared<CompiledBody>(
      std::move(emitted->lowered), std::move(*code), binding.dtypes,
      [&trace, binding, &target] { return compile_steps(trace, binding, target); }));
}

// As prove_vector_code of user_op.cpp found it when the function was registered.
bool was_proved(const OpTrace& trace, const jit::Binding& binding, const jit::Target& target) {
  const Expected<IsaSet> isa = isa_from_environment();
  if (!isa || binding.non_temporal) return false;
  const std::vector<const jit::Target*> here = jit::targets(*isa);
  if (here.empty() || here.front() != &target) return false;
  size_t pointer = 0;
  return std::all_of(trace.params.begin(), trace.params.end(), [&](const TraceParam& p) {
    return p.kind != TraceParamKind::kPointer || p.dtype == binding.dtypes[pointer++];
  });
}

// A user's function in dtypes or for an ISA that it was not proved with so far.
Expected<std::shared_ptr<const Body>> compile_and_prove(const OpTrace& trace,
                                                        const jit::Binding& binding,
                                                        const jit::Target& target) {
  if (!was_proved(trace, binding, target)) {
    NRD_TRY(prove_code(
        trace, target,
        {.dtypes = binding.dtypes, .ints = binding.ints, .non_temporal = binding.non_temporal}));
    std::string words;
    for (DType d : binding.dtypes) words += fmt::format(" {}", word(d));
    log(LogLevel::kInfo, fmt::format("{}: code for{} on {} proved", trace.name, words, target.isa));
  }
  return compile(trace, binding, target);
}

// Code by what it was made from; kept for the process, as operators are. Under
// LockName::kOperatorCode.
using KeptCode = std::unordered_map<std::string, Expected<std::shared_ptr<const Body>>>;
constinit Lazy<KeptCode> g_code;

// Two threads that ask together may both compile and prove; the first to finish is kept.
Expected<std::shared_ptr<const Body>> find_or_compile(const OpTrace& trace,
                                                      const jit::Binding& binding,
                                                      const jit::Target& target, bool is_users) {
  KeptCode& kept = g_code.get();
  std::string key;
  const OpTrace* address = &trace;
  key.append(reinterpret_cast<const char*>(&address), sizeof address);
  for (DType d : binding.dtypes) key.push_back(static_cast<char>(d));
  for (int i : binding.ints) key.push_back(static_cast<char>(i));
  key.push_back(binding.non_temporal ? 'n' : 'c');
  key += target.isa;
  {
    const Locked lock(LockName::kOperatorCode);
    if (auto found = kept.find(key); found != kept.end()) return found->second;
  }
  const auto make = is_users ? compile_and_prove : compile;
  const Expected<std::shared_ptr<const Body>> made = make(trace, binding, target);
  const Locked lock(LockName::kOperatorCode);
  return kept.try_emplace(std::move(key), made).first->second;
}

Error no_trace(const Desc& desc) {
  const std::string_view why = desc.bound().builds->no_trace;  // as it was found at registration
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = desc.op->name,
                     .argument = why.empty() ? "its definition was not lifted" : std::string(why)});
}

Expected<const jit::Target*> best_target(const IsaSet& isa) {
  const std::vector<const jit::Target*> list = jit::targets(isa);
  if (list.empty() || !jit::executable_memory_works())
    return make_error({.code = ErrorCode::kUnsupported,
                       .argument = "generated code",
                       .got = list.empty() ? "an ISA without a back end"
                                           : "a system that refuses executable memory"});
  return list.front();
}

}  // namespace

const OpTrace* trace_of(const Desc& desc) {
  const Builds& builds = *desc.bound().builds;
  if (builds.trace) return builds.trace;
  return desc.op->group == "user" ? nullptr : catalogue_trace(builds.name);
}

std::string_view compile_target(const IsaSet& isa) {
  Expected<const jit::Target*> target = best_target(isa);
  return target ? (*target)->isa : std::string_view();
}

Expected<std::shared_ptr<const Body>> compile_operator(const Desc& desc, const IsaSet& isa,
                                                       const OperatorOptions& options) {
  const OpTrace* trace = trace_of(desc);
  if (!trace) return no_trace(desc);
  Expected<const jit::Target*> target = best_target(isa);
  if (!target) return target.error();
  jit::Binding binding;
  for (const TraceParam& p : trace->params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const DType memory = desc.operands[binding.dtypes.size()].dtype;
    binding.dtypes.push_back(stores_directly(memory, p.dtype) ? memory : p.dtype);
  }
  binding.ints = desc.types;
  binding.non_temporal = options.non_temporal;
  return find_or_compile(*trace, binding, **target, desc.op->group == "user");
}

Expected<std::shared_ptr<const Body>> compile_trace(const OpTrace& trace,
                                                    const jit::Binding& binding,
                                                    const jit::Target& target) {
  return compile(trace, binding, target);
}

Expected<std::string> operator_assembly(const OpTrace& trace, const IsaSet& isa) {
  Expected<const jit::Target*> target = best_target(isa);
  if (!target) return target.error();
  jit::Binding binding;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kPointer) binding.dtypes.push_back(p.dtype);
    if (p.kind == TraceParamKind::kInt) binding.ints.push_back(static_cast<int>(DType::kF32));
  }
  Expected<Compiled> emitted = emit(trace, binding, **target);
  if (!emitted) return emitted.error();
  return jit::disassemble(emitted->bytes.data(), emitted->bytes.size());
}

}  // namespace nrd
