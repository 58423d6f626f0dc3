// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/oracle.cpp: the child that calls the C function itself and compares.
//
// The function runs on contiguous copies of exactly the sizes that the call had, between guard
// pages: once ending at one, once beginning at one. What vector code may differ by is measured, not
// assumed: the function runs with every direction of rounding, on inputs that differ in their last
// bit, with results of expf and the like that do, and as compiled with products contracted into
// sums (x * x - m * m is 0 where both are rounded alike). A result is right within some times the
// spread of those runs.
//
// The sign of a NaN is nobody's promise: it hangs on which operand of a sum comes first. NaNs that
// come in and out of logf and the like are negated in some runs. Those that arithmetic makes cannot
// be: where there were any, a number may have either sign (copysign).
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <sstream>

#include "case.h"
#include "guarded.h"
#include "nudge.h"
#include "shared.h"

namespace judge {
namespace {

constexpr double kSpread = 8, kUnits = 8;
constexpr double kNudge = 3;  // units that inputs are off by, at most
constexpr int kSecondsOfACase = 4;
constexpr size_t kOperandBytes = size_t{4} << 20;

sigjmp_buf landing;
int landed_with = 0;

void land(int signal_number) {
  landed_with = signal_number;
  siglongjmp(landing, 1);
}

void catch_signals() {
  static char stack[1 << 16];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = land;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGVTALRM})
    sigaction(s, &action, nullptr);
}

void set_timer(int seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

// How one run differs from the plain one.
struct Run {
  int rounding;
  bool at_begin;
  uint64_t nudge;  // a seed; 0: inputs and functions of mathematics as they are
  bool contracts = false;
};
constexpr Run kRuns[] = {
    {FE_TONEAREST, false, 0},       {FE_TONEAREST, true, 0},       {FE_UPWARD, false, 0},
    {FE_DOWNWARD, false, 0},        {FE_TOWARDZERO, false, 0},     {FE_TONEAREST, false, 1},
    {FE_TONEAREST, false, 2},       {FE_TONEAREST, false, 3},      {FE_TONEAREST, false, 4},
    {FE_TONEAREST, false, 5},       {FE_TONEAREST, false, 6},      {FE_TONEAREST, false, 7},
    {FE_TONEAREST, false, 0, true}, {FE_TONEAREST, false, 8, true}};
constexpr size_t kPlainRuns = 2;

struct Range {
  double plain = 0, low = INFINITY, high = -INFINITY;
  bool nan = false, plain_nan = false;

  void add(double value, bool first) {
    if (first) plain = value;
    if (std::isnan(value)) {
      nan = true;
      plain_nan = plain_nan || first;
    } else {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
};

// Integers and pointers go in one sequence, floats in another, on x86-64 as on aarch64; what is
// passed beyond a function's parameters it does not see.
struct Arguments {
  int64_t words[14] = {};
  double reals[8] = {};
  size_t word_count = 0, real_count = 0;

  void add_word(int64_t word) { words[word_count++] = word; }
  void add_real(double value, bool is_float) {
    double& slot = reals[real_count++];
    slot = value;
    if (!is_float) return;
    const auto narrow = static_cast<float>(value);
    slot = 0;
    std::memcpy(&slot, &narrow, sizeof narrow);
  }
};

template <class R>
R call_function(const void* address, const Arguments& a) {
  using W = int64_t;
  using F = R (*)(W, W, W, W, W, W, double, double, double, double, double, double, double, double,
                  W, W, W, W, W, W, W, W);
  const W* w = a.words;
  const double* d = a.reals;
  return reinterpret_cast<F>(reinterpret_cast<uintptr_t>(address))(
      w[0], w[1], w[2], w[3], w[4], w[5], d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], w[6],
      w[7], w[8], w[9], w[10], w[11], w[12], w[13]);
}

double call_for_value(const CFunction& f, const void* address, const Arguments& a) {
  if (f.result.kind == CParam::kVoid) return call_function<int64_t>(address, a), 0;
  if (f.result.kind == CParam::kDouble) return call_function<double>(address, a);
  if (f.result.kind == CParam::kFloat) return static_cast<double>(call_function<float>(address, a));
  const int64_t word = call_function<int64_t>(address, a);
  if (f.result.bytes == 8) return static_cast<double>(word);
  // As doubles: the common type of the two would be unsigned.
  return f.result.is_signed ? static_cast<double>(static_cast<int32_t>(word))
                            : static_cast<double>(static_cast<uint32_t>(word));
}

// The function in C types on the data of one case.
class Oracle {
 public:
  Oracle(const Attempt& attempt, const OpSignature& signature, const Case& c)
      : f_(*attempt.function),
        address_(attempt.address),
        plain_(attempt.address),
        contracted_(attempt.contracted),
        s_(signature),
        c_(c) {
    static std::vector<Guarded> guarded;
    while (guarded.size() < c.operands.size()) guarded.emplace_back(kOperandBytes);
    buffers_ = &guarded;
    for (size_t i = 0; i < c.operands.size(); i++) {
      const OperandCase& o = c.operands[i];
      before_.emplace_back(o.region_bytes);
      if (o.owner < 0) fill(c, i, before_[i].data());
      ranges_.emplace_back(
          s_.operands[i].output ? static_cast<size_t>(o.core_count() * c.instances()) : 0);
    }
  }

  void evaluate_run(size_t number) {
    const Run& run = kRuns[number];
    if (run.contracts && contracted_ == nullptr) return;
    address_ = run.contracts ? contracted_ : plain_;
    for (int64_t instance = 0; instance < c_.instances(); instance++) {
      pack(run, instance);
      nudge_mathematics(run.nudge);
      std::feclearexcept(FE_INVALID);
      std::fesetround(run.rounding);
      const double value = call();
      std::fesetround(FE_TONEAREST);
      makes_nan_ = makes_nan_ || std::fetestexcept(FE_INVALID);
      collect(instance, value, number == 0);
    }
  }

  const std::vector<Range>& ranges(size_t operand) const { return ranges_[operand]; }
  bool makes_nan() const { return makes_nan_; }
  const std::vector<char>& before(size_t operand) const { return before_[operand]; }
  nereid_dtype element(size_t i) const {
    const CParam* p = parameter_of(f_, s_.operands[i].name);
    const CParam& type = p ? *p : f_.result;
    if (type.kind == CParam::kFloat) return NEREID_F32;
    if (type.kind == CParam::kDouble) return NEREID_F64;
    return type.element ? type.element : NEREID_I32;
  }

 private:
  int64_t packed_count(size_t i) const {
    int64_t count = c_.operands[i].core_count();
    for (const OperandCase& o : c_.operands)
      if (o.owner == static_cast<int>(i) && count > 0) count += o.shift;
    return count;
  }

  void pack(const Run& run, int64_t instance) {
    places_.assign(c_.operands.size(), nullptr);
    for (size_t i = 0; i < c_.operands.size(); i++) {
      const OperandCase& o = c_.operands[i];
      if (o.owner >= 0) continue;
      const size_t size = nereid_dtype_size(element(i)), from = nereid_dtype_size(o.dtype);
      const int64_t count = packed_count(i);
      if (static_cast<size_t>(count) * size > kOperandBytes) std::abort();
      const Guarded& memory = (*buffers_)[i];
      places_[i] = run.at_begin ? memory.begin() : memory.end() - static_cast<size_t>(count) * size;
      const char* base = before_[i].data() + o.offset +
                         instance_offset(c_, o, instance) * static_cast<int64_t>(from);
      Random random(run.nudge * 977 + i);
      for (int64_t e = 0; e < count; e++) {
        const int64_t at = e < o.core_count() ? core_offset(o, e) : e;
        double value = load(o.dtype, base + at * static_cast<int64_t>(from));
        if (std::isnan(value) && run.nudge % 2) value = -value;
        if (run.nudge && is_real(o.dtype) && smooth_)
          value *= 1 + kNudge * (2 * random.uniform() - 1) *
                           (element(i) == NEREID_F64 ? 0x1p-52 : 0x1p-23);
        store(element(i), value, places_[i] + static_cast<size_t>(e) * size);
      }
    }
    for (size_t i = 0; i < c_.operands.size(); i++)
      if (const OperandCase& o = c_.operands[i]; o.owner >= 0)
        places_[i] = places_[static_cast<size_t>(o.owner)] +
                     static_cast<size_t>(o.shift) * nereid_dtype_size(element(i));
  }

  char* place_of(const std::string& name) const {
    for (size_t i = 0; i < s_.operands.size(); i++)
      if (s_.operands[i].name == name) return places_[i];
    return nullptr;
  }

  double call() {
    if (f_.is_map()) return call_each(), 0;
    Arguments a;
    for (const CParam& p : f_.params) {
      if (p.kind == CParam::kPointer)
        a.add_word(reinterpret_cast<int64_t>(place_of(p.name)));
      else if (p.kind == CParam::kInteger)
        a.add_word(c_.values.at(p.name));
      else
        a.add_real(c_.numbers.at(p.name), p.kind == CParam::kFloat);
    }
    return call_for_value(f_, address_, a);
  }

  void call_each() {
    const size_t out = s_.operands.size() - 1;
    const int64_t count = c_.operands[out].core_count();
    for (int64_t e = 0; e < count; e++) {
      Arguments a;
      for (size_t i = 0; i < out; i++) {
        const size_t size = nereid_dtype_size(element(i));
        const double value = load(element(i), places_[i] + static_cast<size_t>(e) * size);
        const CParam* p = parameter_of(f_, s_.operands[i].name);
        if (p && p->kind == CParam::kInteger)
          a.add_word(static_cast<int64_t>(value));
        else
          a.add_real(value, element(i) == NEREID_F32);
      }
      store(element(out), call_for_value(f_, address_, a),
            places_[out] + static_cast<size_t>(e) * nereid_dtype_size(element(out)));
    }
  }

  void collect(int64_t instance, double value, bool first) {
    for (size_t i = 0; i < c_.operands.size(); i++) {
      if (!s_.operands[i].output) continue;
      if (!parameter_of(f_, s_.operands[i].name) && !f_.is_map() && c_.operands[i].core_count() > 0)
        store(element(i), value, places_[i]);
      const int64_t count = c_.operands[i].core_count();
      for (int64_t e = 0; e < count; e++)
        ranges_[i][static_cast<size_t>(instance * count + e)].add(
            load(element(i), places_[i] + static_cast<size_t>(e) * nereid_dtype_size(element(i))),
            first);
    }
  }

  const CFunction& f_;
  const void* address_;  // of the run at work
  const void *const plain_, *const contracted_;
  const OpSignature& s_;
  const Case& c_;
  const std::vector<Guarded>* buffers_;
  const bool smooth_ = c_.data != Data::kWhole;  // whole numbers may be indices
  std::vector<std::vector<char>> before_;
  std::vector<std::vector<Range>> ranges_;
  std::vector<char*> places_;
  bool makes_nan_ = false;
};

bool fits(const Range& range, double got, nereid_dtype dtype, nereid_dtype element) {
  if (std::isnan(got)) return range.nan;
  if (range.plain_nan && range.low > range.high) return false;
  double low = range.low, high = range.high;
  if (is_real(element) && low != high && std::isfinite(high - low)) {
    const double spread = kSpread * (high - low);
    low -= spread;
    high += spread;
  }
  if (is_real(element)) {
    const double unit = element == NEREID_F64 ? 0x1p-52 : 0x1p-23;
    const double least = element == NEREID_F64 ? 0x1p-1074 : 0x1p-149;
    if (std::isfinite(low)) low -= kUnits * (std::fabs(low) * unit + least);
    if (std::isfinite(high)) high += kUnits * (std::fabs(high) * unit + least);
  }
  return rounded(dtype, low) <= got && got <= rounded(dtype, high);
}

// Elements against their ranges, and what lies between and around them against what was there.
std::string compare(const Oracle& oracle, const OpSignature& s, const Case& c, const char* after) {
  std::ostringstream text;
  for (size_t i = 0; i < c.operands.size(); i++) {
    const OperandCase& o = c.operands[i];
    if (!s.operands[i].output) continue;
    const size_t size = nereid_dtype_size(o.dtype);
    std::vector<char> expected = oracle.before(i);
    const int64_t count = o.core_count();
    for (int64_t instance = 0; instance < c.instances(); instance++)
      for (int64_t e = 0; e < count; e++) {
        const int64_t at = instance_offset(c, o, instance) + core_offset(o, e);
        const size_t byte = o.offset + static_cast<size_t>(at * static_cast<int64_t>(size));
        const double got = load(o.dtype, after + byte);
        const Range& range = oracle.ranges(i)[static_cast<size_t>(instance * count + e)];
        std::memcpy(expected.data() + byte, after + byte, size);
        if (fits(range, got, o.dtype, oracle.element(i))) continue;
        if (oracle.makes_nan() && fits(range, -got, o.dtype, oracle.element(i))) continue;
        text.precision(9);
        text << s.operands[i].name << '[' << instance << ':' << e << "] is " << got << ", not "
             << (range.plain_nan ? NAN : range.plain) << " (" << range.low << " to " << range.high
             << "); " << c.text;
        return text.str();
      }
    bool shifted = false;  // the last element of such an input is the owner's neighbour
    for (const OperandCase& other : c.operands)
      shifted = shifted || (other.owner == static_cast<int>(i) && other.shift);
    if (!shifted && std::memcmp(expected.data(), after, o.region_bytes) != 0)
      return s.operands[i].name + ": memory around its elements was written; " + c.text;
    after += o.region_bytes;
  }
  return "";
}

// All runs of a case; the number of the one that was caught.
size_t run_until_caught(Oracle& oracle) {
  static size_t run;
  landed_with = 0;
  set_timer(kSecondsOfACase);
  if (sigsetjmp(landing, 1) == 0)
    for (run = 0; run < std::size(kRuns); run++) oracle.evaluate_run(run);
  set_timer(0);
  std::fesetround(FE_TONEAREST);
  return run;
}

void judge_case(const Attempt& attempt, const OpSignature& s, int number, Shared& shared) {
  CaseState& state = shared.cases[number];
  const Case c = make_case(*attempt.function, s, case_seed(attempt, number));
  Oracle oracle(attempt, s, c);
  const size_t run = run_until_caught(oracle);
  if (landed_with && run < kPlainRuns) {
    state.verdict = landed_with == SIGVTALRM ? Verdict::kEndless : Verdict::kUndefined;
    say(state.finding,
        std::string("the function itself ends in ") + strsignal(landed_with) + "; " + c.text);
    return;
  }
  if (state.call != Call::kAccepted) return;
  const std::string wrong = compare(oracle, s, c, shared.outputs + state.output_at);
  state.verdict = wrong.empty() ? Verdict::kRight : Verdict::kWrong;
  if (!wrong.empty()) say(state.finding, wrong);
}

}  // namespace

void judge_calls(const Attempt& attempt, Shared& shared) {
  catch_signals();
  redirect_mathematics(attempt.library);
  if (attempt.contracted_library) redirect_mathematics(attempt.contracted_library);
  const OpSignature signature = parse_op_signature(shared.signature);
  for (int i = 0; i < attempt.cases; i++) {
    const CaseState& state = shared.cases[i];
    const bool called = state.call == Call::kAccepted || state.call == Call::kRunning;
    if (called && state.verdict == Verdict::kNone) judge_case(attempt, signature, i, shared);
  }
}

}  // namespace judge
