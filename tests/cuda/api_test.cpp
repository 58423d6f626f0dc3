// SPDX-License-Identifier: MIT
// tests/cuda/api_test.cpp: the C and C++ interfaces with tensors of a CUDA device.
//
// On every machine the device is made of host memory (fake_device.h) and its kernels are the
// definitions, so that results equal those of backend `scalar` bit for bit: what is tested is all
// that lies above the kernels. What the true kernels compute is tested beside them.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "dispatch/cuda_parts.h"
#include "dispatch/registry.h"
#include "fake_kernels.h"
#include "nereid/nereid.h"

namespace {

using nereid::Device;
using nereid::Tensor;
using nereid::TensorView;
using nrd::testing::FakeDevice;

nrd::Expected<std::vector<nrd::cuda::DeviceInfo>> two_devices() {
  nrd::cuda::DeviceInfo first{.index = 0, .name = "H200", .major = 9, .minor = 0};
  nrd::cuda::DeviceInfo second{.index = 1, .name = "A100", .major = 8, .minor = 0};
  return std::vector{first, second};
}

// For the whole process: contexts keep plans of the backend, plans its kernels.
FakeDevice& fake() {
  static FakeDevice& device = []() -> FakeDevice& {
    auto& made = *new FakeDevice(2);
    nrd::set_device_runtime(&made);
    nrd::CudaParts parts;
    parts.devices = two_devices;
    parts.implementations = nrd::testing::fake_implementations;
    (*nrd::KernelRegistry::shared())->replace(nrd::make_cuda_backend(parts));
    return made;
  }();
  return device;
}

// Values that differ, about -1 to 1.
Tensor numbers(nereid::DType dtype, std::vector<int64_t> sizes, int seed = 1) {
  Tensor wide(nereid::f32, sizes), tensor(dtype, sizes);
  for (int64_t i = 0; i < wide.count(); i++)
    wide.data<float>()[i] = static_cast<float>((i * 37 + seed * 101) % 199 - 99) / 99.0f;
  nereid::cast(wide, tensor);
  return tensor;
}

size_t bytes_of(const Tensor& tensor) {
  return static_cast<size_t>(tensor.count()) * nereid::byte_size(tensor.dtype());
}

void expect_same(const Tensor& device, const Tensor& host, const char* what) {
  ASSERT_EQ(device.device(), Device::cuda()) << what;
  ASSERT_EQ(device.dtype(), host.dtype()) << what;
  ASSERT_TRUE(std::equal(device.sizes().begin(), device.sizes().end(), host.sizes().begin(),
                         host.sizes().end()))
      << what << ": " << device.view().shape_text() << " and " << host.view().shape_text();
  const Tensor back = device.to(Device::cpu());
  EXPECT_EQ(std::memcmp(back.data<char>(), host.data<char>(), bytes_of(host)), 0) << what;
}

std::string message_of(const std::function<void()>& call) {
  const nereid::Expected<void> done = nereid::attempt(call);
  EXPECT_FALSE(done);
  return done ? "" : done.error().message;
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

class CudaApi : public ::testing::Test {
 protected:
  // Tests name the architecture where they want one.
  static void SetUpTestSuite() { unsetenv("NEREID_CUDA_ARCH"); }
  void SetUp() override { fake().capacity = size_t{1} << 30; }
  static constexpr Device kGpu = Device::cuda();
  int first_stream_ = 0, second_stream_ = 0;  // their addresses are handles
};

TEST_F(CudaApi, DevicesAreListed) {
  const auto devices = nereid::cuda_devices();
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ(devices->at(1).device, Device::cuda(1));
  EXPECT_EQ(devices->at(0).isa, "sm_90a");
  EXPECT_EQ(devices->at(0).device.text(), "cuda:0");
}

TEST_F(CudaApi, TensorsMoveThereAndBack) {
  const Tensor host = numbers(nereid::bf16, {5, 7});
  const Tensor there = host.to(kGpu);
  EXPECT_EQ(there.device(), kGpu);
  EXPECT_EQ(there.to(kGpu).view().data(), there.view().data());
  expect_same(there, host, "to");
  const Tensor other = there.to(Device::cuda(1));
  EXPECT_EQ(other.device(), Device::cuda(1));
  const Tensor back = other.to(Device::cpu());
  EXPECT_EQ(std::memcmp(back.data<char>(), host.data<char>(), bytes_of(host)), 0);
  // Views keep their device.
  EXPECT_EQ(there.view().t().device(), kGpu);
  EXPECT_EQ(there.view().slice(0, 1, 3).device(), kGpu);
  EXPECT_EQ(there.view().reshape({35}).device(), kGpu);
  EXPECT_EQ(host.view().on(kGpu).device(), kGpu);
  EXPECT_EQ(Tensor(nereid::f32, {0, 3}, kGpu).to(Device::cpu()).count(), 0);
}

TEST_F(CudaApi, ACallIsEnqueuedAndNothingWaits) {
  const Tensor x = numbers(nereid::f32, {3, 50}), y(nereid::f32, {3, 50});
  const Tensor gx = x.to(kGpu), gy(nereid::f32, {3, 50}, kGpu);
  nereid::silu(x, y, {.backend = "scalar"});
  const int waits = fake().waits;
  nereid::silu(gx, gy, {.stream = &first_stream_});
  EXPECT_EQ(fake().queued(0, &first_stream_), 1u);
  EXPECT_EQ(fake().waits, waits);
  nereid::synchronize(kGpu, &first_stream_);
  EXPECT_EQ(fake().queued(0, &first_stream_), 0u);
  expect_same(gy, y, "silu");
}

TEST_F(CudaApi, StridedAndBroadcastViewsWork) {
  const Tensor x = numbers(nereid::f16, {6, 8}), y = numbers(nereid::f16, {8});
  Tensor out(nereid::f16, {8, 3});
  const TensorView view = x.view().slice(0, 0, 6, 2).t();
  const int64_t sizes[] = {8, 3}, strides[] = {1, 0};
  nereid::vec_add(view, y.view().as_strided(sizes, strides), out, {.backend = "scalar"});
  const Tensor gx = x.to(kGpu), gy = y.to(kGpu), gout(nereid::f16, {8, 3}, kGpu);
  nereid::vec_add(gx.view().slice(0, 0, 6, 2).t(), gy.view().as_strided(sizes, strides), gout);
  nereid::synchronize(kGpu);
  expect_same(gout, out, "vec_add");
}

TEST_F(CudaApi, TheSecondDeviceRunsItsOwnKernels) {
  const Device second = Device::cuda(1);
  const Tensor x = numbers(nereid::f32, {40}), gx = x.to(second), gy(nereid::f32, {40}, second);
  nereid::Call call("silu");
  call.operand("x", gx).operand("out", gy);
  EXPECT_HAS(call.explain(), "* cuda fake (128 threads a row): chosen");
  call.run();
  nereid::synchronize(second);
  Tensor y(nereid::f32, {40});
  nereid::silu(x, y, {.backend = "scalar"});
  const Tensor back = gy.to(Device::cpu());
  EXPECT_EQ(std::memcmp(back.data<char>(), y.data<char>(), bytes_of(y)), 0);
  EXPECT_EQ(FakeDevice::current(), 0);
}

TEST_F(CudaApi, FusedNormAndRope) {
  const Tensor x = numbers(nereid::bf16, {2, 3, 32}), w = numbers(nereid::bf16, {32}, 2);
  const Tensor residual = numbers(nereid::bf16, {2, 3, 32}, 3);
  std::vector<int32_t> at = {4, 0, 2};
  Tensor positions(nereid::i32, {3});
  std::memcpy(positions.data<char>(), at.data(), 12);
  Tensor all(nereid::i32, {5});
  std::iota(all.data<int32_t>(), all.data<int32_t>() + 5, 0);
  const nereid::RopeTable table =
      nereid::rope_table(all, 8, 10000, {}, nereid::bf16, {.backend = "scalar"});
  const nereid::RopeTable gtable = nereid::rope_table(all.to(kGpu), 8, 10000, {}, nereid::bf16);
  expect_same(gtable.cos, table.cos, "cos");
  const TensorView half_cos = table.cos.view().slice(1, 0, 4);
  const TensorView half_sin = table.sin.view().slice(1, 0, 4);
  for (bool doubled : {false, true}) {
    for (auto out : {std::optional<nereid::DType>(), std::optional(nereid::f8e4m3)}) {
      nereid::FusedRmsnormRopeOptions o{.num_heads = 4,
                                        .positions = positions,
                                        .residual = residual,
                                        .out_dtype = out,
                                        .backend = "scalar"};
      const nereid::RmsnormRope want = nereid::fused_rmsnorm_rope(
          x, w, doubled ? half_cos : table.cos.view(), doubled ? half_sin : table.sin.view(), o);
      const Tensor gpositions = positions.to(kGpu), gresidual = residual.to(kGpu);
      o.positions = gpositions, o.residual = gresidual, o.backend = nullptr;
      const TensorView gcos = gtable.cos, gsin = gtable.sin;
      const nereid::RmsnormRope got =
          nereid::fused_rmsnorm_rope(x.to(kGpu), w.to(kGpu), doubled ? gcos.slice(1, 0, 4) : gcos,
                                     doubled ? gsin.slice(1, 0, 4) : gsin, o);
      nereid::synchronize(kGpu);
      expect_same(got.out, want.out, "out");
      expect_same(got.sum, want.sum, "sum");
      if (out) expect_same(got.scale, want.scale, "scale");
    }
  }
}

TEST_F(CudaApi, FusedGatedMlp) {
  const Tensor x = numbers(nereid::f32, {2, 12}), both = numbers(nereid::f32, {20, 12}, 2);
  const Tensor want = nereid::fused_gated_mlp(x, both, {}, {.backend = "scalar"});
  const Tensor got = nereid::fused_gated_mlp(x.to(kGpu), both.to(kGpu), {});
  nereid::synchronize(kGpu);
  expect_same(got, want, "gated_mlp");
}

TEST_F(CudaApi, QuantizeAndBack) {
  const Tensor x = numbers(nereid::f32, {5, 200}), gx = x.to(kGpu);
  nereid::QuantizeFp8Options options[] = {{}, {.axis = -1}, {.axis = -2}, {.block = {1, 128}}};
  for (nereid::QuantizeFp8Options o : options) {
    const nereid::QuantizedFp8 got = nereid::quantize_fp8(gx, o);
    o.backend = "scalar";
    const nereid::QuantizedFp8 want = nereid::quantize_fp8(x, o);
    nereid::synchronize(kGpu);
    expect_same(got.q, want.q, "q");
    expect_same(got.scale, want.scale, "scale");
    const Tensor back =
        nereid::dequantize_fp8(got.q, got.scale, nereid::bf16, {.axis = o.axis, .block = o.block});
    nereid::synchronize(kGpu);
    expect_same(back,
                nereid::dequantize_fp8(want.q, want.scale, nereid::bf16,
                                       {.axis = o.axis, .block = o.block, .backend = "scalar"}),
                "dequantized");
  }
}

TEST_F(CudaApi, AScaleThatOverflowsIsFoundOnTheDevice) {
  const Tensor x = numbers(nereid::f32, {4, 30}), gx = x.to(kGpu);
  const float large = 1, small = 1e-6f;
  const Tensor fits = TensorView(&large, {}).to(kGpu), overflows = TensorView(&small, {}).to(kGpu);
  const int waits = fake().waits;
  nereid::quantize_fp8(gx, {.scale = fits, .overflow = "adjust", .stream = &first_stream_});
  EXPECT_EQ(fake().waits, waits);
  EXPECT_NO_THROW(
      nereid::quantize_fp8(gx, {.scale = fits, .overflow = "raise", .stream = &first_stream_}));
  EXPECT_GT(fake().waits, waits);
  EXPECT_THROW(
      nereid::quantize_fp8(gx, {.scale = overflows, .overflow = "raise", .stream = &first_stream_}),
      nereid::NumericalOverflowError);
}

TEST_F(CudaApi, EightBitProducts) {
  const nereid::QuantizedFp8 a = nereid::quantize_fp8(numbers(nereid::f32, {6, 40}));
  const nereid::QuantizedFp8 b = nereid::quantize_fp8(numbers(nereid::f32, {9, 40}, 2));
  const Tensor bias = numbers(nereid::bf16, {9}, 3);
  const Tensor ga = a.q.to(kGpu), gb = b.q.to(kGpu), gbias = bias.to(kGpu);
  const Tensor ga_scale = a.scale.to(kGpu), gb_scale = b.scale.to(kGpu);
  {
    const Tensor got = nereid::fp8_gemm(ga, gb.view().t(),
                                        {.a_scale = ga_scale, .b_scale = gb_scale, .bias = gbias});
    nereid::synchronize(kGpu);
    expect_same(got,
                nereid::fp8_gemm(
                    a.q, b.q.view().t(),
                    {.a_scale = a.scale, .b_scale = b.scale, .bias = bias, .backend = "scalar"}),
                "with scales");
  }
  // Codes without a scale mean what they say.
  for (int i = 0; i < 2; i++) {
    const Tensor got = nereid::fp8_gemm(ga, gb.view().t());
    nereid::synchronize(kGpu);
    expect_same(got, nereid::fp8_gemm(a.q, b.q.view().t(), {.backend = "scalar"}), "without");
  }
  EXPECT_NO_THROW(nereid::validate_fp8_gemm_inputs(ga, gb.view().t()));
  const TensorView wrong(nullptr, nereid::f8e4m3, {41, 9}, kGpu);
  EXPECT_THROW(nereid::validate_fp8_gemm_inputs(ga, wrong), nereid::ShapeMismatchError);
}

TEST_F(CudaApi, OperandsOfTwoDevicesAreRefused) {
  const Tensor x = numbers(nereid::f32, {8}), gx = x.to(kGpu), hx = x.to(Device::cuda(1));
  EXPECT_HAS(message_of([&] { nereid::silu(gx, x); }),
             "silu: out: got memory of cpu, allowed: memory of cuda:0, where 'x' is");
  EXPECT_HAS(message_of([&] { nereid::silu(x, gx); }),
             "out: got memory of cuda:0, allowed: memory of cpu, where 'x' is");
  EXPECT_HAS(message_of([&] { nereid::silu(gx, hx); }),
             "out: got memory of cuda:1, allowed: memory of cuda:0, where 'x' is");
}

TEST_F(CudaApi, DevicesAndBackendsThatDoNotFit) {
  const Tensor x = numbers(nereid::f32, {8}), gx = x.to(kGpu);
  const TensorView far = gx.view().on(Device::cuda(7));
  EXPECT_HAS(message_of([&] { nereid::silu(far, far); }),
             "device: got cuda:7, allowed: cuda:0 to cuda:1");
  for (const char* name : {"cpu", "scalar", "autovec"})
    EXPECT_HAS(message_of([&] { nereid::silu(gx, gx, {.backend = name}); }),
               "got cuda:0, allowed: cpu, as the backend is ");
  EXPECT_HAS(message_of([&] { nereid::silu(x, x, {.backend = "cuda"}); }),
             "got cpu, allowed: cuda, as the backend is cuda");
  EXPECT_HAS(message_of([&] { Tensor(nereid::f32, {4}, Device::cuda(5)); }), "cuda:5");
  // Memory that does not lie where the caller says is found by the first call of a plan.
  EXPECT_HAS(message_of([&] { nereid::tanh(x.view().on(kGpu), gx); }),
             "tanh: x: got memory of the CPU, allowed: memory of cuda:0");
  EXPECT_HAS(message_of([&] {
               nereid::tanh(gx.view().on(Device::cuda(1)), gx.view().on(Device::cuda(1)));
             }),
             "tanh: x: got memory of cuda:0, allowed: memory of cuda:1");
}

TEST_F(CudaApi, AlignmentAndOverlapAreJudgedOnTheDevice) {
  const Tensor x = numbers(nereid::f32, {64}).to(kGpu);
  char* base = static_cast<char*>(x.view().data());
  const TensorView odd(base + 2, nereid::f32, {8}, kGpu), even(base + 128, nereid::f32, {8}, kGpu);
  EXPECT_HAS(message_of([&] { nereid::silu(odd, even); }), "a multiple of 4 bytes");
  const TensorView near(base + 4, nereid::f32, {8}, kGpu), first(base, nereid::f32, {8}, kGpu);
  EXPECT_HAS(message_of([&] { nereid::silu(first, near); }), "memory that overlaps 'x'");
  EXPECT_NO_THROW(nereid::silu(first, first));
}

TEST_F(CudaApi, IndicesAreNotReadByTheHost) {
  // A host that looked at the positions would die: they lie on the device.
  Tensor ids(nereid::i32, {3});
  const int32_t values[] = {2, 0, 1};
  std::memcpy(ids.data<char>(), values, sizeof values);
  const Tensor table = numbers(nereid::f32, {3, 16});
  Tensor out(nereid::f32, {3, 16});
  nereid::embedding(table, ids, out, {.backend = "scalar"});
  const Tensor gout(nereid::f32, {3, 16}, kGpu);
  nereid::embedding(table.to(kGpu), ids.to(kGpu), gout);
  nereid::synchronize(kGpu);
  expect_same(gout, out, "embedding");
}

TEST_F(CudaApi, EachStreamHasAWorkspaceOfItsOwn) {
  const Tensor x = numbers(nereid::f32, {100}).to(kGpu), y(nereid::f32, {100}, kGpu);
  const size_t before = fake().blocks();
  {
    const nereid::Context context;
    for (int i = 0; i < 3; i++) {
      nereid::silu(x, y, {.context = &context, .stream = &first_stream_});
      nereid::silu(x, y, {.context = &context, .stream = &second_stream_});
    }
    EXPECT_EQ(fake().blocks(), before + 2);
    nereid::silu(x, y, {.context = &context});
    EXPECT_EQ(fake().blocks(), before + 3);
  }
  EXPECT_EQ(fake().blocks(), before);  // given back with the context, after what was queued ran
}

TEST_F(CudaApi, AWorkspaceGrowsAndTheFormerStaysUsable) {
  const nereid::Context context;
  const size_t before = fake().blocks();
  const auto run = [&](int64_t k) {  // the scalar fp8_gemm keeps quantised copies in its workspace
    const Tensor a = numbers(nereid::f32, {4, k}).to(kGpu),
                 b = numbers(nereid::f32, {k, 4}).to(kGpu);
    Tensor c(nereid::f32, {4, 4}, kGpu);
    nereid::Call call("fp8_gemm", {.context = &context, .stream = &first_stream_});
    call.operand("a", a).operand("b", b).operand("c", c);
    call.run();
    nereid::synchronize(kGpu, &first_stream_);
  };
  run(64);
  EXPECT_EQ(fake().blocks(), before + 1);
  run(1 << 19);
  EXPECT_EQ(fake().blocks(), before + 2);
  run(64), run(1 << 18);
  EXPECT_EQ(fake().blocks(), before + 2);
}

TEST_F(CudaApi, OutOfMemoryIsAnErrorAndNothingElseBreaks) {
  const nereid::Context context;
  const Tensor x = numbers(nereid::f32, {100}).to(kGpu), y(nereid::f32, {100}, kGpu);
  fake().capacity = 1000;
  EXPECT_HAS(message_of([&] { Tensor(nereid::f32, {4096}, kGpu); }), "16384 bytes, allowed: 1000");
  fake().capacity = 16;
  EXPECT_HAS(message_of([&] { nereid::silu(x, y, {.context = &context}); }), "silu: memory: got");
  fake().capacity = 4096;  // not enough for the usual granule, enough for the call
  EXPECT_NO_THROW(nereid::silu(x, y, {.context = &context}));
  nereid::synchronize(kGpu);
}

TEST_F(CudaApi, PlansRunInStreams) {
  const Tensor x = numbers(nereid::f32, {4, 64}), w = numbers(nereid::f32, {64}, 2);
  const Tensor gx = x.to(kGpu), gw = w.to(kGpu), gy(nereid::f32, {4, 64}, kGpu);
  nereid::Call call("rms_norm");
  call.operand("x", gx).constant("w", gw).operand("out", gy);
  const nereid::Plan plan = call.prepare();
  EXPECT_STREQ(plan.info().backend, "cuda");
  EXPECT_STREQ(plan.info().isa, "sm_90a");
  plan.run_on(&second_stream_, {gx.view().data(), nullptr, gy.view().data()});
  EXPECT_EQ(fake().queued(0, &second_stream_), 1u);
  nereid::synchronize(kGpu, &second_stream_);
  Tensor y(nereid::f32, {4, 64});
  nereid::rms_norm(x, w, y, {.backend = "scalar"});
  expect_same(gy, y, "rms_norm");

  const Tensor workspace(nereid::u8, {static_cast<int64_t>(plan.workspace_bytes()) + 256}, kGpu);
  const int allocations = fake().allocations;
  plan.run_on(nullptr, {gx.view().data(), nullptr, gy.view().data()}, workspace.view().data());
  plan.run({gx.view().data(), nullptr, gy.view().data()}, workspace.view().data());
  EXPECT_EQ(fake().allocations, allocations);
  nereid::synchronize(kGpu);
  EXPECT_HAS(message_of([&] {
               plan.run_on(nullptr, {gx.view().data(), nullptr, gy.view().data()},
                           workspace.data<char>() + 64);
             }),
             "a multiple of 256 bytes");
}

TEST_F(CudaApi, KernelsAreWarmedUp) {
  const auto scope = nereid::use_backend("cuda");
  EXPECT_NO_THROW(nereid::warm_up({"silu", "rms_norm"}, {nereid::bf16}));
}

TEST_F(CudaApi, ShapesAreInferredWithoutTouchingMemory) {
  const TensorView x(nullptr, nereid::bf16, {3, 8}, kGpu);
  nereid::Call call("softmax");
  call.operand("x", x);
  EXPECT_EQ(call.infer().at(0).sizes, (std::vector<int64_t>{3, 8}));
}

TEST_F(CudaApi, AnOlderCallersCallRunsInTheDefaultStream) {
  const Tensor x = numbers(nereid::f32, {8}).to(kGpu), y(nereid::f32, {8}, kGpu);
  const nereid_tensor tx = x.view().c(), ty = y.view().c();
  const nereid_operand operands[] = {{"x", &tx}, {"out", &ty}};
  nereid_call call{};
  call.struct_size = offsetof(nereid_call, stream);
  call.op = "silu";
  call.operands = operands;
  call.operand_count = 2;
  call.stream = &first_stream_;  // behind its end: not read
  for (int i = 0; i < 2; i++)
    ASSERT_EQ(nereid_run(nullptr, &call), NEREID_OK) << nereid_last_error()->message;
  EXPECT_EQ(fake().queued(0, &first_stream_), 0u);
  EXPECT_EQ(fake().queued(0, nullptr), 2u);
  nereid::synchronize(kGpu);
}

TEST_F(CudaApi, ThreadsShareAStream) {
  const Tensor x = numbers(nereid::f32, {100}), gx = x.to(kGpu);
  Tensor y(nereid::f32, {100});
  nereid::silu(x, y, {.backend = "scalar"});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      const Tensor gy(nereid::f32, {100}, kGpu);
      for (int i = 0; i < 20; i++) nereid::silu(gx, gy, {.stream = &first_stream_});
      nereid::synchronize(kGpu, &first_stream_);
      expect_same(gy, y, "silu");
    });
  for (std::thread& thread : threads) thread.join();
}

extern "C" void twice(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = 2 * x[i];
}

TEST_F(CudaApi, WhatBelongsToTheCpuRefusesDeviceMemory) {
  const Tensor x = numbers(nereid::f32, {8, 8}), gx = x.to(kGpu), gy(nereid::f32, {8, 8}, kGpu);
  ASSERT_EQ(nereid_register_op("twice", reinterpret_cast<const void*>(&twice),
                               "void(const float* x, float* out, size_t n)",
                               "x[n] -> out[n] ; core n*", nullptr),
            NEREID_OK)
      << nereid_last_error()->message;
  nereid::Call call("twice");
  const TensorView row = gx.view().reshape({64}), to = gy.view().reshape({64});
  call.operand("x", row).operand("out", to);
  EXPECT_HAS(message_of([&] { call.run(); }),
             "twice: device of the operands: got cuda:0, allowed: cpu; operators of your own");
  EXPECT_HAS(message_of([&] { nereid::pack_b(gx); }),
             "b: got memory of cuda:0, allowed: memory of cpu");
  const nereid::PackedMatrix packed = nereid::pack_b(x);
  EXPECT_HAS(message_of([&] { packed.unpack(gx); }), "memory of cuda:0");
  EXPECT_HAS(message_of([&] { nereid::gemm(gx, packed, gy); }), "a: got memory of cuda:0");
  Tensor y(nereid::f32, {8, 8});
  EXPECT_HAS(message_of([&] { nereid::gemm(x, packed, y, {.bias = row.slice(0, 0, 8)}); }),
             "bias: got memory of cuda:0");
}

}  // namespace
