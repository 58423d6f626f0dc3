// SPDX-License-Identifier: MIT
// src/lift/image.cpp: the image of the running process.
//
// A call's target is named, in this order, by what the library was told (register_name), by the
// relocation of its GOT slot, by being the address of a function of the C library, or by the
// module's dynamic symbols. The relocation comes before the address because a slot that was not yet
// called points back into the PLT, and because an interposed function keeps its name; the address
// is all there is in a static program, where the slot has no name.
#include "lift/image.h"

#include <cstring>
#include <memory>

#include "base/lazy.h"
#include "base/locks.h"
#include "lift/image_libm.h"
#include "lift/image_module.h"

namespace nrd::lift {
namespace {

struct Named {
  uint64_t address = 0;
  std::string name;
};

std::optional<std::string> find_name(const std::vector<Named>& list, uint64_t address) {
  for (const Named& entry : list)
    if (entry.address == address) return entry.name;
  return std::nullopt;
}

std::optional<std::string> to_optional(std::string_view name) {
  if (name.empty()) return std::nullopt;
  return std::string(name);
}

class ProcessImage final : public Image {
 public:
  ProcessImage() {
    for (const LibraryFunction& function : library_functions())
      library_.push_back({function.address, std::string(function.name)});
  }

  size_t code_bytes(uint64_t address) const override {
    size_t bytes = 0;
    with_module(address, 1, [&](const Module& module) {
      const Segment* segment = module.find(address, 1);
      if (segment->read && segment->execute) bytes = segment->end - address;
    });
    return bytes;
  }

  const uint8_t* code(uint64_t address) const override {
    return reinterpret_cast<const uint8_t*>(address);
  }

  bool read_only(uint64_t address, size_t size, void* out) const override {
    bool constant = false;
    with_module(address, size, [&](const Module& module) {
      constant = module.is_constant(address, size);
      if (constant) std::memcpy(out, reinterpret_cast<const void*>(address), size);
    });
    return constant;
  }

  std::optional<std::string> name_of_slot(uint64_t slot) const override {
    std::optional<std::string> name;
    with_module(slot, sizeof(void*),
                [&](const Module& module) { name = to_optional(module.name_of_slot(slot)); });
    if (name) return name;
    const uint64_t content = slot_content(slot);
    return content ? name_of_function(content) : std::nullopt;
  }

  std::optional<std::string> name_of_function(uint64_t address) const override {
    {
      const Locked lock(LockName::kImage);
      if (auto name = find_name(registered_, address)) return name;
    }
    if (auto name = find_name(library_, address)) return name;
    std::optional<std::string> name;
    with_module(address, 1, [&](const Module& module) {
      name = to_optional(module.name_of_function(address));
    });
    return name;
  }

  // The loader may be binding the slot in another thread.
  uint64_t slot_content(uint64_t slot) const override {
    uint64_t content = 0;
    with_module(slot, sizeof content, [&](const Module& module) {
      const bool aligned = slot % sizeof content == 0;
      if (!aligned || !module.find(slot, sizeof content)->read) return;
      content = __atomic_load_n(reinterpret_cast<const uint64_t*>(slot), __ATOMIC_RELAXED);
      // Not called yet: it points back into the PLT, though the module may have the function.
      const uint64_t definition = module.definition_of_slot(slot);
      if (definition != 0 && module.find(content, 1) != nullptr) content = definition;
    });
    return content;
  }

  bool is_instrumentation(uint64_t address, size_t size, std::string* reason) const override {
    bool is_its = false;
    with_module(address, size, [&](const Module& module) {
      is_its = module.is_instrumentation(address, size, reason);
    });
    return is_its;
  }

  void add_name(const void* function, std::string name) {
    const Locked lock(LockName::kImage);
    registered_.push_back({reinterpret_cast<uint64_t>(function), std::move(name)});
  }

  // Reads the list of modules again if modules came or went since.
  void refresh() const {
    Listing listing;
    walk_modules(list_module, &listing);
    auto modules = std::make_shared<const std::vector<Module>>(std::move(listing.modules));
    const Locked lock(LockName::kImage);
    if (listing.changes == changes_ && modules_) return;
    modules_.swap(modules);  // the former are destroyed without the lock
    changes_ = listing.changes;
  }

  bool is_stale() const {
    unsigned long long changes = 0;
    walk_modules(count_changes, &changes);
    const Locked lock(LockName::kImage);
    return changes != changes_;
  }

 private:
  struct Listing {
    std::vector<Module> modules;
    unsigned long long changes = 0;
  };

  static int list_module(dl_phdr_info* info, size_t, void* out) {
    auto* listing = static_cast<Listing*>(out);
    listing->modules.emplace_back(*info);
    listing->changes = info->dlpi_adds + info->dlpi_subs;
    return 0;
  }

  static int count_changes(dl_phdr_info* info, size_t, void* out) {
    *static_cast<unsigned long long*>(out) = info->dlpi_adds + info->dlpi_subs;
    return 1;  // the first module says it
  }

  // Calls `use` with the module whose segment holds the bytes, if there is one.
  template <class Use>
  void with_module(uint64_t address, size_t size, Use use) const {
    for (bool again : {true, false}) {
      if (const auto modules = list()) {
        for (const Module& module : *modules)
          if (module.find(address, size)) return use(module);
      }
      if (!again || !is_stale()) return;
      refresh();
    }
  }

  std::shared_ptr<const std::vector<Module>> list() const {
    const Locked lock(LockName::kImage);
    return modules_;
  }

  // Under LockName::kImage.
  mutable std::shared_ptr<const std::vector<Module>> modules_;
  mutable unsigned long long changes_ = 0;
  std::vector<Named> registered_;
  std::vector<Named> library_;  // set once
};

constinit Lazy<ProcessImage> g_image;

ProcessImage& instance() { return g_image.get(); }

}  // namespace

const Image& process_image() {
  ProcessImage& image = instance();
  if (image.is_stale()) image.refresh();
  return image;
}

void register_name(const void* function, std::string name) {
  instance().add_name(function, std::move(name));
}

}  // namespace nrd::lift
