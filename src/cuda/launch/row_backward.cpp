// SPDX-License-Identifier: MIT
// src/cuda/launch/row_backward.cpp
#include "cuda/launch/row_backward.h"

#include <fmt/format.h>

#include "cuda/launch/error.h"
#include "cuda/launch/row_axes.h"
#include "cuda/launch/row_parts.h"
#include "cuda/launch/tables.h"

namespace nrd::cuda {
namespace {

constexpr int kMostItems = 2;
constexpr int kGroupThreads = 256;
// Blocks of kGroupThreads threads that two a multiprocessor of an H200 make. No function of the
// device that runs it: the sum of dw depends on it.
constexpr int kGroups = 264;

RowCut cut_row(const NormRopeBackwardArgs& a) {
  return a.turn == Turn::kNone ? cut_plain_row(a.x.dtype, a.cols)
                               : cut_turned_row(a.x.dtype, a.cols, a.head_dim);
}

RowTask task_of(const NormRopeBackwardArgs& a) {
  return {.cut = cut_row(a), .rows = rows_of(a.outer), .most_items = kMostItems};
}

// As many threads as give each two slots, within what a block can have.
RowConfig config_of(const RowTask& task) {
  int64_t threads = std::bit_ceil(static_cast<uint64_t>(
      std::max<int64_t>((task.cut.slots() + kMostItems - 1) / kMostItems, 32)));
  threads = std::max<int64_t>(threads, int64_t{1} << task.cut.chunk_bits);
  return {.threads = static_cast<int>(std::min<int64_t>(threads, kMostRowThreads)),
          .rows_per_block = 1};
}

Expected<NormRopeBackwardArgs> read_args(const Desc& desc) {
  const Signature& s = desc.signature();
  auto axis = [&](std::string_view name) {
    const int index = s.find_axis(name);
    return index < 0 ? 0 : desc.axes[static_cast<size_t>(index)];
  };
  for (int64_t size : desc.leading)
    if (size != 1)
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = desc.op->name,
                         .argument = "leading axes",
                         .got = to_string(desc.leading),
                         .allowed = "none",
                         .hint = "make them part of batch"});
  NormRopeBackwardArgs a;
  a.turn = desc.choice("pairs") == "half" ? Turn::kHalf : Turn::kInterleaved;
  a.cols = axis("hidden");
  a.head_dim = axis("head_dim");
  a.table = axis("table");
  a.eps = static_cast<float>(desc.number("eps"));
  RowAxes axes(desc, {"batch", "seq"});
  auto add = [&](RowOperand& operand, std::string_view name) {
    axes.add(operand, name, {.column = "hidden"});
    operand.head = a.head_dim * operand.step;
  };
  add(a.x, "x"), add(a.weight, "weight"), add(a.dy, "dy"), add(a.dx, "dx"), add(a.dw, "dw");
  axes.add(a.cos, "cos", {.column = "head_dim", .table = "table"});
  axes.add(a.sin, "sin", {.column = "head_dim", .table = "table"});
  axes.add(a.positions, "positions", {});
  NRD_TRY(axes.fold(a.outer));
  return a;
}

class BackwardOperation final : public Operation {
 public:
  BackwardOperation(const Desc& desc, const NormRopeBackwardArgs& args, const RowKernels& kernels)
      : args_(args), kernels_(kernels) {
    using A = NormRopeBackwardArgs;
    const std::pair<RowOperand A::*, std::string_view> all[] = {{&A::x, "x"},
                                                                {&A::weight, "weight"},
                                                                {&A::cos, "cos"},
                                                                {&A::sin, "sin"},
                                                                {&A::positions, "positions"},
                                                                {&A::dy, "dy"},
                                                                {&A::dx, "dx"},
                                                                {&A::dw, "dw"}};
    for (const auto& [member, name] : all)
      if (const int index = desc.signature().find_operand(name); index >= 0)
        at_.push_back({member, index});
  }
  size_t workspace_bytes() const override { return backward_workspace_bytes(args_); }
  Expected<void> launch(void* const* pointers, void* workspace, Stream stream) const override {
    NormRopeBackwardArgs args = args_;
    for (const auto& [member, index] : at_) (args.*member).data = pointers[index];
    args.parts = static_cast<float*>(workspace);
    return check("cudaLaunchKernel", kernels_.norm_rope_backward(args, stream));
  }
  std::string note() const override {
    return fmt::format("{} blocks of {} threads", backward_groups(args_),
                       config_of(task_of(args_)).threads);
  }

 private:
  NormRopeBackwardArgs args_;
  const RowKernels& kernels_;
  std::vector<std::pair<RowOperand NormRopeBackwardArgs::*, int>> at_;
};

}  // namespace

int backward_groups(const NormRopeBackwardArgs& args) {
  const RowTask task = task_of(args);
  const int64_t groups = int64_t{kGroups} * kGroupThreads / config_of(task).threads;
  return static_cast<int>(std::min({groups, task.rows, int64_t{4} * kGroups}));
}

size_t backward_workspace_bytes(const NormRopeBackwardArgs& args) {
  return static_cast<size_t>(backward_groups(args) * args.cols) * sizeof(float);
}

bool make_params(const NormRopeBackwardArgs& a, NormRopeBackwardParams& p, int& items) {
  const RowTask task = task_of(a);
  const RowConfig config = config_of(task);
  const int packet = task.cut.packet;
  const bool turned = a.turn != Turn::kNone;
  if (!is_regular(task, config, a.outer)) return false;
  if (packet * byte_size(a.x.dtype) != 16 || a.cols % packet != 0) return false;
  for (const RowOperand* o : {&a.x, &a.weight, &a.dy, &a.dx}) {
    if (!is_same(*o, a.x.dtype) || !has_packets(*o, a.outer, a.head_dim, packet)) return false;
    if (turned && a.cols > a.head_dim && o->head != a.head_dim) return false;
  }
  for (const RowOperand* o : {&a.cos, &a.sin})
    if (!is_same(*o, a.x.dtype)) return false;
  if (!has_regular_tables(a, packet) || !is_shared_by_rows(a.weight, a.outer)) return false;
  items = items_of(task, config);
  p = {.x = a.x.data,
       .weight = a.weight.data,
       .dy = a.dy.data,
       .dx = a.dx.data,
       .parts = a.parts,
       .cols = a.cols,
       .x_pitch = pitch(a.x),
       .dy_pitch = pitch(a.dy),
       .dx_pitch = pitch(a.dx),
       .tables = make_tables(a),
       .steps = make_steps(task, config, a.outer),
       .zero = 0,
       .inverse_cols = inverse(a.cols),
       .eps = a.eps};
  return true;
}

NormRopeBackwardAnyParams make_any_params(const NormRopeBackwardArgs& a) {
  NormRopeBackwardAnyParams p{};
  fill_any(a, cut_row(a), p);
  p.table = a.table;
  p.turn = a.turn;
  p.parts = a.parts;
  auto any = [&](const RowOperand& o) {
    return AnyOperand{o, has_packets(o, a.outer, a.head_dim, p.cut.packet)};
  };
  p.x = any(a.x), p.weight = any(a.weight), p.dy = any(a.dy), p.dx = any(a.dx);
  p.cos = any(a.cos), p.sin = any(a.sin), p.positions = any(a.positions);
  return p;
}

const Implementation kNormRopeBackward{
    .name = "norm_rope_backward",
    .serves = [](const Op& op) { return op.name == "rmsnorm_rope_backward"; },
    .accepts = [](const Desc& desc, const Target&) -> Expected<void> {
      const Expected<NormRopeBackwardArgs> args = read_args(desc);
      if (!args) return args.error();
      return {};
    },
    .prepare = [](const Desc& desc, const Target& target,
                  std::span<void* const>) -> Expected<std::unique_ptr<Operation>> {
      const Expected<NormRopeBackwardArgs> args = read_args(desc);
      if (!args) return args.error();
      return std::unique_ptr<Operation>(
          std::make_unique<BackwardOperation>(desc, *args, *target.kernels->rows));
    },
    .numerics = [](const Desc& desc, const Target&) -> std::string {
      const Expected<NormRopeBackwardArgs> args = read_args(desc);
      return fmt::format("a tree over 16-byte packets, dw in {} parts",
                         args ? backward_groups(*args) : 0);
    }};

}  // namespace nrd::cuda
