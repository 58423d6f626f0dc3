// SPDX-License-Identifier: MIT
// tests/cuda/fp8_product.cpp
#include "fp8_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>

#include "base/convert.h"
#include "base/threads.h"

namespace nrd::cuda {
namespace {

constexpr int64_t kBlock = 128;
int64_t blocks(int64_t size) { return (size + kBlock - 1) / kBlock; }

uint8_t code_of(double value) {
  return static_cast<uint8_t>(encode(value, DType::kF8E4M3, Overflow::kSaturate));
}

class Codes {
 public:
  Codes(const Fp8Product& p, bool left) : p_(p), left_(left), random_(p.seed * 2 + left) {}

  uint8_t at(int64_t row, int64_t k) {
    switch (p_.data) {
      case Fp8Data::kAny: return any();
      case Fp8Data::kNormal: return code_of(normal_(random_) * 100);
      case Fp8Data::kPositive: return code_of(std::fabs(normal_(random_)) * 100);
      case Fp8Data::kIntegers: return code_of(static_cast<double>(random_() % 5) - 2);
      case Fp8Data::kOneHot: return left_ ? code_of(k == row * 7 % p_.k ? 1 : 0) : any();
      case Fp8Data::kNan:
        return random_() % 97 == 0 ? (random_() % 2 ? 0x7f : 0xff) : code_of(normal_(random_));
    }
    return 0;
  }

 private:
  uint8_t any() {
    const auto code = static_cast<uint8_t>(random_());
    return (code & 0x7f) == 0x7f ? 0x3c : code;
  }

  const Fp8Product& p_;
  bool left_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

int64_t code_row(const Fp8Product& p, bool left) {
  const int64_t padding = left ? p.a_padding : p.b_padding;
  return padding < 0 ? (p.k + 15) / 16 * 16 : p.k + padding;
}

std::vector<uint8_t> make_codes(const Fp8Product& p, bool left) {
  const int64_t rows = left ? p.m : p.n, step = code_row(p, left);
  std::vector<uint8_t> codes(static_cast<size_t>(rows > 0 ? (rows - 1) * step + p.k : 0), 0xff);
  Codes source(p, left);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < p.k; i++) codes[static_cast<size_t>(r * step + i)] = source.at(r, i);
  return codes;
}

// Powers of two where results are compared bit for bit.
std::vector<float> make_scales(const Fp8Product& p, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool exact = p.data == Fp8Data::kIntegers || p.data == Fp8Data::kOneHot;
  std::vector<float> scales;
  for (size_t i = 0; i < count; i++) {
    const auto draw = static_cast<double>(random() % 1000);
    scales.push_back(exact ? std::ldexp(1.0f, static_cast<int>(random() % 3) - 1)
                           : static_cast<float>(0.5 + draw / 1000));
  }
  return scales;
}

// One product in memory.
struct Memory {
  Fp8GemmArgs args;
  DeviceBuffer a, b, c, a_scale, b_scale, bias;
};

struct Host {
  std::vector<uint8_t> a, b;
  std::vector<float> a_scale, b_scale;
  std::vector<double> bias;
  std::vector<char> bias_bytes;
};

void set_scale_steps(const Fp8Product& p, Fp8GemmArgs& args) {
  args.scales = p.scales;
  if (p.scales == Fp8Scales::kVector) {
    args.one_scale = p.one_scale;
    args.a_scale_row = args.b_scale_column = p.one_scale ? 0 : 1;
    return;
  }
  args.a_scale_row = p.scales_turned ? 1 : blocks(p.k);
  args.a_scale_k = p.scales_turned ? p.m : 1;
  args.b_scale_column = p.scales_turned ? blocks(p.k) : 1;
  args.b_scale_k = p.scales_turned ? 1 : blocks(p.n);
}

Host make_host(const Fp8Product& p) {
  Host h;
  h.a = make_codes(p, true);
  h.b = make_codes(p, false);
  const bool block = p.scales == Fp8Scales::kBlock;
  const int64_t a_count = block ? p.m * blocks(p.k) : p.m;
  const int64_t b_count = block ? blocks(p.n) * blocks(p.k) : p.n;
  h.a_scale = make_scales(p, static_cast<size_t>(a_count), p.seed + 100);
  h.b_scale = make_scales(p, static_cast<size_t>(b_count), p.seed + 200);
  const size_t bytes = byte_size(p.bias_dtype);
  h.bias_bytes.assign(static_cast<size_t>(p.n * p.bias_step) * bytes, '\xff');
  for (int64_t n = 0; n < p.n; n++) {
    h.bias.push_back(p.bias ? static_cast<double>(n % 9) - 4 : 0);
    const uint64_t code = encode(h.bias.back(), p.bias_dtype, Overflow::kIeee);
    std::memcpy(h.bias_bytes.data() + static_cast<size_t>(n * p.bias_step) * bytes, &code, bytes);
  }
  return h;
}

Memory make_memory(const TestTarget& target, const Fp8Product& p, const Host& h) {
  const int64_t c_row = p.n + p.c_padding;
  const auto c_bytes = static_cast<size_t>(p.m * c_row) * byte_size(p.c_dtype);
  Memory m{{},
           DeviceBuffer::of(target, h.a, p.a_misalignment),
           DeviceBuffer::of(target, h.b, p.b_misalignment),
           DeviceBuffer(target, c_bytes, p.c_misalignment),
           DeviceBuffer::of(target, h.a_scale),
           DeviceBuffer::of(target, h.b_scale),
           DeviceBuffer::of(target, h.bias_bytes)};
  m.args = {.m = p.m, .n = p.n, .k = p.k};
  m.args.a = m.a.data();
  m.args.a_row = code_row(p, true);
  m.args.b = m.b.data();
  m.args.b_row = code_row(p, false);
  m.args.c = m.c.data();
  m.args.c_row = c_row;
  m.args.c_dtype = p.c_dtype;
  set_scale_steps(p, m.args);
  m.args.a_scale = m.a_scale.as<float>();
  m.args.b_scale = m.b_scale.as<float>();
  m.args.bias = p.bias ? m.bias.data() : nullptr;
  m.args.bias_dtype = p.bias_dtype;
  m.args.bias_step = p.bias_step;
  m.args.fast = p.fast;
  m.args.multiprocessors = target.target.device.multiprocessors;
  return m;
}

struct Value {
  double sum = 0, magnitude = 0;
};

std::vector<double> decoded(const std::vector<uint8_t>& codes) {
  std::vector<double> values(codes.size());
  convert(codes.data(), DType::kF8E4M3, values.data(), DType::kF64, values.size());
  return values;
}

// Every element of c, by rows.
class Sums {
 public:
  Sums(const Fp8Product& p, const Host& h, const Fp8GemmArgs& args)
      : p_(p), h_(h), args_(args), a_(decoded(h.a)), b_(decoded(h.b)) {}

  std::vector<Value> all() const {
    std::vector<Value> values(static_cast<size_t>(p_.m * p_.n));
    parallel_for({.threads = available_cores()}, p_.m, 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row++)
        for (int64_t column = 0; column < p_.n; column++)
          values[static_cast<size_t>(row * p_.n + column)] = at(row, column);
    });
    return values;
  }

 private:
  Value at(int64_t row, int64_t column) const {
    const double* a = a_.data() + row * args_.a_row;
    const double* b = b_.data() + column * args_.b_row;
    const bool block = p_.scales == Fp8Scales::kBlock;
    const double bias = h_.bias[static_cast<size_t>(column)];
    Value v{bias, std::fabs(bias)};
    for (int64_t begin = 0; begin < p_.k; begin += kBlock) {  // which share their scales
      double sum = 0, magnitude = 0;
      for (int64_t k = begin; k < std::min(p_.k, begin + kBlock); k++) {
        const double term = a[k] * b[k];
        sum += term;
        magnitude += std::fabs(term);
      }
      const double scale =
          scale_of(row, block ? column / kBlock : column, block ? begin / kBlock : 0);
      v.sum += sum * scale;
      v.magnitude += magnitude * scale;
    }
    return v;
  }

  double scale_of(int64_t row, int64_t column, int64_t k) const {
    const int64_t a = row * args_.a_scale_row + k * args_.a_scale_k;
    const int64_t b = column * args_.b_scale_column + k * args_.b_scale_k;
    return double{h_.a_scale[static_cast<size_t>(a)]} * double{h_.b_scale[static_cast<size_t>(b)]};
  }

  const Fp8Product& p_;
  const Host& h_;
  const Fp8GemmArgs& args_;
  const std::vector<double> a_, b_;
};

Expected<void> run_poisoned(const TestTarget& target, Memory& memory, const Fp8Engine& engine,
                            unsigned char poison) {
  memory.c.fill(poison);
  Expected<void> done = engine(memory.args);
  if (done) done = finish(target);
  if (!done) return explained(target, done.error());
  for (const DeviceBuffer* buffer : {&memory.a, &memory.b, &memory.c, &memory.bias})
    if (const auto guards = buffer->check_guards(); !guards)
      return make_error({.code = ErrorCode::kInternal, .got = guards.message()});
  return {};
}

// The elements of c in order; the bytes between rows must hold the poison.
Expected<std::vector<char>> gather(const Fp8Product& p, const Memory& memory, char poison) {
  const std::vector<char> all = memory.c.download();
  const size_t element = byte_size(p.c_dtype), row = static_cast<size_t>(p.n) * element,
               step = static_cast<size_t>(memory.args.c_row) * element;
  std::vector<char> values;
  for (size_t at = 0; at < all.size(); at += step) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(at);
    const auto end = begin + static_cast<ptrdiff_t>(row);
    const auto next = begin + static_cast<ptrdiff_t>(step);
    values.insert(values.end(), begin, end);
    if (std::any_of(end, next, [&](char c) { return c != poison; }))
      return make_error({.code = ErrorCode::kInternal, .got = "c was written between its rows"});
  }
  return values;
}

Expected<std::vector<char>> run_twice(const TestTarget& target, const Fp8Product& p, Memory& memory,
                                      const Fp8Engine& engine) {
  std::vector<char> first;
  for (char poison : {'\x5a', '\xa5'}) {
    NRD_TRY(run_poisoned(target, memory, engine, static_cast<unsigned char>(poison)));
    Expected<std::vector<char>> values = gather(p, memory, poison);
    if (!values) return values.error();
    if (poison == '\x5a')
      first = *values;
    else if (first != *values)
      return make_error({.code = ErrorCode::kInternal, .got = "two runs differ in bits"});
  }
  return first;
}

bool matches(const Fp8Product& p, double got, const Value& want, double tolerance) {
  if (std::isnan(want.sum)) return std::isnan(got);
  const double rounded = round_through(want.sum, p.c_dtype, Overflow::kIeee);
  const bool exact = p.data == Fp8Data::kIntegers || p.data == Fp8Data::kOneHot;
  if (exact) return got == round_through(static_cast<float>(want.sum), p.c_dtype, Overflow::kIeee);
  const double unit = std::ldexp(std::fabs(want.sum), -info(p.c_dtype).mantissa_bits - 1);
  return got == rounded || std::fabs(got - want.sum) <= tolerance * want.magnitude + unit;
}

}  // namespace

std::string Fp8Product::text() const {
  std::string s =
      fmt::format("m={} n={} k={} {} data {}", m, n, k, word(c_dtype), static_cast<int>(data));
  if (scales == Fp8Scales::kBlock) s += " block";
  if (one_scale) s += " one_scale";
  if (fast) s += " fast";
  if (bias) s += fmt::format(" bias {} step {}", word(bias_dtype), bias_step);
  s += fmt::format(" padding {} {} {} misalignment {} {} {}", a_padding, b_padding, c_padding,
                   a_misalignment, b_misalignment, c_misalignment);
  return s;
}

struct SharedProduct::State {
  const TestTarget& target;
  Fp8Product product;
  Host host;
  Memory memory;
  std::vector<Value> sums;  // made when they are first compared with
};

SharedProduct::SharedProduct(const TestTarget& target, const Fp8Product& p) {
  Host host = make_host(p);
  Memory memory = make_memory(target, p, host);
  state_.reset(new State{target, p, std::move(host), std::move(memory), {}});
}

SharedProduct::~SharedProduct() = default;

Expected<std::vector<char>> SharedProduct::bytes(const Fp8Engine& engine) {
  return run_twice(state_->target, state_->product, state_->memory, engine);
}

::testing::AssertionResult SharedProduct::is_right(const Fp8Engine& engine, double tolerance) {
  const Fp8Product& p = state_->product;
  const Expected<std::vector<char>> values = bytes(engine);
  if (!values) return ::testing::AssertionFailure() << p.text() << ": " << values.error().message();
  if (state_->sums.empty()) state_->sums = Sums(p, state_->host, state_->memory.args).all();
  const std::vector<Value>& want = state_->sums;
  std::vector<double> got(want.size());
  convert(values->data(), p.c_dtype, got.data(), DType::kF64, got.size());
  std::atomic<int64_t> wrong = -1;
  parallel_for({.threads = available_cores()}, p.m, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * p.n; i < end * p.n; i++)
      if (!matches(p, got[static_cast<size_t>(i)], want[static_cast<size_t>(i)], tolerance))
        wrong = i;
  });
  if (wrong < 0) return ::testing::AssertionSuccess();
  const auto at = static_cast<size_t>(wrong);
  return ::testing::AssertionFailure()
         << p.text() << ": c[" << wrong / p.n << "," << wrong % p.n << "] is " << got[at]
         << ", not " << want[at].sum << " (magnitude " << want[at].magnitude << ")";
}

Expected<std::vector<char>> product_bytes(const TestTarget& target, const Fp8Product& p,
                                          const Fp8Engine& engine) {
  return SharedProduct(target, p).bytes(engine);
}

::testing::AssertionResult product_is_right(const TestTarget& target, const Fp8Product& p,
                                            const Fp8Engine& engine, double tolerance) {
  return SharedProduct(target, p).is_right(engine, tolerance);
}

}  // namespace nrd::cuda
