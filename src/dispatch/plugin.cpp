// SPDX-License-Identifier: MIT
// src/dispatch/plugin.cpp: a backend out of a shared library that speaks include/nereid/plugin.h.
//
// The library is not trusted to be right: each field is checked when it is loaded, what it throws
// becomes an Error, and once it is in use it stays loaded, because plans hold its states.
#include "nereid/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cctype>

#include "base/files.h"
#include "dispatch/registry.h"

namespace nrd {
namespace {

constexpr size_t kReasonBytes = 512;

// Desc as a plug-in sees it; valid as long as the Desc.
class PluginDesc {
 public:
  PluginDesc(const Desc& desc, std::span<void* const> constants) {
    const Signature& s = desc.signature();
    for (size_t i = 0; i < desc.operands.size(); i++) {
      const OperandDesc& o = desc.operands[i];
      const bool constant = o.constant && i < constants.size() && constants[i] != nullptr;
      operands_.push_back({sizeof(nereid_operand_desc), s.operands[i].name.c_str(), o.present,
                           static_cast<nereid_dtype>(o.dtype), o.sizes.size(), o.sizes.begin(),
                           o.strides.begin(), constant, s.operands[i].output});
    }
    for (size_t i = 0; i < desc.op->numbers.size(); i++)
      attributes_.push_back({desc.op->numbers[i].name.c_str(), nullptr, desc.numbers[i]});
    for (size_t i = 0; i < desc.op->choices.size(); i++)
      attributes_.push_back({desc.op->choices[i].name.c_str(), desc.choices[i].c_str(), 0});
    view_ = {sizeof(nereid_desc),
             desc.op->name.c_str(),
             static_cast<int32_t>(operands_.size()),
             operands_.data(),
             static_cast<int32_t>(attributes_.size()),
             attributes_.data()};
  }
  PluginDesc(const PluginDesc&) = delete;
  PluginDesc& operator=(const PluginDesc&) = delete;
  const nereid_desc* get() const { return &view_; }

 private:
  std::vector<nereid_operand_desc> operands_;
  std::vector<nereid_attribute> attributes_;
  nereid_desc view_{};
};

Error kernel_error(ErrorCode code, const std::string& op, const nereid_plugin_kernel& kernel,
                   std::string got) {
  return make_error(
      {code, op, fmt::format("plug-in kernel {}", kernel.name), std::move(got), "", ""});
}

// Calls a function of the plug-in. Not zero is a refusal with its reason; nothing it throws
// gets out.
template <class Function>
Expected<void> call(const nereid_plugin_kernel& kernel, const std::string& op, const char* name,
                    ErrorCode code, Function&& function) {
  char reason[kReasonBytes] = "";
  int rc = 0;
  try {
    rc = function(reason, sizeof reason);
  } catch (const std::exception& e) {
    return kernel_error(ErrorCode::kEnvironment, op, kernel,
                        fmt::format("an exception out of {}: {}", name, e.what()));
  } catch (...) {
    return kernel_error(ErrorCode::kEnvironment, op, kernel,
                        fmt::format("an exception out of {}", name));
  }
  if (rc == 0) return {};
  reason[sizeof reason - 1] = '\0';
  return kernel_error(code, op, kernel,
                      reason[0] ? reason : fmt::format("{} returned {}", name, rc));
}

class PreparedPlugin final : public PreparedKernel {
 public:
  PreparedPlugin(const nereid_plugin_kernel& kernel, std::string op)
      : kernel_(kernel), op_(std::move(op)) {}
  ~PreparedPlugin() override {
    try {
      if (kernel_.destroy && prepared_) kernel_.destroy(state_);
    } catch (...) {  // a destructor has no one to tell
    }
  }

  Expected<void> prepare(const Desc& desc, std::span<void* const> constants) {
    const PluginDesc view(desc, constants);
    NRD_TRY(call(kernel_, op_, "prepare", ErrorCode::kUnsupported, [&](char* reason, size_t size) {
      return kernel_.prepare(view.get(), constants.data(), &state_, reason, size);
    }));
    prepared_ = true;
    return call(kernel_, op_, "workspace", ErrorCode::kEnvironment, [&](char*, size_t) {
      workspace_bytes_ = kernel_.workspace ? kernel_.workspace(state_) : 0;
      return 0;
    });
  }

  size_t workspace_bytes() const override { return workspace_bytes_; }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    return call(kernel_, op_, "run", ErrorCode::kEnvironment, [&](char*, size_t) {
      return kernel_.run(state_, args.pointers, workspace, exec.threads);
    });
  }

 private:
  const nereid_plugin_kernel& kernel_;
  std::string op_;
  void* state_ = nullptr;
  bool prepared_ = false;
  size_t workspace_bytes_ = 0;
};

class PluginKernel final : public Kernel {
 public:
  explicit PluginKernel(const nereid_plugin_kernel& kernel) : kernel_(kernel) {}
  std::string name() const override { return kernel_.name; }
  std::string_view op() const { return kernel_.op; }

  Expected<void> accepts(const Desc& desc) const override {
    const PluginDesc view(desc, {});
    return call(
        kernel_, desc.op->name, "accepts", ErrorCode::kUnsupported,
        [&](char* reason, size_t size) { return kernel_.accepts(view.get(), reason, size); });
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    auto prepared = std::make_unique<PreparedPlugin>(kernel_, desc.op->name);
    NRD_TRY(prepared->prepare(desc, constants));
    return std::unique_ptr<PreparedKernel>(std::move(prepared));
  }

 private:
  const nereid_plugin_kernel& kernel_;  // lives in the library
};

class PluginBackend final : public Backend {
 public:
  PluginBackend(const nereid_plugin& plugin, std::vector<PluginKernel> kernels)
      : name_(plugin.backend),
        version_(plugin.backend_version ? plugin.backend_version : ""),
        kernels_(std::move(kernels)) {}
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  Expected<void> load() override { return {}; }
  std::vector<const Kernel*> kernels(const Op& op) const override {
    std::vector<const Kernel*> list;
    for (const PluginKernel& kernel : kernels_)
      if (kernel.op() == op.name) list.push_back(&kernel);
    return list;
  }

 private:
  std::string name_, version_;
  std::vector<PluginKernel> kernels_;
};

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

// Reads what a library exports; every error names the library.
class PluginReader {
 public:
  explicit PluginReader(const std::string& path) : path_(path) {}

  Expected<Library> open() const {
    if (path_.empty()) return misuse("''", "the path of a shared library");
    if (access(path_.c_str(), F_OK) == 0)  // a FIFO would be waited for
      if (Expected<FileReader> file = FileReader::open(path_); !file)
        return error(file.error().code, file.error().got, file.error().allowed);
    // dlopen looks for a name without a slash among the system's libraries only.
    const bool here = path_.find('/') == std::string::npos && access(path_.c_str(), F_OK) == 0;
    Library library(dlopen((here ? "./" + path_ : path_).c_str(), RTLD_NOW | RTLD_LOCAL));
    if (library) return library;
    const char* why = dlerror();
    return error(ErrorCode::kEnvironment, why ? why : "no reason from dlopen",
                 "a shared library that can be loaded");
  }

  Expected<const nereid_plugin*> enter(void* library) const {
    void* symbol = dlsym(library, NEREID_PLUGIN_ENTRY);
    if (!symbol)
      return error(ErrorCode::kInvalidArgument, "no symbol " NEREID_PLUGIN_ENTRY,
                   "a library that exports it", "see nereid/plugin.h");
    const nereid_plugin* plugin = nullptr;
    try {
      plugin = reinterpret_cast<nereid_plugin_entry_function>(symbol)();
    } catch (...) {
      return error(ErrorCode::kEnvironment, "an exception out of " NEREID_PLUGIN_ENTRY, "");
    }
    if (!plugin)
      return error(ErrorCode::kInvalidArgument, "null from " NEREID_PLUGIN_ENTRY,
                   "a nereid_plugin");
    NRD_TRY(check(*plugin));
    return plugin;
  }

  Expected<std::vector<PluginKernel>> kernels(const nereid_plugin& plugin) const {
    std::vector<PluginKernel> list;
    const auto* at = reinterpret_cast<const char*>(plugin.kernels);
    for (size_t i = 0; i < plugin.kernel_count; i++) {
      const auto& kernel = *reinterpret_cast<const nereid_plugin_kernel*>(at);
      NRD_TRY(check(kernel, fmt::format("kernels[{}]", i)));
      list.emplace_back(kernel);
      at += plugin.kernels->struct_size;  // a newer library's elements are longer
    }
    return list;
  }

 private:
  Error error(ErrorCode code, std::string got, std::string allowed, std::string hint = "") const {
    return make_error({code, "", fmt::format("plug-in {}", path_), std::move(got),
                       std::move(allowed), std::move(hint)});
  }
  Error misuse(std::string got, std::string allowed, std::string hint = "") const {
    return error(ErrorCode::kInvalidArgument, std::move(got), std::move(allowed), std::move(hint));
  }

  static bool is_name(const char* name) {
    if (!name || !*name) return false;
    for (; *name; name++)
      if (!std::isalnum(static_cast<unsigned char>(*name)) && *name != '_' && *name != '-')
        return false;
    return true;
  }

  Expected<void> check(const nereid_plugin& plugin) const {
    if (plugin.version != NEREID_PLUGIN_VERSION)
      return error(ErrorCode::kUnsupported, fmt::format("version {}", plugin.version),
                   fmt::format("version {}", NEREID_PLUGIN_VERSION),
                   "build it with this library's nereid/plugin.h");
    if (plugin.struct_size < sizeof(nereid_plugin))
      return misuse(fmt::format("nereid_plugin.struct_size {}", plugin.struct_size),
                    fmt::format("at least {}", sizeof(nereid_plugin)), "set it to sizeof");
    if (!is_name(plugin.backend))
      return misuse(
          plugin.backend ? fmt::format("backend name '{}'", plugin.backend) : "a null backend name",
          "letters, digits, _ and -");
    if (plugin.kernel_count == 0 || !plugin.kernels) return misuse("no kernels", "at least one");
    if (plugin.kernels->struct_size < sizeof(nereid_plugin_kernel))
      return misuse(fmt::format("kernels[0].struct_size {}", plugin.kernels->struct_size),
                    fmt::format("at least {}", sizeof(nereid_plugin_kernel)), "set it to sizeof");
    return {};
  }

  Expected<void> check(const nereid_plugin_kernel& kernel, const std::string& at) const {
    if (!kernel.op || !kernel.name || !*kernel.name)
      return misuse(at + " without a name or an operator", "both");
    Expected<const Op*> op = find_op(kernel.op);
    if (!op)
      return error(ErrorCode::kUnknownName, fmt::format("{} for the operator '{}'", at, kernel.op),
                   "operators of the catalogue", op.error().hint);
    const std::pair<const char*, bool> functions[] = {{"accepts", kernel.accepts != nullptr},
                                                      {"prepare", kernel.prepare != nullptr},
                                                      {"run", kernel.run != nullptr}};
    for (const auto& [name, given] : functions)
      if (!given)
        return misuse(fmt::format("{} ({}): {} is null", at, kernel.name, name), "a function");
    return {};
  }

  const std::string& path_;
};

}  // namespace

Expected<std::string> KernelRegistry::add_plugin(const std::string& path) {
  const PluginReader reader(path);
  Expected<Library> library = reader.open();
  if (!library) return library.error();
  Expected<const nereid_plugin*> plugin = reader.enter(library->get());
  if (!plugin) return plugin.error();
  Expected<std::vector<PluginKernel>> kernels = reader.kernels(**plugin);
  if (!kernels) return kernels.error();
  auto backend = std::make_unique<PluginBackend>(**plugin, std::move(*kernels));
  const std::string name = backend->name();
  if (Expected<void> added = add(std::move(backend)); !added) {
    Error error = added.error();
    error.argument = fmt::format("plug-in {}: {}", path, error.argument);
    return error;
  }
  library->release();  // stays loaded as long as the process
  return name;
}

}  // namespace nrd
