// SPDX-License-Identifier: MIT
// src/gemm/product_run.cpp: the loops around the micro-kernel.
//
// kGroups:
//   for outer parts of B (b_outer > 0: not packed yet, all threads pack the part; else one):
//     for outer parts of A: all threads pack it, every step of k, or it is read as it lies; then,
//     task by task, a group of B's panels times all of that or, B packed, times a block of it:
//       B packed:  for blocks of A in L2: for blocks of k:
//       otherwise: for blocks of k: pack B's; for blocks of A in L2:
//         for panels of B: for panels of A: micro-kernel
// kBlocks (Goto's order), where A is too large to be packed whole and B is not packed yet:
//   for outer parts of A, blocks of B's panels, blocks of k:
//     all threads pack both; then, task by task:
//     for panels of B: for panels of A in L2: micro-kernel
// In both B's panel stays in L1 or L2 while A's panels pass by.
// Bound: multiply-adds with many rows, the read bandwidth with few (rows < 2 * peak / bandwidth).
// Threads take the next task when they are done with one: no thread waits for a slow one longer
// than a task lasts. With B packed and several panels of A for each, they begin with rows of their
// own.
#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "gemm/groups.h"
#include "gemm/product_part.h"

namespace nrd::gemm {

namespace {

// Work below this is not worth waking a thread for: some microseconds of multiply-adds.
constexpr double kFlopsAThread = 1e6;
// The last tasks should end together. A group brings more with it than a task of packed blocks:
// fewer of them, and wider.
constexpr int64_t kTasksAThread = 16, kGroupsAThread = 4, kSquaresAThread = 2;

// Panels of B that one task packs: where their columns lie side by side, lines come from memory in
// pairs and longer runs.
constexpr int64_t kPackedTogether = 4;

constexpr size_t kMostShares = 128;  // on the stack, 64 bytes each

// What a thread needs to do in front of its tasks and behind them.
struct Around {
  jit::Code::Entry before = nullptr, after = nullptr;
  const void* argument = nullptr;
};

// A run of neighbouring tasks, and how far it is done.
struct alignas(64) Share {
  std::atomic<int64_t> next;
  int64_t end;
};

// body(slot, task) for each task once; a slot serves one thread at a time. It begins with the share
// of its number, and helps with the others when that is done.
template <class Body>
void run_shares(const Exec& exec, int threads, std::span<Share> shares, const Around& around,
                Body body) {
  const int64_t slots = std::min<int64_t>(threads, shares.back().end);
  parallel_for(Exec{threads, exec.executor}, slots, 1, [&](int64_t slot, int64_t) {
    if (around.before != nullptr) around.before(around.argument);
    for (size_t s = 0; s < shares.size(); s++) {
      Share& share = shares[(static_cast<size_t>(slot) + s) % shares.size()];
      for (int64_t t; (t = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) {
        body(slot, t);
      }
    }
    if (around.after != nullptr) around.after(around.argument);
  });
}

template <class Body>
void run_tasks(const Exec& exec, int threads, int64_t tasks, const Around& around, Body body) {
  Share all{0, tasks};
  run_shares(exec, threads, {&all, 1}, around, body);
}

// Each thread begins with as many tasks as the others; threads beyond kMostShares
// begin together with others.
template <class Body>
void run_owned(const Exec& exec, int threads, int64_t tasks, Body body) {
  std::array<Share, kMostShares> shares;
  const size_t count = std::min<size_t>(static_cast<size_t>(threads), kMostShares);
  int64_t begin = 0;
  for (size_t s = 0; s < count; s++) {
    shares[s].next = begin;
    begin = tasks * static_cast<int64_t>(s + 1) / static_cast<int64_t>(count);
    shares[s].end = begin;
  }
  run_shares(exec, threads, {shares.data(), count}, {}, body);
}

}  // namespace

class Run : private PartRun {
 public:
  Run(const Product& product, const ProductArgs& args, void* workspace, const Exec& exec)
      : PartRun(product, args, workspace), exec_(exec) {
    const double flops = 2.0 * static_cast<double>(d_.m) * static_cast<double>(d_.n) *
                         static_cast<double>(std::max<int64_t>(d_.k, 1));
    threads_ =
        static_cast<int>(std::clamp(flops / kFlopsAThread, 1.0, std::max(exec.threads, 1) * 1.0));
    if (product.layout_.own_count > 0) threads_ = std::min(threads_, product.layout_.own_count);
  }

  void by_groups() {
    const int64_t panels = p_.columns_.panels;
    const int64_t outer = p_.blocking_.b_outer > 0 ? p_.blocking_.b_outer : panels;
    const bool is_one_a = p_.blocking_.a_outer >= p_.rows_.panels;
    for (int64_t j = 0; j < panels; j += outer) {
      const Range columns = {j, std::min(j + outer, panels)};
      if (p_.blocking_.b_outer > 0) pack_b_outer(columns);
      for (int64_t i = 0; i < p_.rows_.panels; i += p_.blocking_.a_outer) {
        const Range rows = {i, std::min(i + p_.blocking_.a_outer, p_.rows_.panels)};
        const bool is_there = is_one_a && j > 0;
        if (!p_.reads_a_directly_ && !is_there) pack_a_outer(rows);
        multiply_groups(rows, columns);
      }
    }
  }

  void by_blocks() {
    const Blocking& size = p_.blocking_;
    for (int64_t i = 0; i < p_.rows_.panels; i += size.a_outer) {
      const int64_t i_end = std::min(i + size.a_outer, p_.rows_.panels);
      for (int64_t j = 0; j < p_.columns_.panels; j += size.b_block) {
        const int64_t j_end = std::min(j + size.b_block, p_.columns_.panels);
        for_each_block_of_k([&](int64_t k, int64_t steps) {
          pack_block(i, i_end, j, j_end, k, steps);
          multiply_block(i, i_end, j, j_end, k, steps);
        });
      }
    }
  }

 private:
  // Whether a task is a block of A times a group of B's panels, and not all of A times fewer of
  // them: tiles multiply faster than the cache that threads share delivers A anew for each.
  bool shares_squares() const {
    return p_.configure_tiles_ != nullptr && p_.has_packed_b() && threads_ > 1;
  }
  // Whether each thread packs and multiplies a part of A of its own, so that no line of it goes
  // from core to core. Not where A is not packed, or every part would need B's panels packed anew,
  // or rows are so few that memory decides.
  bool owns_rows(Range rows) const {
    const bool is_many = d_.m > kFewRows && rows.size() >= kPanelsOfAShare * threads_;
    return is_many && threads_ > 1 && p_.has_packed_b() && !p_.reads_a_directly_ &&
           p_.configure_tiles_ == nullptr;
  }
  Around tiles() const { return {p_.configure_tiles_, p_.release_tiles_, &p_.tiles_}; }

  // At least once: without any k the epilogue of zeros is the result.
  template <class Body>
  void for_each_block_of_k(Body body) {
    int64_t k = 0;
    do {
      body(k, std::min(p_.blocking_.k, all_steps_ - k));
      k += p_.blocking_.k;
    } while (k < all_steps_);
  }

  // ---- by groups ----

  int64_t k_blocks() const { return (all_steps_ + p_.blocking_.k - 1) / p_.blocking_.k; }

  void pack_a_outer(Range rows) {
    const int64_t size = p_.blocking_.k, tasks = k_blocks() * rows.size();
    const auto pack = [&](int64_t, int64_t task) {
      const int64_t k = task % k_blocks() * size;
      pack_a(rows.begin + task / k_blocks(), rows.begin, k, std::min(size, all_steps_ - k),
             a_block_at(rows.begin, rows.end, k));
    };
    if (owns_rows(rows)) return run_owned(exec_, threads_, tasks, pack);
    run_tasks(exec_, threads_, tasks, {}, pack);
  }

  void pack_b_outer(Range columns) {
    first_packed_b_ = columns.begin;
    const int64_t size = p_.blocking_.k;
    const int64_t runs = (columns.size() + kPackedTogether - 1) / kPackedTogether;
    run_tasks(exec_, threads_, k_blocks() * runs, {}, [&](int64_t, int64_t task) {
      const int64_t k = task / runs * size, first = columns.begin + task % runs * kPackedTogether;
      for (int64_t j = first; j < std::min(first + kPackedTogether, columns.end); j++) {
        const int64_t at = b_steps_bytes((j - columns.begin) * all_steps_ + k);
        pack_b_into(workspace_ + p_.layout_.b + at, j, k, std::min(size, all_steps_ - k));
      }
    });
  }

  // Squares are large: only those that come last are small.
  Groups groups_of(Range columns, int64_t parts) const {
    const int64_t tasks = threads_ * (shares_squares() ? kSquaresAThread : kGroupsAThread);
    return {columns, {p_.blocking_.b_block, parts, tasks, shares_squares()}};
  }

  // Tasks: a part of A times a group. Squares go group by group, so that those at work share B's
  // panels; parts that are owned part by part.
  void multiply_groups(Range rows, Range columns) {
    const bool is_owned = owns_rows(rows);
    const int64_t a_block = p_.blocking_.a_block;
    const int64_t parts = is_owned || shares_squares() ? (rows.size() + a_block - 1) / a_block : 1;
    const Groups groups = groups_of(columns, parts);
    const int64_t count = groups.count();
    const auto multiply_task = [&](int64_t slot, int64_t part, int64_t at) {
      const Range some = {rows.begin + rows.size() * part / parts,
                          rows.begin + rows.size() * (part + 1) / parts};
      group(slot, rows, some, groups.at(at));
    };
    if (is_owned) {
      return run_owned(exec_, threads_, count * parts, [&](int64_t slot, int64_t task) {
        multiply_task(slot, task / count, task % count);
      });
    }
    run_tasks(exec_, threads_, count * parts, tiles(),
              [&](int64_t slot, int64_t task) { multiply_task(slot, task % parts, task / parts); });
  }

  // `rows` of the packed panels of A, `all`. B packed: A block by block, so that the partial
  // results of one stay near. B to be packed: all of A for each block of k, so that it is packed
  // once.
  void group(int64_t slot, Range all, Range rows, Range columns) {
    const int64_t a_block = p_.blocking_.a_block;
    const auto part = [&](int64_t i, int64_t first, int64_t k, int64_t steps) {
      const char* a = p_.reads_a_directly_ ? nullptr : a_block_at(all.begin, all.end, k);
      multiply({i, std::min(i + a_block, rows.end), columns.begin, columns.end, k, steps, all.begin,
                columns.begin, first, a, slot_at(slot), slot});
    };
    for (int64_t i = rows.begin; i < rows.end && p_.has_packed_b(); i += a_block) {
      for_each_block_of_k([&](int64_t k, int64_t steps) { part(i, i, k, steps); });
    }
    if (p_.has_packed_b()) return;
    for_each_block_of_k([&](int64_t k, int64_t steps) {
      for (int64_t j = columns.begin; j < columns.end; j++) {
        pack_b(j, k, steps, slot_at(slot), j - columns.begin);
      }
      for (int64_t i = rows.begin; i < rows.end; i += a_block) part(i, rows.begin, k, steps);
    });
  }

  // ---- by blocks ----

  void pack_block(int64_t i, int64_t i_end, int64_t j, int64_t j_end, int64_t k, int64_t steps) {
    const int64_t b_panels = d_.is_packed ? 0 : j_end - j;
    const int64_t a_panels = p_.reads_a_directly_ ? 0 : i_end - i;
    run_tasks(exec_, threads_, b_panels + a_panels, {}, [&](int64_t, int64_t task) {
      if (task >= b_panels) return pack_a(i + task - b_panels, i, k, steps, workspace_);
      pack_b(j + task, k, steps, slot_at(0), task);
    });
  }

  void multiply_block(int64_t i, int64_t i_end, int64_t j, int64_t j_end, int64_t k,
                      int64_t steps) {
    const int64_t a_blocks = (i_end - i + p_.blocking_.a_block - 1) / p_.blocking_.a_block;
    int64_t width = j_end - j;
    if (threads_ > 1) width = std::max<int64_t>(width * a_blocks / (threads_ * kTasksAThread), 1);
    const int64_t groups = (j_end - j + width - 1) / width;
    run_tasks(exec_, threads_, a_blocks * groups, tiles(), [&](int64_t thread, int64_t task) {
      const int64_t i0 = i + task / groups * p_.blocking_.a_block;
      const int64_t j0 = j + task % groups * width;
      multiply({i0, std::min(i0 + p_.blocking_.a_block, i_end), j0, std::min(j0 + width, j_end), k,
                steps, i, j, i, workspace_, slot_at(0), thread});
    });
  }

  const Exec& exec_;
  int threads_;
};

void Product::run(const ProductArgs& args, void* workspace, const Exec& exec) const {
  if (desc_.m == 0 || desc_.n == 0) return;
  if (is_streamed()) return run_streams(args, workspace, exec);
  Run run(*this, args, workspace, exec);
  if (blocking_.order == LoopOrder::kGroups) {
    run.by_groups();
  } else {
    run.by_blocks();
  }
}

}  // namespace nrd::gemm
