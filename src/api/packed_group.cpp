// SPDX-License-Identifier: MIT
// src/api/packed_group.cpp: several products with packed matrices over one pool of threads.
#include <algorithm>

#include "api/packed_gemm.h"
#include "ops/group.h"

namespace nrd {
namespace {

constexpr const char* kGrouped = "gemm_grouped";

// Memory of one product, for the check that none writes what another touches.
struct Touched {
  ByteRange range;
  bool is_written;
  size_t product;
  const std::string* name;
};

Error at_product(Error error, size_t product) {
  error.argument = fmt::format("{} of product {}", error.argument, product);
  return error;
}

void add_memory(const PreparedCall& run, size_t product, std::vector<Touched>& all) {
  const Desc& desc = run.plan->desc();
  for (size_t i = 0; i < desc.operands.size(); i++) {
    if (!desc.operands[i].present) continue;
    const ByteRange range = byte_range(operand_view(desc.operands[i], run.pointers[i]));
    if (range.first == range.last) continue;
    const OperandSpec& spec = desc.signature().operands[i];
    all.push_back({range, spec.output, product, &spec.name});
  }
}

Expected<void> check_apart(const std::vector<PreparedCall>& runs) {
  std::vector<Touched> all;
  for (size_t i = 0; i < runs.size(); i++) add_memory(runs[i], i, all);
  std::sort(all.begin(), all.end(),
            [](const Touched& a, const Touched& b) { return a.range.first < b.range.first; });
  for (size_t i = 0; i < all.size(); i++) {
    for (size_t j = i + 1; j < all.size() && all[j].range.first < all[i].range.last; j++) {
      if (all[i].product == all[j].product || !(all[i].is_written || all[j].is_written)) continue;
      const Touched &out = all[i].is_written ? all[i] : all[j],
                    &other = all[i].is_written ? all[j] : all[i];
      return at_product(make_error({ErrorCode::kOverlap, kGrouped, *out.name,
                                    fmt::format("memory that overlaps '{}' of product {}",
                                                *other.name, other.product),
                                    "disjoint memory", "give every product a c of its own"}),
                        out.product);
    }
  }
  return {};
}

Expected<void> run_all(nereid_context* handle, const nereid_group_item* given, int32_t count,
                       int32_t threads) {
  Expected<std::shared_ptr<Context>*> found = context_of(handle);
  if (!found) return found.error();
  Context& context = ***found;
  if (count < 0 || threads < 0)
    return make_error({ErrorCode::kInvalidArgument, kGrouped, count < 0 ? "count" : "threads",
                       fmt::format("{}", count < 0 ? count : threads), "0 or more", ""});
  if (!given && count > 0) return null_error("items", "an array of products", kGrouped);
  std::vector<PreparedCall> runs(static_cast<size_t>(count));
  for (size_t i = 0; i < runs.size(); i++) {
    if (!given[i].b) return at_product(null_error("b", "a matrix of nereid_pack_b", kGrouped), i);
    PackedCall call;
    Expected<void> filled =
        call.fill(context, *given[i].b, given[i].a, given[i].c, given[i].epilogue);
    if (!filled) return at_product(filled.error(), i);
    Expected<void> prepared = prepare_call(context, call.call(), runs[i]);
    if (!prepared) return at_product(prepared.error(), i);
  }
  NRD_TRY(check_apart(runs));
  std::vector<GroupItem> items;
  items.reserve(runs.size());
  for (const PreparedCall& run : runs)
    items.push_back({&run.plan->prepared(), {run.pointers.data()}});
  std::stable_sort(items.begin(), items.end(), [](const GroupItem& a, const GroupItem& b) {
    return a.kernel->work() > b.kernel->work();
  });
  const Exec exec = context.exec(threads);
  const WorkspacePool::Lease lease(context.workspaces(), group_space(items, exec.threads).bytes());
  return run_group(items, lease.data(), exec);
}

}  // namespace
}  // namespace nrd

extern "C" nereid_status nereid_gemm_grouped(nereid_context* context,
                                             const nereid_group_item* items, int32_t count,
                                             int32_t threads) {
  return nrd::guarded([&] { return nrd::run_all(context, items, count, threads); });
}
