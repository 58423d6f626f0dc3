// SPDX-License-Identifier: MIT
// src/gemm/product_run.cpp: the loops around the micro-kernel.
//
// kGroups:
//   for outer parts of A: all threads pack it, every step of k, or it is read as it lies; then,
//   group of B's panels by group:
//     for blocks of k: (pack B's) for blocks of A in L2: for panels of B: for panels of A:
//       micro-kernel
//   Tiles of AMX, B packed: each block of A times each group is a task, all of k, so that what
//   comes from the cache that threads share serves a square of C.
// kBlocks (Goto's order), where A is too large to be packed whole and B is not packed yet:
//   for outer parts of A, blocks of B's panels, blocks of k:
//     all threads pack both; then, task by task:
//     for panels of B: for panels of A in L2: micro-kernel
// In both B's panel stays in L1 or L2 while A's panels pass by.
// Bound: multiply-adds with many rows, the read bandwidth with few (rows < 2 * peak / bandwidth).
// Threads take the next task when they are done with one: no thread waits for a slow one longer
// than a task lasts.
#include <algorithm>
#include <atomic>

#include "gemm/product.h"
#include "jit/math.h"

namespace nrd::gemm {

namespace {

// How far in front of a stream of B: the latency of memory at its full rate (100 ns x 40 GB/s).
constexpr int64_t kAhead = 4096;
// Tiles take 2 KB a step: as many steps as the latency lasts.
constexpr int64_t kAheadOfTiles = 16384;
// Work below this is not worth waking a thread for: some microseconds of multiply-adds.
constexpr double kFlopsAThread = 1e6;
constexpr int64_t kTasksAThread = 16, kGroupsAThread = 4;

// What a thread needs to do in front of its tasks and behind them.
struct Around {
  jit::Code::Entry before = nullptr, after = nullptr;
  const void* argument = nullptr;
};

// body(slot, task) for each task once; a slot serves one thread at a time.
template <class Body>
void run_tasks(const Exec& exec, int threads, int64_t tasks, const Around& around, Body body) {
  std::atomic<int64_t> next{0};
  parallel_for(Exec{threads, exec.executor}, std::min<int64_t>(threads, tasks), 1,
               [&](int64_t slot, int64_t) {
                 if (around.before != nullptr) around.before(around.argument);
                 for (int64_t t; (t = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
                   body(slot, t);
                 }
                 if (around.after != nullptr) around.after(around.argument);
               });
}

template <class T>
T* offset(T* pointer, int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(pointer) + bytes);
}

}  // namespace

class Run {
 public:
  Run(const Product& product, const ProductArgs& args, void* workspace, const Exec& exec)
      : p_(product),
        d_(product.desc_),
        args_(args),
        workspace_(static_cast<char*>(workspace)),
        exec_(exec),
        all_steps_(product.family_->steps(product.desc_.k)) {
    const double flops = 2.0 * static_cast<double>(d_.m) * static_cast<double>(d_.n) *
                         static_cast<double>(std::max<int64_t>(d_.k, 1));
    threads_ =
        static_cast<int>(std::clamp(flops / kFlopsAThread, 1.0, std::max(exec.threads, 1) * 1.0));
    if (product.layout_.own_count > 0) threads_ = std::min(threads_, product.layout_.own_count);
  }

  void by_groups() {
    const Blocking& size = p_.blocking_;
    const int64_t k_blocks = (all_steps_ + size.k - 1) / size.k;
    for (int64_t i = 0; i < p_.rows_.panels; i += size.a_outer) {
      const int64_t i_end = std::min(i + size.a_outer, p_.rows_.panels), panels = i_end - i;
      if (!p_.reads_a_directly_) {
        run_tasks(exec_, threads_, k_blocks * panels, {}, [&](int64_t, int64_t task) {
          const int64_t k = task / panels * size.k;
          pack_a(i + task % panels, i, k, std::min(size.k, all_steps_ - k),
                 a_block_at(i, i_end, k));
        });
      }
      const int64_t part = shares_squares() ? std::min(size.a_block, panels) : panels;
      const int64_t parts = (panels + part - 1) / part;
      // Smaller groups where threads would wait for the last one.
      const int64_t width = std::clamp<int64_t>(
          p_.columns_.panels * parts / (kGroupsAThread * threads_), 1, size.b_block);
      const int64_t groups = (p_.columns_.panels + width - 1) / width;
      run_tasks(exec_, threads_, groups * parts, tiles(), [&](int64_t slot, int64_t task) {
        const int64_t from = i + task % parts * part, j = task / parts * width;
        group(slot, {i, i_end}, {from, std::min(from + part, i_end)},
              {j, std::min(j + width, p_.columns_.panels)});
      });
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
  // Some panels of A times some of B over a block of k, and where their packed forms are.
  struct Part {
    int64_t i, i_end, j, j_end, k, steps;
    int64_t first_i, first_j;  // of what is packed
    int64_t first_partial;     // panel of A whose partial results come first
    const char* a;             // packed
    char* slot;
    int64_t thread;
  };

  struct Range {
    int64_t begin, end;
  };

  // Whether a task is a block of A times a group of B's panels, and not all of A times fewer of
  // them: tiles multiply faster than the cache that threads share delivers A anew for each.
  bool shares_squares() const {
    return p_.configure_tiles_ != nullptr && d_.is_packed && threads_ > 1;
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

  // ---- where packed panels are ----

  int64_t a_offset(int64_t panel, int64_t first) const {
    return (panel - first) * p_.a_panel_bytes();
  }
  // By groups: the block of k that begins at k.
  char* a_block_at(int64_t i, int64_t i_end, int64_t k) const {
    return workspace_ + k / p_.blocking_.k * a_offset(i_end, i);
  }
  void pack_a(int64_t panel, int64_t first, int64_t k, int64_t steps, char* block) const {
    p_.pack_a_.pack(args_.a, panel, k, steps, block + a_offset(panel, first), args_.a_scales);
  }
  const void* a_at(const Part& part, int64_t panel) const {
    if (!p_.reads_a_directly_) return part.a + a_offset(panel, part.first_i);
    return offset(args_.a, 4 * (p_.rows_.begin(panel) * d_.a_row + part.k));
  }
  char* slot_at(int64_t slot) const {
    return workspace_ + p_.layout_.slots + p_.layout_.slot_bytes * static_cast<size_t>(slot);
  }
  char* b_in_slot(char* slot, int64_t panel) const { return slot + panel * p_.b_panel_bytes(); }
  int64_t b_steps_bytes(int64_t steps) const {
    return steps * p_.family_->columns() * p_.family_->step_bytes();
  }
  const char* packed_b(int64_t panel, int64_t k) const {
    return static_cast<const char*>(args_.b) + b_steps_bytes(panel * all_steps_ + k);
  }
  // Of B's columns, behind the panel in a slot, behind all panels of a packed matrix.
  int32_t* sums_in_slot(char* slot, int64_t panel) const {
    if (!p_.family_->offsets(d_.a)) return nullptr;
    return reinterpret_cast<int32_t*>(b_in_slot(slot, panel) + b_steps_bytes(p_.blocking_.k));
  }
  const int32_t* sums_at(const Part& part, int64_t panel) const {
    if (!p_.family_->offsets(d_.a)) return nullptr;
    if (!d_.is_packed) return sums_in_slot(part.slot, panel - part.first_j);
    static constexpr int32_t kNone[64] = {};
    if (part.k > 0) return kNone;  // those of a packed matrix are of all k
    const char* sums =
        static_cast<const char*>(args_.b) + b_steps_bytes(p_.columns_.panels * all_steps_);
    return reinterpret_cast<const int32_t*>(sums) + panel * p_.family_->columns();
  }
  void pack_b(int64_t panel, int64_t k, int64_t steps, char* slot, int64_t place) const {
    char* packed = b_in_slot(slot, place);
    p_.pack_b_.pack(args_.b, panel, k, steps, packed, args_.b_scales);
    if (int32_t* sums = sums_in_slot(slot, place)) p_.column_sums_.run(packed, steps, sums);
  }
  const char* b_at(const Part& part, int64_t panel, int64_t k) const {
    return d_.is_packed ? packed_b(panel, k) : b_in_slot(part.slot, panel - part.first_j);
  }

  // ---- by groups ----

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
    for (int64_t i = rows.begin; i < rows.end && d_.is_packed; i += a_block) {
      for_each_block_of_k([&](int64_t k, int64_t steps) { part(i, i, k, steps); });
    }
    if (d_.is_packed) return;
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

  // ---- the loops around the tile ----

  void multiply(const Part& part) const {
    MicroKernelArgs args = block_args(part.k, part.steps);
    const int64_t columns = p_.family_->columns();
    const int64_t width = p_.layout_.keeps_partials ? p_.blocking_.b_block * columns : columns;
    if (!p_.partials_lie_in_c_) args.partial_row = width * 4;
    for (int64_t j = part.j; j < part.j_end; j++) {
      const bool ends = j + 1 == part.j_end;
      args.b = b_at(part, j, part.k);
      args.sums = sums_at(part, j);
      // Behind the last panel come the next steps of the first.
      const char* next = ends ? b_at(part, part.j, part.k + part.steps) : b_at(part, j + 1, part.k);
      for (int64_t i = part.i; i < part.i_end; i++) {
        const bool is_last = i + 1 == part.i_end;
        args.a = a_at(part, i);
        args.prefetch = prefetch_at(part, i, static_cast<const char*>(args.b), next);
        if (p_.layout_.keeps_partials) {
          const int64_t row = (i - part.first_partial) * p_.family_->rows;
          args.partial =
              part.slot + p_.layout_.partial + (row * width + (j - part.first_j) * columns) * 4;
        } else if (!p_.partials_lie_in_c_) {
          args.partial = workspace_ + p_.layout_.own + p_.layout_.own_bytes * part.thread;
        }
        tile(args, i, j, is_last ? part.i : i + 1, is_last ? j + 1 : j);
      }
    }
  }

  // What panel i of A announces while it meets a panel of B.
  const char* prefetch_at(const Part& part, int64_t i, const char* b, const char* next) const {
    const bool is_first = i == part.i, is_last = i + 1 == part.i_end;
    if (p_.configure_tiles_ == nullptr) return is_first ? b + kAhead : is_last ? next : b;
    if (part.i + 1 == part.i_end) return b + kAheadOfTiles;
    return next + (i - part.i) * part.steps * p_.tile_prefetch_lines() * 64;
  }

  // ---- one tile ----

  MicroKernelArgs block_args(int64_t k, int64_t steps) const {
    MicroKernelArgs args;
    args.helpers = jit::helper_table();
    args.a_row = 4 * d_.a_row;
    args.steps = steps;
    args.is_first = k == 0;
    args.is_last = k + steps >= all_steps_;
    const auto size = static_cast<int64_t>(byte_size(d_.epilogue.out));
    args.c_row = d_.c_row * size;
    args.c_column = d_.c_column * size;
    args.tail = p_.columns_.narrow % p_.family_->lanes;
    return args;
  }

  void* c_at(const MicroKernelArgs& args, int64_t i, int64_t j) const {
    return offset(args_.c,
                  p_.rows_.begin(i) * args.c_row + j * p_.family_->columns() * args.c_column);
  }

  // Panels i of A and j of B; then comes the tile of next_i and next_j.
  void tile(MicroKernelArgs& args, int64_t i, int64_t j, int64_t next_i, int64_t next_j) const {
    const int64_t row = p_.rows_.begin(i), column = j * p_.family_->columns();
    args.c = c_at(args, i, j);
    // What this tile will store; where tiles begin with loading, what the next one loads.
    args.announced_c = args.is_first ? args.c : c_at(args, next_i, next_j);
    if (p_.partials_lie_in_c_) {
      args.partial = args.c;
      args.partial_row = args.c_row;
    }
    for (size_t o = 0; o < d_.epilogue.operands.size(); o++) {
      const OperandMemory& from = args_.operands[o];
      args.operands[o] = {offset(from.data, row * from.row + column * from.column), from.row,
                          from.column};
    }
    const bool is_narrow = i >= p_.rows_.wide_panels, is_last = j >= p_.columns_.wide_panels;
    p_.kernels_[is_narrow][is_last](&args);
  }

  const Product& p_;
  const ProductDesc& d_;
  const ProductArgs& args_;
  char* workspace_;
  const Exec& exec_;
  int64_t all_steps_;
  int threads_;
};

void Product::run(const ProductArgs& args, void* workspace, const Exec& exec) const {
  if (desc_.m == 0 || desc_.n == 0) return;
  Run run(*this, args, workspace, exec);
  if (blocking_.order == LoopOrder::kGroups) {
    run.by_groups();
  } else {
    run.by_blocks();
  }
}

}  // namespace nrd::gemm
