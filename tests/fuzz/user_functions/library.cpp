// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/library.cpp: the child that registers a function and calls the
// operator.
#include <memory>

#include "case.h"
#include "guarded.h"
#include "shared.h"

namespace judge {
namespace {

nereid_tensor tensor_of(const OperandCase& o, char* region) {
  nereid_tensor t{};
  t.struct_size = sizeof t;
  t.data = region + o.offset;
  t.dtype = o.dtype;
  t.rank = static_cast<int32_t>(o.sizes.size());
  t.sizes = o.sizes.data();
  t.strides = o.strides.data();
  return t;
}

class Caller {
 public:
  Caller(const Attempt& attempt, const OpSignature& signature, Shared& shared)
      : attempt_(attempt), signature_(signature), shared_(shared) {}

  void run(int number) {
    const Case c = make_case(*attempt_.function, signature_, case_seed(attempt_, number));
    CaseState& state = shared_.cases[number];
    state.call = Call::kImpossible;
    if (!c.possible) return;
    state.empty = true;
    std::vector<Guarded> memory;
    for (size_t i = 0; i < c.operands.size(); i++) {
      const OperandCase& o = c.operands[i];
      memory.emplace_back(o.owner < 0 ? o.region_bytes : 0);
      if (o.owner < 0) fill(c, i, memory[i].begin());
      state.empty = state.empty && o.empty();
    }
    say(state.message, c.text);  // should it not come back
    state.call = Call::kRunning;
    const nereid_status status = call(c, memory);
    if (status != NEREID_OK) {
      say(state.message, nereid_last_error()->message);
      state.call = Call::kRefused;
    } else if (!c.misfit.empty()) {
      say(state.finding, "accepted though " + c.misfit + "; " + c.text);
      state.verdict = Verdict::kWrong;
    } else {
      state.call = Call::kAccepted;
    }
    keep_outputs(c, memory, state);
  }

 private:
  nereid_status call(const Case& c, const std::vector<Guarded>& memory) {
    std::vector<nereid_tensor> tensors;
    std::vector<nereid_operand> operands;
    for (size_t i = 0; i < c.operands.size(); i++) {
      const int owner = c.operands[i].owner;
      const size_t region = owner < 0 ? i : static_cast<size_t>(owner);
      tensors.push_back(tensor_of(c.operands[i], memory[region].begin()));
    }
    for (size_t i = 0; i < c.operands.size(); i++)
      operands.push_back({signature_.operands[i].name.c_str(), &tensors[i]});
    std::vector<nereid_attribute> attributes;
    for (const auto& [name, value] : c.numbers)
      attributes.push_back({name.c_str(), nullptr, value});
    for (const std::string& name : signature_.ints)
      attributes.push_back({name.c_str(), nullptr,
                            c.odd_integers.contains(name)
                                ? c.odd_integers.at(name)
                                : static_cast<double>(c.values.at(name))});
    nereid_call call{};
    call.struct_size = sizeof call;
    call.threads = c.threads;
    call.op = attempt_.function->name.c_str();
    call.operands = operands.data();
    call.operand_count = static_cast<int32_t>(operands.size());
    call.attributes = attributes.data();
    call.attribute_count = static_cast<int32_t>(attributes.size());
    call.backend = c.backend;
    return c.planned ? run_planned(c, call, memory) : nereid_run(nullptr, &call);
  }

  // Twice from the same state, in a workspace that ends at a guard page and begins with NaNs.
  nereid_status run_planned(const Case& c, const nereid_call& call,
                            const std::vector<Guarded>& memory) {
    nereid_plan* plan = nullptr;
    nereid_status status = nereid_prepare(nullptr, &call, &plan);
    if (status != NEREID_OK) return status;
    const size_t bytes = nereid_plan_workspace(plan), aligned = (bytes + 63) / 64 * 64;
    const Guarded workspace(aligned);
    std::vector<void*> data;
    for (int i = 0; i < call.operand_count; i++) data.push_back(call.operands[i].tensor->data);
    for (int i = 0; i < 2 && status == NEREID_OK; i++) {
      if (i == 1)
        for (size_t o = 0; o < c.operands.size(); o++)
          if (c.operands[o].owner < 0) fill(c, o, memory[o].begin());
      if (aligned) std::memset(workspace.begin(), 0xff, workspace.bytes());
      status = nereid_plan_run(plan, data.data(), call.operand_count, workspace.end() - aligned,
                               bytes, 0);
    }
    nereid_plan_destroy(plan);
    return status;
  }

  // Outputs as they are now; a refused call must have left them alone, and any call the inputs.
  void keep_outputs(const Case& c, const std::vector<Guarded>& memory, CaseState& state) {
    state.output_at = shared_.output_used;
    for (size_t i = 0; i < c.operands.size(); i++) {
      const OperandCase& o = c.operands[i];
      if (o.owner >= 0) continue;
      const bool output = signature_.operands[i].output;
      if (!output || state.call == Call::kRefused) {
        std::vector<char> before(o.region_bytes);
        fill(c, i, before.data());
        if (std::memcmp(before.data(), memory[i].begin(), o.region_bytes) == 0) continue;
        say(state.finding,
            signature_.operands[i].name +
                (output ? " was written by a refused call; " : ", an input, was written; ") +
                c.text);
        state.verdict = Verdict::kWrong;
      } else {
        if (shared_.output_used + o.region_bytes > kOutputBytes) std::abort();
        std::memcpy(shared_.outputs + shared_.output_used, memory[i].begin(), o.region_bytes);
        shared_.output_used += o.region_bytes;
      }
    }
  }

  const Attempt& attempt_;
  const OpSignature& signature_;
  Shared& shared_;
};

}  // namespace

uint64_t case_seed(const Attempt& attempt, int number) {
  uint64_t hash = attempt.seed * 1000003u + static_cast<uint64_t>(number);
  for (char c : attempt.function->name) hash = hash * 131 + static_cast<unsigned char>(c);
  return hash;
}

void call_library(const Attempt& attempt, Shared& shared) {
  const CFunction& f = *attempt.function;
  shared.stage = Stage::kRegistering;
  nereid_registered made{};
  made.struct_size = sizeof made;
  const nereid_status status =
      nereid_register_op(f.name.c_str(), attempt.address, f.type.c_str(),
                         attempt.given.empty() ? nullptr : attempt.given.c_str(), &made);
  if (status != NEREID_OK) {
    say(shared.reason, nereid_last_error()->message);
    shared.stage = Stage::kDone;
    return;
  }
  shared.registered = true;
  shared.proved = made.proved != 0;
  shared.compiled = made.compiled != 0;
  say(shared.signature, made.signature);
  say(shared.reason, made.reason);
  const OpSignature signature = parse_op_signature(made.signature);
  shared.stage = Stage::kCalling;
  Caller caller(attempt, signature, shared);
  for (int i = 0; i < attempt.cases; i++)
    if (attempt.only < 0 || attempt.only == i) caller.run(i);
  shared.stage = Stage::kDone;
}

}  // namespace judge
