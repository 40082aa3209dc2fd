// read_arrays.cpp: no .npy or .pb file may make the readers of the runner (C, in every program that is made of a model)
// read outside of it, and what they accept has as many bytes as its shape and type say.
//
// The file's last byte is the last one of a page, and the next page cannot be read.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
#include "runtime-lite/runner/array.h"
}

namespace {

/// A copy of the bytes that ends where memory ends.
class Guarded {
 public:
  Guarded(const uint8_t* data, size_t size) {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), room = (size + page - 1) / page * page;
    whole_ = room + page;
    memory_ = static_cast<uint8_t*>(mmap(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_ + room, page, PROT_NONE) != 0) std::abort();
    begin_ = memory_ + room - size;
    if (size != 0) std::memcpy(begin_, data, size);
  }
  ~Guarded() { munmap(memory_, whole_); }
  Guarded(const Guarded&) = delete;
  const uint8_t* begin() const { return begin_; }

 private:
  uint8_t *memory_ = nullptr, *begin_ = nullptr;
  size_t whole_ = 0;
};

void check(const char* why, rlx_array& array) {
  size_t bytes = 0;
  bool whole = why != nullptr || (rlx_array_size(&array, &bytes) != 0 && bytes == array.bytes && array.ndim >= 0 &&
                                  array.ndim <= RLX_MAX_RANK && array.bits != 0);
  if (why != nullptr && *why == '\0') std::abort();
  if (!whole) std::abort();
  uint8_t sum = 0;  // every byte can be read
  for (size_t i = 0; why == nullptr && i < array.bytes; ++i) sum ^= static_cast<const uint8_t*>(array.data)[i];
  volatile uint8_t kept = sum;
  static_cast<void>(kept);
  std::free(array.data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Guarded file(data, size);
  struct Wanted {
    uint8_t code, bits;
  };
  for (Wanted wanted : {Wanted{RLX_DTYPE_FLOAT, 32}, {RLX_DTYPE_INT, 4}, {RLX_DTYPE_BFLOAT, 16}, {RLX_DTYPE_BOOL, 8}}) {
    rlx_tensor_spec spec{};
    spec.dtype_code = wanted.code;
    spec.dtype_bits = wanted.bits;
    rlx_array array{};
    const char* why = rlx_npy_parse(file.begin(), size, &spec, &array);
    check(why, array);
  }
  rlx_array array{};
  const char* why = rlx_tensor_proto_parse(file.begin(), size, &array);
  check(why, array);
  return 0;
}
