// SPDX-License-Identifier: MIT
// src/gemm/product_stream.cpp: few rows of A and a B whose rows are contiguous: B is read once, as
// it lies, and packed nowhere.
//
//   all threads, task by task, a block of columns:
//     for blocks of k (one, where one kernel takes all rows of A): for rows of A, some at a time:
//       for groups of rows of B: for columns: sums (stream_kernel.cpp)
//     for panels of the block: the micro-kernel without a step of k: epilogue, store
// The last is left out where the sums are C itself. Each output is the chain of multiply-adds in
// the order of k that it is in every other order of loops. Bound: the read bandwidth of B.
#include <atomic>

#include "gemm/product_part.h"

namespace nrd::gemm {
namespace {

// Rows of B that stay in L2 while further rows of A meet them: 1 MB beside 1024 columns would not.
constexpr int64_t kStepsOfABlock = 40;
// Of B, below which a thread is not worth waking.
constexpr int64_t kElementsAThread = 64 << 10;

}  // namespace

class StreamRun : private PartRun {
 public:
  StreamRun(const Product& product, const ProductArgs& args, void* workspace)
      : PartRun(product, args, workspace) {}

  void run(const Exec& exec) {
    if (!p_.reads_a_directly_) pack_a(0, 0, 0, all_steps_, workspace_);
    const int64_t panels = p_.columns_.panels;
    const int64_t worth = std::max<int64_t>(d_.n * d_.k / kElementsAThread, 1);
    const int64_t threads = std::min<int64_t>(
        {std::max(exec.threads, 1), std::max(p_.layout_.own_count, 1), worth, panels});
    const int64_t width = std::min(p_.blocking_.b_block, (panels + threads - 1) / threads);
    const int64_t blocks = (panels + width - 1) / width;
    std::atomic<int64_t> next{0};
    parallel_for(Exec{static_cast<int>(threads), exec.executor}, threads, 1,
                 [&](int64_t slot, int64_t) {
                   for (int64_t t; (t = next.fetch_add(1, std::memory_order_relaxed)) < blocks;)
                     block(slot, t * width, std::min((t + 1) * width, panels));
                 });
  }

 private:
  // Panels [j, j_end) of C.
  void block(int64_t slot, int64_t j, int64_t j_end) const {
    const int64_t columns = p_.family_->columns(), column = j * columns;
    MicroKernelArgs args = block_args(all_steps_, 0);
    StreamArgs stream;
    stream.helpers = args.helpers;
    stream.columns = std::min(j_end * columns, d_.n) - column;
    if (p_.partials_lie_in_c_) {
      stream.sums = static_cast<float*>(c_at(args, 0, j));
      stream.sums_row = args.c_row;
    } else {
      stream.sums = reinterpret_cast<float*>(workspace_ + p_.layout_.own +
                                             p_.layout_.own_stride * static_cast<size_t>(slot));
      stream.sums_row = p_.blocking_.b_block * columns * 4;
    }
    for (int64_t row = 0; row < d_.m; row++)
      std::fill_n(move(stream.sums, row * stream.sums_row), stream.columns, 0.0f);
    sum(stream, column);
    if (p_.partials_lie_in_c_ && d_.epilogue.steps.empty()) return;
    args.partial_row = stream.sums_row;
    for (; j < j_end; j++) {
      args.partial = stream.sums;
      tile(args, 0, j, 0, j);
      stream.sums += columns;
    }
  }

  void sum(const StreamArgs& block, int64_t column) const {
    const auto size = static_cast<int64_t>(byte_size(d_.b));
    const int64_t rows_of_a = p_.stream_rows_.panels;
    const int64_t most = rows_of_a == 1 ? std::max<int64_t>(d_.k, 1) : kStepsOfABlock;
    for (int64_t k = 0; k < d_.k; k += most) {
      for (int64_t i = 0; i < rows_of_a; i++) {
        StreamArgs args = block;
        const int64_t row = p_.stream_rows_.begin(i);
        args.sums = move(block.sums, row * block.sums_row);
        args.b_row = d_.b_row * size;
        args.b = static_cast<const char*>(args_.b) + k * args.b_row + column * size;
        place_a(args, row, k);
        steps(args, i, std::min(most, d_.k - k));
      }
    }
  }

  // A as it lies, or packed: elements of a step side by side.
  void place_a(StreamArgs& args, int64_t row, int64_t k) const {
    if (p_.reads_a_directly_) {
      args.a_row = 4 * d_.a_row, args.a_step = 4;
      args.a = static_cast<const char*>(args_.a) + row * args.a_row + k * args.a_step;
      return;
    }
    args.a_row = 4, args.a_step = 4 * int64_t{panel_rows(*p_.family_, p_.rows_, 0)};
    args.a = workspace_ + row * args.a_row + k * args.a_step;
  }

  // Whole groups of rows of B, then row by row.
  void steps(StreamArgs& args, int64_t i, int64_t count) const {
    const auto& kernels = p_.stream_kernels_[i >= p_.stream_rows_.wide_panels];
    const int64_t streams = kernels.streams, whole = count / streams;
    args.groups = whole;
    if (whole > 0) kernels.group(&args);
    args.groups = count % streams;
    if (args.groups == 0) return;
    args.a = static_cast<const char*>(args.a) + whole * streams * args.a_step;
    args.b = static_cast<const char*>(args.b) + whole * streams * args.b_row;
    kernels.one(&args);
  }

  static float* move(float* pointer, int64_t bytes) {
    return reinterpret_cast<float*>(reinterpret_cast<char*>(pointer) + bytes);
  }
};

void Product::run_streams(const ProductArgs& args, void* workspace, const Exec& exec) const {
  StreamRun(*this, args, workspace).run(exec);
}

}  // namespace nrd::gemm
