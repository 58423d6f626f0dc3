// SPDX-License-Identifier: MIT
// src/peers/library.h: a peer's shared library, found and opened at run time.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace nrd {

// A library that is missing or not one that can be used, with what to do about it.
Error unusable(std::string library, std::string got);

// Never closed: peers keep threads and exit handlers.
class Library {
 public:
  Library() = default;

  // The first of `names` (best first) that opens: each in the folder that NEREID_PEERS_DIR names,
  // then as the system finds it, then in the folder that `./run setup peers` fills. In a folder the
  // libraries of `needs` are opened before it if they are there.
  static Expected<Library> open(std::span<const std::string_view> names,
                                std::span<const std::string_view> needs = {});

  const std::string& path() const { return path_; }  // as the system resolved it

  // Null when the library has no such symbol.
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }
  // Stores the symbol, or names it in `missing` when there is none.
  template <class Function>
  void require(const char* symbol, Function*& out, std::string& missing) const {
    out = find<Function>(symbol);
    if (out == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(symbol);
  }
  // An error when `missing` is not empty.
  Expected<void> complete(const std::string& missing) const;

 private:
  Library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace nrd
