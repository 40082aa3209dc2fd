// call.h: one call of a function of the fake model, with memory that notices every byte written where it should not be.
//
// A Call starts as one that succeeds. A test breaks one thing, says which status and record it expects, and `refused`
// holds the rest: that no byte of any output, of the arena or around them has changed. Buffers are exactly as large as
// they must be, between canaries, so "one byte beyond" is seen without a sanitizer too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "fake_model.h"

namespace abi_test {

/// `bytes` bytes at an address that 64 divides (plus `offset`), with 64 canary bytes on both sides.
class Memory {
 public:
  explicit Memory(size_t bytes = 0, size_t offset = 0) : bytes_(bytes), storage_(bytes + offset + 3 * kCanary, kFill) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    begin_ = (kCanary - address % kCanary) % kCanary + kCanary + offset;
    before_ = storage_;
  }
  void* data() { return storage_.data() + begin_; }
  size_t size() const { return bytes_; }

  template <class T>
  T* as() {
    return static_cast<T*>(data());
  }

  /// Remembers the content as what must not change.
  void remember() { before_ = storage_; }
  /// Whether no byte changed since `remember`.
  bool untouched() const { return storage_ == before_; }
  /// Whether no byte outside the block changed.
  bool intact() const {
    return std::equal(storage_.begin(), storage_.begin() + static_cast<long>(begin_), before_.begin()) &&
           std::equal(storage_.begin() + static_cast<long>(begin_ + bytes_), storage_.end(),
                      before_.begin() + static_cast<long>(begin_ + bytes_));
  }

 private:
  static constexpr size_t kCanary = 64;
  static constexpr uint8_t kFill = 0xa5;
  size_t bytes_;
  size_t begin_ = 0;
  std::vector<uint8_t> storage_, before_;
};

/// A tensor with the memory that it owns. The record points into the vectors; tests change either.
struct Argument {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  ///< used when not empty
  Memory memory;
  rlx_tensor tensor{};
};

class Call {
 public:
  explicit Call(int function, const rlx_model& model = fake_model) : function_(&model.functions[function]) {
    use_arena(0);
  }

  /// Adds an argument of the spec's dtype with values 1, 2, 3 … (inputs) or canary bytes (outputs).
  Argument& input(std::vector<int64_t> shape) {
    Argument& argument = add(inputs_, function_->inputs, std::move(shape));
    fill(argument);
    return argument;
  }
  Argument& output(std::vector<int64_t> shape) { return add(outputs_, function_->outputs, std::move(shape)); }

  Argument& in(size_t i) { return *inputs_[i]; }
  Argument& out(size_t i) { return *outputs_[i]; }

  void use_arena(size_t bytes, size_t offset = 0) {
    arena = Memory(bytes, offset);
    context.arena = bytes == 0 ? nullptr : arena.data();
    context.arena_bytes = bytes;
  }

  int32_t run() {
    remember();
    std::vector<rlx_tensor> in = tensors(inputs_), out = tensors(outputs_);
    error = kNothing;
    if (needs_error) context.error = &error;
    return function_->run(&context, in.data(), num_in >= 0 ? static_cast<uint32_t>(num_in) : uint32_t(in.size()),
                          out.data(), num_out >= 0 ? static_cast<uint32_t>(num_out) : uint32_t(out.size()));
  }

  int32_t bind(std::vector<int64_t>& symbols, bool with_context = true) {
    std::vector<rlx_tensor> in = tensors(inputs_);
    error = kNothing;
    symbols.assign(function_->num_symbols, 0);
    return function_->bind(with_context ? &context : nullptr, in.data(), uint32_t(in.size()), symbols.data(), &error);
  }

  /// Whether `run` returns `status`, with that status in the record, and leaves every byte as it was.
  bool refused(int32_t status) {
    const int32_t result = run();
    bool untouched = arena.untouched();
    for (auto& list : {&inputs_, &outputs_})
      for (auto& argument : *list) untouched &= argument->memory.untouched();
    return result == status && error.code == status && untouched;
  }

  /// Whether `run` succeeds, writes nothing around its buffers and leaves the record and the inputs alone.
  bool succeeds() {
    if (run() != RLX_OK || error.code != kNothing.code || !arena.intact()) return false;
    for (auto& argument : inputs_)
      if (!argument->memory.untouched() && !shares(*argument)) return false;
    for (auto& argument : outputs_)
      if (!argument->memory.intact()) return false;
    return true;
  }

  rlx_context context = RLX_CONTEXT_INIT;
  rlx_error error{};
  Memory arena;
  bool needs_error = true;
  int num_in = -1, num_out = -1;  ///< as given to run; -1: as many as there are

 private:
  static constexpr rlx_error kNothing = {-77, -77, -77, -77, -77, -77, -77};
  using List = std::vector<std::unique_ptr<Argument>>;

  static size_t element_bytes(const rlx_tensor& tensor) { return tensor.dtype_bits / 8; }

  Argument& add(List& list, const rlx_tensor_spec* specs, std::vector<int64_t> shape) {
    const rlx_tensor_spec& spec = specs[list.size()];
    list.push_back(std::make_unique<Argument>());
    Argument& argument = *list.back();
    argument.tensor.device_type = RLX_DEVICE_CPU;
    argument.tensor.ndim = int32_t(shape.size());
    argument.tensor.dtype_code = spec.dtype_code;
    argument.tensor.dtype_bits = spec.dtype_bits;
    argument.tensor.dtype_lanes = 1;
    size_t count = 1;
    for (int64_t dim : shape) count *= size_t(dim);
    argument.shape = std::move(shape);
    argument.memory = Memory(count * element_bytes(argument.tensor));
    argument.tensor.data = argument.memory.data();
    argument.tensor.shape = argument.shape.data();
    return argument;
  }

  static void fill(Argument& argument) {
    const size_t bytes = element_bytes(argument.tensor), count = argument.memory.size() / bytes;
    for (size_t i = 0; i < count; ++i) {
      if (argument.tensor.dtype_code == RLX_DTYPE_FLOAT) argument.memory.as<float>()[i] = float(i + 1);
      if (argument.tensor.dtype_code == RLX_DTYPE_INT && bytes == 4) argument.memory.as<int32_t>()[i] = int32_t(i + 1);
      if (argument.tensor.dtype_code == RLX_DTYPE_INT && bytes == 8) argument.memory.as<int64_t>()[i] = int64_t(i + 1);
      if (bytes == 1) argument.memory.as<uint8_t>()[i] = uint8_t(i + 1);
    }
  }

  static std::vector<rlx_tensor> tensors(const List& list) {
    std::vector<rlx_tensor> result;
    for (auto& argument : list) {
      if (argument->tensor.shape != nullptr) argument->tensor.shape = argument->shape.data();
      argument->tensor.strides = argument->strides.empty() ? nullptr : argument->strides.data();
      result.push_back(argument->tensor);
    }
    result.emplace_back();  // so that data() is never null
    result.pop_back();
    return result;
  }

  /// Whether an output was given this input's memory.
  bool shares(const Argument& input) const {
    for (auto& argument : outputs_)
      if (argument->tensor.data == input.tensor.data) return true;
    return false;
  }

  void remember() {
    arena.remember();
    for (auto& argument : inputs_) argument->memory.remember();
    for (auto& argument : outputs_) argument->memory.remember();
  }

  const rlx_function* function_;
  List inputs_, outputs_;
};

/// Calls that succeed, of the functions that most tests are about.
inline Call affine_call(size_t arena = 64, size_t arena_offset = 0) {
  Call call(FAKE_AFFINE);
  call.input({2, 3});
  call.output({2, 3});
  call.use_arena(arena, arena_offset);
  return call;
}

inline Call grow_call(int64_t n) {
  Call call(FAKE_GROW);
  call.input({n, 4});
  call.input({n});
  call.input({n * 4});
  call.output({n, 4});
  call.output({n * 2});
  call.use_arena(size_t(n) * 16);
  return call;
}

inline Call state_call() {
  Call call(FAKE_STATE);
  call.input({2});
  call.input({2});
  call.output({2});
  call.output({2});
  return call;
}

/// A call of the function whose weights are in a file of their own, which is `file`.
inline Call weights_call(Memory& file) {
  Call call(FAKE_WEIGHTS);
  call.input({4});
  call.output({4});
  rlx_weights_header header{};
  std::memcpy(header.magic, RLX_WEIGHTS_MAGIC, 8);
  header.abi_version = RLX_ABI_VERSION;
  header.header_bytes = sizeof header;
  header.bytes = FAKE_WEIGHTS_BYTES;
  std::memcpy(header.hash, fake_model.hash, 32);
  std::memset(file.data(), 0, file.size());
  std::memcpy(file.data(), &header, sizeof header);
  for (int i = 0; i < 4; ++i) file.as<float>()[16 + i] = 10.0f * float(i);
  call.context.weights = file.data();
  call.context.weights_bytes = file.size();
  return call;
}

/// A call of the function that gives `x`, [n, 6], the shape [t0, t1].
inline Call reshape_call(int64_t n, int64_t t0, int64_t t1) {
  Call call(FAKE_RESHAPE);
  call.input({n, 6});
  Argument& target = call.input({2});
  target.memory.as<int64_t>()[0] = t0;
  target.memory.as<int64_t>()[1] = t1;
  call.output({n * 6, 1});
  call.use_arena(48000);
  return call;
}

}  // namespace abi_test
