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
#include "compiler/parts.h"
#include "compiler/prove_code.h"
#include "ops/contract.h"

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

// `shared`: one instance may run on several threads, where its trace can be cut.
Expected<std::shared_ptr<const Body>> compile(const OpTrace& trace, const jit::Binding& binding,
                                              const jit::Target& target, bool shared = true) {
  Expected<Compiled> emitted = emit(trace, binding, target);
  if (!emitted) return emitted.error();
  Expected<std::shared_ptr<const jit::Code>> code = map_code(trace, emitted->bytes, target);
  if (!code) return code.error();
  auto steps = [owned = std::make_shared<const OpTrace>(trace), binding, &target, shared] {
    return shared ? compile_steps(*owned, binding, target) : nullptr;
  };
  return std::shared_ptr<const Body>(std::make_shared<CompiledBody>(
      std::move(emitted->lowered), std::move(*code), binding.dtypes, std::move(steps)));
}

// A user's function in dtypes or for an ISA that it was not proved with so far. What was tried is
// what will run.
Expected<std::shared_ptr<const Body>> compile_and_prove(const OpTrace& trace,
                                                        const jit::Binding& binding,
                                                        const jit::Target& target,
                                                        const CodeTrust& trust) {
  Expected<std::shared_ptr<const Body>> body = compile(trace, binding, target);
  if (!body || trust.proved_elsewhere) return body;
  const CodeProof wanted{.dtypes = binding.dtypes,
                         .ints = binding.ints,
                         .non_temporal = binding.non_temporal,
                         .in_place = trust.in_place ? Sharing::kEvery : Sharing::kNone,
                         .assumptions = trust.assumptions};
  if (const Expected<void> proof = prove_body(**body, trace, target.isa, wanted); !proof) {
    // Perhaps only the code for several threads is to blame: then one runs it.
    body = compile(trace, binding, target, false);
    if (!body) return body;
    if (!prove_body(**body, trace, target.isa, wanted)) return proof.error();
  }
  std::string words;
  for (DType d : binding.dtypes) words += fmt::format(" {}", word(d));
  log(LogLevel::kInfo, fmt::format("{}: code for{} on {} proved", trace.name, words, target.isa));
  return body;
}

// All that code is made from, so that equal code is found again wherever its trace lies.
class CodeKey {
 public:
  CodeKey(const OpTrace& trace, const jit::Binding& binding, const jit::Target& target,
          bool in_place) {
    text(target.isa);
    number(in_place);
    number(binding.non_temporal);
    list(binding.dtypes, [&](DType d) { number(d); });
    list(binding.ints, [&](int i) { number(i); });
    text(trace.name);
    list(trace.params, [&](const TraceParam& p) {
      number(p.kind), number(p.dtype), number(p.read), number(p.written), text(p.name);
    });
    list(trace.values, [&](const Value& v) {
      number(v.op), number(v.type), number(v.predicate), number(v.index), number(v.bits);
      for (ValueId arg : v.args) number(arg);
    });
    list(trace.loops, [&](const TraceLoop& l) {
      number(l.iv), number(l.extent), ids(l.body);
      list(l.carries, [&](const LoopCarry& c) {
        number(c.carry), number(c.init), number(c.next), number(c.result);
      });
    });
    ids(trace.body);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void number(auto value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view word) {
    number(word.size());
    bytes_ += word;
  }
  void list(const auto& items, const auto& each) {
    number(items.size());
    for (const auto& item : items) each(item);
  }
  void ids(const std::vector<ValueId>& values) {
    list(values, [&](ValueId id) { number(id); });
  }

  std::string bytes_;
};

// Code by what it was made from; kept for the process, as operators are. Under
// LockName::kOperatorCode.
using KeptCode = std::unordered_map<std::string, Expected<std::shared_ptr<const Body>>>;
constinit Lazy<KeptCode> g_code;

// Two threads that ask together may both compile and prove; the first to finish is kept. A refusal
// stands, what the system failed at may work next time.
Expected<std::shared_ptr<const Body>> find_or_compile(const OpTrace& trace,
                                                      const jit::Binding& binding,
                                                      const jit::Target& target,
                                                      const CodeTrust* trust) {
  KeptCode& kept = g_code.get();
  std::string key = CodeKey(trace, binding, target, trust && trust->in_place).take();
  {
    const Locked lock(LockName::kOperatorCode);
    if (auto found = kept.find(key); found != kept.end()) return found->second;
  }
  const Expected<std::shared_ptr<const Body>> made =
      trust ? compile_and_prove(trace, binding, target, *trust) : compile(trace, binding, target);
  if (!made && made.error().code != ErrorCode::kUnsupported) return made;
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
  if (desc.op->group != "user") return find_or_compile(*trace, binding, **target, nullptr);
  const CodeTrust trust{.assumptions = &desc.bound().builds->contract->assumptions,
                        .in_place = desc.op->in_place == InPlace::kYes};
  return find_or_compile(*trace, binding, **target, &trust);
}

Expected<void> compile_user_code(const OpTrace& trace, const CodeTrust& trust) {
  Expected<IsaSet> isa = isa_from_environment();
  if (!isa) return isa.error();
  if (std::string missing = missing_code(*isa); !missing.empty())
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = trace.name,
                       .argument = "vector code",
                       .got = "none",
                       .hint = std::move(missing)});
  Expected<const jit::Target*> target = best_target(*isa);
  if (!target) return target.error();
  jit::Binding binding;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kPointer) binding.dtypes.push_back(p.dtype);
    if (p.kind == TraceParamKind::kInt) binding.ints.push_back(static_cast<int>(DType::kF32));
  }
  Expected<std::shared_ptr<const Body>> body = find_or_compile(trace, binding, **target, &trust);
  if (body) return {};
  Error error = body.error();
  if (error.argument.empty()) error.argument = "vector code";  // the code generator knows no other
  return make_error(std::move(error));
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
