// SPDX-License-Identifier: MIT
// src/graph/program.cpp: one evaluation a node, values between them in the workspace.
#include "graph/program.h"

#include <algorithm>
#include <array>

#include "ops/round_to.h"

namespace nrd {
namespace {

constexpr size_t kAlignment = 64;
size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The Desc as a build's definition sees it: what lies in the workspace, and with kF64 what the
// caller gives too, has the definition's own floating type. Rounding types stay.
void widen(OperandDesc& operand, DType real, bool contiguous) {
  if (is_float(operand.dtype)) operand.dtype = real;
  if (contiguous) operand.strides = contiguous_strides(operand.sizes);
}

}  // namespace

BodyMaker build_bodies(Build build, int autovec_level) {
  return [=](const Desc& desc, bool) {
    const Builds& builds = *desc.bound().builds;
    if (build == Build::kScalar) return definition_body(desc, builds.scalar);
    if (build == Build::kF64) return definition_body(desc, builds.f64);
    return definition_body(desc, builds.autovec[static_cast<size_t>(autovec_level)]);
  };
}

Expected<void> Program::add_step(const Desc& desc, const BodyMaker& bodies,
                                 std::vector<Place> places, bool composite) {
  Expected<std::shared_ptr<const Body>> body = bodies(desc, composite);
  if (!body) return body.error();
  Expected<Evaluation> evaluation = Evaluation::prepare(desc, std::move(*body));
  if (!evaluation) return evaluation.error();
  converts_ = converts_ || evaluation->converts();
  workspace_bytes_ = std::max(workspace_bytes_, values_bytes_ + evaluation->workspace_bytes());
  steps_.push_back({std::move(*evaluation), {}, std::move(places), {}});
  return {};
}

// Whether there is other means for it.
Expected<bool> Program::add_node(const Desc& desc, const Makers& makers,
                                 const std::vector<Place>& places) {
  if (!makers.nodes) return false;
  std::vector<void*> constants(places.size(), nullptr);
  for (size_t i = 0; i < places.size() && !makers.constants.empty(); i++) {
    const bool is_constant = places[i].operand >= 0 && desc.operands[i].constant;
    if (is_constant) constants[i] = makers.constants[static_cast<size_t>(places[i].operand)];
  }
  Expected<std::optional<NodeRun>> node = makers.nodes(desc, constants);
  if (!node) return node.error();
  if (!*node) return false;
  workspace_bytes_ = std::max(workspace_bytes_, values_bytes_ + (*node)->workspace_bytes);
  steps_.push_back({{}, std::move(**node), places, {}});
  return true;
}

Expected<Program> Program::prepare(const Desc& desc, Build build, int autovec_level) {
  return prepare(desc, Makers{build_bodies(build, autovec_level), {}, {}}, build == Build::kF64);
}

Expected<Program> Program::prepare(const Desc& desc, const BodyMaker& bodies,
                                   const NodeMaker& nodes, std::span<void* const> constants) {
  return prepare(desc, Makers{bodies, nodes, constants}, false);
}

Expected<Program> Program::prepare(const Desc& desc, const Makers& makers, bool f64) {
  Program p;
  p.f64_ = f64;
  const DType real = f64 ? DType::kF64 : DType::kF32;
  if (!desc.op->composite()) {
    Desc own = desc;
    std::vector<Place> places;
    for (size_t i = 0; i < own.operands.size(); i++) {
      if (f64) widen(own.operands[i], real, true);
      places.push_back({.operand = own.operands[i].present ? static_cast<int>(i) : -1});
    }
    NRD_TRY(p.add_step(own, makers.bodies, std::move(places), false));
    p.direct_ = std::all_of(own.operands.begin(), own.operands.end(),
                            [](const OperandDesc& o) { return o.present; });
    return p;
  }

  Desc whole = desc;
  if (f64)
    for (OperandDesc& o : whole.operands)
      if (o.present) o.strides = contiguous_strides(o.sizes);
  Expected<Graph> graph = build_graph(whole);
  if (!graph) return graph.error();
  std::vector<int64_t> offsets;
  for (int64_t count : graph->buffer_elements) {
    offsets.push_back(static_cast<int64_t>(p.values_bytes_));
    p.values_bytes_ += align_up(static_cast<size_t>(count) * byte_size(real));
  }
  p.workspace_bytes_ = p.values_bytes_;
  for (const Node& node : graph->nodes) {
    Desc own = node.desc;
    std::vector<Place> places;
    std::vector<Rounding> roundings;
    for (size_t i = 0; i < own.operands.size(); i++) {
      Place place;
      if (own.operands[i].present) {
        const GraphValue& v = graph->values[static_cast<size_t>(node.values[i])];
        place.operand = v.operand;
        if (v.operand < 0) place.offset = offsets[static_cast<size_t>(v.buffer)];
        own.operands[i].constant =
            v.operand >= 0 && whole.operands[static_cast<size_t>(v.operand)].constant;
        if (v.operand < 0 || f64) widen(own.operands[i], real, false);
        if (v.rounded && own.signature().operands[i].output)
          roundings.push_back(
              {place, graph->buffer_elements[static_cast<size_t>(v.buffer)], v.dtype});
      }
      places.push_back(place);
    }
    Expected<bool> is_added = p.add_node(own, makers, places);
    if (!is_added) return is_added.error();
    if (!*is_added) NRD_TRY(p.add_step(own, makers.bodies, std::move(places), true));
    p.steps_.back().roundings = std::move(roundings);
  }
  return p;
}

void Program::round(const Rounding& rounding, void* data) const {
  const int type = static_cast<int>(rounding.dtype);
  if (f64_) {
    auto* x = static_cast<double*>(data);
    for (int64_t i = 0; i < rounding.count; i++) x[i] = nrd_round_to_f64(x[i], type);
  } else {
    auto* x = static_cast<float*>(data);
    for (int64_t i = 0; i < rounding.count; i++) x[i] = nrd_round_to_f32(x[i], type);
  }
}

void Program::run(void* const* pointers, void* workspace, const Exec& exec) const {
  if (direct_) return steps_.front().evaluation->run(pointers, workspace, exec);
  auto* values = static_cast<char*>(workspace);
  auto at = [&](const Place& place) -> void* {
    if (place.operand >= 0) return pointers[place.operand];
    return place.offset == kAbsent ? nullptr : values + place.offset;
  };
  for (const Step& step : steps_) {
    std::array<void*, kMaxOperands> operands{};
    for (size_t i = 0; i < step.places.size(); i++) operands[i] = at(step.places[i]);
    char* own = values + values_bytes_;
    if (step.evaluation) {
      step.evaluation->run(operands.data(), own, exec);
    } else {
      step.node.run(operands.data(), own, exec);
    }
    for (const Rounding& rounding : step.roundings) round(rounding, at(rounding.place));
  }
}

}  // namespace nrd
