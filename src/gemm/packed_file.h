// SPDX-License-Identifier: MIT
// src/gemm/packed_file.h: packed matrices as files that can be mapped.
//
// One page of header, then the panels as they lie in memory, so that products read a mapped file
// directly. The header names the format, its version, the byte order, the family, dtype and sizes,
// and has checksums of itself and of the panels. What does not fit is refused, never converted.
#pragma once

#include <string>

#include "gemm/packed.h"

namespace nrd::gemm {

// By base/files.h: a file that is there is complete.
Expected<void> save_packed(const PackedLayout& layout, const void* panels, const std::string& path);

struct MappedPacked {
  PackedLayout layout;
  std::shared_ptr<const void> panels;  // read-only; unmapped when the last user lets go
};
// The layout may be of any family; whether the machine has it is the caller's question. With
// `verify` the panels are read and their checksum is compared.
Expected<MappedPacked> map_packed(const std::string& path, bool verify);

}  // namespace nrd::gemm
