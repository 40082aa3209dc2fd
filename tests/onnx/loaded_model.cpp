// loaded_model.cpp: bind, sizes, run.
#include "tests/onnx/loaded_model.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/equivalence/guarded_memory.h"
#include "compiler/interface/dlpack.h"

namespace relaxc::onnx_tests {

std::optional<DType> dtype_of(const rlx_tensor_spec& spec) {
  static constexpr const char* kNames[] = {
      "bool",          "int8",          "int16",           "int32",       "int64",           "uint8",
      "uint16",        "uint32",        "uint64",          "float16",     "float32",         "float64",
      "bfloat16",      "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
      "float4_e2m1fn", "int4",          "uint4",           "int2",        "uint2",           "handle"};
  for (const char* name : kNames) {
    DType dtype = *parse_dtype(name);
    interface::DLPackType type = interface::dlpack_type(dtype);
    if (type.code == spec.dtype_code && type.bits == spec.dtype_bits) return dtype;
  }
  return std::nullopt;
}

namespace {

using equivalence::GuardedMemory;
using relax::HostTensor;

rlx_tensor tensor_of(void* data, DType dtype, std::vector<int64_t>& shape) {
  interface::DLPackType type = interface::dlpack_type(dtype);
  return {data,         RLX_DEVICE_CPU, 0, static_cast<int32_t>(shape.size()), type.code, type.bits, 1,
          shape.data(), nullptr,        0};
}

class Run {
 public:
  Run(const rlx_function& function, const rlx_context& context, const std::vector<HostTensor>& inputs,
      LoadedModel::States states)
      : function_(function), given_(inputs), in_place_(states == LoadedModel::kInPlace), context_(context) {
    context_.error = &error_;
  }

  std::variant<std::vector<HostTensor>, std::string> all() {
    if (given_.size() < function_.num_inputs)
      return fmt::format("{} inputs given, {} wanted", given_.size(), function_.num_inputs);
    for (uint32_t i = 0; i < function_.num_inputs; ++i) {
      shapes_.push_back(given_[i].shape);
      bytes_.push_back(given_[i].bytes);
    }
    for (uint32_t i = 0; i < function_.num_inputs; ++i)
      inputs_.push_back(tensor_of(bytes_[i].data(), given_[i].dtype, shapes_[i]));
    std::vector<int64_t> symbols(std::max<size_t>(function_.num_symbols, 1));
    if (int32_t status = function_.bind(&context_, inputs_.data(), function_.num_inputs, symbols.data(), &error_);
        status != RLX_OK)
      return failure("bind", status);
    uint64_t arena_bytes = 0;
    if (int32_t status = function_.arena_bytes(symbols.data(), &arena_bytes); status != RLX_OK)
      return failure("arena_bytes", status);
    if (arena_bytes > function_.arena_max) return std::string("arena_bytes is larger than arena_max");
    if (std::string fault = make_outputs(symbols); !fault.empty()) return fault;
    GuardedMemory arena(arena_bytes, std::max<uint32_t>(function_.arena_align, 1));
    context_.arena = arena.data();
    context_.arena_bytes = arena_bytes;
    if (std::string fault = too_small(arena_bytes); !fault.empty()) return fault;
    if (!arena.untouched()) return std::string("a refused call wrote the arena");
    int32_t status =
        function_.run(&context_, inputs_.data(), function_.num_inputs, outputs_.data(), function_.num_outputs);
    if (status != RLX_OK) return failure("run", status);
    if (!arena.intact()) return std::string("bytes beside the arena were written");
    for (uint32_t i = 0; i < function_.num_inputs; ++i)
      if (bytes_[i] != given_[i].bytes) return fmt::format("input {} was written", i);
    return results();
  }

 private:
  std::string failure(const char* call, int32_t status) const {
    rlx_model model{};
    model.spec_size = sizeof(rlx_tensor_spec);
    std::string said(rlx_error_text(&model, &function_, &error_, nullptr, 0), ' ');
    rlx_error_text(&model, &function_, &error_, said.data(), said.size() + 1);
    return fmt::format("{}: {} (tensor {}, axis {}, symbol {}, node {}, expected {}, actual {}): {}", call,
                       rlx_status_name(status), error_.tensor, error_.axis, error_.symbol, error_.node, error_.expected,
                       error_.actual, said);
  }

  std::string make_outputs(const std::vector<int64_t>& symbols) {
    constexpr int64_t kLargest = int64_t{1} << 32, kUnbounded = 1 << 16;
    for (uint32_t i = 0; i < function_.num_outputs; ++i) {
      const rlx_tensor_spec& spec = function_.outputs[i];
      std::optional<DType> dtype = dtype_of(spec);
      if (!dtype) return fmt::format("output {} has a dtype that this test does not know", i);
      dtypes_.push_back(*dtype);
      out_shapes_.emplace_back(static_cast<size_t>(spec.ndim));
      if (int32_t status = function_.output_shape(symbols.data(), i, out_shapes_.back().data()); status != RLX_OK)
        return failure("output_shape", status);
      std::vector<int64_t>& shape = out_shapes_.back();
      if (std::find(shape.begin(), shape.end(), INT64_MAX) != shape.end()) {
        std::fill(shape.begin(), shape.end(), 1);
        shape[0] = kUnbounded;
      }
      int64_t elements = 1;
      for (int64_t dim : shape)
        if (__builtin_mul_overflow(elements, dim, &elements) || elements > kLargest)
          return "an output without a usable bound";
      out_memory_.push_back(std::make_unique<GuardedMemory>(static_cast<uint64_t>(elements * dtype->bytes()), 64));
    }
    for (uint32_t i = 0; i < function_.num_outputs; ++i)
      outputs_.push_back(tensor_of(out_memory_[i]->data(), dtypes_[i], out_shapes_[i]));
    for (uint32_t i = 0; i < function_.num_outputs; ++i) {
      int32_t pair = function_.outputs[i].pair;
      if (!in_place_ || pair < 0) continue;
      auto input = static_cast<size_t>(pair);
      if (!bytes_[input].empty()) std::memcpy(out_memory_[i]->data(), bytes_[input].data(), bytes_[input].size());
      inputs_[input].data = out_memory_[i]->data();
    }
    return {};
  }

  /// One byte less than the arena is refused, and no output was touched. Empty if so.
  std::string too_small(uint64_t arena_bytes) {
    if (arena_bytes == 0) return {};
    std::vector<std::vector<std::byte>> before;
    for (const auto& memory : out_memory_) before.push_back(memory->bytes());
    context_.arena_bytes = arena_bytes - 1;
    int32_t status =
        function_.run(&context_, inputs_.data(), function_.num_inputs, outputs_.data(), function_.num_outputs);
    context_.arena_bytes = arena_bytes;
    if (status != RLX_ARENA_SIZE || error_.expected != static_cast<int64_t>(arena_bytes) ||
        error_.actual != static_cast<int64_t>(arena_bytes) - 1)
      return "an arena that is a byte too small: " + failure("run", status);
    for (size_t i = 0; i < before.size(); ++i)
      if (before[i] != out_memory_[i]->bytes()) return fmt::format("a refused call wrote output {}", i);
    return {};
  }

  std::variant<std::vector<HostTensor>, std::string> results() {
    std::vector<HostTensor> out;
    for (uint32_t i = 0; i < function_.num_outputs; ++i) {
      if (!out_memory_[i]->intact()) return fmt::format("bytes beside output {} were written", i);
      HostTensor tensor{dtypes_[i], out_shapes_[i], {}};
      tensor.bytes.resize(static_cast<size_t>(tensor.elements() * dtypes_[i].bytes()));
      if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), out_memory_[i]->data(), tensor.bytes.size());
      out.push_back(std::move(tensor));
    }
    return out;
  }

  const rlx_function& function_;
  const std::vector<HostTensor>& given_;
  bool in_place_;
  rlx_context context_;
  rlx_error error_{};
  std::vector<std::vector<int64_t>> shapes_, out_shapes_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<DType> dtypes_;
  std::vector<std::unique_ptr<GuardedMemory>> out_memory_;
  std::vector<rlx_tensor> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<LoadedModel> LoadedModel::open(const std::string& library, const std::string& name,
                                               std::string& fault) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    fault = dlerror();
    return nullptr;
  }
  const auto* model = static_cast<const rlx_model*>(dlsym(handle, (name + "_model").c_str()));
  if (model == nullptr || model->num_functions == 0) {
    fault = "there is no model named " + name + " in " + library;
    dlclose(handle);
    return nullptr;
  }
  return std::unique_ptr<LoadedModel>(new LoadedModel(handle, model));
}

LoadedModel::~LoadedModel() {
  dlclose(handle_);
}

std::variant<std::vector<HostTensor>, std::string> LoadedModel::run(const std::vector<HostTensor>& inputs,
                                                                    States states, uint32_t entry) const {
  return Run(function(entry), context_, inputs, states).all();
}

void* LoadedModel::symbol(const std::string& name) const {
  return dlsym(handle_, name.c_str());
}

}  // namespace relaxc::onnx_tests
