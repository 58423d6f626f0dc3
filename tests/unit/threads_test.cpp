// SPDX-License-Identifier: MIT
// tests/unit/threads_test.cpp: every index once, whoever calls from wherever. Also run by TSan.
#include "base/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define NRD_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NRD_TSAN 1
#endif
#endif
#ifdef NRD_TSAN
// TSan refuses threads in a forked child unless told otherwise; that is what a test here does.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace nrd {
namespace {

// The pool asks once, so the environment is set before any test. More threads than cores is
// the harder case for correctness.
const bool kIsEnvironmentSet = setenv("NEREID_THREADS", "4", 0) == 0;

using Counters = std::unique_ptr<std::atomic<int>[]>;

Counters make_counters(int64_t count) {
  return std::make_unique<std::atomic<int>[]>(static_cast<size_t>(count));
}

bool all_are(const Counters& counters, int64_t count, int expected) {
  for (int64_t i = 0; i < count; i++) {
    if (counters[static_cast<size_t>(i)] != expected) return false;
  }
  return true;
}

// Runs a parallel_for and says whether each index came once and each range was allowed.
bool covers(const Exec& exec, int64_t count, int64_t grain) {
  const Counters seen = make_counters(std::max<int64_t>(count, 1));
  std::atomic<int> ranges{0};
  std::atomic<bool> is_right{true};
  parallel_for(exec, count, grain, [&](int64_t begin, int64_t end) {
    ranges++;
    if (begin >= end || (end - begin < grain && count >= grain)) is_right = false;
    for (int64_t i = begin; i < end; i++) seen[static_cast<size_t>(i)]++;
  });
  return is_right && ranges <= std::max(exec.threads, 1) && all_are(seen, count, 1);
}

TEST(Threads, WidthIsThatOfTheEnvironment) {
  ASSERT_TRUE(kIsEnvironmentSet);
  EXPECT_EQ(default_threads(), std::atoi(std::getenv("NEREID_THREADS")));
  EXPECT_EQ(default_executor().width(), default_threads());
  EXPECT_GE(available_cores(), 1);
}

TEST(Threads, EveryIndexOnce) {
  for (int threads : {0, 1, 2, 3, 4, 7, 64}) {
    for (int64_t count : {0, 1, 2, 3, 5, 31, 64, 1000, 4097}) {
      for (int64_t grain : {0, 1, 3, 64, 5000}) {
        EXPECT_TRUE(covers({.threads = threads}, count, grain))
            << threads << " threads, " << count << " indices, grain " << grain;
      }
    }
  }
}

TEST(Threads, ExecutorRunsEveryIndexOnceEvenWhenThereAreMany) {
  for (int64_t count : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{65536}, int64_t{200003}}) {
    const Counters seen = make_counters(std::max<int64_t>(count, 1));
    default_executor().run(
        count, [](void* s, int64_t i) { (*static_cast<Counters*>(s))[static_cast<size_t>(i)]++; },
        const_cast<Counters*>(&seen));
    EXPECT_TRUE(all_are(seen, count, 1)) << count;
  }
}

// Results written by workers are visible to the caller without further synchronisation.
TEST(Threads, ManyShortJobs) {
  std::vector<int64_t> values(64);
  for (int64_t round = 1; round <= 3000; round++) {
    parallel_for({.threads = 4}, 64, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) values[static_cast<size_t>(i)] += i;
    });
    for (int64_t i = 0; i < 64; i++) ASSERT_EQ(values[static_cast<size_t>(i)], i * round);
  }
}

TEST(Threads, SleepingWorkersWakeUp) {
  for (int round = 0; round < 30; round++) {
    std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
    ASSERT_TRUE(covers({.threads = 4}, 1000, 1));
  }
}

// Proves that there is a second thread: each range waits for the other.
TEST(Threads, RangesRunAtTheSameTime) {
  if (default_threads() < 2) GTEST_SKIP() << "NEREID_THREADS=1";
  std::atomic<int> arrived{0};
  parallel_for({.threads = 2}, 2, 1, [&](int64_t, int64_t) {
    arrived++;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Threads, WorkersLeaveSignalsToTheHostButForFaults) {
  if (default_threads() < 2) GTEST_SKIP() << "NEREID_THREADS=1";
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> workers{0}, wrong{0};
  const auto look = [&](int64_t, int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that workers get some
    if (std::this_thread::get_id() == caller) return;
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
      wrong += sigismember(&blocked, fault);
    for (int other : {SIGINT, SIGTERM, SIGALRM}) wrong += !sigismember(&blocked, other);
    workers++;
  };
  for (int i = 0; i < 100 && workers == 0; i++) parallel_for(Exec{4, nullptr}, 4, 1, look);
  EXPECT_GT(workers, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, LongUnitsLetTheCallerSleep) {
  std::atomic<int> done{0};
  parallel_for({.threads = 4}, 4, 1, [&](int64_t begin, int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(begin * 3));
    done++;
  });
  EXPECT_EQ(done, 4);
}

TEST(Threads, NestedCallsRunInline) {
  std::atomic<int> inner_ranges{0}, wrong_thread{0};
  parallel_for({.threads = 4}, 4, 1, [&](int64_t, int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    const auto check = [&](int64_t, int64_t) {
      inner_ranges++;
      if (std::this_thread::get_id() != outer) wrong_thread++;
    };
    parallel_for({.threads = 4}, 100, 1, check);
    int64_t sum = 0;  // not atomic: inline means one thread
    default_executor().run(
        10, [](void* s, int64_t i) { *static_cast<int64_t*>(s) += i; }, &sum);
    if (sum != 45) wrong_thread++;
  });
  EXPECT_EQ(inner_ranges, 4);
  EXPECT_EQ(wrong_thread, 0);
}

TEST(Threads, ConcurrentCallers) {
  std::atomic<int> failures{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; caller++) {
    callers.emplace_back([&failures, caller] {
      for (int round = 0; round < 200; round++) {
        if (!covers({.threads = 2 + caller % 3}, 100 + round, 1)) failures++;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failures, 0);
}

// The exit status of a child that runs `body`; -1 when it died or hung.
template <class Body>
int status_of_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a deadlock must end
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Threads, AForkedChildRebuildsThePool) {
  ASSERT_TRUE(covers({.threads = 4}, 1000, 1));
  const auto use = [] {
    std::atomic<int> arrived{0};  // needs a live worker
    parallel_for({.threads = 2}, 2, 1, [&](int64_t, int64_t) {
      arrived++;
      while (default_threads() > 1 && arrived < 2) std::this_thread::yield();
    });
    return covers({.threads = 4}, 1000, 1) && covers({.threads = 3}, 77, 2);
  };
  EXPECT_EQ(status_of_child(use), 0);
  EXPECT_EQ(status_of_child([&] { return use() && status_of_child(use) == 0; }), 0);
  EXPECT_TRUE(use()) << "the parent's pool must not notice";
}

TEST(Threads, ForkWhileAnotherThreadIsInACall) {
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) parallel_for({.threads = 4}, 64, 1, [](int64_t, int64_t) {});
  });
  for (int i = 0; i < 10; i++) {
    EXPECT_EQ(status_of_child([] { return covers({.threads = 4}, 500, 1); }), 0);
  }
  is_over = true;
  other.join();
}

class CountingExecutor final : public Executor {
 public:
  int width() const override { return 3; }
  void run(int64_t count, ParallelBody body, void* context) override {
    calls_++;
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < count; i++) threads.emplace_back([=] { body(context, i); });
    for (std::thread& thread : threads) thread.join();
  }
  int calls() const { return calls_; }

 private:
  int calls_ = 0;
};

TEST(Threads, ACallerMayBringAnExecutor) {
  CountingExecutor executor;
  const Exec exec{.threads = 3, .executor = &executor};
  EXPECT_TRUE(covers(exec, 1000, 1));
  EXPECT_EQ(executor.calls(), 1);
  EXPECT_TRUE(covers(exec, 1, 1));
  EXPECT_EQ(executor.calls(), 1) << "small work runs inline";
  parallel_for(exec, 3, 1, [&](int64_t, int64_t) { parallel_for(exec, 9, 1, [](auto, auto) {}); });
  EXPECT_EQ(executor.calls(), 2) << "nested work runs inline";
}

// ---- the cgroup's quota, on a made-up file system ----

class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "nereid_cgroup_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
};

TEST_F(Cgroup, NoneMeansNoLimit) { EXPECT_EQ(cgroup_quota(root_), 0); }

TEST_F(Cgroup, V2IsRoundedUpAndParentsCount) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_quota(root_), 0);
  write("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
  EXPECT_EQ(cgroup_quota(root_), 3);
  write("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_quota(root_), 1);
}

TEST_F(Cgroup, AContainerSeesTheMountsRoot) {
  write("/proc/self/cgroup", "0::/system.slice/of/the/host\n");
  write("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_quota(root_), 4);
}

TEST_F(Cgroup, V1) {
  write("/proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/pod\n1:name=systemd:/\n");
  write("/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_quota(root_), 0);
  write("/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(cgroup_quota(root_), 2);
}

}  // namespace
}  // namespace nrd
