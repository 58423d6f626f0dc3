// SPDX-License-Identifier: MIT
// src/gemm/product.h: c[m,n] = epilogue(a[m,k] b[k,n]) for one shape, prepared and run.
#pragma once

#include <array>
#include <climits>
#include <optional>

#include "gemm/blocking.h"
#include "gemm/column_sums.h"
#include "gemm/epilogue.h"
#include "gemm/micro_kernel.h"
#include "gemm/packer.h"

namespace nrd::gemm {

// What is fixed when a product is prepared. Strides in elements; those of b do not count where it
// comes packed.
struct ProductDesc {
  int64_t m = 0, n = 0, k = 0;
  DType a = DType::kF32, b = DType::kF32;
  int64_t a_row = 0, a_column = 0;
  int64_t b_row = 0, b_column = 0;
  int64_t c_row = 0, c_column = 0;
  BlockScales a_blocks, b_blocks;  // b's do not count where it comes packed
  Epilogue epilogue;               // its output is c
  Numerics numerics = Numerics::kPlain;
  bool is_packed = false;  // b is, in the family's layout
};

struct ProductArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const float* a_scales = nullptr;  // of the blocks
  const float* b_scales = nullptr;
  std::array<OperandMemory, kEpilogueOperands> operands;  // of the epilogue
};

// Multiply-adds count two.
double flops(const ProductDesc& desc);

// Immutable; several threads may run it at once, each with its own workspace. Each output is one
// chain of multiply-adds in the order of k, so the bits depend neither on blocking nor on threads
// nor on packing.
class Product {
 public:
  // `blocking`: instead of the one chosen from the profile.
  static Expected<Product> make(const ProductDesc& desc, const jit::Target& target,
                                const DeviceProfile& profile,
                                std::optional<Blocking> blocking = {});
  // For runs of at most that many threads; one more costs what is each thread's own.
  size_t workspace_bytes(int threads = INT_MAX) const;
  // The workspace is aligned to 64 bytes.
  void run(const ProductArgs& args, void* workspace, const Exec& exec) const;
  const ProductDesc& desc() const { return desc_; }
  const Family& family() const { return *family_; }
  const Blocking& blocking() const { return blocking_; }

 private:
  friend class Run;
  friend class PartRun;
  friend class StreamRun;
  Product() = default;
  Expected<void> make_packers(const jit::Target& target);
  Expected<void> make_kernels(const jit::Target& target);
  Expected<void> make_stream_kernels(const jit::Target& target);
  void run_streams(const ProductArgs& args, void* workspace, const Exec& exec) const;
  bool is_streamed() const { return blocking_.order == LoopOrder::kStreams; }
  int tile_prefetch_lines() const;
  // Whether B is packed over all of k: by the caller or, an outer part at a time, before its use.
  bool has_packed_b() const { return desc_.is_packed || blocking_.b_outer > 0; }
  int64_t a_panel_bytes() const;
  int64_t b_panel_bytes() const;
  void lay_out_workspace(const DeviceProfile& profile);

  // The workspace: packed A; B where it is packed before it is used; then slots of packed B, behind
  // that partial results, and behind that what is a thread's own, a tile on its way to C. By groups
  // a slot belongs to one thread; by blocks there is one, all threads share it, and the tiles of
  // the others follow. What one thread alone needs comes first.
  struct Layout {
    size_t b = 0, slots = 0, slot_bytes = 0;
    size_t partial = 0;              // in a slot
    bool keeps_partials = false;     // in the slots
    size_t own = 0, own_stride = 0;  // the first thread's, and from one to the next
    int own_count = 0;               // threads that there is room for; 0: any number
  };

  ProductDesc desc_;
  const Family* family_ = nullptr;
  Blocking blocking_;
  Cut rows_, columns_;
  Packer pack_a_, pack_b_;
  ColumnSums column_sums_;         // of B, where A is offset
  bool reads_a_directly_ = false;  // as it lies, not packed
  bool partials_lie_in_c_ = false;
  // [wide or narrow panel of A][full or last panel of B]
  std::array<std::array<jit::Code::Entry, 2>, 2> kernels_{};
  // Of a thread, before its first tile and after its last; null but for AMX.
  jit::Code::Entry configure_tiles_ = nullptr, release_tiles_ = nullptr;
  TileArgs tiles_;
  // Where B is streamed: rows of A that one kernel takes, and for the wide and the narrow ones the
  // kernels of a group of rows of B and of a single one.
  struct StreamKernels {
    jit::Code::Entry group = nullptr, one = nullptr;
    int streams = 1;
  };
  Cut stream_rows_;
  std::array<StreamKernels, 2> stream_kernels_;
  Layout layout_;
};

}  // namespace nrd::gemm
