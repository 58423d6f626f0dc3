// SPDX-License-Identifier: MIT
// src/api/packed_group.cpp: several products with packed matrices over one pool of threads.
#include <algorithm>

#include "api/packed_gemm.h"

namespace nrd {
namespace {

constexpr const char* kGrouped = "gemm_grouped";

struct Item {
  PackedGemm gemm;
  std::shared_ptr<const PackedProduct> product;  // null: step by step
};

// Memory of one product, for the check that none writes what another touches.
struct Touched {
  ByteRange range;
  bool is_written;
  size_t product;
  const char* name;
};

Error at_product(Error error, size_t product) {
  error.argument = fmt::format("{} of product {}", error.argument, product);
  return error;
}

Expected<void> check_apart(const std::vector<Item>& items) {
  std::vector<Touched> all;
  for (size_t i = 0; i < items.size(); i++) {
    for (const PackedGemm::Used& used : items[i].gemm.memory()) {
      const ByteRange range = byte_range(used.view);
      if (range.first != range.last) all.push_back({range, used.is_written, i, used.name});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Touched& a, const Touched& b) { return a.range.first < b.range.first; });
  for (size_t i = 0; i < all.size(); i++) {
    for (size_t j = i + 1; j < all.size() && all[j].range.first < all[i].range.last; j++) {
      if (all[i].product == all[j].product || !(all[i].is_written || all[j].is_written)) continue;
      const Touched &out = all[i].is_written ? all[i] : all[j],
                    &other = all[i].is_written ? all[j] : all[i];
      return at_product(make_error({ErrorCode::kOverlap, kGrouped, out.name,
                                    fmt::format("memory that overlaps '{}' of product {}",
                                                other.name, other.product),
                                    "disjoint memory", "give every product a c of its own"}),
                        out.product);
    }
  }
  return {};
}

// One product each is a job; those with several instances have tasks of their own.
void run_engine(Context& context, std::vector<const Item*> items, const Exec& exec) {
  const auto is_job = [](const Item* item) { return item->product->batch.products() == 1; };
  const auto cost = [](const Item* item) {
    return gemm::flops(item->product->batch.product().desc());
  };
  const auto others = std::stable_partition(items.begin(), items.end(), is_job);
  std::stable_sort(items.begin(), others,
                   [&](const Item* a, const Item* b) { return cost(a) > cost(b); });
  gemm::JobSpace space(context.registry().machine().profile);
  size_t bytes = 0;
  double all_flops = 0;
  for (auto at = items.begin(); at != items.end(); ++at) {
    const gemm::Batch& batch = (*at)->product->batch;
    bytes = std::max(bytes, batch.workspace_bytes());
    if (at < others) space.add(batch.product()), all_flops += cost(*at);
  }
  const WorkspacePool::Lease lease(context.workspaces(), std::max(bytes, space.bytes()));
  gemm::run_jobs(
      others - items.begin(),
      [&](int64_t i) {
        const Item& item = *items[static_cast<size_t>(i)];
        return item.product->batch.only_job(item.gemm.args(*item.product));
      },
      all_flops, space, lease.data(), exec);
  for (auto at = others; at != items.end(); ++at) {
    (*at)->product->batch.run((*at)->gemm.args(*(*at)->product), lease.data(), exec);
  }
}

Expected<void> run_group(nereid_context* handle, const nereid_group_item* given, int32_t count,
                         int32_t threads) {
  Expected<std::shared_ptr<Context>*> found = context_of(handle);
  if (!found) return found.error();
  Context& context = ***found;
  if (count < 0 || threads < 0)
    return make_error({ErrorCode::kInvalidArgument, kGrouped, count < 0 ? "count" : "threads",
                       fmt::format("{}", count < 0 ? count : threads), "0 or more", ""});
  if (!given && count > 0) return null_error("items", "an array of products", kGrouped);
  std::vector<Item> items;
  items.reserve(static_cast<size_t>(count));
  for (size_t i = 0; i < static_cast<size_t>(count); i++) {
    if (!given[i].b) return at_product(null_error("b", "a matrix of nereid_pack_b", kGrouped), i);
    Item& item = items.emplace_back(Item{PackedGemm(context, *given[i].b), nullptr});
    Expected<void> read = item.gemm.read(given[i].a, given[i].c, given[i].epilogue);
    if (!read) return at_product(read.error(), i);
    Expected<std::shared_ptr<const PackedProduct>> product = item.gemm.prepare();
    if (!product) return at_product(product.error(), i);
    item.product = std::move(*product);
  }
  NRD_TRY(check_apart(items));
  std::vector<const Item*> engine;
  for (size_t i = 0; i < items.size(); i++) {
    if (items[i].product) {
      engine.push_back(&items[i]);
      continue;
    }
    Expected<void> done = items[i].gemm.run_steps(threads);
    if (!done) return at_product(done.error(), i);
  }
  if (!engine.empty()) run_engine(context, std::move(engine), context.exec(threads));
  return {};
}

}  // namespace
}  // namespace nrd

extern "C" nereid_status nereid_gemm_grouped(nereid_context* context,
                                             const nereid_group_item* items, int32_t count,
                                             int32_t threads) {
  return nrd::guarded([&] { return nrd::run_group(context, items, count, threads); });
}
