// SPDX-License-Identifier: MIT
// src/api/names.h: the names of a call, kept once so that calls need not spell them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/status.h"

// An operator's name and those of the operands and attributes, in the order of the calls that
// carry it. Whether the operator has them is found out when such a call is bound.
struct nereid_names {
  uint32_t id = 0;  // from 1; equal names have one id
  std::string op;
  std::vector<std::string> operands;
  std::vector<std::string> attributes;
};

namespace nrd {

// Lives to the end of the process.
Expected<const nereid_names*> keep_names(const char* op, std::span<const char* const> operands,
                                         std::span<const char* const> attributes);

}  // namespace nrd
