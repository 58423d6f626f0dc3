// SPDX-License-Identifier: MIT
// tests/workbench/peers_test.cpp: each peer that is installed gives what the definitions give.
#include "peers/peers.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "workbench/check.h"
#include "workbench/data.h"
#include "workbench/memory.h"

namespace nrd {
namespace {

// Backends load once a process, so the tests share them.
Backend* peer(const std::string& name) {
  static const auto* backends = new std::vector<std::unique_ptr<Backend>>(make_peer_backends());
  for (const auto& backend : *backends)
    if (backend->name() == name) return backend.get();
  return nullptr;
}

#define REQUIRE_PEER(name)                                      \
  do {                                                          \
    if (Expected<void> loaded = peer(name)->load(); !loaded)    \
      GTEST_SKIP() << name << ": " << loaded.error().message(); \
  } while (false)

Case make(const std::string& op, const std::map<std::string, int64_t, std::less<>>& sizes,
          const std::string& dtypes = "f32", int threads = 1, Attributes attributes = {}) {
  CaseSpec spec;
  spec.op = op;
  spec.request.sizes = sizes;
  spec.request.dtypes = dtypes;
  spec.request.attributes = std::move(attributes);
  spec.threads = threads;
  Expected<Case> c = make_case(spec);
  EXPECT_TRUE(c) << c.error().message();
  return *c;
}

const Kernel* accepting(const Backend& backend, const Case& c, std::string& why) {
  for (const Kernel* kernel : backend.kernels(*c.desc.op)) {
    Expected<void> accepted = kernel->accepts(c.desc);
    if (accepted) return kernel;
    why += kernel->name() + ": " + accepted.error().message() + "\n";
  }
  return nullptr;
}

// The operands of a case in guarded memory, inputs filled and outputs poisoned.
struct Memory {
  std::vector<Buffer> buffers;
  std::vector<void*> pointers;

  explicit Memory(const Case& c) {
    for (size_t i = 0; i < c.desc.operands.size(); i++) {
      const OperandDesc& o = c.desc.operands[i];
      const ByteRange range = byte_range({nullptr, o.dtype, o.sizes, o.strides, {}});
      auto bytes = static_cast<size_t>(range.last - range.first);
      Expected<Buffer> buffer = Buffer::allocate(bytes, MemoryMode::kGuarded);
      EXPECT_TRUE(buffer);
      std::memset(buffer->data(), 0xA5, bytes);
      if (!c.desc.signature().operands[i].output) fill_operand(c, i, buffer->data());
      pointers.push_back(buffer->data());
      buffers.push_back(std::move(*buffer));
    }
  }
};

// An output of at most two axes without its gaps.
Output collect(const Case& c, size_t operand, const void* data) {
  const OperandDesc& o = c.desc.operands[operand];
  const size_t bytes = byte_size(o.dtype);
  const int rank = o.sizes.size();
  const int64_t rows = rank == 2 ? o.sizes[0] : 1, cols = rank == 0 ? 1 : o.sizes[rank - 1];
  Output out{operand, {}};
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++) {
      const int64_t row = rank == 2 ? i * o.strides[0] : 0;
      const int64_t column = rank == 0 ? 0 : j * o.strides[rank - 1];
      const char* element = static_cast<const char*>(data) + (row + column) * int64_t(bytes);
      out.data.insert(out.data.end(), element, element + bytes);
    }
  }
  return out;
}

Expected<RunOutputs> run(const Kernel& kernel, const Case& c) {
  Memory memory(c);
  std::vector<void*> constants(memory.pointers.size());
  for (size_t i = 0; i < constants.size(); i++)
    if (c.desc.operands[i].constant) constants[i] = memory.pointers[i];
  auto prepared = kernel.prepare(c.desc, constants);
  if (!prepared) return prepared.error();
  Expected<Buffer> workspace = Buffer::allocate((*prepared)->workspace_bytes(), MemoryMode::kTimed);
  if (!workspace) return workspace.error();
  const Exec exec{c.spec.threads};
  NRD_TRY((*prepared)->run({memory.pointers.data()}, workspace->data(), exec));
  RunOutputs outputs;
  for (size_t i = 0; i < c.desc.operands.size(); i++)
    if (c.desc.signature().operands[i].output)
      outputs.outputs.push_back(collect(c, i, memory.pointers[i]));
  return outputs;
}

// Runs the first kernel that accepts the case and judges its outputs.
Verdict judge(const std::string& name, const Case& c) {
  Verdict verdict;
  const Kernel* kernel = accepting(*peer(name), c, verdict.reason);
  if (kernel == nullptr) return verdict;
  auto outputs = run(*kernel, c);
  auto reference = make_reference(c, 1);
  if (outputs && reference) return check_outputs(c, *outputs, *reference);
  verdict.reason = outputs ? reference.error().message() : outputs.error().message();
  return verdict;
}

void expect_right(const std::string& name, const Case& c) {
  const Verdict verdict = judge(name, c);
  EXPECT_TRUE(verdict.ok) << name << " " << c.text() << ": " << verdict.reason;
}

void expect_refused(const std::string& name, const Case& c) {
  std::string why;
  EXPECT_EQ(accepting(*peer(name), c, why), nullptr) << name << " " << c.text();
  EXPECT_NE(why, "") << name << " has no kernel of " << c.desc.op->name;
}

// b stored [n, k] or [k, n], with rows `gap` elements longer than they need be.
void set_strides(Case& c, int operand, bool row_major, int64_t gap) {
  OperandDesc& o = c.desc.operands[static_cast<size_t>(operand)];
  const int64_t rows = o.sizes[0], cols = o.sizes[1];
  o.strides = row_major ? Dims{cols + gap, 1} : Dims{1, rows + gap};
}

// Every way a and b can lie, on odd sizes, with one and two threads.
void check_product_layouts(const std::string& name, const std::string& op,
                           const std::string& dtypes) {
  for (bool a_rows : {true, false}) {
    for (bool b_rows : {true, false}) {
      for (int64_t gap : {0, 5}) {
        Case c = make(op, {{"m", 37}, {"n", 53}, {"k", 71}}, dtypes, gap == 0 ? 1 : 2);
        set_strides(c, 0, a_rows, gap);
        set_strides(c, 1, b_rows, gap);
        set_strides(c, 2, true, gap);
        expect_right(name, c);
      }
    }
  }
  for (auto [m, n, k] : {std::array{1, 769, 33}, std::array{65, 1, 130}, std::array{3, 2, 1}})
    expect_right(name, make(op, {{"m", m}, {"n", n}, {"k", k}}, dtypes));
}

class Blas : public testing::TestWithParam<const char*> {};

TEST_P(Blas, Gemm) {
  REQUIRE_PEER(GetParam());
  check_product_layouts(GetParam(), "gemm", "f32");
  check_product_layouts(GetParam(), "gemm_prepacked", "f32");
  Case columns = make("gemm", {{"m", 37}, {"n", 53}, {"k", 71}});
  set_strides(columns, 2, false, 3);
  expect_right(GetParam(), columns);
  for (const char* op : {"gemm", "gemm_prepacked"})
    expect_right(GetParam(), make(op, {{"m", 5}, {"n", 7}, {"k", 0}}));
}

TEST_P(Blas, Gemv) {
  REQUIRE_PEER(GetParam());
  for (bool rows : {true, false}) {
    Case c = make("gemv", {{"m", 129}, {"n", 67}}, "f32", 2);
    set_strides(c, 0, rows, 3);
    expect_right(GetParam(), c);
  }
  Case strided = make("gemv", {{"m", 31}, {"n", 17}});
  strided.desc.operands[1].strides = {3};
  strided.desc.operands[2].strides = {2};
  expect_right(GetParam(), strided);
  expect_refused(GetParam(), make("gemv", {{"m", 4}, {"n", 0}}));
}

TEST_P(Blas, Vectors) {
  REQUIRE_PEER(GetParam());
  for (const char* op : {"vec_dot", "vec_sum_squares", "vec_scale", "vec_axpy"})
    for (int64_t n : {0, 1, 769, 65536}) expect_right(GetParam(), make(op, {{"n", n}}));
  Case strided = make("vec_axpy", {{"n", 100}});
  for (OperandDesc& o : strided.desc.operands) o.strides = {2};
  expect_right(GetParam(), strided);
}

TEST_P(Blas, Refusals) {
  REQUIRE_PEER(GetParam());
  Case broadcast = make("gemm", {{"m", 4}, {"n", 4}, {"k", 4}});
  broadcast.desc.operands[0].strides = {0, 1};
  expect_refused(GetParam(), broadcast);
  Case apart = make("gemm", {{"m", 4}, {"n", 4}, {"k", 4}});
  apart.desc.operands[1].strides = {8, 2};
  expect_refused(GetParam(), apart);
  Case batched = make("gemm", {{"m", 4}, {"n", 4}, {"k", 4}});
  batched.desc.leading = {3};
  expect_refused(GetParam(), batched);
  expect_refused(GetParam(), make("gemv", {{"m", 4}, {"n", 4}}, "bf16"));
}

INSTANTIATE_TEST_SUITE_P(Peers, Blas, testing::Values("openblas", "blis", "mkl"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Mkl, Half) {
  REQUIRE_PEER("mkl");
  for (const char* op : {"gemm", "gemm_prepacked"})
    for (const char* dtypes : {"bf16", "bf16,bf16->f32", "f16,f16->f32"})
      check_product_layouts("mkl", op, dtypes);
}

TEST(Mkl, Int8) {
  REQUIRE_PEER("mkl");
  for (const char* op : {"gemm", "gemm_prepacked"})
    for (const char* dtypes : {"u8,i8->i32", "i8,i8->i32"})
      check_product_layouts("mkl", op, dtypes);
  Case columns = make("gemm", {{"m", 9}, {"n", 8}, {"k", 7}}, "u8,i8->i32");
  set_strides(columns, 2, false, 0);
  expect_refused("mkl", columns);
}

TEST(Mkl, VectorMath) {
  REQUIRE_PEER("mkl");
  for (const char* op : {"vec_add", "vec_sub", "vec_mul", "exp", "tanh"})
    for (int64_t n : {0, 1, 769, 65536}) expect_right("mkl", make(op, {{"n", n}}, "f32", 2));
}

TEST(Onednn, Products) {
  REQUIRE_PEER("onednn");
  for (const char* op : {"gemm", "gemm_prepacked"})
    for (const char* dtypes : {"f32", "bf16", "bf16,bf16->f32", "u8,i8->i32", "i8,i8->i32"})
      check_product_layouts("onednn", op, dtypes);
  expect_right("onednn", make("gemm_bias", {{"m", 19}, {"n", 33}, {"k", 65}}));
  expect_refused("onednn", make("gemm", {{"m", 4}, {"n", 4}, {"k", 0}}));
}

TEST(Onednn, Rows) {
  REQUIRE_PEER("onednn");
  for (const char* dtype : {"f32", "bf16"}) {
    for (const char* op : {"exp", "tanh", "sigmoid", "relu", "silu", "gelu", "gelu_tanh"})
      for (int64_t n : {1, 769, 65536}) expect_right("onednn", make(op, {{"n", n}}, dtype, 2));
  }
  expect_right("onednn", make("softmax", {{"rows", 5}, {"cols", 769}}));
  // It keeps the exponentials in the output and rounds them once more than the definition.
  const Verdict twice_rounded =
      judge("onednn", make("softmax", {{"rows", 5}, {"cols", 769}}, "bf16"));
  EXPECT_LT(twice_rounded.l2_rel, 1.0 / 256) << twice_rounded.reason;
  EXPECT_LT(twice_rounded.ulp_p99, 2) << twice_rounded.reason;
  expect_right("onednn", make("layer_norm", {{"rows", 5}, {"cols", 769}}, "f32", 2));
  expect_right("onednn", make("layer_norm", {{"rows", 7}, {"cols", 64}}, "f32", 1,
                              {{"cast", std::string("before_weight")}}));
  expect_right("onednn", make("layer_norm", {{"rows", 7}, {"cols", 64}}, "bf16,f32,f32->bf16"));
  expect_refused("onednn", make("layer_norm", {{"rows", 7}, {"cols", 64}}, "bf16,f32,f32->bf16", 1,
                                {{"cast", std::string("before_weight")}}));
}

TEST(Peers, OrderNamesAndReasons) {
  std::vector<std::string> names;
  for (const auto& backend : make_peer_backends()) {
    names.push_back(backend->name());
    EXPECT_TRUE(backend->peer());
    if (Expected<void> loaded = backend->load(); loaded) {
      EXPECT_NE(backend->version(), "") << backend->name();
    } else if (backend->runs_on(DeviceKind::kCuda)) {  // no device, or a build without
      EXPECT_NE(loaded.error().message().find("cuda"), std::string::npos) << backend->name();
    } else {
      EXPECT_EQ(loaded.error().code, ErrorCode::kEnvironment);
      EXPECT_NE(loaded.error().hint.find("./run setup peers"), std::string::npos);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"openblas", "blis", "mkl", "onednn", "cublaslt",
                                             "cudnn", "copy", "read", "one_scale"}));
}

// The settings that a CPU younger than the library needs (docs: "Peers pick the wrong ISA").
TEST(Peers, EnvironmentNamesTheCoreType) {
  DeviceProfile intel;
  intel.microarchitecture = "emerald_rapids";
  intel.isa = IsaSet().with(Feature::kAvx2).with(Feature::kFma).with(Feature::kAvx512);
  auto value = [&intel](const char* backend, const std::string& name) {
    for (const EnvSetting& s : peer(backend)->environment(intel))
      if (s.name == name) return s.value;
    return std::string();
  };
  EXPECT_EQ(value("openblas", "OPENBLAS_CORETYPE"), "SkylakeX");
  EXPECT_EQ(value("blis", "BLIS_ARCH_TYPE"), "0");
  EXPECT_EQ(value("mkl", "MKL_DYNAMIC"), "FALSE");
  EXPECT_EQ(value("onednn", "ONEDNN_MAX_CPU_ISA"), "");
}

}  // namespace
}  // namespace nrd
