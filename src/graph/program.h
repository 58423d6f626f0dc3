// SPDX-License-Identifier: MIT
// src/graph/program.h: runs a Desc with one kind of body, a composite node by node.
//
// This is the reference of every composite (with kF64) and its CPU kernel until the compiler
// fuses it (with the others).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "ops/evaluate.h"

namespace nrd {

enum class Build { kScalar, kF64, kAutovec };

// Makes the body of a primitive: a build of its definition, or generated code. `composite` says
// that it is a node of one.
using BodyMaker = std::function<Expected<std::shared_ptr<const Body>>(const Desc&, bool composite)>;
BodyMaker build_bodies(Build build, int autovec_level = 0);

// A whole node by other means than a body: a product of the GEMM engine.
struct NodeRun {
  size_t workspace_bytes = 0;
  std::function<void(void* const* pointers, void* workspace, const Exec& exec)> run;
};
// `constants` holds the pointers of the operands marked constant, null elsewhere. Nothing: a body
// does it.
using NodeMaker =
    std::function<Expected<std::optional<NodeRun>>(const Desc&, std::span<void* const> constants)>;

class Program {
 public:
  // With kF64 every floating operand of run() is a contiguous array of doubles whatever its dtype
  // in `desc`, and so is every value between; they are rounded only where the definition or the
  // graph says so. With the others, operands are as `desc` describes them.
  static Expected<Program> prepare(const Desc& desc, Build build, int autovec_level = 0);
  // The same with any bodies that read f32. `nodes` is asked first for each node of a composite;
  // `constants` as desc.operands, for those marked so.
  static Expected<Program> prepare(const Desc& desc, const BodyMaker& bodies,
                                   const NodeMaker& nodes = {},
                                   std::span<void* const> constants = {});

  size_t workspace_bytes() const { return workspace_bytes_; }
  bool converts() const { return converts_; }  // operands are copied into another dtype or layout
  size_t nodes() const { return steps_.size(); }
  // `pointers` as desc.operands. Never allocates.
  void run(void* const* pointers, void* workspace, const Exec& exec) const;

 private:
  static constexpr int64_t kAbsent = -1;
  struct Place {               // where an operand of a step lies
    int operand = -1;          // one of the composite's own, or
    int64_t offset = kAbsent;  // in the workspace, or absent
  };
  struct Rounding {
    Place place;
    int64_t count = 0;
    DType dtype = DType::kF32;
  };
  struct Step {
    std::optional<Evaluation> evaluation;  // or
    NodeRun node;
    std::vector<Place> places;
    std::vector<Rounding> roundings;  // of its outputs, afterwards
  };

  // What steps are made from.
  struct Makers {
    const BodyMaker& bodies;
    const NodeMaker& nodes;
    std::span<void* const> constants;
  };
  static Expected<Program> prepare(const Desc& desc, const Makers& makers, bool f64);
  Expected<void> add_step(const Desc& desc, const BodyMaker& bodies, std::vector<Place> places,
                          bool composite);
  Expected<bool> add_node(const Desc& desc, const Makers& makers, const std::vector<Place>& places);
  void round(const Rounding& rounding, void* data) const;

  bool f64_ = false;
  bool direct_ = false;  // a primitive with every operand: they go to its step as they are
  std::vector<Step> steps_;
  size_t values_bytes_ = 0;  // of the values between, at the start of the workspace
  size_t workspace_bytes_ = 0;
  bool converts_ = false;
};

}  // namespace nrd
