// SPDX-License-Identifier: MIT
// src/dispatch/builtin.cpp: the definitions themselves as kernels, and `cpu` over them.
#include "dispatch/builtin.h"

#include <fmt/format.h>

#include "graph/program.h"

namespace nrd {
namespace {

class PreparedProgram final : public PreparedKernel {
 public:
  PreparedProgram(Program program, bool composite)
      : program_(std::move(program)), composite_(composite) {}
  size_t workspace_bytes() const override { return program_.workspace_bytes(); }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    program_.run(args.pointers, workspace, exec);
    return {};
  }
  std::string note() const override {
    std::string note = program_.converts() ? "converts whole buffers" : "";
    if (composite_) note += fmt::format("{}{} operators one after the other",
                                        note.empty() ? "" : ", ", program_.nodes());
    return note;
  }
  std::string fallback() const override { return note(); }

 private:
  Program program_;
  bool composite_;
};

// One build of the definitions; serves every operator of the catalogue.
class DefinitionKernel final : public Kernel {
 public:
  DefinitionKernel(Build build, int level, IsaSet required, IsaSet available)
      : build_(build), level_(level), required_(required), available_(available) {}

  std::string isa() const override {
    return build_ == Build::kScalar ? "scalar" : std::string(kAutovecLevels[static_cast<size_t>(level_)]);
  }
  std::string name() const override { return build_ == Build::kScalar ? "scalar" : "autovec_" + isa(); }

  Expected<void> accepts(const Desc& desc) const override {
    if (!available_.contains(required_))
      return make_error({.code = ErrorCode::kUnsupported, .op = desc.op->name,
                         .argument = "ISA " + isa(),
                         .got = "a machine or a cap (NEREID_ISA) with " + available_.to_string()});
    if (desc.device.kind != DeviceKind::kCpu)
      return make_error({.code = ErrorCode::kUnsupported, .op = desc.op->name,
                         .argument = "device", .got = "cuda", .allowed = "cpu"});
    return {};
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<Program> program = Program::prepare(desc, build_, level_);
    if (!program) return program.error();
    return std::unique_ptr<PreparedKernel>(
        std::make_unique<PreparedProgram>(std::move(*program), desc.op->composite()));
  }

 private:
  Build build_;
  int level_;
  IsaSet required_, available_;
};

IsaSet required_isa(std::string_view level) {
  for (const IsaLevel& l : isa_levels())
    if (l.word == level) return l.required;
  return {};
}

class DefinitionBackend final : public Backend {
 public:
  DefinitionBackend(std::string name, std::vector<DefinitionKernel> kernels)
      : name_(std::move(name)), kernels_(std::move(kernels)) {}
  std::string name() const override { return name_; }
  Expected<void> load() override { return {}; }
  bool peer() const override { return false; }
  std::vector<const Kernel*> kernels(const Op&) const override {
    std::vector<const Kernel*> list;
    for (const DefinitionKernel& k : kernels_) list.push_back(&k);
    return list;
  }

 private:
  std::string name_;
  std::vector<DefinitionKernel> kernels_;
};

// Strongest first.
std::vector<DefinitionKernel> autovec_kernels(IsaSet available) {
  std::vector<DefinitionKernel> kernels;
  for (size_t level = kAutovecLevels.size(); level-- > 0;)
    kernels.emplace_back(Build::kAutovec, static_cast<int>(level),
                         required_isa(kAutovecLevels[level]), available);
  return kernels;
}

}  // namespace

std::vector<std::unique_ptr<Backend>> make_builtin_backends(const Machine& machine) {
  std::vector<std::unique_ptr<Backend>> list;
  // What `cpu` chooses from, best first; better implementations are listed before autovec.
  list.push_back(std::make_unique<DefinitionBackend>("cpu", autovec_kernels(machine.isa)));
  list.push_back(std::make_unique<DefinitionBackend>("autovec", autovec_kernels(machine.isa)));
  std::vector<DefinitionKernel> scalar;
  scalar.emplace_back(Build::kScalar, 0, IsaSet(), machine.isa);
  list.push_back(std::make_unique<DefinitionBackend>("scalar", std::move(scalar)));
  return list;
}

}  // namespace nrd
