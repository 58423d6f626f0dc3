// SPDX-License-Identifier: MIT
// src/dispatch/builtin.cpp: the definitions themselves as kernels, and `cpu` over them.
#include "dispatch/builtin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "compiler/compiled_kernel.h"
#include "compiler/operator.h"
#include "dispatch/cuda_backend.h"
#include "gemm/kernels.h"
#include "graph/program.h"

namespace nrd {
namespace {

class PreparedProgram final : public PreparedKernel {
 public:
  PreparedProgram(Program program, const Desc& desc, std::string stands_in_for)
      : program_(std::move(program)),
        op_(*desc.op),
        work_(cost(desc).flops),
        fallback_(std::move(stands_in_for)) {}
  double work() const override { return work_; }
  size_t workspace_bytes() const override { return program_.workspace_bytes(); }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    program_.run(args.pointers, workspace, exec);
    return {};
  }
  std::string note() const override {
    std::vector<std::string> parts;
    if (op_.group == "user") parts.emplace_back("the function as it is");
    if (program_.converts()) parts.emplace_back("converts whole buffers");
    if (op_.composite())
      parts.push_back(fmt::format("{} operators one after the other", program_.nodes()));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  std::string fallback() const override { return fallback_; }

 private:
  Program program_;
  const Op& op_;
  double work_;
  std::string fallback_;
};

// In `cpu` a definition stands in for generated code; this says why for a case. Null in the
// backends that are the definitions: who names them gets what he asked for, conversions too.
using StandsIn = std::function<std::string(const Desc&)>;

// One build of the definitions; serves every operator of the catalogue.
class DefinitionKernel final : public Kernel {
 public:
  DefinitionKernel(Build build, int level, IsaSet required, IsaSet available, StandsIn stands_in)
      : build_(build),
        level_(level),
        required_(required),
        available_(available),
        stands_in_(std::move(stands_in)) {}

  std::string isa() const override {
    return build_ == Build::kScalar ? "scalar"
                                    : std::string(kAutovecLevels[static_cast<size_t>(level_)]);
  }
  std::string name() const override {
    return build_ == Build::kScalar ? "scalar" : "autovec_" + isa();
  }

  Expected<void> accepts(const Desc& desc) const override {
    if (!available_.contains(required_))
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = desc.op->name,
                         .argument = "ISA " + isa(),
                         .got = "a machine or a cap (NEREID_ISA) with " + available_.to_string()});
    return {};
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<Program> program = Program::prepare(desc, build_, level_);
    if (!program) return program.error();
    return std::unique_ptr<PreparedKernel>(std::make_unique<PreparedProgram>(
        std::move(*program), desc, stands_in_ ? stands_in_(desc) : std::string()));
  }

 private:
  Build build_;
  int level_;
  IsaSet required_, available_;
  StandsIn stands_in_;
};

IsaSet required_isa(std::string_view level) {
  for (const IsaLevel& l : isa_levels())
    if (l.word == level) return l.required;
  return {};
}

using KernelList = std::vector<std::unique_ptr<Kernel>>;

// A list of kernels, best first; each judges by itself what it accepts.
class ListBackend final : public Backend {
 public:
  ListBackend(std::string name, KernelList kernels)
      : name_(std::move(name)), kernels_(std::move(kernels)) {}
  std::string name() const override { return name_; }
  Expected<void> load() override { return {}; }
  bool peer() const override { return false; }
  std::vector<const Kernel*> kernels(const Op& op) const override {
    std::vector<const Kernel*> list;
    for (const std::unique_ptr<Kernel>& kernel : kernels_)
      if (kernel->serves(op)) list.push_back(kernel.get());
    return list;
  }

 private:
  std::string name_;
  KernelList kernels_;
};

// Strongest first.
KernelList autovec_kernels(IsaSet available, const StandsIn& stands_in) {
  KernelList kernels;
  for (size_t level = kAutovecLevels.size(); level-- > 0;)
    kernels.push_back(std::make_unique<DefinitionKernel>(Build::kAutovec, static_cast<int>(level),
                                                         required_isa(kAutovecLevels[level]),
                                                         available, stands_in));
  return kernels;
}

// What `cpu` chooses from, best first. An implementation of our own is added in front.
KernelList cpu_kernels(const Machine& machine) {
  KernelList kernels;
  const auto add = [&](std::unique_ptr<Kernel> kernel) {
    if (kernel) kernels.push_back(std::move(kernel));
  };
  add(make_gemm_kernel(machine, trace_of));
  add(make_gemv_kernel(machine));
  Expected<std::unique_ptr<Kernel>> compiled = make_compiled_kernel(machine);
  StandsIn stands_in;
  if (compiled) {
    stands_in = [code = compiled->get()](const Desc& desc) {
      Expected<void> accepted = code->accepts(desc);
      return accepted ? "instead of " + code->name() : accepted.error().message();
    };
    kernels.push_back(std::move(*compiled));
  } else {
    stands_in = [why = compiled.error().message()](const Desc&) { return why; };
  }
  for (std::unique_ptr<Kernel>& kernel : autovec_kernels(machine.isa, stands_in))
    kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace

std::vector<std::unique_ptr<Backend>> make_builtin_backends(const Machine& machine) {
  std::vector<std::unique_ptr<Backend>> list;
  KernelList scalar;
  scalar.push_back(
      std::make_unique<DefinitionKernel>(Build::kScalar, 0, IsaSet(), machine.isa, nullptr));
  list.push_back(std::make_unique<ListBackend>("cpu", cpu_kernels(machine)));
  list.push_back(std::make_unique<ListBackend>("autovec", autovec_kernels(machine.isa, nullptr)));
  list.push_back(std::make_unique<ListBackend>("scalar", std::move(scalar)));
  list.push_back(make_cuda_backend());
  return list;
}

}  // namespace nrd
