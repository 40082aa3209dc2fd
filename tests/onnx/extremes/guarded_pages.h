// guarded_pages.h: memory between pages that must not be touched.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compiler/support/check.h"

namespace relaxc::onnx_tests {

/// `bytes` bytes that end where a page without access begins (as near as `align` allows), behind another such page.
/// Both what it holds and the rest of its own pages are marked at first.
class GuardedPages {
 public:
  explicit GuardedPages(size_t bytes, size_t align = 1) : bytes_(bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    inner_ = std::max<size_t>((bytes + align + page - 1) / page, 1) * page;
    whole_ = inner_ + 2 * page;
    void* memory = mmap(nullptr, whole_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    RELAXC_CHECK(memory != MAP_FAILED, "no memory for a test");
    begin_ = static_cast<std::byte*>(memory) + page;
    RELAXC_CHECK(mprotect(begin_, inner_, PROT_READ | PROT_WRITE) == 0, "pages without access");
    std::memset(begin_, kMark, inner_);
    data_ = begin_ + (inner_ - bytes) / align * align;
  }
  ~GuardedPages() { munmap(begin_ - (whole_ - inner_) / 2, whole_); }
  GuardedPages(const GuardedPages&) = delete;

  std::byte* data() { return data_; }
  size_t bytes() const { return bytes_; }
  void forbid_writes() { RELAXC_CHECK(mprotect(begin_, inner_, PROT_READ) == 0, "pages that can only be read"); }
  /// Whether nothing beside the `bytes` was written.
  bool intact() const { return marked(begin_, data_) && marked(data_ + bytes_, begin_ + inner_); }
  bool untouched() const { return marked(begin_, begin_ + inner_); }

 private:
  static constexpr int kMark = 0xA5;
  static bool marked(const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte b) { return b == std::byte{kMark}; });
  }

  size_t bytes_, inner_ = 0, whole_ = 0;
  std::byte *begin_ = nullptr, *data_ = nullptr;
};

}  // namespace relaxc::onnx_tests
