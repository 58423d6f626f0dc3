// SPDX-License-Identifier: MIT
// src/lift/memory.cpp: addresses to parameters and elements; what is loaded twice, or stored and
// loaded again; stores on both sides of a condition. See refine.h.
#include <algorithm>

#include "lift/ifconvert.h"
#include "lift/refine.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr int kMaxPointerChoices = 6;  // each doubles the accesses

Type element_type(DType dtype) {
  switch (dtype) {
    case DType::kF32: return Type::kF32;
    case DType::kF64: return Type::kF64;
    case DType::kI32: return Type::kI32;
    default: return Type::kI8;
  }
}

bool is_pointer(const Node& n, const FlatParams& params) {
  return n.kind == Kind::kArg && n.index < params.list.size() &&
         params.list[n.index].kind == CKind::kPointer;
}

}  // namespace

// The address as a pointer parameter plus a number of elements. False where it has no pointer of
// its own; gives up where it is not a whole number.
bool Refiner::find_pointer(const IntPoly& address, Place& out, const Node& access) {
  NodeId pointer = kNoNode;
  for (const PolyTerm& term : address.terms()) {
    if (term.atoms[0] == kNoNode || term.atoms[1] != kNoNode) continue;
    if (!is_pointer(function_[term.atoms[0]], params_)) continue;
    if (term.coefficient != 1 || pointer != kNoNode) return false;
    pointer = term.atoms[0];
  }
  if (pointer == kNoNode) return false;
  out.param = function_[pointer].index;
  const CParam& param = params_.list[out.param];
  const auto bytes = static_cast<int64_t>(byte_size(param.element));
  const Type type = access.kind == Kind::kStore ? function_[access.args[1]].type : access.type;
  const int64_t parts = type_bits(type) / 8 / bytes;
  if (parts * bytes * 8 != type_bits(type))
    give_up("the access at " + place(access.address) + " is narrower than an element of " +
            param.name);
  out.parts = static_cast<uint32_t>(parts);
  const auto index = (address - IntPoly::atom(pointer)).divided_by(bytes);
  if (!index)
    give_up("the access at " + place(access.address) + " is not at a whole element of " +
            param.name);
  out.index = scev_.node_of(*index);
  return true;
}

// An address through a selected pointer.
bool Refiner::find_choice(const IntPoly& address, int depth, PointerChoice& out) {
  for (const PolyTerm& term : address.terms()) {
    const NodeId atom = term.atoms[0];
    if (term.coefficient != 1 || atom == kNoNode || term.atoms[1] != kNoNode) continue;
    const Node n = function_[atom];
    if (n.kind != Kind::kPure || n.op != TraceOp::kSelect) continue;
    if (depth >= kMaxPointerChoices) give_up("an access goes through one of too many pointers");
    const IntPoly rest = address - IntPoly::atom(atom);
    out = {n.args[0], rest + scev_.of(n.args[1]), rest + scev_.of(n.args[2])};
    return true;
  }
  return false;
}

void Refiner::walk_load(NodeId load) {
  const Node n = function_[load];
  const NodeId guard = refined_guard(n.args[1]);
  const IntPoly address = scev_.of(rebuild(n.args[0]));
  set_memo(load, address.is_constant() ? load_global(n) : load_from(address, n, guard, 0));
}

// An unknown number. GCC counts a loop's rounds for --coverage in the index itself: it begins at
// what the counter held and is taken off again wherever it matters. What does depend on it is
// refused when it is emitted, since no item loads it.
NodeId Refiner::load_global(const Node& access) {
  Node unknown = access;
  unknown.args = {access.args[0], kNoNode, kNoNode};
  unknown.bits = static_cast<uint64_t>(scope_);
  return factory_.append(unknown);
}

NodeId Refiner::load_from(const IntPoly& address, const Node& access, NodeId guard, int depth) {
  const bool is_dead = guard != kNoNode && function_[guard].kind == Kind::kConst;
  if (is_dead) return factory_.constant(access.type, 0);
  Place where;
  if (find_pointer(address, where, access)) {
    if (where.parts > 1) return load_parts(where, access, guard);
    const NodeId element = load_element(where, guard, access.address);
    return factory_.low(element, access.type);
  }
  PointerChoice pointer;
  if (!find_choice(address, depth, pointer))
    give_up("the load at " + place(access.address) + " is not from an argument plus an index");
  const NodeId otherwise = factory_.invert(pointer.condition);
  const NodeId yes =
      load_from(pointer.yes, access, both(factory_, guard, pointer.condition), depth + 1);
  const NodeId no = load_from(pointer.no, access, both(factory_, guard, otherwise), depth + 1);
  return choice(pointer.condition, yes, no);
}

// Several elements in one word, the first in its lowest bits: both machines are little endian.
NodeId Refiner::load_parts(const Place& where, const Node& access, NodeId guard) {
  const Type whole = integer_of_bits(type_bits(access.type));
  const Type part = integer_of_bits(type_bits(whole) / static_cast<int>(where.parts));
  const IntPoly first = scev_.of(where.index);
  NodeId word = kNoNode;
  for (uint32_t i = 0; i < where.parts; i++) {
    const Place one{where.param, scev_.node_of(first + IntPoly(i))};
    const NodeId bits = factory_.low(load_element(one, guard, access.address), part);
    const NodeId shifted =
        factory_.pure(TraceOp::kShl, whole, factory_.convert(bits, whole),
                      factory_.constant(whole, i * static_cast<uint64_t>(type_bits(part))));
    word = word == kNoNode ? shifted : factory_.pure(TraceOp::kOr, whole, word, shifted);
  }
  return factory_.low(word, access.type);
}

void Refiner::store_parts(const Place& where, NodeId value, NodeId guard, uint64_t address) {
  const Type whole = integer_of_bits(type_bits(function_[value].type));
  const Type part = integer_of_bits(type_bits(whole) / static_cast<int>(where.parts));
  const Type element = element_type(params_.list[where.param].element);
  const NodeId word = factory_.low(value, whole);
  const IntPoly first = scev_.of(where.index);
  for (uint32_t i = 0; i < where.parts; i++) {
    const NodeId shifted =
        factory_.pure(TraceOp::kShr, whole, word,
                      factory_.constant(whole, i * static_cast<uint64_t>(type_bits(part))));
    const NodeId bits = factory_.low(factory_.convert(shifted, part), element);
    store_element({where.param, scev_.node_of(first + IntPoly(i))}, bits, guard, address);
  }
}

void Refiner::walk_store(NodeId store) {
  const Node n = function_[store];
  const NodeId guard = refined_guard(n.args[2]);
  if (guard != kNoNode && function_[guard].kind == Kind::kConst) return;  // never happens
  const IntPoly address = scev_.of(rebuild(n.args[0]));
  store_to(address, n, rebuild(n.args[1]), guard, 0);
}

void Refiner::store_to(const IntPoly& address, const Node& access, NodeId value, NodeId guard,
                       int depth) {
  Place where;
  if (find_pointer(address, where, access)) {
    if (where.parts > 1) return store_parts(where, value, guard, access.address);
    const Type type = element_type(params_.list[where.param].element);
    return store_element(where, factory_.low(value, type), guard, access.address);
  }
  PointerChoice pointer;
  if (!find_choice(address, depth, pointer))
    give_up("the store at " + place(access.address) + " is not to an argument plus an index");
  const NodeId otherwise = factory_.invert(pointer.condition);
  store_to(pointer.yes, access, value, both(factory_, guard, pointer.condition), depth + 1);
  store_to(pointer.no, access, value, both(factory_, guard, otherwise), depth + 1);
}

Refiner::Overlap Refiner::overlap(NodeId index_a, NodeId index_b) {
  if (index_a == index_b) return Overlap::kAlways;
  const IntPoly apart = scev_.of(index_a) - scev_.of(index_b);
  if (apart.is_zero()) return Overlap::kAlways;
  const bool differ = facts_.proves_nonnegative(apart - IntPoly(1)) ||
                      facts_.proves_nonnegative(-apart - IntPoly(1));
  return differ ? Overlap::kNever : Overlap::kMaybe;
}

bool Refiner::touches(int region, uint32_t param, bool stores_only) const {
  for (const Item& item : out_.regions[static_cast<size_t>(region)].items) {
    if (item.kind == ItemKind::kLoop) {
      if (touches(static_cast<int>(item.id), param, stores_only)) return true;
    } else if (function_[item.id].index == param &&
               (item.kind == ItemKind::kStore || !stores_only)) {
      return true;
    }
  }
  return false;
}

// The element's value where this iteration has loaded or stored it already, else kNoNode.
NodeId Refiner::known_element(const Place& where, NodeId guard) {
  const std::vector<Item>& items = out(scope_).items;
  for (size_t i = items.size(); i-- > 0;) {
    const Item item = items[i];
    if (item.kind == ItemKind::kLoop) {
      if (touches(static_cast<int>(item.id), where.param, true)) return kNoNode;
      continue;
    }
    const Node n = function_[item.id];
    if (n.index != where.param) continue;
    const Overlap meets = overlap(n.args[0], where.index);
    if (item.kind == ItemKind::kStore) {
      if (meets == Overlap::kNever) continue;
      const NodeId other = n.args[2];
      return meets == Overlap::kAlways && (other == kNoNode || other == guard) ? n.args[1]
                                                                               : kNoNode;
    }
    if (meets != Overlap::kAlways) continue;
    if (n.args[1] == kNoNode || n.args[1] == guard || joins_guards(item.id, guard)) return item.id;
  }
  return kNoNode;
}

// One that was loaded under a condition is loaded under both where that can be told in time.
bool Refiner::joins_guards(NodeId load, NodeId guard) {
  NodeId either = kNoNode;
  if (guard != kNoNode) {
    const NodeId other = function_[load].args[1];
    if (!is_known_early(other) || !is_known_early(guard)) return false;
    either = factory_.pure(TraceOp::kOr, Type::kBool, other, guard);
    if (is_always(either)) either = kNoNode;
  }
  function_.nodes[load].args[1] = either;
  return true;
}

// Conditions on parameters and counters alone.
bool Refiner::is_known_early(NodeId condition) {
  const Node n = function_[condition];
  if (n.kind == Kind::kConst || n.kind == Kind::kArg) return true;
  if (n.kind == Kind::kPhi) return leaf_role(n) == LeafRole::kIv;
  if (n.kind == Kind::kLoad) return false;
  return std::all_of(n.args.begin(), n.args.end(),
                     [&](NodeId arg) { return arg == kNoNode || is_known_early(arg); });
}

NodeId Refiner::load_element(const Place& where, NodeId guard, uint64_t address) {
  if (const NodeId known = known_element(where, guard); known != kNoNode) return known;
  Node load{.kind = Kind::kLoad,
            .type = element_type(params_.list[where.param].element),
            .index = where.param,
            .args = {where.index, guard, kNoNode},
            .bits = static_cast<uint64_t>(scope_),
            .address = address};
  const NodeId made = factory_.append(load);
  out(scope_).items.push_back({ItemKind::kLoad, made});
  return made;
}

// An earlier store to the same element that nobody read in between is joined with this one.
void Refiner::store_element(const Place& where, NodeId value, NodeId guard, uint64_t address) {
  std::vector<Item>& items = out(scope_).items;
  for (size_t i = items.size(); i-- > 0;) {
    const Item item = items[i];
    if (item.kind == ItemKind::kLoop) {
      if (touches(static_cast<int>(item.id), where.param, false)) break;
      continue;
    }
    const Node n = function_[item.id];
    if (n.index != where.param) continue;
    const Overlap meets = overlap(n.args[0], where.index);
    if (meets == Overlap::kNever) continue;
    if (item.kind == ItemKind::kLoad || meets == Overlap::kMaybe) break;
    const NodeId other = n.args[2];
    if (guard != kNoNode) {
      value = choice(guard, value, n.args[1]);
      guard = other == kNoNode ? kNoNode : factory_.pure(TraceOp::kOr, Type::kBool, other, guard);
      if (guard != kNoNode && is_always(guard)) guard = kNoNode;
    }
    items.erase(items.begin() + static_cast<ptrdiff_t>(i));
    break;
  }
  const Node store{.kind = Kind::kStore,
                   .index = where.param,
                   .args = {where.index, merged_cases(value), guard},
                   .address = address};
  items.push_back({ItemKind::kStore, factory_.append(store)});
}

// A guarded load may happen always where the same iteration touches the element anyhow.
void Refiner::relax_guards(int region) {
  const std::vector<Item>& items = out(region).items;
  for (const Item& item : items) {
    if (item.kind != ItemKind::kLoad || function_[item.id].args[1] == kNoNode) continue;
    for (const Item& other : items) {
      if (other.kind == ItemKind::kLoop || other.id == item.id) continue;
      const Node n = function_[other.id];
      const NodeId guard = n.args[other.kind == ItemKind::kLoad ? 1 : 2];
      if (guard != kNoNode || n.index != function_[item.id].index ||
          overlap(n.args[0], function_[item.id].args[0]) != Overlap::kAlways)
        continue;
      function_.nodes[item.id].args[1] = kNoNode;
      break;
    }
  }
}

}  // namespace nrd::lift
