// SPDX-License-Identifier: MIT
// src/machine/machine.h: what the selection of kernels knows of the machine.
#pragma once

#include "machine/profile.h"

namespace nrd {

struct Machine {
  IsaSet isa;
  DeviceProfile profile;
  // The host, cut down by NEREID_ISA; the error is a mistake in the environment.
  static Expected<Machine> host();
};

}  // namespace nrd
