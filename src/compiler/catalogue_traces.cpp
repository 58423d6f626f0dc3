// SPDX-License-Identifier: MIT
// src/compiler/catalogue_traces.cpp: parses embedded traces on demand.
#include "compiler/catalogue_traces.h"

#include <memory>
#include <unordered_map>

#include "base/lazy.h"
#include "base/locks.h"
#include "trace/text.h"

namespace nrd {
namespace {

// Under LockName::kTraces.
constinit Lazy<std::unordered_map<std::string_view, std::unique_ptr<const OpTrace>>> g_parsed;

}  // namespace

const OpTrace* catalogue_trace(std::string_view name) {
  auto& parsed = g_parsed.get();
  {
    const Locked lock(LockName::kTraces);
    if (auto found = parsed.find(name); found != parsed.end()) return found->second.get();
  }
  for (const EmbeddedTrace& embedded : embedded_traces()) {
    if (embedded.name != name) continue;
    Expected<OpTrace> trace = parse_trace(embedded.text);
    if (!trace) return nullptr;  // a test parses every one
    auto made = std::make_unique<const OpTrace>(std::move(*trace));
    const Locked lock(LockName::kTraces);
    return parsed.try_emplace(embedded.name, std::move(made)).first->second.get();
  }
  return nullptr;
}

}  // namespace nrd
