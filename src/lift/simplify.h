// SPDX-License-Identifier: MIT
// src/lift/simplify.h: inside the simplifier: shared questions about nodes, and one function a
// family of rules. simplify.cpp chooses between them.
//
// Every rule keeps the exact bits of every result, NaNs' signs and payloads excepted; none
// assumes that integers do not wrap. Rules take nodes by value: making a node moves the others.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

uint64_t type_mask(Type type);  // all bits of the type (kV128: of its low half)
bool is_float(Type type);
bool is_integer(Type type);  // kI8 ... kI64
inline bool is_index_type(Type type) { return type == Type::kI32 || type == Type::kI64; }
Type integer_of_bits(int bits);
int64_t sign_extended(uint64_t bits, Type type);
uint32_t bytes_of(Type type);  // in memory: a bool takes one

// Predicates as sets of outcomes, so that and, or and not of comparisons are set operations.
enum : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };
unsigned outcomes(Predicate predicate);
bool is_float_predicate(Predicate predicate);
bool is_signed(Predicate predicate);    // lt le gt ge
bool is_unsigned(Predicate predicate);  // b be a ae
Predicate swapped(Predicate predicate);
Predicate inverse(Predicate predicate);

struct Rewriter {
  NodeFactory& factory;
  const Function& function;

  Node at(NodeId id) const { return function[id]; }
  bool is_const(NodeId id) const { return function[id].kind == Kind::kConst; }
  bool is_const(NodeId id, uint64_t bits) const {
    return is_const(id) && function[id].bits == bits;
  }
  bool is_pure(NodeId id, TraceOp op) const {
    return function[id].kind == Kind::kPure && function[id].op == op;
  }
  NodeId constant(Type type, uint64_t bits) const { return factory.constant(type, bits); }
  NodeId boolean(bool value) const { return factory.constant(Type::kBool, value); }
  bool high_bits_zero(NodeId id, int from_bit, int depth = 0) const;
};

// Each returns kNoNode where none of its rules applies.
NodeId fold_constants(const Node& node, const Rewriter& r);    // simplify_fold.cpp
NodeId simplify_integer(const Node& node, const Rewriter& r);  // simplify_integer.cpp
NodeId simplify_width(const Node& node, const Rewriter& r);    // simplify_bits.cpp
NodeId simplify_bitcast(const Node& node, const Rewriter& r);
NodeId simplify_compare(const Node& node, const Rewriter& r);  // simplify_compare.cpp
NodeId simplify_bool(const Node& node, const Rewriter& r);
NodeId simplify_select(const Node& node, const Rewriter& r);  // simplify_select.cpp

}  // namespace nrd::lift
