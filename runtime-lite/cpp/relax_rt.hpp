/* relax_rt.hpp: runs models from C++17 without generated code: an arena that frees itself, tensors with shapes, and
 * statuses as exceptions (relax::Model::run) or as values (relax::Model::try_run).
 *
 *   extern "C" const rlx_model mlp_model;
 *   relax::Model model(mlp_model);
 *   std::vector<relax::Tensor> out = model.run({relax::view(pixels.data(), {n, 784})});
 *   const float* scores = out[0].data<float>();
 *
 * It calls a model by its tables, so one program can use any number of models and sizes. On a device without exceptions
 * or a heap, use the typed call of the model's own header instead. */
#ifndef RELAX_RT_HPP
#define RELAX_RT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "relax_rt.h"

namespace relax {

/* The code and width in DLPack of a C++ type. */
template <typename T>
struct dtype_of;
#define RELAX_DTYPE(type, c, b)                       \
  template <>                                         \
  struct dtype_of<type> {                             \
    static constexpr std::uint8_t code = c, bits = b; \
  }
RELAX_DTYPE(std::int8_t, RLX_DTYPE_INT, 8);
RELAX_DTYPE(std::int16_t, RLX_DTYPE_INT, 16);
RELAX_DTYPE(std::int32_t, RLX_DTYPE_INT, 32);
RELAX_DTYPE(std::int64_t, RLX_DTYPE_INT, 64);
RELAX_DTYPE(std::uint8_t, RLX_DTYPE_UINT, 8);
RELAX_DTYPE(std::uint16_t, RLX_DTYPE_UINT, 16);
RELAX_DTYPE(std::uint32_t, RLX_DTYPE_UINT, 32);
RELAX_DTYPE(std::uint64_t, RLX_DTYPE_UINT, 64);
RELAX_DTYPE(float, RLX_DTYPE_FLOAT, 32);
RELAX_DTYPE(double, RLX_DTYPE_FLOAT, 64);
RELAX_DTYPE(bool, RLX_DTYPE_BOOL, 8);
#undef RELAX_DTYPE

/* A call that failed: its status, and the error record. */
class Error : public std::runtime_error {
 public:
  Error(const rlx_model& model, const rlx_function& function, rlx_status status, const rlx_error& found)
      : std::runtime_error(text(model, function, status, found)), status_(status), record_(found) {}
  rlx_status status() const noexcept { return status_; }
  const rlx_error& record() const noexcept { return record_; }

 private:
  static std::string text(const rlx_model& model, const rlx_function& function, rlx_status status,
                          const rlx_error& found) {
    const std::string where = std::string(model.name) + "." + function.name + ": ";
    if (found.code != status) return where + rlx_status_name(status);
    std::string said(rlx_error_text(&model, &function, &found, nullptr, 0), ' ');
    rlx_error_text(&model, &function, &found, &said[0], said.size() + 1);
    return where + said + " (" + rlx_status_name(status) + ")";
  }
  rlx_status status_;
  rlx_error record_;
};

/* Aligned memory, which is reallocated only if more bytes or a larger alignment are needed; contents are not kept. */
class Arena {
 public:
  void* reserve(std::uint64_t bytes, std::uint32_t align) {
    if (bytes > static_cast<std::uint64_t>(PTRDIFF_MAX)) throw std::bad_alloc();
    if (bytes > bytes_ || align > align_) {
      memory_.reset(static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), std::align_val_t(align))));
      memory_.get_deleter().align = align;
      bytes_ = bytes;
      align_ = align;
    }
    return memory_.get();
  }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Free {
    Free() noexcept : align(alignof(std::max_align_t)) {}
    std::uint32_t align;
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, std::align_val_t(align)); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::uint64_t bytes_ = 0;
  std::uint32_t align_ = 0;
};

/* Compact row-major elements that the caller owns. */
struct View {
  const void* data;
  std::uint8_t code, bits;
  std::vector<std::int64_t> shape;
};
template <typename T>
View view(const T* data, std::vector<std::int64_t> shape) {
  return {data, dtype_of<T>::code, dtype_of<T>::bits, std::move(shape)};
}

/* Returns whether memory could have so many elements of any type. */
inline bool fits_memory(const std::vector<std::int64_t>& dims) noexcept {
  std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / 32;
  for (std::int64_t dim : dims) {
    if (dim == 0) return true;
    if (dim < 0 || static_cast<std::uint64_t>(dim) > most) return false;
    most /= static_cast<std::size_t>(dim);
  }
  return true;
}

/* A result, which owns its memory. */
class Tensor {
 public:
  /* Throws std::bad_alloc if memory could not hold it. */
  Tensor(std::uint8_t code, std::uint8_t bits, std::vector<std::int64_t> shape)
      : code_(code), bits_(bits), shape_(std::move(shape)) {
    if (!fits_memory(shape_)) throw std::bad_alloc();
    bytes_.resize(elements() * (bits < 8 ? 1 : bits / 8u));
  }

  const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  std::size_t elements() const noexcept {
    std::size_t count = 1;
    for (std::int64_t dim : shape_) count *= static_cast<std::size_t>(dim);
    return count;
  }
  /* Throws if T is not the type of the elements. */
  template <typename T>
  const T* data() const {
    if (dtype_of<T>::code != code_ || dtype_of<T>::bits != bits_)
      throw std::invalid_argument("relax::Tensor::data: the elements are of another type");
    return reinterpret_cast<const T*>(bytes_.data());
  }
  operator View() const { return {bytes_.data(), code_, bits_, shape_}; }

 private:
  friend class Model;
  std::uint8_t code_, bits_;
  std::vector<std::int64_t> shape_;
  std::vector<unsigned char> bytes_;
};

/* An entry point of a model, with arena and pools. Not for two threads at once; each may have a Model of its own. */
class Model {
 public:
  using Result = std::variant<std::vector<Tensor>, Error>;

  /* Throws std::invalid_argument if the model has no such function. */
  explicit Model(const rlx_model& model, const std::string& function = "main") : model_(&model) {
    for (std::uint32_t i = 0; i < model.num_functions; ++i) {
      const auto* record = at<rlx_function>(model.functions, i, model.function_size);
      if (function == record->name) function_ = record;
    }
    if (function_ == nullptr) throw std::invalid_argument(std::string(model.name) + " has no function " + function);
    context_.error = &error_;
    context_.alloc = lend;
    context_.alloc_user = this;
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const rlx_function& function() const noexcept { return *function_; }
  const rlx_tensor_spec& input(std::uint32_t index) const { return *spec(function_->inputs, index); }
  const rlx_tensor_spec& output(std::uint32_t index) const { return *spec(function_->outputs, index); }
  /* For setting a thread pool, weights or a trace hook. The wrapper itself sets arena, pools, error and alloc. */
  rlx_context& context() noexcept { return context_; }

  /* Runs the model on its inputs, in order. Throws Error if the call fails. */
  std::vector<Tensor> run(const std::vector<View>& inputs) {
    Result result = try_run(inputs);
    if (auto* error = std::get_if<Error>(&result)) throw std::move(*error);
    return std::get<std::vector<Tensor>>(std::move(result));
  }

  /* Same, but returns the Error; throws only if memory runs out. */
  Result try_run(const std::vector<View>& inputs) {
    error_ = {0, -1, -1, -1, -1, 0, 0};
    lent_.clear();
    std::vector<rlx_tensor> in;
    for (const View& given : inputs) in.push_back(record(given));
    const auto count = static_cast<std::uint32_t>(in.size());
    std::vector<std::int64_t> symbols(function_->num_symbols + 1u);
    if (std::int32_t status = function_->bind(&context_, in.data(), count, symbols.data(), &error_))
      return fault(status);
    std::vector<Tensor> outputs;
    for (std::uint32_t i = 0; i < function_->num_outputs; ++i) {
      std::vector<std::int64_t> dims(static_cast<std::size_t>(output(i).ndim) + 1);
      const std::int32_t status = function_->output_shape(symbols.data(), i, dims.data());
      if (status != RLX_OK && status != RLX_NEEDS_DATA) return fault(status);
      dims.pop_back();
      const bool unbounded = status == RLX_NEEDS_DATA || !fits_memory(dims);
      if (unbounded)
        for (std::size_t axis = 0; axis < dims.size(); ++axis) dims[axis] = axis == 0 ? kGuess : 1;
      outputs.emplace_back(output(i).dtype_code, output(i).dtype_bits, std::move(dims));
    }
    std::uint64_t bytes = 0;
    if (std::int32_t status = function_->arena_bytes(symbols.data(), &bytes)) {
      error_ = {status, -1, -1, -1, -1, 0, 0};
      return fault(status);
    }
    context_.arena = arena_.reserve(bytes, function_->arena_align);
    context_.arena_bytes = bytes;
    reserve_pools();
    return finish(in, outputs);
  }

 private:
  static constexpr std::int64_t kGuess = 1 << 16;

  template <typename T>
  static const T* at(const T* first, std::uint32_t index, std::size_t step) {
    return static_cast<const T*>(
        static_cast<const void*>(reinterpret_cast<const unsigned char*>(first) + index * step));
  }
  const rlx_tensor_spec* spec(const rlx_tensor_spec* first, std::uint32_t index) const {
    return at(first, index, model_->spec_size);
  }

  static rlx_tensor record(const View& given) {
    return {const_cast<void*>(given.data),
            RLX_DEVICE_CPU,
            0,
            static_cast<std::int32_t>(given.shape.size()),
            given.code,
            given.bits,
            1,
            const_cast<std::int64_t*>(given.shape.data()),
            nullptr,
            0};
  }

  static rlx_tensor record(Tensor& made) {
    return {
        made.bytes_.data(), RLX_DEVICE_CPU, 0, static_cast<std::int32_t>(made.shape_.size()), made.code_, made.bits_, 1,
        made.shape_.data(), nullptr,        0};
  }

  void reserve_pools() {
    pools_.resize(function_->num_pools);
    given_pools_.clear();
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      const std::uint64_t bytes = function_->pools[i].bytes;
      given_pools_.push_back({pools_[i].reserve(bytes, function_->arena_align), bytes});
    }
    context_.pools = given_pools_.data();
    context_.num_pools = function_->num_pools;
  }

  Error fault(std::int32_t status) const { return Error(*model_, *function_, static_cast<rlx_status>(status), error_); }

  /* Runs, repeats with more room for outputs whose size the data decides, and shrinks outputs to their sizes. */
  Result finish(std::vector<rlx_tensor>& in, std::vector<Tensor>& outputs) {
    for (;;) {
      std::vector<rlx_tensor> out;
      for (Tensor& tensor : outputs) out.push_back(record(tensor));
      const std::int32_t status = function_->run(&context_, in.data(), static_cast<std::uint32_t>(in.size()),
                                                 out.data(), static_cast<std::uint32_t>(out.size()));
      const std::int64_t short_one = std::int64_t{error_.tensor} - function_->num_inputs;
      if (status == RLX_DATA_CAPACITY && short_one >= 0 && short_one < function_->num_outputs) {
        Tensor& tensor = outputs[static_cast<std::size_t>(short_one)];
        std::vector<std::int64_t> dims(tensor.shape_.size(), 1);
        const bool endless = error_.expected > INT64_MAX / 16;  // more bytes than addresses
        if (dims.empty() || endless || error_.expected <= error_.actual) return fault(status);
        dims[0] = error_.expected;
        tensor = Tensor(tensor.code_, tensor.bits_, std::move(dims));
        continue;
      }
      if (status != RLX_OK) return fault(status);
      for (Tensor& tensor : outputs)
        tensor.bytes_.resize(tensor.elements() * (tensor.bits_ < 8 ? 1 : tensor.bits_ / 8u));
      return std::move(outputs);
    }
  }

  static void* lend(void* user, std::uint64_t bytes, std::uint64_t align) {
    auto* self = static_cast<Model*>(user);
    try {
      self->lent_.emplace_back();
      return self->lent_.back().reserve(bytes == 0 ? 1 : bytes, static_cast<std::uint32_t>(align));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  const rlx_model* model_;
  const rlx_function* function_ = nullptr;
  rlx_context context_ = RLX_CONTEXT_INIT;
  rlx_error error_{};
  Arena arena_;
  std::vector<Arena> pools_;
  std::vector<rlx_memory_pool> given_pools_;
  std::vector<Arena> lent_;
};

}  // namespace relax

#endif
