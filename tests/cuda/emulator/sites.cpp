// SPDX-License-Identifier: MIT
// tests/cuda/emulator/sites.cpp
#include "emulator/sites.h"

#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "base/env.h"

namespace nrd::cuda::emulator {
namespace {

std::string name(const char* kind, const Place& place) {
  const char* file = place.file_name();
  if (const char* slash = std::strrchr(file, '/')) file = slash + 1;
  return std::string(file) + ":" + std::to_string(place.line()) + ":" +
         std::to_string(place.column()) + " " + kind;
}

// The kernels' own; those of the tests' kernels are nobody's business.
bool is_of_a_kernel(const Place& place) { return std::strstr(place.file_name(), "src/cuda/"); }

class Sites {
 public:
  Sites() : dropped_(env("NEREID_EMULATOR_DROP").value_or("")) {
    file_ = env("NEREID_EMULATOR_SITES").value_or("");
  }
  ~Sites() {
    if (file_.empty()) return;
    if (std::FILE* out = std::fopen(file_.c_str(), "w")) {
      for (const std::string& site : reached_) std::fprintf(out, "%s\n", site.c_str());
      std::fclose(out);
    }
  }
  bool watches() const { return !dropped_.empty() || !file_.empty(); }
  bool reach(const char* kind, const Place& place) {
    // A thread passes the same place again and again; its name is made once.
    const Key key{place.file_name(), place.line(), place.column(), kind};
    if (!file_.empty() && is_of_a_kernel(place) && seen_.insert(key).second)
      reached_.insert(name(kind, place));
    if (dropped_.empty()) return false;
    if (key == last_kept_) return false;
    if (key == last_dropped_ || name(kind, place) == dropped_) {
      last_dropped_ = key;
      return true;
    }
    last_kept_ = key;
    return false;
  }

 private:
  struct Key {
    const char* file = nullptr;
    unsigned line = 0, column = 0;
    const char* kind = nullptr;
    auto operator<=>(const Key&) const = default;
  };
  std::string dropped_, file_;
  std::set<Key> seen_;
  std::set<std::string> reached_;
  Key last_kept_, last_dropped_;
};

Sites& sites() {
  static Sites all;
  return all;
}

}  // namespace

namespace detail {
bool watches_sites = sites().watches();
bool is_dropped(const char* kind, const Place& place) { return sites().reach(kind, place); }
}  // namespace detail

}  // namespace nrd::cuda::emulator
