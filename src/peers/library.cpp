// SPDX-License-Identifier: MIT
// src/peers/library.cpp: where a peer is looked for, and what is said if it is not.
#include "peers/library.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "base/env.h"

namespace nrd {
namespace {

constexpr int kOpenFlags = RTLD_NOW | RTLD_LOCAL;

// Folders in the order of the search; "" is the system's own search.
std::vector<std::string> folders() {
  std::vector<std::string> list;
  if (auto chosen = env("NEREID_PEERS_DIR"); chosen && !chosen->empty()) list.push_back(*chosen);
  list.emplace_back();
#ifdef NEREID_PEERS_DIR
  list.emplace_back(NEREID_PEERS_DIR);
#endif
  return list;
}

std::string join(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// The wheels' libraries know no path of those they need; one that is open already, under its
// soname, is taken instead of searched.
void open_needs(const std::string& folder, std::span<const std::string_view> needs) {
  for (std::string_view need : needs) {
    const std::string path = join(folder, need);
    if (exists(path)) dlopen(path.c_str(), kOpenFlags);
  }
}

std::string resolved_path(void* handle, std::string_view name) {
  char origin[4096];
  if (dlinfo(handle, RTLD_DI_ORIGIN, origin) != 0) return std::string(name);
  return std::string(origin) + "/" + std::string(name);
}

}  // namespace

Error unusable(std::string library, std::string got) {
  return make_error({.code = ErrorCode::kEnvironment,
                     .op = {},
                     .argument = std::move(library),
                     .got = std::move(got),
                     .allowed = {},
                     .hint = "run ./run setup peers"});
}

Expected<Library> Library::open(std::span<const std::string_view> names,
                                std::span<const std::string_view> needs) {
  std::string tried;
  const std::vector<std::string> places = folders();
  for (std::string_view name : names) {
    for (const std::string& folder : places) {
      const std::string path = join(folder, name);
      if (!folder.empty()) {
        if (!exists(path)) continue;
        open_needs(folder, needs);
      }
      if (void* handle = dlopen(path.c_str(), kOpenFlags))
        return Library(handle, resolved_path(handle, name));
      const char* why = dlerror();
      tried += (tried.empty() ? "" : "; ") + std::string(why != nullptr ? why : path);
    }
  }
  return unusable(std::string(names.front()), tried);
}

Expected<void> Library::complete(const std::string& missing) const {
  if (missing.empty()) return {};
  return unusable(path_, "a library without " + missing);
}

void* Library::address(const char* symbol) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
}

}  // namespace nrd
