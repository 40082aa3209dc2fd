// heap_test.cpp: programs whose sizes nobody can bound, in memory that the caller's allocator gives.
#include <catch2/catch.hpp>
#include <cstring>
#include <list>

#include "tests/e2e/road.h"

namespace relaxc::e2e {
namespace {

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

std::vector<HostTensor> inputs(int64_t n, double limit) {
  return {floats({n}, 0.5), tensor(DType::f(32), {}, {limit})};
}

TEST_CASE("sizes without a bound come out of the caller's allocator") {
  Road road("tests/e2e/programs/unbounded_loop.relax");
  Lender lender(road);
  CHECK(road.function().arena_max != UINT64_MAX);  // exact for the part that is planned
  for (int64_t n : {1, 2, 5})
    for (double limit : {-1.0, 4.0, 50.0, 2000.0}) road.run(inputs(n, limit));
  CHECK(lender.calls > 0);
  CHECK(lender.intact());
}

TEST_CASE("an allocator that is missing or fails ends the run with a code") {
  Road road("tests/e2e/programs/unbounded_loop.relax");
  CHECK_THAT(road.refusal(inputs(3, 50)), Catch::Contains("NO_ALLOCATOR"));
  for (int fail_at = 0; fail_at < 3; ++fail_at) {
    Lender lender(road);
    lender.fail_at = fail_at;
    CHECK_THAT(road.llvm().run(inputs(3, 20000)).index() == 1 ? std::get<1>(road.llvm().run(inputs(3, 20000))) : "",
               Catch::Contains("OUT_OF_MEMORY"));
    CHECK(lender.intact());
  }
}

TEST_CASE("a result that is too small for what was found says what it needs") {
  Road road("tests/e2e/programs/unbounded_loop.relax");
  Lender lender(road);
  CHECK_THAT(road.refusal(inputs(1, 60000)), Catch::Contains("DATA_CAPACITY"));
}

TEST_CASE("what is bounded asks no allocator") {
  Road road("tests/e2e/programs/nonzero.relax");
  Lender lender(road);
  lender.fail_at = 0;
  road.run({floats({4, 5}, -2)});
  CHECK(lender.calls == 0);
}

}  // namespace
}  // namespace relaxc::e2e
