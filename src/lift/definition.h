// SPDX-License-Identifier: MIT
// src/lift/definition.h: the catalogue's definitions as functions to lift.
#pragma once

#include <vector>

#include "lift/lift.h"
#include "ops/op.h"

namespace nrd::lift {

// The scalar build of a primitive variant, with the names its signature gives the parameters.
LiftRequest definition_request(const Op& op, const Variant& variant, const Signature& signature);

// One request a definition, in the order of the catalogue.
std::vector<LiftRequest> catalogue_requests();

}  // namespace nrd::lift
