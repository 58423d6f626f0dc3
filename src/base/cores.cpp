// SPDX-License-Identifier: MIT
// src/base/cores.cpp: how many cores this process may use.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "base/assume_cores.h"
#include "base/env.h"
#include "base/threads.h"

namespace nrd {
namespace {

std::atomic<int> g_cores{0};  // as asked; 0: not yet

int affinity_cores() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {  // the kernel refuses too short a mask
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpus));
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
    const bool is_read = sched_getaffinity(0, bytes, set) == 0;
    const int cores = is_read ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (is_read) return cores;
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

// quota / period in cores; 0 when a file is missing or says "no limit" ("max", -1).
int quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::ceil(quota / period));
}

int quota_v1(const std::string& folder) {
  double quota = 0, period = 0;
  if (!(std::ifstream(folder + "/cpu.cfs_quota_us") >> quota) || quota <= 0) return 0;
  if (!(std::ifstream(folder + "/cpu.cfs_period_us") >> period) || period <= 0) return 0;
  return static_cast<int>(std::ceil(quota / period));
}

int tighter(int a, int b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// The group and all its parents: a limit anywhere above holds. In a container the path may name
// folders outside; then the walk still ends at the mount's own root, which is the container's.
int quota_upwards(const std::string& mount, std::string path, int (*quota)(const std::string&)) {
  int cores = 0;
  while (!path.empty() && path != "/") {
    cores = tighter(cores, quota(mount + path));
    path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  return tighter(cores, quota(mount));
}

bool lists_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::string_view name = controllers.substr(0, controllers.find(','));
    if (name == "cpu") return true;
    controllers.remove_prefix(std::min(name.size() + 1, controllers.size()));
  }
  return false;
}

int threads_from_environment() {
  const std::string text = env("NEREID_THREADS").value_or("");
  if (text.empty()) return 0;
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  // Anything else is an error of check_environment().
  return is_number && threads >= 1 && threads <= kMostThreads ? threads : 0;
}

}  // namespace

int cgroup_quota(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");  // lines "id:controllers:path"
  const std::string mounts = root + "/sys/fs/cgroup";
  int cores = 0;
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      cores = tighter(cores, quota_upwards(mounts, path, quota_v2));
      cores = tighter(cores, quota_upwards(mounts + "/unified", path, quota_v2));
    } else if (lists_cpu(controllers)) {
      cores = tighter(cores, quota_upwards(mounts + "/cpu", path, quota_v1));
      cores = tighter(cores, quota_upwards(mounts + "/" + controllers, path, quota_v1));
    }
  }
  return cores;
}

// Both keep their answer in an atomic, not behind a static's guard, which a fork could catch
// locked; asking twice does no harm.
int available_cores() {
  if (g_cores.load(std::memory_order_relaxed) == 0) {
    g_cores.store(std::max(1, tighter(affinity_cores(), cgroup_quota(""))));
  }
  return g_cores.load(std::memory_order_relaxed);
}

void assume_cores(int cores) { g_cores.store(cores); }

int default_threads() {
  static std::atomic<int> threads{0};
  if (threads.load(std::memory_order_relaxed) == 0) {
    const int wanted = threads_from_environment();
    threads.store(wanted > 0 ? wanted : std::min(available_cores(), kMostThreads));
  }
  return threads.load(std::memory_order_relaxed);
}

}  // namespace nrd
