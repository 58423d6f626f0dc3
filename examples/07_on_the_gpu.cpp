// SPDX-License-Identifier: MIT
// examples/07_on_the_gpu.cpp: the same calls with tensors of a CUDA device; without one the program
// says why and ends well.
#include <nereid/nereid.h>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr int64_t kSeq = 64, kHidden = 2048, kHeadDim = 64, kOut = 512;

// Pseudo-random values of about -1 to 1 in bf16.
nereid::Tensor numbers(std::initializer_list<int64_t> sizes) {
  const nereid::Tensor tensor(nereid::bf16, sizes);
  std::vector<float> values(static_cast<size_t>(tensor.count()));
  unsigned state = 1;
  for (float& value : values)
    value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1;
  nereid::cast(nereid::TensorView(values, sizes), tensor);
  return tensor;
}

// How far the GPU's result is from the CPU's, relative, in the L2 norm.
double distance(const nereid::Tensor& gpu, const nereid::Tensor& cpu) {
  const nereid::Tensor back = gpu.to(nereid::Device::cpu());
  const nereid::Tensor a(nereid::f32, cpu.sizes()), b(nereid::f32, cpu.sizes());
  nereid::cast(back, a);
  nereid::cast(cpu, b);
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < cpu.count(); i++) {
    const double x = a.data<float>()[i], y = b.data<float>()[i];
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  return std::sqrt(difference / norm);
}

void compare(nereid::Device gpu) {
  const nereid::Tensor x = numbers({1, kSeq, kHidden}), norm = numbers({kHidden});
  const nereid::Tensor weight = numbers({kOut, kHidden});
  std::vector<int32_t> positions(kSeq);
  std::iota(positions.begin(), positions.end(), 0);
  const auto table = nereid::rope_table(positions, kHeadDim);

  // Where the operands lie decides who answers. Results lie there too; nothing waits.
  const nereid::Tensor gx = x.to(gpu), gnorm = norm.to(gpu), gweight = weight.to(gpu);
  const nereid::Tensor gcos = table.cos.to(gpu), gsin = table.sin.to(gpu);
  const auto turned = nereid::fused_rmsnorm_rope(gx, gnorm, gcos, gsin);
  const auto turned_here = nereid::fused_rmsnorm_rope(x, norm, table.cos, table.sin);
  std::printf("rmsnorm_rope: relative difference %.1e\n", distance(turned.out, turned_here.out));

  // The weight once, the activations at each call: 8-bit codes with a scale a row.
  const auto gw8 = nereid::quantize_fp8(gweight, {.axis = -1});
  const auto gx8 = nereid::quantize_fp8(turned.out.view().reshape({kSeq, kHidden}), {.axis = -1});
  const nereid::Tensor product =
      nereid::fp8_gemm(gx8.q, gw8.q.view().t(), {.a_scale = gx8.scale, .b_scale = gw8.scale});
  const auto w8 = nereid::quantize_fp8(weight, {.axis = -1});
  const auto x8 =
      nereid::quantize_fp8(turned_here.out.view().reshape({kSeq, kHidden}), {.axis = -1});
  const nereid::Tensor product_here =
      nereid::fp8_gemm(x8.q, w8.q.view().t(), {.a_scale = x8.scale, .b_scale = w8.scale});
  std::printf("fp8_gemm: relative difference %.1e\n", distance(product, product_here));

  nereid::Call call("fp8_gemm");
  const nereid::TensorView b = gw8.q.view().t();
  call.operand("a", gx8.q).operand("b", b).operand("c", product);
  call.operand("a_scale", gx8.scale).operand("b_scale", gw8.scale);
  call.attribute("scales", "row_column");
  std::printf("%s", call.explain().c_str());
}

}  // namespace

int main() {
  const auto devices = nereid::cuda_devices();
  if (!devices) {
    std::printf("no GPU: %s\n", devices.error().message.c_str());
    return 0;
  }
  for (const nereid::DeviceInfo& device : *devices) {
    std::printf("%s %s, kernels for %s\n", device.device.text().c_str(), device.name.c_str(),
                device.isa.empty() ? "none" : device.isa.c_str());
    if (device.isa.empty()) {
      std::printf("no GPU: %s\n", device.reason.c_str());
      continue;
    }
    try {
      compare(device.device);
    } catch (const nereid::Exception& e) {  // out of memory on a device that others use, say
      std::printf("not on %s: %s\n", device.device.text().c_str(), e.what());
      return 1;
    }
  }
  if (devices->empty()) std::printf("no GPU: the driver lists none\n");
  return 0;
}
