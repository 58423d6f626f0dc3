// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/case.cpp: a seed becomes a call.
#include "case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "guarded.h"

namespace judge {
namespace {

constexpr int64_t kMostElements = 6000;  // of an operand, unless it has one axis
constexpr int64_t kLargestSize = 200;

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t p = 1;
  for (int64_t size : sizes) p *= size;
  return p;
}

int64_t pick_size(Random& r) {
  const int64_t kind = r.below(100);
  if (kind < 6) return 0;
  if (kind < 14) return 1;
  if (kind < 50) return r.between(2, kLargestSize);
  if (kind < 70) return r.between(2, 20);
  if (kind < 85) return 2 * r.between(1, kLargestSize / 2);
  return 32 * r.between(1, kLargestSize / 32);
}

int64_t pick_int(Random& r, const Values& values) {
  static constexpr int64_t kInts[] = {1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 100, 0, -1, -3};
  if (!values.empty() && r.chance(30)) {
    auto at = values.begin();
    std::advance(at, r.below(static_cast<int64_t>(values.size())));
    return std::max<int64_t>(0, at->second / r.between(1, 4));
  }
  return r.chance(70) ? r.between(1, 8) : r.pick(kInts);
}

void pick_values(const OpSignature& s, Random& r, Case& c) {
  for (const std::string& axis : s.axes) {
    int64_t size = pick_size(r);
    if (!c.values.empty() && r.chance(20)) size = c.values.begin()->second;  // as another
    if (!c.values.empty() && r.chance(15)) size = c.values.begin()->second / r.between(1, 5);
    const bool even = std::find(s.even.begin(), s.even.end(), axis) != s.even.end();
    if (even && !r.chance(10)) size += size % 2;
    c.values[axis] = size;
  }
  for (const std::string& name : s.ints) c.values[name] = pick_int(r, c.values);
}

std::vector<int64_t> core_sizes(const OperandSpec& spec, const Values& values) {
  std::vector<int64_t> sizes;
  for (const std::string& axis : spec.axes) sizes.push_back(evaluate(axis, values));
  return sizes;
}

bool small_enough(const OpSignature& s, const Case& c) {
  for (const OperandSpec& spec : s.operands)
    if (product(core_sizes(spec, c.values)) * product(c.leading) > kMostElements) return false;
  return true;
}

void shrink(const OpSignature& s, Case& c) {
  for (int i = 0; i < 40 && !small_enough(s, c); i++) {
    auto largest = std::max_element(c.values.begin(), c.values.end(),
                                    [](auto& a, auto& b) { return a.second < b.second; });
    largest->second = largest->second / 2;
    if (i > 8) c.leading.clear();
  }
}

nereid_dtype pick_dtype(nereid_dtype element, nereid_dtype wanted, Random& r) {
  static constexpr nereid_dtype kReals[] = {NEREID_F32, NEREID_BF16, NEREID_F16};
  if (element == NEREID_F64) return r.chance(60) ? NEREID_F64 : r.pick(kReals);
  if (element != NEREID_F32) return element;
  return wanted ? wanted : r.pick(kReals);
}

// Strides of a view over memory of its own.
std::vector<int64_t> pick_strides(const std::vector<int64_t>& sizes, bool output, bool plain,
                                  Random& r) {
  const size_t rank = sizes.size();
  std::vector<size_t> order(rank);  // outermost first
  for (size_t i = 0; i < rank; i++) order[i] = i;
  const int64_t kind = plain ? 0 : r.below(6);
  if (kind == 4 && rank > 1) std::swap(order[rank - 1], order[rank - 2]);
  if (kind == 5 && rank > 1) std::reverse(order.begin(), order.end());
  std::vector<int64_t> strides(rank);
  int64_t step = kind == 2 ? r.between(2, 3) : 1;
  for (size_t i = rank; i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(1, sizes[order[i]]);
    if (kind == 1 && i > 0) step += r.between(1, 5);
  }
  if (kind == 3 && rank > 0) {
    int64_t& stride = strides[static_cast<size_t>(r.below(static_cast<int64_t>(rank)))];
    stride = output || r.chance(60) ? -stride : 0;
  }
  return strides;
}

void place(OperandCase& o, int64_t extra) {
  o.lowest = 0;
  int64_t highest = 0;
  for (size_t i = 0; i < o.sizes.size(); i++) {
    const int64_t reach = (o.sizes[i] - 1) * o.strides[i];
    (reach < 0 ? o.lowest : highest) += reach;
  }
  o.span = o.empty() ? 0 : highest - o.lowest + 1 + extra;
  if (o.empty()) o.lowest = 0;
  const size_t size = nereid_dtype_size(o.dtype), page = page_bytes();
  const size_t bytes = static_cast<size_t>(o.span) * size;
  o.region_bytes = (bytes + page - 1) / page * page;
  o.offset = (o.at_begin ? 0 : o.region_bytes - bytes) + static_cast<size_t>(-o.lowest) * size;
}

nereid_dtype element_of(const CFunction& f, const OperandSpec& spec) {
  const CParam* p = parameter_of(f, spec.name);
  const CParam& type = p ? *p : f.result;
  if (type.kind == CParam::kFloat) return NEREID_F32;
  if (type.kind == CParam::kDouble) return NEREID_F64;
  return type.element ? type.element : NEREID_I32;
}

void add_operand(const CFunction& f, const OperandSpec& spec, nereid_dtype wanted, bool plain,
                 Random& r, Case& c) {
  OperandCase o;
  o.dtype = pick_dtype(element_of(f, spec), wanted, r);
  o.sizes = core_sizes(spec, c.values);
  size_t skip = 0;
  if (!spec.output && r.chance(25))
    skip = static_cast<size_t>(r.between(0, static_cast<int64_t>(c.leading.size())));
  std::vector<int64_t> leading(c.leading.begin() + static_cast<std::ptrdiff_t>(skip),
                               c.leading.end());
  if (!spec.output && !leading.empty() && r.chance(10)) leading[0] = 1;
  o.leading = leading.size();
  o.sizes.insert(o.sizes.begin(), leading.begin(), leading.end());
  o.strides = pick_strides(o.sizes, spec.output, plain, r);
  o.at_begin = r.chance(35);
  c.operands.push_back(std::move(o));
}

// An input gets the memory of an output, or memory that begins one element further.
void share_memory(const OpSignature& s, Random& r, Case& c) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < s.operands.size(); i++)
    for (size_t o = 0; o < s.operands.size(); o++)
      if (!s.operands[i].output && s.operands[o].output &&
          s.operands[i].axes == s.operands[o].axes && c.operands[i].dtype == c.operands[o].dtype)
        pairs.emplace_back(i, o);
  if (pairs.empty()) return;
  const auto [i, o] = pairs[static_cast<size_t>(r.below(static_cast<int64_t>(pairs.size())))];
  OperandCase &input = c.operands[i], &output = c.operands[o];
  if (r.chance(15) && c.leading.empty()) {
    output.strides = pick_strides(output.sizes, true, true, r);
    input.shift = 1;
  }
  input.owner = static_cast<int>(o);
  input.sizes = output.sizes;
  input.strides = output.strides;
  input.leading = output.leading;
  input.at_begin = output.at_begin;
}

// One axis of one operand a step shorter, where another operand says how long it is.
void make_misfit(const OpSignature& s, Random& r, Case& c) {
  const auto i = static_cast<size_t>(r.below(static_cast<int64_t>(s.operands.size())));
  OperandCase& o = c.operands[i];
  if (o.owner >= 0) return;
  for (const OperandCase& other : c.operands)
    if (other.owner == static_cast<int>(i)) return;
  for (size_t a = 0; a < s.operands[i].axes.size(); a++) {
    const std::string& axis = s.operands[i].axes[a];
    const auto count = std::count_if(s.operands.begin(), s.operands.end(), [&](const auto& spec) {
      return std::find(spec.axes.begin(), spec.axes.end(), axis) != spec.axes.end();
    });
    int64_t& size = o.sizes[o.leading + a];
    if (count < 2 || size < 3) continue;
    size--;
    c.misfit = s.operands[i].name + " is smaller than the signature says";
    return;
  }
}

// An integer attribute that is no integer, or none of its parameter's type.
void make_odd_integer(const CFunction& f, const OpSignature& s, Random& r, Case& c) {
  const std::string& name =
      s.ints[static_cast<size_t>(r.below(static_cast<int64_t>(s.ints.size())))];
  const CParam* p = parameter_of(f, name);
  if (!p) return;
  c.odd_integers[name] = p->bytes == 4 && r.chance(50) ? 4294967299.0 : r.chance(50) ? 2.5 : NAN;
  c.misfit = name + " is no such integer";
}

std::string text_of(const OpSignature& s, const Case& c) {
  static constexpr const char* kData[] = {"smooth", "positive", "whole", "special"};
  std::ostringstream out;
  out << c.backend << (c.planned ? " planned" : "") << " threads=" << c.threads;
  for (const auto& [name, value] : c.values) out << ' ' << name << '=' << value;
  for (const auto& [name, value] : c.numbers) out << ' ' << name << '=' << value;
  for (size_t i = 0; i < c.operands.size(); i++) {
    const OperandCase& o = c.operands[i];
    out << ' ' << s.operands[i].name << ':' << nereid_dtype_name(o.dtype) << '[';
    for (size_t a = 0; a < o.sizes.size(); a++)
      out << (a ? "," : "") << o.sizes[a] << '@' << o.strides[a];
    out << ']';
    if (o.owner >= 0) out << "=" << s.operands[static_cast<size_t>(o.owner)].name;
    if (o.shift) out << "+" << o.shift;
  }
  out << " data=" << kData[static_cast<int>(c.data)] << (c.wild ? ",wild" : "");
  if (!c.misfit.empty()) out << " (" << c.misfit << ")";
  return out.str();
}

double draw(const Case& c, nereid_dtype dtype, Random& r) {
  static constexpr double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-40, -1e10, 65520};
  if (dtype == NEREID_I32) return c.wild ? static_cast<int32_t>(r.next()) : r.below(c.limit);
  if (dtype == NEREID_U8)
    return c.data == Data::kWhole ? r.below(std::min<int64_t>(c.limit, 256)) : r.below(256);
  if (dtype == NEREID_I8)
    return c.data == Data::kWhole ? r.below(std::min<int64_t>(c.limit, 128)) : r.between(-128, 127);
  switch (c.data) {
    case Data::kSmooth: return r.normal() * 2;
    case Data::kPositive: return 0.1 + 3 * r.uniform();
    case Data::kWhole: return static_cast<double>(r.below(c.limit));
    case Data::kSpecial: return r.chance(20) ? r.pick(kSpecial) : r.normal();
  }
  return 0;
}

}  // namespace

int64_t OperandCase::core_count() const {
  int64_t count = 1;
  for (size_t i = leading; i < sizes.size(); i++) count *= sizes[i];
  return count;
}

bool OperandCase::empty() const { return product(sizes) == 0; }

int64_t Case::instances() const { return product(leading); }

const CParam* parameter_of(const CFunction& f, const std::string& operand) {
  for (const CParam& p : f.params)
    if (p.name == operand) return &p;
  return nullptr;
}

Case make_case(const CFunction& f, const OpSignature& s, uint64_t seed) {
  static constexpr nereid_dtype kUniform[] = {NEREID_F32, NEREID_F32, NEREID_BF16, NEREID_F16,
                                              nereid_dtype{}};
  Random r(seed);
  Case c;
  c.seed = seed;
  pick_values(s, r, c);
  if (r.chance(25)) c.leading.push_back(r.between(1, 4));
  if (r.chance(8)) c.leading.push_back(r.between(0, 3));
  shrink(s, c);
  for (const CParam& p : f.params)
    if (!f.is_map() && (p.kind == CParam::kFloat || p.kind == CParam::kDouble)) {
      static constexpr double kNumbers[] = {0.5, 1, 2, -1.5, 1e-5, 3, 0, 0.125};
      c.numbers[p.name] = r.pick(kNumbers);
    }
  const int64_t data = r.below(100);
  c.data = data < 50   ? Data::kSmooth
           : data < 65 ? Data::kPositive
           : data < 90 ? Data::kWhole
                       : Data::kSpecial;
  c.wild = r.chance(8);
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (const auto& [name, value] : c.values)
    if (value > 0) smallest = std::min(smallest, value);
  c.limit = r.chance(50) ? std::min<int64_t>(smallest, 250) : r.between(2, 5);
  c.backend = r.chance(60) ? "cpu" : "scalar";
  c.threads = static_cast<int>(r.between(1, 3));
  c.planned = r.chance(25);
  const nereid_dtype wanted = r.pick(kUniform);
  const bool plain = r.chance(40);
  for (const OperandSpec& spec : s.operands) add_operand(f, spec, wanted, plain, r, c);
  for (const OperandCase& o : c.operands)
    for (int64_t size : o.sizes) c.possible = c.possible && size >= 0 && size < 1 << 20;
  if (!c.possible) return c;
  if (r.chance(20)) share_memory(s, r, c);
  if (r.chance(6)) make_misfit(s, r, c);
  if (c.misfit.empty() && !s.ints.empty() && r.chance(6)) make_odd_integer(f, s, r, c);
  std::vector<int64_t> extra(c.operands.size());
  for (const OperandCase& o : c.operands)
    if (o.owner >= 0) extra[static_cast<size_t>(o.owner)] = o.shift;
  for (size_t i = 0; i < c.operands.size(); i++)
    if (c.operands[i].owner < 0) place(c.operands[i], extra[i]);
  for (OperandCase& o : c.operands) {
    if (o.owner < 0) continue;
    const OperandCase& owner = c.operands[static_cast<size_t>(o.owner)];
    o.offset = owner.offset + static_cast<size_t>(o.shift) * nereid_dtype_size(o.dtype);
  }
  c.text = text_of(s, c);
  return c;
}

void fill(const Case& c, size_t operand, char* region) {
  const OperandCase& o = c.operands[operand];
  Random r(c.seed * 31 + operand + 1);
  std::memset(region, static_cast<int>(0xa0 + operand), o.region_bytes);
  const size_t size = nereid_dtype_size(o.dtype);
  char* at = region + o.offset - static_cast<size_t>(-o.lowest) * size;
  for (int64_t i = 0; i < o.span; i++)
    store(o.dtype, draw(c, o.dtype, r), at + static_cast<size_t>(i) * size);
}

int64_t instance_offset(const Case& c, const OperandCase& operand, int64_t instance) {
  int64_t offset = 0;
  const size_t missing = c.leading.size() - operand.leading;
  for (size_t i = c.leading.size(); i-- > 0;) {
    const int64_t index = instance % c.leading[i];
    instance /= c.leading[i];
    if (i < missing || operand.sizes[i - missing] == 1) continue;
    offset += index * operand.strides[i - missing];
  }
  return offset;
}

int64_t core_offset(const OperandCase& operand, int64_t element) {
  int64_t offset = 0;
  for (size_t i = operand.sizes.size(); i-- > operand.leading;) {
    offset += element % operand.sizes[i] * operand.strides[i];
    element /= operand.sizes[i];
  }
  return offset;
}

}  // namespace judge
