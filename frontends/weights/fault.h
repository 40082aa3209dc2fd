// fault.h: errors about one file of weights.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/support/result.h"

namespace relaxc::frontend {

/// The file that is read, and where its errors are reported.
struct WeightsFile {
  std::shared_ptr<const relax::MappedFile> file;
  Location where = nullptr;
  Diagnostics& diag;

  std::span<const std::byte> bytes() const { return file->bytes(); }
  bool holds(uint64_t at, uint64_t length) const { return at <= bytes().size() && length <= bytes().size() - at; }
  std::string_view text(uint64_t at, uint64_t length) const {
    return {reinterpret_cast<const char*>(bytes().data()) + at, static_cast<size_t>(length)};
  }
  template <typename... Args>
  Failure error(Kind kind, fmt::format_string<Args...> text, Args&&... args) const {
    return diag.error(where, kind, "{}: {}", file->path(), fmt::format(text, std::forward<Args>(args)...));
  }
};

/// Returns the size of a tensor in bytes; nothing if a dim is negative or the size overflows int64.
inline std::optional<uint64_t> checked_size(const std::vector<int64_t>& shape, DType dtype) {
  int64_t size = dtype.bytes();
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(size, dim, &size)) return std::nullopt;
  return static_cast<uint64_t>(size);
}

}  // namespace relaxc::frontend
