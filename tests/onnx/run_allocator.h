// run_allocator.h: an allocator for models whose memory has no bound before a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace relaxc::onnx_tests {

/// Memory for what has no bound before a run; it is given back with this object.
class RunAllocator {
 public:
  static void* take(void* user, uint64_t bytes, uint64_t align) {
    auto& pieces = static_cast<RunAllocator*>(user)->pieces_;
    pieces.push_back(std::make_unique<std::byte[]>(bytes + align));
    auto at = reinterpret_cast<uintptr_t>(pieces.back().get());
    return pieces.back().get() + (align - at % align) % align;
  }

  bool used() const { return !pieces_.empty(); }

 private:
  std::vector<std::unique_ptr<std::byte[]>> pieces_;
};

}  // namespace relaxc::onnx_tests
