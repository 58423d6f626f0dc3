// SPDX-License-Identifier: MIT
// tests/cuda/backend_test.cpp: which devices and kernels the backend takes, on devices that are
// made up; what it says on a machine without one.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/env.h"
#include "cuda/targets.h"
#include "dispatch/cuda_parts.h"
#include "dispatch/devices.h"
#include "dispatch/registry.h"
#include "fake_kernels.h"

namespace nrd {
namespace {

using testing::FakeDevice;

cuda::DeviceInfo device(int index, std::string name, int major, int minor) {
  return {.index = index, .name = std::move(name), .major = major, .minor = minor};
}

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

using Devices = Expected<std::vector<cuda::DeviceInfo>>;
Devices none() { return std::vector<cuda::DeviceInfo>{}; }
Devices no_driver() {
  return make_error({.code = ErrorCode::kEnvironment, .got = "no NVIDIA driver"});
}
Devices hopper() { return std::vector{device(0, "H200", 9, 0)}; }
Devices ampere() { return std::vector{device(0, "A100", 8, 0)}; }
Devices blackwell() { return std::vector{device(0, "B200", 10, 0)}; }
Devices pascal() { return std::vector{device(0, "P100", 6, 0)}; }
Devices mixed() {
  return std::vector{device(0, "A100", 8, 0), device(1, "H200", 9, 0), device(2, "P100", 6, 0)};
}

CudaParts parts_with(Devices (*devices)()) {
  CudaParts parts;
  parts.devices = devices;
  parts.implementations = testing::fake_implementations;
  return parts;
}

Desc silu_on(int index) {
  CaseRequest request;
  request.sizes = {{"n", 8}};
  Desc desc = *bind_case(**find_op("silu"), request);
  desc.device = {DeviceKind::kCuda, index};
  return desc;
}

class CudaBackendTest : public ::testing::Test {
 protected:
  // Tests name the architecture where they want one.
  static void SetUpTestSuite() { unsetenv("NEREID_CUDA_ARCH"); }
  void SetUp() override { set_device_runtime(&fake_); }
  void TearDown() override { set_device_runtime(nullptr); }

  // The ISA of the kernel that accepts a case on a device; else the reasons why none does.
  static std::string isa_on(Backend& backend, int index) {
    std::string reasons;
    for (const Kernel* kernel : backend.kernels(**find_op("silu"))) {
      const Expected<void> accepted = kernel->accepts(silu_on(index));
      if (accepted) return kernel->isa();
      reasons += accepted.error().message() + "\n";
    }
    return reasons;
  }
  static std::string refusal(Devices (*devices)()) {
    std::unique_ptr<Backend> backend = make_cuda_backend(parts_with(devices));
    const Expected<void> loaded = backend->load();
    EXPECT_FALSE(loaded);
    return loaded ? "" : loaded.error().message();
  }

  FakeDevice fake_{3};
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(CudaBackendTest, TakesTheKernelsOfTheDevice) {
  for (auto [devices, isa] :
       {std::pair{&hopper, "sm_90a"}, {&ampere, "sm_80"}, {&blackwell, "sm_80"}}) {
    std::unique_ptr<Backend> backend = make_cuda_backend(parts_with(devices));
    ASSERT_TRUE(backend->load());
    EXPECT_EQ(isa_on(*backend, 0), isa);
  }
}

TEST_F(CudaBackendTest, EachDeviceOfAMachineRunsItsOwn) {
  std::unique_ptr<Backend> backend = make_cuda_backend(parts_with(&mixed));
  ASSERT_TRUE(backend->load());
  EXPECT_EQ(isa_on(*backend, 0), "sm_80");
  EXPECT_EQ(isa_on(*backend, 1), "sm_90a");
  EXPECT_HAS(isa_on(*backend, 2), "P100 (sm_60), allowed: sm_80 and later");
  EXPECT_HAS(isa_on(*backend, 3), "got cuda:3, allowed: cuda:0 to cuda:2");
}

TEST_F(CudaBackendTest, NumericsAreTheFamilysWords) {
  std::unique_ptr<Backend> backend = make_cuda_backend(parts_with(&hopper));
  ASSERT_TRUE(backend->load());
  EXPECT_EQ(backend->kernels(**find_op("silu")).at(0)->numerics(silu_on(0)), "256 threads a row");
}

TEST_F(CudaBackendTest, SaysWhyItCannotBeUsed) {
  EXPECT_HAS(refusal(&no_driver), "no NVIDIA driver");
  EXPECT_HAS(refusal(&none), "a machine without a CUDA device");
  EXPECT_HAS(refusal(&pascal), "P100 (sm_60), allowed: sm_80 and later");
}

TEST_F(CudaBackendTest, TheArchitectureCanBeNamed) {
  {
    const Variable arch("NEREID_CUDA_ARCH", "sm_80");
    std::unique_ptr<Backend> backend = make_cuda_backend(parts_with(&hopper));
    ASSERT_TRUE(backend->load());
    EXPECT_EQ(isa_on(*backend, 0), "sm_80");
  }
  {
    const Variable arch("NEREID_CUDA_ARCH", "sm_90");
    std::unique_ptr<Backend> backend = make_cuda_backend(parts_with(&mixed));
    ASSERT_TRUE(backend->load());
    EXPECT_EQ(isa_on(*backend, 1), "sm_90a");
    EXPECT_HAS(isa_on(*backend, 0), "sm_90 for cuda:0, A100 (sm_80)");
    EXPECT_HAS(refusal(&ampere), "NEREID_CUDA_ARCH: got sm_90 for cuda:0, A100 (sm_80)");
    EXPECT_HAS(refusal(&blackwell), "sm_90 for cuda:0, B200 (sm_100)");
  }
  for (const char* word : {"sm_75", "hopper", "sm_90a"}) {
    const Variable arch("NEREID_CUDA_ARCH", word);
    EXPECT_HAS(refusal(&hopper), "allowed: sm_80, sm_90");
  }
}

TEST_F(CudaBackendTest, RunsOnTheDeviceOfTheCaseAndGivesTheThreadsOwnBack) {
  std::unique_ptr<Backend> backend = make_cuda_backend(parts_with(&mixed));
  ASSERT_TRUE(backend->load());
  const Kernel* kernel = nullptr;
  for (const Kernel* k : backend->kernels(**find_op("silu")))
    if (k->accepts(silu_on(1))) kernel = k;
  ASSERT_NE(kernel, nullptr);
  const Desc desc = silu_on(1);
  Expected<std::unique_ptr<PreparedKernel>> prepared =
      kernel->prepare(desc, std::vector<void*>(desc.operands.size(), nullptr));
  ASSERT_TRUE(prepared) << prepared.error().message();
  EXPECT_EQ((*prepared)->note(), "the definition, enqueued");
  void* pointers[] = {*fake_.allocate(1, 32), *fake_.allocate(1, 32)};
  void* workspace = *fake_.allocate(1, (*prepared)->workspace_bytes());
  int stream = 0;
  Exec exec;
  exec.stream = &stream;
  FakeDevice::current() = 2;
  EXPECT_TRUE((*prepared)->run({pointers}, workspace, exec));  // FakeOperation looks at the device
  EXPECT_EQ(FakeDevice::current(), 2);
  EXPECT_EQ(fake_.queued(1, &stream), 1u);
  FakeDevice::current() = 0;
}

TEST_F(CudaBackendTest, BackendsRefuseMemoryOfTheOtherKind) {
  KernelRegistry registry(*Machine::host());
  registry.replace(make_cuda_backend(parts_with(&hopper)));
  Desc desc = silu_on(0);
  for (const char* name : {"cpu", "autovec", "scalar"}) {
    const Expected<KernelChoice> choice = registry.select(name, desc);
    ASSERT_FALSE(choice);
    EXPECT_HAS(choice.error().message(), "got cuda:0, allowed: cpu, as the backend is");
  }
  EXPECT_TRUE(registry.select("cuda", desc));
  desc.device = {};
  const Expected<KernelChoice> choice = registry.select("cuda", desc);
  ASSERT_FALSE(choice);
  EXPECT_HAS(choice.error().message(), "got cpu, allowed: cuda, as the backend is cuda");
}

TEST_F(CudaBackendTest, ExplainNamesTheClass) {
  KernelRegistry registry(*Machine::host());
  registry.replace(make_cuda_backend(parts_with(&hopper)));
  int chosen = 0;
  for (const Explanation& line : registry.explain(silu_on(0))) {
    if (!line.chosen) continue;
    chosen++;
    EXPECT_EQ(line.backend, "cuda");
    EXPECT_EQ(line.isa, "sm_90a");
    EXPECT_EQ(line.numerics, "256 threads a row");
    EXPECT_EQ(line.reason, "the definition, enqueued");
  }
  EXPECT_EQ(chosen, 1);
}

// On any machine: with a device it loads, without one it says why and the CPU goes on.
TEST(CudaBackendHere, LoadsOrSaysWhy) {
  KernelRegistry registry(*Machine::host());
  Backend* backend = *registry.find_backend("cuda");
  const Expected<void> loaded = backend->load();
  const std::vector<std::string> lines = describe_devices();
  ASSERT_FALSE(lines.empty());
  if (!loaded) {
    EXPECT_FALSE(loaded.error().message().empty());
    EXPECT_FALSE(registry.select("cuda", silu_on(0)));
    Desc desc = silu_on(0);
    desc.device = {};
    EXPECT_TRUE(registry.select("cpu", desc));
    if (env("NEREID_EXPECT_CUDA") == "1") FAIL() << loaded.error().message();
    GTEST_SKIP() << "no CUDA device: " << loaded.error().message();
  }
  EXPECT_HAS(lines.front(), "kernels for sm_");
}

}  // namespace
}  // namespace nrd
