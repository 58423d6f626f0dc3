// SPDX-License-Identifier: MIT
// src/ops/form.cpp: the forms there are.
#include "ops/form.h"

#include <algorithm>
#include <unordered_map>

#include "base/lazy.h"
#include "base/locks.h"

namespace nrd {
namespace {

// Under LockName::kNames. A model has some dozens of shapes.
constinit Lazy<std::unordered_map<std::string, std::unique_ptr<const Form>>> g_forms;

}  // namespace

const Form* keep_form(std::unique_ptr<const Form> form) {
  auto& forms = g_forms.get();
  std::string key = form->key();
  const Locked lock(LockName::kNames);
  return forms.try_emplace(std::move(key), std::move(form)).first->second.get();
}

bool is_kept_form(const void* pointer) {
  const auto& forms = g_forms.get();
  const Locked lock(LockName::kNames);
  return std::any_of(forms.begin(), forms.end(),
                     [&](const auto& entry) { return entry.second.get() == pointer; });
}

}  // namespace nrd
