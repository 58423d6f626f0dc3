// SPDX-License-Identifier: MIT
// src/compiler/catalogue_traces.cpp: parses embedded traces on demand.
#include "compiler/catalogue_traces.h"

#include <memory>
#include <mutex>
#include <unordered_map>

#include "trace/text.h"

namespace nrd {

const OpTrace* catalogue_trace(std::string_view name) {
  static std::mutex mutex;
  static std::unordered_map<std::string_view, std::unique_ptr<OpTrace>> parsed;
  const std::lock_guard lock(mutex);
  if (auto found = parsed.find(name); found != parsed.end()) return found->second.get();
  for (const EmbeddedTrace& embedded : embedded_traces()) {
    if (embedded.name != name) continue;
    Expected<OpTrace> trace = parse_trace(embedded.text);
    if (!trace) return nullptr;  // a test parses every one
    return parsed.emplace(embedded.name, std::make_unique<OpTrace>(std::move(*trace)))
        .first->second.get();
  }
  return nullptr;
}

}  // namespace nrd
