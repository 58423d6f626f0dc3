// SPDX-License-Identifier: MIT
// tests/cuda/api_kernels_test.cpp: the API over the true kernels, emulated and on a device: every
// operator that the backend serves gives what the CPU gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "cuda/launch/timing.h"
#include "dispatch/cuda_parts.h"
#include "dispatch/registry.h"
#include "emulator/tables.h"
#include "fake_device.h"
#include "nereid/nereid.h"
#include "target.h"

namespace nrd::cuda {
namespace {

using nereid::Device;
using nereid::Tensor;
using nereid::TensorView;

const TestTarget* g_target = nullptr;  // what CudaParts' functions speak of

Expected<std::vector<DeviceInfo>> own_device() {
  DeviceInfo device = g_target->target.device;
  device.index = 0;
  return std::vector{device};
}
const KernelTables& own_tables() { return *g_target->target.kernels; }

// The backend of the process runs the kernels of one target while it lives.
class ApiKernels : public TargetTest {
 protected:
  static constexpr Device kGpu = Device::cuda();

  void SetUp() override {
    TargetTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    g_target = &target();
    if (target().is_emulated()) set_device_runtime(&fake_);
    if (target().name == "sm80") setenv("NEREID_CUDA_ARCH", "sm_80", 1);
    CudaParts parts;
    parts.devices = own_device;
    parts.sm80 = parts.sm90 = own_tables;
    registry().replace(make_cuda_backend(parts));
    context_.emplace();  // without plans of another target
  }
  void TearDown() override {
    if (!g_target) return;
    context_.reset();
    registry().replace(make_cuda_backend(CudaParts{}));
    set_device_runtime(nullptr);
    unsetenv("NEREID_CUDA_ARCH");
    g_target = nullptr;
  }
  static KernelRegistry& registry() { return **KernelRegistry::shared(); }
  nereid::CallOptions how(const char* backend = nullptr) const {
    return {.backend = backend, .context = &*context_};
  }
  static bool is_served(const std::string& op) {
    return static_cast<bool>(registry().get_kernel("cuda", op));
  }

  testing::FakeDevice fake_{1, true};
  std::optional<nereid::Context> context_;
};

nereid::DType public_dtype(DType dtype) { return static_cast<nereid::DType>(dtype); }
std::vector<int64_t> list_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

// Sizes that fit no vector: 7, or what the operator's constraints leave.
CaseRequest odd_request(const Op& op, const char* dtype) {
  CaseRequest request = example_request(op);
  request.dtypes = dtype;
  const Signature& s = signatures(op).front();
  for (size_t i = 0; i < s.axes.size(); i++) {
    // The first variant may have axes of optional operands, which the case does not give.
    if (!s.axes[i].is_key() || !request.sizes.contains(s.axes[i].name)) continue;
    int64_t size = s.axes[i].even ? 6 : 7;
    for (const Axis& derived : s.axes) {
      if (derived.denominator == static_cast<int>(i)) size = 6;
      if (derived.numerator == static_cast<int>(i)) size = 18;
    }
    request.sizes[s.axes[i].name] = size;
  }
  return request;
}

// As a vector: `cast` takes no scalars.
nereid::TensorView flat(const Tensor& tensor) { return tensor.view().reshape({tensor.count()}); }

// Indices of the first two rows of a table, other values of about -1 to 1.
Tensor input(const OperandDesc& operand, int seed) {
  const Tensor wide(nereid::f32, list_of(operand.sizes));
  for (int64_t i = 0; i < wide.count(); i++) {
    const int64_t number = i * 37 + seed * 101;
    wide.data<float>()[i] = operand.dtype == DType::kI32
                                ? static_cast<float>(number % 2)
                                : static_cast<float>(number % 199 - 99) / 99.0f;
  }
  const Tensor tensor(public_dtype(operand.dtype), list_of(operand.sizes));
  nereid::cast(flat(wide), flat(tensor));
  return tensor;
}

std::vector<float> floats(const Tensor& tensor) {
  const Tensor wide(nereid::f32, tensor.sizes());
  nereid::cast(flat(tensor), flat(wide));
  return {wide.data<float>(), wide.data<float>() + wide.count()};
}

// One rounding of the output apart, and the operator's own tolerance; an 8-bit code may be the
// next.
double allowed(DType dtype, double tolerance, double largest, double value) {
  const double step = dtype == DType::kF32    ? 1.2e-7
                      : dtype == DType::kF16  ? 1e-3
                      : dtype == DType::kBF16 ? 8e-3
                      : is_float(dtype)       ? 0.13
                                              : 0;
  return tolerance * std::max(1.0, largest) + step * std::abs(value) + (step > 0.1 ? 0.01 : 0);
}

void expect_close(const Tensor& got, const Tensor& want, const Desc& desc, size_t operand) {
  const std::vector<float> a = floats(got), b = floats(want);
  double largest = 0;
  for (float value : b) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (size_t i = 0; i < a.size(); i++) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    const double most =
        allowed(desc.operands[operand].dtype, desc.op->tolerance.f32, largest, b[i]);
    ASSERT_TRUE(difference <= most || (std::isnan(a[i]) && std::isnan(b[i])))
        << desc.op->name << " " << desc.shape_text() << " " << desc.dtype_text() << " "
        << desc.signature().operands[operand].name << "[" << i << "]: " << a[i] << ", on the CPU "
        << b[i];
  }
}

// One case of the operator's first variant on the device and on the CPU; false where `cuda` does
// not take it.
bool compare(const Desc& desc, const nereid::CallOptions& gpu, const nereid::CallOptions& cpu) {
  const Signature& s = desc.signature();
  std::vector<Tensor> here, there;
  nereid::Call on_cpu(desc.op->name.c_str(), cpu), on_gpu(desc.op->name.c_str(), gpu);
  for (size_t i = 0; i < desc.operands.size(); i++) {
    here.push_back(input(desc.operands[i], static_cast<int>(i)));
    there.push_back(here.back().to(Device::cuda()));
  }
  for (size_t i = 0; i < desc.operands.size(); i++) {
    if (!desc.operands[i].present) continue;
    on_cpu.operand(s.operands[i].name.c_str(), here[i].view());
    on_gpu.operand(s.operands[i].name.c_str(), there[i].view());
  }
  if (on_gpu.explain().find("* cuda") == std::string::npos) return false;
  on_cpu.run();
  on_gpu.run();
  nereid::synchronize(Device::cuda());
  for (size_t i = static_cast<size_t>(s.inputs); i < desc.operands.size(); i++)
    if (desc.operands[i].present) expect_close(there[i].to(Device::cpu()), here[i], desc, i);
  return true;
}

TEST_P(ApiKernels, EveryOperatorThatIsServedEqualsTheCpus) {
  std::string refused;
  for (const Op& op : catalogue()) {
    if (!is_served(op.name)) continue;
    int bound = 0;
    for (const char* dtype : {"f32", "bf16"}) {
      const Expected<Desc> desc = bind_case(op, odd_request(op, dtype));
      if (!desc) continue;  // not every operator takes both
      bound++;
      if (!compare(*desc, how(), how("scalar"))) refused += " " + op.name + " " + dtype;
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(bound, 0) << op.name;
  }
  EXPECT_EQ(refused, "") << "kernels take any size";
}

// Three indices of a table of four rows, the second of which is none of them.
class Indices {
 public:
  explicit Indices(int32_t wrong) : here_(nereid::i32, {3}) {
    const int32_t values[] = {3, wrong, 0};
    std::memcpy(here_.data<char>(), values, sizeof values);
    there = here_.to(Device::cuda());
  }
  Tensor there;

 private:
  Tensor here_;
};

// The second of three rows is NaN and the others are not.
void expect_second_is_nan(const Tensor& out, const char* op) {
  const std::vector<float> values = floats(out.to(Device::cpu()));
  for (size_t i = 0; i < values.size(); i++)
    EXPECT_EQ(std::isnan(values[i]), i / (values.size() / 3) == 1) << op << " " << i;
}

TEST_P(ApiKernels, AnIndexOutsideItsTableIsARowOfNan) {
  const Tensor x = input({.sizes = {3, 2, 8}}, 1).to(kGpu);
  const Tensor table = input({.sizes = {4, 8}}, 2).to(kGpu);
  const Tensor weight = input({.sizes = {16}}, 3).to(kGpu);
  for (const int32_t wrong : {-1, 4, std::numeric_limits<int32_t>::max()}) {
    const Indices indices(wrong);
    if (is_served("rope_with_pos")) {
      const Tensor out(nereid::f32, {3, 2, 8}, kGpu);
      nereid::Call call("rope_with_pos", how());
      call.operand("x", x).operand("cos", table).operand("sin", table);
      call.operand("positions", indices.there).operand("out", out).run();
      expect_second_is_nan(out, "rope_with_pos");
    }
    if (is_served("embedding")) {
      const Tensor out(nereid::f32, {3, 8}, kGpu);
      nereid::Call call("embedding", how());
      call.operand("table", table).operand("ids", indices.there).operand("out", out).run();
      expect_second_is_nan(out, "embedding");
    }
    if (is_served("rmsnorm_rope")) {
      const auto turned =
          nereid::fused_rmsnorm_rope(x.view().reshape({1, 3, 16}), weight, table, table,
                                     {.positions = indices.there, .context = how().context});
      expect_second_is_nan(turned.out, "rmsnorm_rope");
    }
  }
}

TEST_P(ApiKernels, PlansAreRecordedAsGraphs) {
  if (target().is_emulated()) GTEST_SKIP() << "graphs are the driver's";
  if (!is_served("silu")) GTEST_SKIP() << "no kernel for silu";
  const Tensor x = input({.sizes = {1000}}, 1), gx = x.to(kGpu), gy(nereid::f32, {1000}, kGpu);
  Expected<OwnStream> stream = OwnStream::create(0);
  ASSERT_TRUE(stream);
  const auto run = [&](Stream where) -> Expected<void> {
    nereid::CallOptions options = how();
    options.stream = where;
    nereid::Call call("silu", options);
    call.operand("x", gx).operand("out", gy).run();
    return {};
  };
  ASSERT_TRUE(run(stream->get()));
  Expected<RecordedCalls> recorded = RecordedCalls::record(run);
  ASSERT_TRUE(recorded) << recorded.error().message();
  ASSERT_TRUE(recorded->launch(stream->get()));
  nereid::synchronize(kGpu, stream->get());
  const Tensor y(nereid::f32, {1000});
  nereid::silu(x, y, {.backend = "scalar"});
  const std::vector<float> got = floats(gy.to(Device::cpu())), want = floats(y);
  for (size_t i = 0; i < want.size(); i++) ASSERT_NEAR(got[i], want[i], 1e-6);
}

TEST_P(ApiKernels, MistakesOnADeviceAreErrorsAndItGoesOn) {
  if (target().is_emulated()) GTEST_SKIP() << "about the driver";
  const auto message = [](const std::function<void()>& call) {
    const nereid::Expected<void> done = nereid::attempt(call);
    EXPECT_FALSE(done);
    return done ? std::string() : done.error().message;
  };
  const std::string large = message([] { Tensor(nereid::f32, {int64_t{1} << 42}, kGpu); });
  EXPECT_NE(large.find("free of"), std::string::npos) << large;
  const std::string far = message([] { Tensor(nereid::f32, {8}, Device::cuda(63)); });
  EXPECT_NE(far.find("cuda:63"), std::string::npos) << far;
  const Tensor x = input({.sizes = {64}}, 1), gx = x.to(kGpu);
  if (is_served("silu")) {
    const std::string host = message([&] {
      const TensorView said = x.view().on(kGpu);
      nereid::Call call("silu", how());
      call.operand("x", said).operand("out", gx).run();
    });
    EXPECT_NE(host.find("memory of the CPU"), std::string::npos) << host;
  }
  const Tensor back = gx.to(Device::cpu());
  EXPECT_EQ(floats(back), floats(x));
}

NRD_ON_EVERY_TARGET(ApiKernels);

}  // namespace
}  // namespace nrd::cuda
