// SPDX-License-Identifier: MIT
// src/gemm/product_part.h: a part of a product on one thread: where its packed panels are, and the
// calls of the micro-kernel.
#pragma once

#include <algorithm>

#include "gemm/product.h"
#include "jit/math.h"

namespace nrd::gemm {

class PartRun {
 public:
  PartRun(const Product& product, const ProductArgs& args, void* workspace)
      : p_(product),
        d_(product.desc_),
        args_(args),
        workspace_(static_cast<char*>(workspace)),
        all_steps_(product.family_->steps(product.desc_.k)),
        packed_b_(product.desc_.is_packed ? static_cast<const char*>(args.b)
                                          : workspace_ + product.layout_.b) {}

 protected:
  // Some panels of A times some of B over a block of k, and where their packed forms are.
  struct Part {
    int64_t i, i_end, j, j_end, k, steps;
    int64_t first_i, first_j;  // of what is packed
    int64_t first_partial;     // panel of A whose partial results come first
    const char* a;             // packed
    char* slot;
    int64_t thread;
  };

  void multiply(const Part& part) const {
    MicroKernelArgs args = block_args(part.k, part.steps);
    const int64_t columns = p_.family_->columns();
    if (!p_.partials_lie_in_c_) args.partial_row = columns * 4;
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
          // Tiles side by side, each in one piece: rows far apart would meet in few sets of L1.
          const int64_t tile = (i - part.first_partial) * p_.blocking_.b_block + j - part.first_j;
          args.partial = part.slot + p_.layout_.partial + tile * p_.family_->rows * columns * 4;
        } else if (!p_.partials_lie_in_c_) {
          args.partial = workspace_ + p_.layout_.own +
                         p_.layout_.own_stride * static_cast<size_t>(part.thread);
        }
        tile(args, i, j, is_last ? part.i : i + 1, is_last ? j + 1 : j);
      }
    }
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
    return packed_b_ + b_steps_bytes((panel - first_packed_b_) * all_steps_ + k);
  }
  void pack_b_into(char* to, int64_t panel, int64_t k, int64_t steps) const {
    p_.pack_b_.pack(args_.b, panel, k, steps, to, args_.b_scales);
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
    pack_b_into(packed, panel, k, steps);
    if (int32_t* sums = sums_in_slot(slot, place)) p_.column_sums_.run(packed, steps, sums);
  }
  const char* b_at(const Part& part, int64_t panel, int64_t k) const {
    return p_.has_packed_b() ? packed_b(panel, k) : b_in_slot(part.slot, panel - part.first_j);
  }

  const Product& p_;
  const ProductDesc& d_;
  const ProductArgs& args_;
  char* workspace_;
  int64_t all_steps_;
  const char* packed_b_;        // where B is packed as a whole
  int64_t first_packed_b_ = 0;  // panel of it

 private:
  // How far in front of a stream of B: the latency of memory at its full rate (100 ns x 40 GB/s);
  // twice as far where an earlier panel of A has announced most of it.
  static constexpr int64_t kAhead = 4096, kAheadOfSeveral = 2 * kAhead;
  // Tiles take 2 KB a step: as many steps as the latency lasts.
  static constexpr int64_t kAheadOfTiles = 16384;

  template <class T>
  static T* offset(T* pointer, int64_t bytes) {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(pointer) + bytes);
  }

  // What panel i of A announces while it meets a panel of B.
  const char* prefetch_at(const Part& part, int64_t i, const char* b, const char* next) const {
    const bool is_first = i == part.i, is_last = i + 1 == part.i_end;
    if (p_.configure_tiles_ == nullptr) {
      if (is_first) return b + (is_last ? kAhead : kAheadOfSeveral);
      return is_last ? next : b;
    }
    if (part.i + 1 == part.i_end) return b + kAheadOfTiles;
    return next + (i - part.i) * part.steps * p_.tile_prefetch_lines() * 64;
  }

 protected:
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
};

}  // namespace nrd::gemm
