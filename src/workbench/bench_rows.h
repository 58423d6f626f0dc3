// SPDX-License-Identifier: MIT
// src/workbench/bench_rows.h: what a run on the CPU and one on a device share: rows, checks,
// ratios.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "workbench/bench.h"

namespace nrd {

Row make_row(const Case& c, const std::string& backend);
// A request that is wrong in itself is one error row a backend, so that JSON tells the whole.
std::vector<Row> error_rows(const BenchOptions& options, const CaseSpec& spec, const Error& error);

// The kernel or the backend cannot do the case: a skip with its reason, and no failure.
bool is_refusal(const Error& error);
// Ends a row. `absent`: its backend could not be started at all.
void end_row(Row& row, const Error& error, bool absent);

// References of one case, by distribution: they are the same for every backend.
class References {
 public:
  Expected<Reference>& of(const Case& c);

 private:
  std::map<Distribution, Expected<Reference>> references_;
};

// Runs the case that the worker has loaded, on poisoned memory, and judges what came out. Fills
// accuracy, flags, outcome and reason of the row; false when the row failed or ended.
bool check_row(Row& row, Worker& worker, const nlohmann::json& request, const CaseSpec& spec,
               References& references, bool name_the_data);

// How many times faster each row is than that of `baseline`.
void add_ratios(Results& results, const std::vector<Row>& rows, const std::string& baseline);
// How many times faster that of `subject` is than each other, the baseline first; where it was not
// timed the former.
void add_ratios_of(Results& results, const std::vector<Row>& rows, const std::string& subject,
                   const std::string& baseline);

}  // namespace nrd
