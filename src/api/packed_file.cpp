// SPDX-License-Identifier: MIT
// src/api/packed_file.cpp: packed matrices saved and mapped.
#include "gemm/packed_file.h"

#include "api/packed.h"

namespace nrd {
namespace {

constexpr const char *kSave = "packed_save", *kMap = "packed_map";

Expected<void> save(const nereid_packed* packed, const char* path) {
  if (!packed) return null_error("packed", "a matrix of nereid_pack_b", kSave);
  if (!path) return null_error("path", "the name of a file", kSave);
  if (!packed->has_panels())
    return make_error({ErrorCode::kUnsupported, kSave, "packed",
                       fmt::format("a {} matrix without panels", word(packed->dtype)),
                       "one that was packed where the GEMM engine runs",
                       "see `nereid info` for what is missing"});
  return gemm::save_packed(packed->panels.layout, packed->panels.data.get(), path);
}

Expected<void> map(nereid_context* handle, const char* path, uint32_t flags, nereid_packed** out) {
  if (!out) return null_error("packed", "where to put the handle", kMap);
  if (!path) return null_error("path", "the name of a file", kMap);
  if (flags & ~static_cast<uint32_t>(NEREID_VERIFY))
    return make_error({ErrorCode::kInvalidArgument, kMap, "flags", fmt::format("{}", flags),
                       "0 or NEREID_VERIFY", ""});
  Expected<std::shared_ptr<Context>*> context = context_of(handle);
  if (!context) return context.error();
  Expected<gemm::MappedPacked> mapped = gemm::map_packed(path, (flags & NEREID_VERIFY) != 0);
  if (!mapped) return mapped.error();
  const gemm::PackedLayout& layout = mapped->layout;
  const Machine& machine = (**context)->registry().machine();
  Expected<const gemm::Family*> family = product_family(machine, layout.source, layout.source);
  if (!family) return family.error();
  NRD_TRY(gemm::check_packed(layout, **family, layout.k, layout.n));
  auto packed = make_packed(**context, layout.source, layout.k, layout.n);
  packed->hold({layout, std::move(mapped->panels)});
  *out = packed.release();
  return {};
}

}  // namespace
}  // namespace nrd

extern "C" {

nereid_status nereid_packed_save(const nereid_packed* packed, const char* path) {
  return nrd::guarded([&] { return nrd::save(packed, path); });
}

nereid_status nereid_packed_map(nereid_context* context, const char* path, uint32_t flags,
                                nereid_packed** packed) {
  return nrd::guarded([&] { return nrd::map(context, path, flags, packed); });
}

}  // extern "C"
