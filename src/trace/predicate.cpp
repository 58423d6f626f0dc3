// SPDX-License-Identifier: MIT
// src/trace/predicate.cpp: comparisons turned around.
#include "trace/op_info.h"

namespace nrd {

using P = Predicate;

P negation(P p) {
  switch (p) {
    case P::kOeq: return P::kUne;
    case P::kOne: return P::kUeq;
    case P::kOlt: return P::kUge;
    case P::kOle: return P::kUgt;
    case P::kOgt: return P::kUle;
    case P::kOge: return P::kUlt;
    case P::kOrd: return P::kUno;
    case P::kUeq: return P::kOne;
    case P::kUne: return P::kOeq;
    case P::kUlt: return P::kOge;
    case P::kUle: return P::kOgt;
    case P::kUgt: return P::kOle;
    case P::kUge: return P::kOlt;
    case P::kUno: return P::kOrd;
    case P::kEq: return P::kNe;
    case P::kNe: return P::kEq;
    case P::kLt: return P::kGe;
    case P::kLe: return P::kGt;
    case P::kGt: return P::kLe;
    case P::kGe: return P::kLt;
    case P::kB: return P::kAe;
    case P::kBe: return P::kA;
    case P::kA: return P::kBe;
    default: return P::kB;
  }
}

P exchanged(P p) {
  switch (p) {
    case P::kOlt: return P::kOgt;
    case P::kOle: return P::kOge;
    case P::kOgt: return P::kOlt;
    case P::kOge: return P::kOle;
    case P::kUlt: return P::kUgt;
    case P::kUle: return P::kUge;
    case P::kUgt: return P::kUlt;
    case P::kUge: return P::kUle;
    case P::kLt: return P::kGt;
    case P::kLe: return P::kGe;
    case P::kGt: return P::kLt;
    case P::kGe: return P::kLe;
    case P::kB: return P::kA;
    case P::kBe: return P::kAe;
    case P::kA: return P::kB;
    case P::kAe: return P::kBe;
    default: return p;
  }
}

}  // namespace nrd
