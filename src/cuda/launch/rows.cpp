// SPDX-License-Identifier: MIT
// src/cuda/launch/rows.cpp: norms, rotary embedding and softmax as operators.
#include "cuda/launch/rows.h"

#include <fmt/format.h>

#include "cuda/launch/error.h"
#include "cuda/launch/row_axes.h"
#include "cuda/launch/tables.h"

namespace nrd::cuda {
namespace {

// An operand by the names that it has in the signatures.
template <class Args>
struct Place {
  RowOperand Args::*member;
  std::string_view name;
};

// Where the pointers of a Desc go.
template <class Args>
class Pointers {
 public:
  Pointers(const Desc& desc, const std::vector<Place<Args>>& places) {
    for (const Place<Args>& place : places) {
      const int index = desc.signature().find_operand(place.name);
      if (index >= 0) at_.push_back({place.member, index});
    }
  }
  void set(Args& args, void* const* pointers) const {
    for (const auto& [member, index] : at_) (args.*member).data = pointers[index];
  }

 private:
  std::vector<std::pair<RowOperand Args::*, int>> at_;
};

bool is(const Desc& desc, std::string_view op) { return desc.op->name == op; }

Turn turn_of(const Desc& desc) {
  return desc.choice("pairs") == "half" ? Turn::kHalf : Turn::kInterleaved;
}

// ---- norm and rope ----

const std::vector<Place<NormRopeArgs>>& norm_rope_places() {
  using A = NormRopeArgs;
  static const std::vector<Place<A>> places = {{&A::x, "x"},         {&A::residual, "residual"},
                                               {&A::weight, "w"},    {&A::weight, "weight"},
                                               {&A::cos, "cos"},     {&A::sin, "sin"},
                                               {&A::out, "out"},     {&A::sum, "sum"},
                                               {&A::scale, "scale"}, {&A::positions, "positions"}};
  return places;
}

int64_t axis_size(const Desc& desc, std::string_view name) {
  const int axis = desc.signature().find_axis(name);
  return axis < 0 ? 0 : desc.axes[static_cast<size_t>(axis)];
}

// rms_norm and add_rms_norm.
Expected<NormRopeArgs> read_norm(const Desc& desc) {
  NormRopeArgs a;
  a.cols = axis_size(desc, "cols");
  a.before_weight = desc.choice("cast") == "before_weight";
  a.eps = static_cast<float>(desc.number("eps"));
  RowAxes axes(desc, {"rows"});
  for (const Place<NormRopeArgs>& place : norm_rope_places())
    axes.add(a.*place.member, place.name, {.column = "cols"});
  NRD_TRY(axes.fold(a.outer));
  return a;
}

// rope and rope_with_pos: a row is a token with its heads.
Expected<NormRopeArgs> read_rope(const Desc& desc) {
  NormRopeArgs a;
  a.norm = false;
  a.turn = turn_of(desc);
  a.head_dim = axis_size(desc, "head_dim");
  a.cols = axis_size(desc, "heads") * a.head_dim;
  a.table = axis_size(desc, "table");
  RowAxes axes(desc, {"tokens"});
  for (const Place<NormRopeArgs>& place : norm_rope_places())
    axes.add(a.*place.member, place.name,
             {.column = "head_dim", .head = "heads", .table = "table"});
  NRD_TRY(axes.fold(a.outer));
  return a;
}

Expected<NormRopeArgs> read_rmsnorm_rope(const Desc& desc) {
  NormRopeArgs a;
  a.turn = turn_of(desc);
  a.head_dim = axis_size(desc, "head_dim");
  a.cols = axis_size(desc, "hidden");
  a.table = axis_size(desc, "table");
  a.before_weight = desc.choice("cast") == "before_weight";
  a.round_between = desc.choice("round_between") == "yes";
  a.eps = static_cast<float>(desc.number("eps"));
  RowAxes axes(desc, {"batch", "seq"});
  for (const Place<NormRopeArgs>& place : norm_rope_places()) {
    const bool is_table = place.name == "cos" || place.name == "sin";
    RowOperand& operand = a.*place.member;
    axes.add(operand, place.name,
             {.column = is_table ? "head_dim" : "hidden", .table = is_table ? "table" : ""});
    if (operand.present) operand.head = a.head_dim * operand.step;
  }
  NRD_TRY(axes.fold(a.outer));
  return a;
}

Expected<NormRopeArgs> read_norm_rope(const Desc& desc) {
  if (is(desc, "rmsnorm_rope")) return read_rmsnorm_rope(desc);
  return is(desc, "rope") || is(desc, "rope_with_pos") ? read_rope(desc) : read_norm(desc);
}

bool serves_norm_rope(const Op& op) {
  for (std::string_view name :
       {"rms_norm", "add_rms_norm", "rope", "rope_with_pos", "rmsnorm_rope"})
    if (op.name == name) return true;
  return false;
}

// ---- layer_norm and softmax ----

const std::vector<Place<RowStatisticsArgs>>& statistics_places() {
  using A = RowStatisticsArgs;
  static const std::vector<Place<A>> places = {
      {&A::x, "x"}, {&A::weight, "w"}, {&A::bias, "b"}, {&A::out, "out"}};
  return places;
}

Expected<RowStatisticsArgs> read_statistics(const Desc& desc) {
  RowStatisticsArgs a;
  a.cols = axis_size(desc, "cols");
  a.softmax = is(desc, "softmax");
  if (!a.softmax) {
    a.before_weight = desc.choice("cast") == "before_weight";
    a.eps = static_cast<float>(desc.number("eps"));
  }
  RowAxes axes(desc, {"rows"});
  for (const Place<RowStatisticsArgs>& place : statistics_places())
    axes.add(a.*place.member, place.name, {.column = "cols"});
  NRD_TRY(axes.fold(a.outer));
  return a;
}

bool serves_statistics(const Op& op) { return op.name == "layer_norm" || op.name == "softmax"; }

// ---- both ----

template <class Args>
class RowOperation final : public Operation {
 public:
  using Launch = cudaError_t (*)(const Args&, const RowConfig&, Stream);
  RowOperation(const Desc& desc, const Args& args, const std::vector<Place<Args>>& places,
               Launch launch, int multiprocessors)
      : args_(args),
        pointers_(desc, places),
        launch_(launch),
        task_(row_task(args, multiprocessors)),
        config_(choose_row_config(task_)) {}

  Expected<void> launch(void* const* pointers, void*, Stream stream) const override {
    Args args = args_;
    pointers_.set(args, pointers);
    return check("cudaLaunchKernel", launch_(args, config_, stream));
  }

  std::string note() const override {
    if (!fits_registers(task_)) return "a block a row, read once a pass";
    return fmt::format("{} threads a row, {} rows a block", config_.threads,
                       config_.rows_per_block);
  }

 private:
  Args args_;
  Pointers<Args> pointers_;
  Launch launch_;
  RowTask task_;
  RowConfig config_;
};

template <class Args, Expected<Args> (*kRead)(const Desc&)>
Expected<void> accepts(const Desc& desc, const Target& target) {
  if (Expected<Args> args = kRead(desc); !args) return args.error();
  if (target.kernels->rows) return {};
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = desc.op->name,
                     .argument = "device",
                     .got = "kernels without those of rows"});
}

Expected<std::unique_ptr<Operation>> prepare_norm_rope(const Desc& desc, const Target& target,
                                                       std::span<void* const>) {
  Expected<NormRopeArgs> args = read_norm_rope(desc);
  if (!args) return args.error();
  return std::unique_ptr<Operation>(std::make_unique<RowOperation<NormRopeArgs>>(
      desc, *args, norm_rope_places(), target.kernels->rows->norm_rope,
      target.device.multiprocessors));
}

Expected<std::unique_ptr<Operation>> prepare_statistics(const Desc& desc, const Target& target,
                                                        std::span<void* const>) {
  Expected<RowStatisticsArgs> args = read_statistics(desc);
  if (!args) return args.error();
  return std::unique_ptr<Operation>(std::make_unique<RowOperation<RowStatisticsArgs>>(
      desc, *args, statistics_places(), target.kernels->rows->statistics,
      target.device.multiprocessors));
}

// Threads do not matter: the tree is the same for every number of them.
std::string numerics(const Desc& desc, const Target&) {
  if (is(desc, "rope") || is(desc, "rope_with_pos")) return "plain";
  return "a tree over 16-byte packets";
}

}  // namespace

const Implementation kNormRope{"norm_rope", serves_norm_rope, accepts<NormRopeArgs, read_norm_rope>,
                               prepare_norm_rope, numerics};
const Implementation kRowStatistics{"row_statistics", serves_statistics,
                                    accepts<RowStatisticsArgs, read_statistics>, prepare_statistics,
                                    numerics};

}  // namespace nrd::cuda
