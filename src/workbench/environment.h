// SPDX-License-Identifier: MIT
// src/workbench/environment.h: where a result came from: machine, build, settings, warnings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "workbench/bench.h"

namespace nrd {

// Loads no peer: the versions of backends come from `backends`, which the caller filled.
nlohmann::json describe_environment(const Machine& machine, const Roofline& roofline,
                                    const std::string& command, const nlohmann::json& backends,
                                    const BenchOptions& options);

// [{name, available, version, reason}], each asked in a worker of its own.
nlohmann::json describe_backends(KernelRegistry& registry, const std::vector<std::string>& names,
                                 const WorkerOptions& options);

nlohmann::json describe_peaks(const MeasuredPeaks& peaks);

}  // namespace nrd
