// arena.h: memory that is freed together with its owner.
//
// IR nodes are many, small and freed together; a bump allocator makes them cheap and keeps old roots valid, so that
// a rewrite is undone by keeping the old pointer. The arena's destructor destroys objects in reverse order of
// creation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace relaxc {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (auto it = destructors_.rbegin(); it != destructors_.rend(); ++it) it->destroy(it->object);
  }

  /// Constructs a T that lives as long as the arena.
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    T* object = new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
    if constexpr (!std::is_trivially_destructible_v<T>)
      destructors_.push_back({object, [](void* p) { static_cast<T*>(p)->~T(); }});
    return object;
  }

 private:
  struct Destructor {
    void* object;
    void (*destroy)(void*);
  };

  void* allocate(size_t size, size_t align) {
    uintptr_t at = (reinterpret_cast<uintptr_t>(cursor_) + align - 1) & ~(uintptr_t{align} - 1);
    if (cursor_ == nullptr || at + size > reinterpret_cast<uintptr_t>(end_)) {
      size_t bytes = std::max(kChunk, size + align);
      chunks_.push_back(std::make_unique<std::byte[]>(bytes));
      cursor_ = chunks_.back().get();
      end_ = cursor_ + bytes;
      at = (reinterpret_cast<uintptr_t>(cursor_) + align - 1) & ~(uintptr_t{align} - 1);
    }
    cursor_ = reinterpret_cast<std::byte*>(at + size);
    return reinterpret_cast<void*>(at);
  }

  static constexpr size_t kChunk = 64 * 1024;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<Destructor> destructors_;
  std::byte* cursor_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace relaxc
