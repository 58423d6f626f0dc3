// SPDX-License-Identifier: MIT
// src/compiler/compiled_kernel.cpp: accepts what compiles, prepares a Program of compiled bodies.
#include "compiler/compiled_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "compiler/operator.h"
#include "compiler/parts.h"
#include "gemm/kernels.h"
#include "graph/program.h"

namespace nrd {
namespace {

// Outputs beyond half the last-level cache would only push out what is worth keeping.
bool bypasses_cache(const Desc& desc, const Machine& machine) {
  double bytes = 0;
  for (size_t i = 0; i < desc.operands.size(); i++)
    if (desc.operands[i].present && desc.signature().operands[i].output) {
      double count = 1;
      for (int64_t size : desc.operands[i].sizes) count *= static_cast<double>(size);
      bytes += count * static_cast<double>(byte_size(desc.operands[i].dtype));
    }
  return bytes > 0.5 * static_cast<double>(last_level_cache_bytes(machine.profile));
}

class PreparedCode final : public PreparedKernel {
 public:
  PreparedCode(Program program, size_t interpreted, double work)
      : program_(std::move(program)), uncompiled_(interpreted), work_(work) {}
  double work() const override { return work_; }
  size_t workspace_bytes() const override { return program_.workspace_bytes(); }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    program_.run(args.pointers, workspace, exec);
    return {};
  }
  std::string note() const override {
    std::string text = program_.converts() ? "converts whole buffers" : "";
    if (program_.nodes() > 1)
      text += fmt::format("{}{} operators one after the other", text.empty() ? "" : ", ",
                          program_.nodes());
    if (uncompiled_ > 0)
      text += fmt::format(", {} of them as the compiler made the definition", uncompiled_);
    return text;
  }
  std::string fallback() const override { return note(); }

 private:
  Program program_;
  size_t uncompiled_;
  double work_;
};

class CompiledKernel final : public Kernel {
 public:
  explicit CompiledKernel(const Machine& machine)
      : machine_(machine),
        isa_(compile_target(machine.isa)),
        level_(strongest_level()),
        products_(make_gemm_kernel(machine, trace_of)) {}

  std::string isa() const override { return isa_; }
  std::string name() const override { return "jit_" + isa_; }
  bool reads_forms() const override { return true; }

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(check_forms(desc));
    if (desc.op->composite()) return {};
    Expected<std::shared_ptr<const Body>> body = compile_operator(desc, machine_.isa, {});
    if (!body) return body.error();
    return {};
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    const BodyMaker definitions = build_bodies(Build::kAutovec, level_);
    const bool bypass = bypasses_cache(desc, machine_);
    size_t uncompiled = 0;
    Expected<Program> program = Program::prepare(
        desc,
        [&](const Desc& node, bool composite) -> Expected<std::shared_ptr<const Body>> {
          Expected<std::shared_ptr<const Body>> body =
              compile_operator(node, machine_.isa, {.non_temporal = bypass && !composite});
          if (body || !composite) return body;
          uncompiled++;
          return definitions(node, composite);
        },
        [&](const Desc& node, std::span<void* const> own) { return product(node, own); },
        constants);
    if (!program) return program.error();
    return std::unique_ptr<PreparedKernel>(
        std::make_unique<PreparedCode>(std::move(*program), uncompiled, cost(desc).flops));
  }

 private:
  // What lies in a form is read by the GEMM engine, as a node of a composite.
  Expected<void> check_forms(const Desc& desc) const {
    const auto lies_in_form = [](const OperandDesc& operand) { return operand.form != nullptr; };
    const auto has_form = [&](const Desc& d) {
      return std::any_of(d.operands.begin(), d.operands.end(), lies_in_form);
    };
    if (!has_form(desc)) return {};
    const auto refuse = [&](const std::string& step) {
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = desc.op->name,
                         .argument = step,
                         .got = "an operand in a packed form",
                         .allowed = "elements as their strides say"});
    };
    if (!desc.op->composite() || !products_) return refuse("generated code");
    Expected<Graph> graph = build_graph(desc);
    if (!graph) return graph.error();
    for (const Node& node : graph->nodes) {
      if (!has_form(node.desc)) continue;
      if (!products_->serves(*node.desc.op)) return refuse("step " + node.desc.op->name);
      NRD_TRY(products_->accepts(node.desc));
    }
    return {};
  }

  // A node that the GEMM engine runs.
  Expected<std::optional<NodeRun>> product(const Desc& node,
                                           std::span<void* const> constants) const {
    if (!products_ || !products_->serves(*node.op) || !products_->accepts(node)) {
      return std::optional<NodeRun>();
    }
    Expected<std::unique_ptr<PreparedKernel>> made = products_->prepare(node, constants);
    if (!made) return made.error();
    std::shared_ptr<const PreparedKernel> kernel = std::move(*made);
    return std::optional(NodeRun{kernel->workspace_bytes(),
                                 [kernel](void* const* pointers, void* own, const Exec& exec) {
                                   const Expected<void> done = kernel->run({pointers}, own, exec);
                                   (void)done;  // ours cannot fail
                                 }});
  }

  int strongest_level() const {
    int best = 0;
    for (size_t level = 0; level < kAutovecLevels.size(); level++)
      for (const IsaLevel& l : isa_levels())
        if (l.word == kAutovecLevels[level] && machine_.isa.contains(l.required))
          best = static_cast<int>(level);
    return best;
  }

  Machine machine_;
  std::string isa_;
  int level_;
  std::unique_ptr<Kernel> products_;  // null where there is no generated code
};

}  // namespace

Expected<std::unique_ptr<Kernel>> make_compiled_kernel(const Machine& machine) {
  std::string missing = missing_code(machine.isa);
  if (missing.empty()) return std::unique_ptr<Kernel>(std::make_unique<CompiledKernel>(machine));
  log_once(LogLevel::kWarning,
           fmt::format("no generated code here: {}; the definitions run as the compiler "
                       "vectorised them",
                       missing));
  return make_error({.code = ErrorCode::kUnsupported,
                     .argument = "generated code",
                     .got = "none",
                     .hint = std::move(missing)});
}

}  // namespace nrd
