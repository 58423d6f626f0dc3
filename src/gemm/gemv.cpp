// SPDX-License-Identifier: MIT
// src/gemm/gemv.cpp: chooses the order by the strides, the code by the dtypes, and shares out rows.
#include "gemm/gemv.h"

#include <algorithm>
#include <cstring>

#include "base/convert.h"
#include "jit/math.h"

namespace nrd::gemm {
namespace {

// Elements of a that are worth waking a thread for, some microseconds.
constexpr int64_t kElementsAThread = 16384;
constexpr int64_t kAlignment = 64;

size_t padded_bytes(int64_t floats) {
  return static_cast<size_t>((floats * 4 + kAlignment - 1) / kAlignment * kAlignment);
}

int64_t bytes(int64_t elements, DType dtype) {
  return elements * static_cast<int64_t>(byte_size(dtype));
}

template <class T>
T* offset(T* pointer, int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(pointer) + bytes);
}

Expected<void> check_dtype(const char* name, DType dtype) {
  if (dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16) return {};
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = "gemv",
                     .argument = name,
                     .got = std::string(word(dtype)),
                     .allowed = "f32, f16, bf16"});
}

}  // namespace

Expected<Gemv> Gemv::make(const GemvDesc& desc, const jit::Target& target, int cores) {
  NRD_TRY(check_dtype("a", desc.a));
  NRD_TRY(check_dtype("x", desc.x));
  NRD_TRY(check_dtype("y", desc.y));
  Gemv gemv;
  gemv.desc_ = desc;
  gemv.order_ = GemvOrder::kStrided;
  if (desc.a_row == 1) gemv.order_ = GemvOrder::kColumns;
  if (desc.a_column == 1 || desc.n <= 1) gemv.order_ = GemvOrder::kRows;
  if (gemv.order_ != GemvOrder::kColumns) gemv.streams_ = gemv_rows(target);
  if (desc.x != DType::kF32 || (desc.x_step != 1 && desc.n > 1)) {
    gemv.x_bytes_ = padded_bytes(desc.n);
  }
  const bool ends_in_y = gemv.order_ == GemvOrder::kColumns
                             ? desc.y == DType::kF32 && (desc.y_step == 1 || desc.m <= 1)
                             : desc.n <= kGemvChunk;
  if (!ends_in_y) gemv.sum_bytes_ = padded_bytes(desc.m);
  const int64_t blocks = (desc.n + kGemvBlock - 1) / kGemvBlock;
  if (gemv.order_ == GemvOrder::kColumns && blocks > 1) {
    gemv.block_bytes_ = padded_bytes(desc.m);
    gemv.slots_ = static_cast<int>(std::min<int64_t>(blocks, std::max(cores, 1)));
  }
  NRD_TRY(gemv.make_kernels(target));
  return gemv;
}

Expected<void> Gemv::make_kernels(const jit::Target& target) {
  const auto make = [&](int64_t streams, DType y, jit::Code::Entry& code) -> Expected<void> {
    Expected<jit::Code::Entry> made =
        gemv_kernel({&target, order_, desc_.a, y, static_cast<int>(streams)});
    if (!made) return made.error();
    code = *made;
    return {};
  };
  if (order_ == GemvOrder::kColumns) {
    for (size_t streams = 1; streams < columns_.size(); streams++) {
      NRD_TRY(make(static_cast<int64_t>(streams), DType::kF32, columns_[streams]));
    }
    return {};
  }
  const auto make_rows = [&](int64_t streams, Code& code) -> Expected<void> {
    if (streams == 0) return {};
    NRD_TRY(make(streams, DType::kF32, code.chunk));
    return make(streams, desc_.y, code.last);
  };
  NRD_TRY(make_rows(desc_.m >= streams_ ? streams_ : 0, whole_));
  return make_rows(desc_.m % streams_, rest_);
}

const float* Gemv::widen_x(const void* x, void* workspace) const {
  if (x_bytes_ == 0) return static_cast<const float*>(x);
  auto* to = static_cast<float*>(workspace);
  if (desc_.x_step == 1) {
    convert(x, desc_.x, to, DType::kF32, static_cast<size_t>(desc_.n));
    return to;
  }
  for (int64_t i = 0; i < desc_.n; i++) {
    convert(offset(x, bytes(i * desc_.x_step, desc_.x)), desc_.x, to + i, DType::kF32, 1);
  }
  return to;
}

void Gemv::run(const void* a, const void* x, void* y, void* workspace, const Exec& exec) const {
  if (desc_.m == 0) return;
  auto* sums = offset(static_cast<float*>(workspace), static_cast<int64_t>(x_bytes_));
  Memory at = {a, widen_x(x, workspace), y, sums, offset(sums, static_cast<int64_t>(sum_bytes_))};
  if (order_ != GemvOrder::kColumns) return by_rows(at, exec);
  if (sum_bytes_ == 0) at.sums = static_cast<float*>(y);
  by_columns(at, exec);
  if (sum_bytes_ > 0) store(sums, y);
}

// ---- by rows ----

void Gemv::by_rows(const Memory& at, const Exec& exec) const {
  const int64_t groups = (desc_.m + streams_ - 1) / streams_;
  const int64_t elements = streams_ * std::max<int64_t>(desc_.n, 1);
  parallel_for(exec, groups, std::max<int64_t>(kElementsAThread / elements, 1),
               [&](int64_t begin, int64_t end) {
                 const int64_t row = begin * streams_;
                 const int64_t all = std::min(end * streams_, desc_.m) - row;
                 const int64_t whole = all / streams_;
                 const auto left = static_cast<int>(all % streams_);
                 if (whole > 0) rows(at, row, whole, streams_);
                 if (left > 0) rows(at, row + whole * streams_, 1, left);
               });
}

// Rows of one chunk go through the code together, longer ones group by group.
void Gemv::rows(const Memory& at, int64_t row, int64_t groups, int streams) const {
  static constexpr float kZero = 0;
  const Code& code = streams == streams_ ? whole_ : rest_;
  const int64_t a_row = bytes(desc_.a_row, desc_.a), a_column = bytes(desc_.a_column, desc_.a);
  const int64_t y_step = bytes(desc_.y_step, desc_.y);
  GemvArgs args;
  args.helpers = jit::helper_table();
  args.next = a_row;
  args.far = groups * a_row;
  args.element = a_column;
  args.groups = desc_.n <= kGemvChunk ? groups : 1;
  for (int64_t end = row + groups; row < end; row += args.groups) {
    int64_t column = 0;
    do {
      args.count = std::min(desc_.n - column, kGemvChunk);
      const bool is_first = column == 0, is_last = column + args.count == desc_.n;
      args.a = offset(at.a, row * a_row + column * a_column);
      args.x = at.x + column;
      args.before = is_first ? &kZero : at.sums + row;
      args.before_next = is_first ? 0 : 4;
      args.y = is_last ? offset(at.y, row * y_step) : at.sums + row;
      args.y_next = is_last ? y_step : 4;
      args.before_far = groups * args.before_next;
      args.y_far = groups * args.y_next;
      (is_last ? code.last : code.chunk)(&args);
      column += args.count;
    } while (column < desc_.n);
  }
}

// ---- by columns ----

// Blocks side by side, as many as there are threads and slots; then onto the sums, in their order.
// Where there are fewer blocks than threads, rows are cut too.
void Gemv::by_columns(const Memory& at, const Exec& exec) const {
  constexpr int64_t kRows = kAlignment / 4;  // whole lines of sums for each thread
  const int64_t lines = (desc_.m + kRows - 1) / kRows;
  const int64_t blocks = std::max<int64_t>((desc_.n + kGemvBlock - 1) / kGemvBlock, 1);
  const int64_t most = std::max<int64_t>(desc_.m * desc_.n / kElementsAThread, 1);
  const int64_t threads = std::min<int64_t>(std::max(exec.threads, 1), most);
  const int64_t together = std::clamp<int64_t>(threads, 1, std::max(slots_, 1));
  const int64_t cuts = std::min((threads + together - 1) / together, lines);
  const auto slot = [&](int64_t i) {
    return blocks == 1 ? at.sums : offset(at.slots, i * static_cast<int64_t>(block_bytes_));
  };
  const auto rows_of = [&](int64_t cut) { return std::min(lines * cut / cuts * kRows, desc_.m); };
  for (int64_t first = 0; first < blocks; first += together) {
    const int64_t here = std::min(together, blocks - first);
    const auto part = [&](int64_t i) {
      const int64_t row = rows_of(i % cuts), end = rows_of(i % cuts + 1);
      column_block(at, first + i / cuts, row, end - row, slot(i / cuts));
    };
    parallel_for(Exec{static_cast<int>(threads), exec.executor}, here * cuts, 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; i++) part(i);
                 });
    if (blocks == 1) return;
    for (int64_t b = 0; b < here; b++) {
      const float* from = slot(b);
      if (first + b == 0) {
        std::memcpy(at.sums, from, static_cast<size_t>(desc_.m) * 4);
        continue;
      }
      for (int64_t i = 0; i < desc_.m; i++) at.sums[i] += from[i];
    }
  }
}

void Gemv::column_block(const Memory& at, int64_t block, int64_t row, int64_t count,
                        float* to) const {
  const int64_t a_row = bytes(desc_.a_row, desc_.a), a_column = bytes(desc_.a_column, desc_.a);
  const int64_t column = block * kGemvBlock, columns = std::min(kGemvBlock, desc_.n - column);
  const int64_t groups = columns / kGemvColumns, left = columns % kGemvColumns;
  std::memset(to + row, 0, static_cast<size_t>(count) * 4);
  GemvArgs args;
  args.helpers = jit::helper_table();
  args.a = offset(at.a, row * a_row + column * a_column);
  args.x = at.x + column;
  args.y = to + row;
  args.count = count;
  args.next = a_column;
  args.groups = args.x_far = groups;
  args.far = groups * a_column;
  if (groups > 0) columns_[kGemvColumns](&args);
  if (left == 0) return;
  args.a = offset(args.a, groups * kGemvColumns * a_column);
  args.x += groups * kGemvColumns;
  args.groups = args.x_far = 1;
  args.far = a_column;
  columns_[static_cast<size_t>(left)](&args);
}

void Gemv::store(const float* sums, void* y) const {
  if (desc_.y_step == 1) {
    convert(sums, DType::kF32, y, desc_.y, static_cast<size_t>(desc_.m));
    return;
  }
  for (int64_t i = 0; i < desc_.m; i++) {
    convert(sums + i, DType::kF32, offset(y, bytes(i * desc_.y_step, desc_.y)), desc_.y, 1);
  }
}

}  // namespace nrd::gemm
