// SPDX-License-Identifier: MIT
// src/machine/machine.cpp: see machine.h.
#include "machine/machine.h"

#include "base/env.h"

namespace nrd {

Expected<Machine> Machine::host() {
  NRD_TRY(check_environment());
  Expected<IsaSet> isa = isa_from_environment();
  if (!isa) return isa.error();
  return Machine{*isa, DeviceProfile::host(*isa)};
}

}  // namespace nrd
