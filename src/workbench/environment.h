// SPDX-License-Identifier: MIT
// src/workbench/environment.h: where a result came from: machine, build, settings, warnings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "workbench/bench.h"

namespace nrd {

// At the start of a run, whose own load is none of its warnings. Loads no peer: the versions of
// backends come from `backends`, which the caller filled.
nlohmann::json describe_environment(const Machine& machine, const std::string& command,
                                    const nlohmann::json& backends, const BenchOptions& options);
// Adds the roofs that were measured until now: "measured" and "devices".
void describe_roofs(nlohmann::json& environment, const Roofline& roofline);

// [{name, available, version, reason}], each asked in a worker of its own.
nlohmann::json describe_backends(KernelRegistry& registry, const std::vector<std::string>& names,
                                 const WorkerOptions& options);

nlohmann::json describe_peaks(const MeasuredPeaks& peaks);

}  // namespace nrd
