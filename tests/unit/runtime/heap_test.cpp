// heap_test.cpp: the heap of a run: blocks apart, aligned, kept while they grow, used again; and an allocator that
// fails.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <list>
#include <random>
#include <vector>

#include "compiler/equivalence/guarded_memory.h"
#include "rlx_internal.h"

namespace {

/// An allocator with marked bytes around each piece, which may fail at its n-th call.
struct Allocator {
  std::list<relaxc::equivalence::GuardedMemory> pieces;
  int calls = 0, fail_at = -1;
  uint64_t total = 0, most = UINT64_MAX;

  static void* take(void* user, uint64_t bytes, uint64_t align) {
    auto& self = *static_cast<Allocator*>(user);
    if (self.calls++ == self.fail_at || bytes > self.most) return nullptr;
    self.total += bytes;
    return self.pieces.emplace_back(bytes, align).data();
  }
  bool intact() const {
    return std::all_of(pieces.begin(), pieces.end(), [](const auto& piece) { return piece.intact(); });
  }
};

struct Heap {
  Allocator allocator;
  rlx_context context = RLX_CONTEXT_INIT;
  rlx_error error{};
  int64_t words[RLX_HEAP_WORDS];

  Heap() {
    context.alloc = Allocator::take, context.alloc_user = &allocator;
    CHECK(rlx_heap_begin(&context, words, &error) == RLX_OK);
  }
  struct Block {
    int64_t words[2] = {0, 0};
    uint8_t* data() const { return reinterpret_cast<uint8_t*>(words[0]); }
  };
  int32_t reserve(Block& block, int64_t keep, int64_t bytes) {
    return rlx_heap_reserve(&context, words, block.words, keep, bytes, &error);
  }
  void release(Block& block) { CHECK(rlx_heap_release(&context, words, block.words, &error) == RLX_OK); }
};

TEST_CASE("a claim takes no word of a block for an address") {
  Heap heap;
  Heap::Block block{{-1, -1}}, other{{64, 64}};
  REQUIRE(rlx_heap_claim(&heap.context, heap.words, block.words, 100, &heap.error) == RLX_OK);
  REQUIRE(rlx_heap_claim(&heap.context, heap.words, other.words, 0, &heap.error) == RLX_OK);
  CHECK(block.words[1] >= 100);
  CHECK(block.words[0] % 64 == 0);
  std::memset(block.data(), 1, 100);
  heap.release(other);
  heap.release(block);
  CHECK(rlx_heap_claim(nullptr, heap.words, block.words, int64_t{1} << 60, nullptr) == RLX_NO_ALLOCATOR);
  CHECK(block.words[0] == 0);
}

TEST_CASE("blocks of a heap do not meet, in whatever order they come and go") {
  std::mt19937 random(7);
  Heap heap;
  struct Live {
    Heap::Block block;
    int64_t bytes;
    uint8_t mark;
  };
  std::vector<Live> live;
  for (int step = 0; step < 4000; ++step) {
    if (!live.empty() && random() % 2 == 0) {
      size_t at = random() % live.size();
      for (int64_t i = 0; i < live[at].bytes; ++i) REQUIRE(live[at].block.data()[i] == live[at].mark);
      heap.release(live[at].block);
      CHECK(live[at].block.words[0] == 0);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    Live made{{}, static_cast<int64_t>(random() % (1u << random() % 14)), static_cast<uint8_t>(random())};
    REQUIRE(heap.reserve(made.block, 0, made.bytes) == RLX_OK);
    CHECK(made.block.words[0] % 64 == 0);
    CHECK(made.block.words[1] >= made.bytes);
    std::memset(made.block.data(), made.mark, static_cast<size_t>(made.bytes));
    live.push_back(made);
  }
  CHECK(heap.allocator.intact());
}

TEST_CASE("a block keeps its bytes while it grows") {
  Heap heap;
  Heap::Block block;
  for (int64_t bytes = 1; bytes <= 20000; ++bytes) {
    REQUIRE(heap.reserve(block, bytes - 1, bytes) == RLX_OK);
    block.data()[bytes - 1] = static_cast<uint8_t>(bytes);
  }
  for (int64_t i = 0; i < 20000; ++i) REQUIRE(block.data()[i] == static_cast<uint8_t>(i + 1));
  CHECK(heap.allocator.intact());
  CHECK(heap.allocator.calls < 5);  // chunks double
}

TEST_CASE("what is released is used again") {
  Heap heap;
  for (int i = 0; i < 1000; ++i) {
    Heap::Block a, b;
    REQUIRE(heap.reserve(a, 0, 3000) == RLX_OK);
    REQUIRE(heap.reserve(b, 0, 100) == RLX_OK);
    heap.release(a);
    heap.release(b);
  }
  CHECK(heap.allocator.calls == 1);
}

TEST_CASE("without an allocator the code is that, and the block stays as it was") {
  Heap heap;
  heap.context.alloc = nullptr;
  Heap::Block block;
  CHECK(heap.reserve(block, 0, 100) == RLX_NO_ALLOCATOR);
  CHECK(heap.error.code == RLX_NO_ALLOCATOR);
  CHECK(heap.error.expected == 128);
  CHECK(block.words[0] == 0);
  CHECK(rlx_heap_reserve(nullptr, heap.words, block.words, 0, 100, nullptr) == RLX_NO_ALLOCATOR);
}

TEST_CASE("an allocator that fails at any call leaves every block whole") {
  for (int fail_at = 0; fail_at < 6; ++fail_at) {
    Heap heap;
    heap.allocator.fail_at = fail_at, heap.allocator.most = 1 << 20;
    Heap::Block block;
    int32_t status = RLX_OK;
    int64_t bytes = 64;
    for (; status == RLX_OK; bytes *= 2) {
      if (bytes > 64)
        for (int64_t i = 0; i < bytes / 2; ++i) REQUIRE(block.data()[i] == 0x3C);
      status = heap.reserve(block, bytes > 64 ? bytes / 2 : 0, bytes);
      if (status == RLX_OK) std::memset(block.data(), 0x3C, static_cast<size_t>(bytes));
    }
    CHECK(status == RLX_OUT_OF_MEMORY);
    CHECK(heap.error.expected == bytes / 2);
    CHECK(heap.allocator.intact());
  }
}

TEST_CASE("sizes beyond the address space are refused") {
  Heap heap;
  Heap::Block block;
  CHECK(heap.reserve(block, 0, INT64_MAX) == RLX_OUT_OF_MEMORY);
  CHECK(heap.error.expected == INT64_MAX);
  CHECK(heap.allocator.calls == 0);
}

}  // namespace
