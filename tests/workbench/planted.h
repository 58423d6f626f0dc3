// SPDX-License-Identifier: MIT
// tests/workbench/planted.h: kernels with a known mistake, to see whether the checker finds it.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "dispatch/backend.h"
#include "graph/program.h"

namespace nrd::testing {

// Runs the scalar definition of a Desc, then lets `spoil` change the outputs; or, when `tweak` is
// given, runs the definition of a changed Desc.
class PlantedKernel final : public Kernel {
 public:
  using Spoil = std::function<void(const Desc&, void* const* pointers)>;
  using Tweak = std::function<Desc(Desc)>;
  explicit PlantedKernel(Spoil spoil, Tweak tweak = {})
      : spoil_(std::move(spoil)), tweak_(std::move(tweak)) {}

  std::string name() const override { return "planted"; }
  Expected<void> accepts(const Desc&) const override { return {}; }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    auto program = Program::prepare(tweak_ ? tweak_(desc) : desc, Build::kScalar);
    if (!program) return program.error();
    return std::unique_ptr<PreparedKernel>(new Prepared(desc, std::move(*program), spoil_));
  }

 private:
  class Prepared final : public PreparedKernel {
   public:
    Prepared(Desc desc, Program program, Spoil spoil)
        : desc_(std::move(desc)), program_(std::move(program)), spoil_(std::move(spoil)) {}
    size_t workspace_bytes() const override { return program_.workspace_bytes(); }
    Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
      program_.run(args.pointers, workspace, exec);
      if (spoil_) spoil_(desc_, args.pointers);
      return {};
    }

   private:
    Desc desc_;
    Program program_;
    Spoil spoil_;
  };

  Spoil spoil_;
  Tweak tweak_;
};

}  // namespace nrd::testing
