// SPDX-License-Identifier: MIT
// src/base/threads.cpp: the pool behind parallel_for.
//
// A job is cut into units. `claim_` holds the job's number and how many units are still to take;
// taking one is a compare-and-swap on both, so a worker that comes late to a finished job takes
// nothing. `unfinished_` counts units not yet done; the caller returns when it is 0. The fields
// of the job are read only by whoever holds a unit, and written only when nobody does. The caller
// takes units like any worker: no worker need ever arrive.
#include "base/threads.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <new>
#include <utility>

#include "base/locks.h"

namespace nrd {
namespace {

constexpr std::chrono::microseconds kSpin{30};
constexpr int64_t kMostUnits = 1 << 16;  // a job of more indices hands them out in runs
constexpr size_t kLine = 64;

// True inside a body: calls from there run inline.
thread_local bool t_is_inside = false;

class InsideGuard {
 public:
  InsideGuard() : was_inside_(t_is_inside) { t_is_inside = true; }
  ~InsideGuard() { t_is_inside = was_inside_; }
  InsideGuard(const InsideGuard&) = delete;
  InsideGuard& operator=(const InsideGuard&) = delete;

 private:
  bool was_inside_;
};

using FutexWord = std::atomic<uint32_t>;
static_assert(sizeof(FutexWord) == 4 && FutexWord::is_always_lock_free);

void futex_wait(FutexWord& word, uint32_t seen) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void futex_wake(FutexWord& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` is a no-op on most cores; isb waits a little
#endif
}

// Waits up to `limit` for the condition; says whether it came.
template <class Condition>
bool spin_until(std::chrono::nanoseconds limit, Condition&& condition) {
  if (condition()) return true;
  if (limit.count() == 0) return false;
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < 16; i++) {  // the clock costs about as much as one pause
      relax();
      if (condition()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Moves this thread off a core and lets it go anywhere again. The kernel often wakes a worker on
// the core of the very thread that waits for it; there the two would take turns.
void leave_core(int core) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<size_t>(core), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof(others), &others) != 0) return;
  sched_setaffinity(0, sizeof(allowed), &allowed);
}

void run_inline(int64_t count, ParallelBody body, void* context) {
  const InsideGuard guard;
  for (int64_t i = 0; i < count; i++) body(context, i);
}

class Pool final : public Executor {
 public:
  constexpr Pool() = default;
  ~Pool() override { stop(); }

  int width() const override { return default_threads(); }
  void run(int64_t count, ParallelBody body, void* context) override;
  void forget_workers();  // in a forked child: they exist in the parent only

 private:
  enum class Phase : int { kNew, kRunning, kStopped };

  struct Job {
    ParallelBody body = nullptr;
    void* context = nullptr;
    int64_t count = 0;
    int64_t units = 0;
  };

  void start();
  void stop();
  void publish(const Job& job);
  void wake_workers(int wanted);
  void work(uint32_t number);
  void run_unit(int64_t unit);
  void wait_for_the_rest();
  void worker_loop();
  static void* worker_main(void* pool);

  // What a worker reads to begin, on one line.
  alignas(kLine) FutexWord number_{0};  // of the newest job; idle workers watch it
  std::atomic<int> sleepers_{0};
  std::atomic<uint64_t> claim_{0};  // job number << 32 | units still to take
  Job job_;
  // What is written at the end of a unit.
  alignas(kLine) FutexWord unfinished_{0};
  std::atomic<bool> caller_sleeps_{false};
  // Touched once a call, or once in a life.
  alignas(kLine) std::atomic<bool> is_busy_{false};
  std::atomic<Phase> phase_{Phase::kNew};
  std::atomic<int> caller_core_{-1};  // where the last call that woke workers was
  std::chrono::nanoseconds spin_{0};
  pthread_t* workers_ = nullptr;
  int worker_count_ = 0;
};

// Constant-initialised: no guard that a fork could catch half-way.
constinit Pool g_pool;

void Pool::run(int64_t count, ParallelBody body, void* context) {
  const bool is_alone = t_is_inside || count <= 1 || width() <= 1;
  if (is_alone || is_busy_.exchange(true, std::memory_order_acquire)) {
    return run_inline(count, body, context);
  }
  if (phase_.load(std::memory_order_relaxed) == Phase::kNew) start();
  if (worker_count_ == 0 || phase_.load(std::memory_order_relaxed) != Phase::kRunning) {
    run_inline(count, body, context);
  } else {
    publish({body, context, count, std::min(count, kMostUnits)});
    work(number_.load(std::memory_order_relaxed));
    wait_for_the_rest();
  }
  is_busy_.store(false, std::memory_order_release);
}

void Pool::publish(const Job& job) {
  const uint32_t number = number_.load(std::memory_order_relaxed) + 1;
  job_ = job;
  unfinished_.store(static_cast<uint32_t>(job.units), std::memory_order_relaxed);
  claim_.store(uint64_t{number} << 32 | static_cast<uint64_t>(job.units),
               std::memory_order_release);
  number_.store(number, std::memory_order_seq_cst);
  wake_workers(static_cast<int>(std::min<int64_t>(job.units - 1, worker_count_)));
}

// Those awake will see the number by themselves; a system call only for those missing. Either a
// worker's count among the sleepers is seen here, or the new number is seen by its futex_wait.
void Pool::wake_workers(int wanted) {
  const int asleep = sleepers_.load(std::memory_order_seq_cst);
  const int missing = wanted - (worker_count_ - asleep);
  if (missing <= 0) return;
  caller_core_.store(sched_getcpu(), std::memory_order_relaxed);
  futex_wake(number_, missing);
}

void Pool::work(uint32_t number) {
  const InsideGuard guard;
  uint64_t claim = claim_.load(std::memory_order_relaxed);
  while (claim >> 32 == number && static_cast<uint32_t>(claim) != 0) {
    if (!claim_.compare_exchange_weak(claim, claim - 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
      continue;
    }
    run_unit(job_.units - static_cast<int64_t>(static_cast<uint32_t>(claim)));
    if (unfinished_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        caller_sleeps_.load(std::memory_order_seq_cst)) {
      futex_wake(unfinished_, 1);
    }
    claim = claim_.load(std::memory_order_relaxed);
  }
}

void Pool::run_unit(int64_t unit) {
  const int64_t each = job_.count / job_.units;
  const int64_t longer = job_.count % job_.units;  // the first units have one index more
  const int64_t begin = unit * each + std::min(unit, longer);
  const int64_t end = begin + each + (unit < longer ? 1 : 0);
  for (int64_t i = begin; i < end; i++) job_.body(job_.context, i);
}

void Pool::wait_for_the_rest() {
  const auto is_done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (spin_until(spin_, is_done)) return;
  caller_sleeps_.store(true, std::memory_order_seq_cst);
  for (uint32_t left; (left = unfinished_.load(std::memory_order_seq_cst)) != 0;) {
    futex_wait(unfinished_, left);
  }
  caller_sleeps_.store(false, std::memory_order_relaxed);
}

void Pool::worker_loop() {
  uint32_t seen = 0;
  for (;;) {
    const auto is_new = [&] { return number_.load(std::memory_order_acquire) != seen; };
    while (!spin_until(spin_, is_new)) {
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      futex_wait(number_, seen);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      const int core = sched_getcpu();
      if (core >= 0 && core == caller_core_.load(std::memory_order_relaxed)) leave_core(core);
    }
    // stop() sets the phase, then the number; a publish() that overwrites that number with its
    // own comes later in the one order of these operations, so the phase is seen all the same.
    seen = number_.load(std::memory_order_seq_cst);
    if (phase_.load(std::memory_order_seq_cst) == Phase::kStopped) return;
    work(seen);
  }
}

void* Pool::worker_main(void* pool) {
  pthread_setname_np(pthread_self(), "nereid");
  // A fault belongs to the thread that has it: blocked, it would end the program without asking the
  // host's handler.
  sigset_t faults;
  sigemptyset(&faults);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigaddset(&faults, fault);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
  static_cast<Pool*>(pool)->worker_loop();
  return nullptr;
}

// Called with is_busy_ held. Fewer workers than wanted, or none, is slower and still right.
void Pool::start() {
  watch_forks();
  const int wanted = width() - 1;
  // With more threads than cores, who spins keeps another from working.
  spin_ = width() <= available_cores() ? kSpin : std::chrono::microseconds{0};
  number_.store(0, std::memory_order_relaxed);
  delete[] std::exchange(workers_, nullptr);  // in this order a fork in between does no harm
  workers_ = new (std::nothrow) pthread_t[static_cast<size_t>(wanted)];
  worker_count_ = 0;
  // The host's signals are for the host's threads.
  sigset_t blocked, before;
  sigfillset(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  while (workers_ != nullptr && worker_count_ < wanted &&
         pthread_create(&workers_[worker_count_], nullptr, worker_main, this) == 0) {
    worker_count_++;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  Phase expected = Phase::kNew;  // stop() may have come meanwhile, from a thread that exits
  phase_.compare_exchange_strong(expected, Phase::kRunning);
}

// At exit and dlclose. Calls after this run inline; a call in progress finishes by itself.
void Pool::stop() {
  if (phase_.exchange(Phase::kStopped) != Phase::kRunning) return;
  number_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(number_, INT_MAX);
  for (int i = 0; i < worker_count_; i++) {
    if (pthread_equal(workers_[i], pthread_self())) continue;  // a body called exit()
    pthread_join(workers_[i], nullptr);
  }
  delete[] std::exchange(workers_, nullptr);
}

void Pool::forget_workers() {
  is_busy_.store(false, std::memory_order_relaxed);
  sleepers_.store(0, std::memory_order_relaxed);
  claim_.store(0, std::memory_order_relaxed);
  caller_sleeps_.store(false, std::memory_order_relaxed);
  worker_count_ = 0;
  if (phase_.load(std::memory_order_relaxed) == Phase::kRunning) {
    phase_.store(Phase::kNew, std::memory_order_relaxed);
  }
}

struct RangeCall {
  void (*body)(void*, int64_t, int64_t);
  void* context;
  int64_t each;
  int64_t longer;

  static void run_range(void* context, int64_t index) {
    const auto& call = *static_cast<const RangeCall*>(context);
    const int64_t begin = index * call.each + std::min(index, call.longer);
    const int64_t end = begin + call.each + (index < call.longer ? 1 : 0);
    const InsideGuard guard;  // for a caller's executor; our pool has its own
    call.body(call.context, begin, end);
  }
};

}  // namespace

Executor& default_executor() { return g_pool; }

void forget_workers() { g_pool.forget_workers(); }

void parallel_ranges(const Exec& exec, int64_t count, int64_t grain,
                     void (*body)(void* context, int64_t begin, int64_t end), void* context) {
  if (count <= 0) return;
  const int64_t most = count / std::max<int64_t>(grain, 1);
  const int64_t ranges = std::min<int64_t>(exec.threads, most);
  if (ranges <= 1 || t_is_inside) return body(context, 0, count);
  RangeCall call{body, context, count / ranges, count % ranges};
  Executor& executor = exec.executor != nullptr ? *exec.executor : default_executor();
  executor.run(ranges, RangeCall::run_range, &call);
}

}  // namespace nrd
