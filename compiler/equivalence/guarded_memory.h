// guarded_memory.h: memory of an exact size that detects writes beside it without a sanitizer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace relaxc::equivalence {

/// `bytes` bytes at a multiple of `align`, between guard bytes. All of these bytes hold a mark at first.
class GuardedMemory {
 public:
  explicit GuardedMemory(uint64_t bytes, uint64_t align = 64)
      : bytes_(bytes), memory_(bytes + 2 * kMargin + align, kMark) {
    auto at = reinterpret_cast<uintptr_t>(memory_.data()) + kMargin;
    data_ = memory_.data() + kMargin + (align - at % align) % align;
  }
  GuardedMemory(GuardedMemory&&) = default;
  GuardedMemory(const GuardedMemory&) = delete;

  std::byte* data() { return data_; }
  std::vector<std::byte> bytes() const { return {data_, data_ + bytes_}; }
  /// Whether no guard byte was overwritten.
  bool intact() const {
    return std::all_of(memory_.data(), static_cast<const std::byte*>(data_), marked) &&
           std::all_of(static_cast<const std::byte*>(data_) + bytes_, memory_.data() + memory_.size(), marked);
  }
  /// Whether no byte was overwritten.
  bool untouched() const { return std::all_of(memory_.begin(), memory_.end(), marked); }

 private:
  static constexpr size_t kMargin = 256;
  static constexpr std::byte kMark{0xA5};
  static bool marked(std::byte b) { return b == kMark; }

  uint64_t bytes_;
  std::vector<std::byte> memory_;
  std::byte* data_;
};

}  // namespace relaxc::equivalence
