// lender.h: an allocator for the memory that a run asks its context for.
#pragma once

#include <catch2/catch.hpp>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <list>

#include "tests/e2e/road.h"

namespace relaxc::e2e {

/// Gives memory between marked bytes, counts, and fails from some call on.
class Lender {
 public:
  explicit Lender(Road& road) {
    road.llvm().lend_memory(take, this);
    road.c().lend_memory(take, this);
  }
  int calls = 0, fail_at = INT_MAX;

  bool intact() const {
    for (const auto& [memory, bytes] : pieces_)
      for (size_t i = 0; i < kCanary; ++i)
        if (memory[i] != kMark || memory[kCanary + bytes + i] != kMark) return false;
    return true;
  }

 private:
  static constexpr size_t kCanary = 64;
  static constexpr std::byte kMark{0x5A};

  static void* take(void* user, uint64_t bytes, uint64_t align) {
    auto& self = *static_cast<Lender*>(user);
    if (self.calls++ >= self.fail_at) return nullptr;
    CHECK(align <= kCanary);
    size_t all = (static_cast<size_t>(bytes) + 2 * kCanary + align - 1) / align * align;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(align, all));
    std::memset(memory, static_cast<int>(kMark), all);
    self.pieces_.push_back({memory, static_cast<size_t>(bytes)});
    return memory + kCanary;
  }
  struct Piece {
    std::byte* memory;
    size_t bytes;
  };
  struct Pieces : std::list<Piece> {
    ~Pieces() {
      for (const Piece& piece : *this) std::free(piece.memory);
    }
  } pieces_;
};

}  // namespace relaxc::e2e
