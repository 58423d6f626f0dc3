// SPDX-License-Identifier: MIT
// src/dispatch/registry.cpp: finding backends and choosing kernels.
#include "dispatch/registry.h"

#include <fmt/format.h>

#include <sstream>

#include "base/device.h"
#include "base/env.h"
#include "base/lazy.h"
#include "base/locks.h"
#include "base/log.h"
#include "base/suggest.h"
#include "dispatch/builtin.h"

namespace nrd {

KernelRegistry::KernelRegistry(Machine machine) : machine_(std::move(machine)) {
  backends_ = make_builtin_backends(machine_);
  publish();
}

void KernelRegistry::publish() {
  auto list = std::make_unique<List>();
  for (const auto& backend : backends_) list->push_back(backend.get());
  list_.store(list.get(), std::memory_order_release);
  lists_.push_back(std::move(list));
}

Expected<void> KernelRegistry::add(std::unique_ptr<Backend> backend) {
  const Locked lock(LockName::kBackends);
  for (const auto& known : backends_)
    if (known->name() == backend->name())
      return make_error({.code = ErrorCode::kInvalidArgument,
                         .argument = "backend",
                         .got = "a second one named '" + backend->name() + "'",
                         .hint = "rename it"});
  backends_.push_back(std::move(backend));
  publish();
  return {};
}

void KernelRegistry::replace(std::unique_ptr<Backend> backend) {
  for (auto& known : backends_)
    if (known->name() == backend->name()) {
      known = std::move(backend);
      return publish();
    }
}

Expected<Backend*> KernelRegistry::find_backend(std::string_view name) const {
  std::string names;
  std::vector<std::string> known;
  for (Backend* backend : list()) {
    if (backend->name() == name) return backend;
    known.push_back(backend->name());
    names += (names.empty() ? "" : ", ") + known.back();
  }
  std::vector<std::string_view> views(known.begin(), known.end());
  return make_error({.code = ErrorCode::kUnknownName,
                     .argument = "backend",
                     .got = fmt::format("'{}'", name),
                     .allowed = names,
                     .hint = did_you_mean(name, views)});
}

Expected<KernelChoice> KernelRegistry::get_kernel(std::string_view backend,
                                                  std::string_view op_name) const {
  Expected<const Op*> op = find_op(op_name);
  if (!op) return op.error();
  Expected<Backend*> found = find_backend(backend);
  if (!found) return found.error();
  NRD_TRY((*found)->load());
  std::vector<const Kernel*> kernels = (*found)->kernels(**op);
  if (kernels.empty())
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = std::string(op_name),
                       .argument = "backend " + std::string(backend),
                       .got = "an operator it has no kernel for",
                       .hint = (*found)->runs_on(DeviceKind::kCpu)
                                   ? ""
                                   : "copy the operands to the CPU, where every operator runs"});
  return KernelChoice{*found, kernels.front()};
}

namespace {

// Memory that a backend cannot reach, before any of its kernels is asked.
Expected<void> check_device(const Backend& backend, const Desc& desc) {
  if (backend.runs_on(desc.device.kind)) return {};
  return make_error(
      {.code = ErrorCode::kUnsupported,
       .op = desc.op->name,
       .argument = "device of the operands",
       .got = to_string(desc.device),
       .allowed = fmt::format(
           "{}, as the backend is {}",
           word(backend.runs_on(DeviceKind::kCpu) ? DeviceKind::kCpu : DeviceKind::kCuda),
           backend.name()),
       .hint = "copy the operands, or name no backend"});
}

// Likewise operands in a form that the kernel knows nothing of.
Expected<void> accepts(const Kernel& kernel, const Desc& desc) {
  for (size_t i = 0; i < desc.operands.size() && !kernel.reads_forms(); i++) {
    const Form* form = desc.operands[i].form;
    if (form)
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = desc.op->name,
                         .argument = desc.signature().operands[i].name,
                         .got = form->text(),
                         .allowed = "elements as their strides say"});
  }
  return kernel.accepts(desc);
}

}  // namespace

Expected<KernelChoice> KernelRegistry::select(std::string_view backend, const Desc& desc) const {
  Expected<Backend*> found = find_backend(backend);
  if (!found) return found.error();
  NRD_TRY(check_device(**found, desc));
  Expected<KernelChoice> any = get_kernel(backend, desc.op->name);
  if (!any) return any.error();
  std::string reasons;
  ErrorCode code = ErrorCode::kUnsupported;
  for (const Kernel* kernel : any->backend->kernels(*desc.op)) {
    Expected<void> accepted = accepts(*kernel, desc);
    if (accepted) return KernelChoice{any->backend, kernel};
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", kernel->name(),
                           accepted.error().message());
    code = accepted.error().code;
  }
  return make_error({.code = code,
                     .op = desc.op->name,
                     .argument = "backend " + std::string(backend),
                     .got = "no kernel for this case",
                     .hint = reasons});
}

namespace {

bool has_constants(const Desc& desc) {
  for (const OperandDesc& operand : desc.operands)
    if (operand.present && operand.constant) return true;
  return false;
}

}  // namespace

std::vector<Explanation> KernelRegistry::explain(const Desc& desc, std::string_view only) const {
  std::vector<Explanation> lines;
  for (Backend* backend : list()) {
    if (!only.empty() && backend->name() != only) continue;
    if (only.empty() && !backend->runs_on(desc.device.kind)) continue;
    if (Expected<void> reachable = check_device(*backend, desc); !reachable) {
      lines.push_back({.backend = backend->name(), .reason = reachable.error().message()});
      continue;
    }
    if (Expected<void> loaded = backend->load(); !loaded) {
      lines.push_back({.backend = backend->name(), .reason = loaded.error().message()});
      continue;
    }
    bool chosen = false;
    std::vector<const Kernel*> kernels = backend->kernels(*desc.op);
    if (kernels.empty())
      lines.push_back({.backend = backend->name(), .reason = "has no kernel for " + desc.op->name});
    for (const Kernel* kernel : kernels) {
      Expected<void> accepted = accepts(*kernel, desc);
      Explanation line{.backend = backend->name(),
                       .kernel = kernel->name(),
                       .isa = kernel->isa(),
                       .numerics = kernel->numerics(desc),
                       .accepted = static_cast<bool>(accepted),
                       .chosen = accepted && !chosen};
      if (!accepted) {
        line.reason = accepted.error().message();
      } else if (chosen) {
        line.reason = "accepts, but a better one comes first";
      } else if (!has_constants(desc)) {  // to prepare one would need their content
        Expected<std::unique_ptr<PreparedKernel>> prepared =
            kernel->prepare(desc, std::vector<void*>(desc.operands.size(), nullptr));
        line.reason = prepared ? (*prepared)->note() : prepared.error().message();
      }
      chosen = chosen || static_cast<bool>(accepted);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

namespace {

struct Built {
  std::unique_ptr<KernelRegistry> registry;
  std::optional<Error> error;
};
constinit Lazy<const Built> g_shared;

}  // namespace

Expected<KernelRegistry*> KernelRegistry::shared() {
  const Built& built = g_shared.get([] {
    Built b;
    Expected<Machine> machine = Machine::host();
    if (!machine) {
      b.error = machine.error();
      return b;
    }
    b.registry = std::make_unique<KernelRegistry>(std::move(*machine));
    std::istringstream paths(env("NEREID_PLUGINS").value_or(""));
    for (std::string path; std::getline(paths, path, ':');) {
      if (path.empty()) continue;
      if (Expected<std::string> name = b.registry->add_plugin(path); !name) b.error = name.error();
    }
    return b;
  });
  if (built.error) return *built.error;
  return built.registry.get();
}

}  // namespace nrd
