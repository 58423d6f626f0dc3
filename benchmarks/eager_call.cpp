// SPDX-License-Identifier: MIT
// benchmarks/eager_call.cpp: what a repeated call costs beside the kernel that it runs.
//
// The same small case four ways, in turns: the prepared kernel alone (a copy of what the library
// runs, called without the API), a plan, the operator's own function, and a call by name. Each
// sample is a batch of calls; the table shows medians and, in brackets, the quickest batch. What
// matters is the difference to the first column.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/registry.h"
#include "nereid/nereid.h"

namespace {

using Clock = std::chrono::steady_clock;
using nereid::TensorView;

constexpr int kCalls = 200;  // a batch; the clock's own cost disappears in it
constexpr int kRounds = 1000;

struct Way {
  const char* name;
  std::function<void(int calls)> batch;
  std::vector<double> samples = {};
};

double time_batch(const Way& way) {
  const auto begin = Clock::now();
  way.batch(kCalls);
  const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
  return time.count() / kCalls;
}

double median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// The kernel that `cpu` chooses for an operand list, prepared in this program's own copy of the
// dispatcher.
class BareKernel {
 public:
  BareKernel(const char* op, std::vector<nrd::NamedOperand> operands,
             const std::vector<void*>& pointers) {
    static nrd::KernelRegistry& registry = *new nrd::KernelRegistry(*nrd::Machine::host());
    auto desc = nrd::bind(**nrd::find_op(op), {}, std::move(operands));
    for (nrd::OperandDesc& operand : desc->operands) operand.constant = false;
    auto choice = registry.select("cpu", *desc);
    auto made = choice->kernel->prepare(*desc, std::vector<void*>(desc->operands.size(), nullptr));
    prepared_ = std::move(*made);
    pointers_ = pointers;
    pointers_.resize(desc->operands.size(), nullptr);
    workspace_.reset(static_cast<char*>(
        ::operator new (std::max<size_t>(prepared_->workspace_bytes(), 1), std::align_val_t{64})));
  }
  void run(int calls) const {
    const nrd::Exec exec{nrd::default_threads(), nullptr};
    for (int i = 0; i < calls; i++)
      if (!prepared_->run({pointers_.data()}, workspace_.get(), exec)) std::abort();
  }

 private:
  struct Release {
    void operator()(char* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  std::unique_ptr<nrd::PreparedKernel> prepared_;
  std::vector<void*> pointers_;
  std::unique_ptr<char, Release> workspace_;
};

struct Operand {
  const char* name;
  TensorView view;
};

void measure(const char* text, const char* op, const std::vector<Operand>& operands,
             std::function<void(int)> function) {
  std::vector<nrd::NamedOperand> named;
  std::vector<void*> pointers;
  nereid::Call call(op);
  for (const Operand& o : operands) {
    nrd::OperandDesc desc;
    desc.dtype = static_cast<nrd::DType>(o.view.dtype());
    desc.sizes = nrd::Dims(o.view.sizes());
    desc.strides = nrd::Dims(o.view.strides());
    named.push_back({o.name, desc});
    pointers.push_back(o.view.data());
    call.operand(o.name, o.view);
  }
  const BareKernel bare(op, std::move(named), pointers);
  const nereid::Plan plan = call.prepare();
  Way ways[] = {
      {"kernel", [&](int calls) { bare.run(calls); }},
      {"plan",
       [&](int calls) {
         for (int i = 0; i < calls; i++) plan.run(pointers);
       }},
      {"function", std::move(function)},
      {"by name",
       [&](int calls) {
         for (int i = 0; i < calls; i++) {
           nereid::Call again(op);
           for (const Operand& o : operands) again.operand(o.name, o.view);
           again.run();
         }
       }},
  };
  for (int round = -kRounds / 10; round < kRounds; round++)  // the first tenth warms up
    for (Way& way : ways) {
      const double time = time_batch(way);
      if (round >= 0) way.samples.push_back(time);
    }
  std::printf("%-30s", text);
  for (Way& way : ways) {
    const double middle = median(way.samples);
    std::printf(" %7.1f (%6.1f)", middle,
                *std::min_element(way.samples.begin(), way.samples.end()));
  }
  const double kernel = median(ways[0].samples);
  std::printf("   %+6.1f %+6.1f %+6.1f\n", median(ways[1].samples) - kernel,
              median(ways[2].samples) - kernel, median(ways[3].samples) - kernel);
}

template <class Function>  // void()
std::function<void(int)> repeated(Function function) {
  return [function](int calls) {
    for (int i = 0; i < calls; i++) function();
  };
}

}  // namespace

int main() {
  std::printf("%-30s %16s %16s %16s %16s   plan, function, by name: over the kernel\n",
              "ns a call: median (least)", "kernel", "plan", "function", "by name");
  std::vector<float> x(16, 0.5f), y(16), z(16);
  measure("silu n=16 f32", "silu", {{"x", x}, {"out", y}}, repeated([&] { nereid::silu(x, y); }));
  measure("vec_add n=16 f32", "vec_add", {{"x", x}, {"y", y}, {"out", z}},
          repeated([&] { nereid::vec_add(x, y, z); }));

  std::vector<float> rows(4 * 64, 0.5f), weight(64, 1.0f), normed(4 * 64);
  const TensorView rows_view(rows, {4, 64}), normed_view(normed, {4, 64});
  measure("rms_norm rows=4,cols=64 f32", "rms_norm",
          {{"x", rows_view}, {"w", weight}, {"out", normed_view}},
          repeated([&] { nereid::rms_norm(rows_view, weight, normed_view); }));

  std::vector<uint16_t> half(16), other(16);
  const TensorView from(half.data(), nereid::bf16, {16}), to(other.data(), nereid::bf16, {16});
  measure("silu n=16 bf16", "silu", {{"x", from}, {"out", to}},
          repeated([&] { nereid::silu(from, to); }));

  const std::vector<int32_t> ids = {3, 1, 2, 0};
  std::vector<float> table(4 * 16, 1.0f), taken(4 * 16);
  const TensorView table_view(table, {4, 16}), taken_view(taken, {4, 16});
  measure("embedding 4 of 4x16 f32", "embedding",
          {{"table", table_view}, {"ids", ids}, {"out", taken_view}},
          repeated([&] { nereid::embedding(table_view, ids, taken_view); }));
  return 0;
}
