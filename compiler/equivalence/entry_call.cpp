// entry_call.cpp: the steps of a call: symbols, sizes, memory, call, results.
#include "compiler/equivalence/entry_call.h"

#include <algorithm>
#include <cstring>

#include "compiler/equivalence/guarded_memory.h"
#include "compiler/support/status_code.h"

namespace relaxc::equivalence {
namespace {

/// The most elements that a data-dependent output has room for, if the caller gives no capacity.
constexpr int64_t kManyElements = 1 << 20;
/// The number of bytes after an output that no call may write, which is checked after the call.
constexpr ptrdiff_t kMargin = 256;
constexpr std::byte kMark{0xA5};

class Call {
 public:
  Call(const relax::Module& module, const interface::Object& object, const interface::Entry& entry,
       std::vector<HostTensor> inputs, tir::Evaluator& evaluator, const EntryCallOptions& options)
      : module_(module),
        object_(object),
        entry_(entry),
        inputs_(std::move(inputs)),
        evaluator_(evaluator),
        options_(options) {}

  Outcome run() {
    if (inputs_.size() != entry_.inputs.size() && !refuse(kTensorCount, "the number of inputs")) return fault_;
    for (HostTensor& input : inputs_) buffers_.push_back(input.bytes.data());
    std::vector<int64_t> dims(num_dims());
    int64_t arena_bytes = 0;
    if (!solve() || !ask(entry_.shapes, {dims.data()}, symbols_) || !given_dims_fit(dims) ||
        !ask(entry_.arena, {&arena_bytes}, symbols_))
      return fault_;
    std::vector<int64_t> out_dims(dims.end() - static_cast<std::ptrdiff_t>(num_out_dims()), dims.end());
    std::vector<HostTensor> outputs = make_outputs(out_dims);
    for (size_t i = 0; i < outputs.size(); ++i) lend(i, outputs[i]);
    GuardedMemory arena(static_cast<size_t>(arena_bytes));
    std::vector<std::byte> weights = read_weights();
    std::vector<GuardedMemory> pools;
    for (const interface::Pool& pool : entry_.pools) pools.emplace_back(pool.bytes);
    buffers_.push_back(arena.data());
    for (GuardedMemory& pool : pools) buffers_.push_back(pool.data());
    buffers_.insert(buffers_.end(), {weights.data(), out_dims.data()});
    const bool ends = ask(entry_.call, buffers_, symbols_);
    // A run that a guard refuses must not write beyond its memory either.
    RELAXC_CHECK(arena.intact(), "bytes beside the arena were written");
    for (const GuardedMemory& pool : pools) RELAXC_CHECK(pool.intact(), "bytes beside a pool were written");
    for (size_t i = 0; i < outputs.size(); ++i)
      RELAXC_CHECK(paired(i) != nullptr || is_intact(outputs[i]),
                   "bytes behind output '" + entry_.outputs[i].name + "' were written");
    if (!ends) return fault_;
    set_dims(outputs, out_dims);
    return outputs;
  }

 private:
  /// Returns the input whose memory output `i` uses, or null.
  HostTensor* paired(size_t i) {
    int32_t pair = options_.in_place ? entry_.outputs[i].pair : -1;
    return pair >= 0 ? &inputs_[static_cast<size_t>(pair)] : nullptr;
  }

  /// Passes memory for output `i`. A state that grows is extended to the size of the output first.
  void lend(size_t i, HostTensor& output) {
    HostTensor* state = paired(i);
    if (state != nullptr && state->bytes.size() < output.bytes.size()) state->bytes.resize(output.bytes.size());
    if (state != nullptr) buffers_[static_cast<size_t>(entry_.outputs[i].pair)] = state->bytes.data();
    buffers_.push_back((state != nullptr ? *state : output).bytes.data());
  }

  bool ask(const std::string& name, const std::vector<void*>& buffers, const std::vector<int64_t>& scalars) {
    const tir::PrimFunc* function = module_.find_prim_func(name);
    RELAXC_CHECK(function != nullptr, "the entry names " + name + ", which does not exist");
    fault_ = {evaluator_.run(*function, buffers, scalars), name};
    return bool(fault_.status);
  }

  bool refuse(int32_t code, const char* text) {
    fault_ = {{.code = code}, text};
    return false;
  }

  /// Finds the symbols from the inputs, and checks what the wrapper checks from its tables.
  bool solve() {
    std::vector<int64_t> known;
    for (size_t i = 0; i < inputs_.size(); ++i)
      for (size_t axis = 0; axis < entry_.inputs[i].dims.size(); ++axis) {
        int64_t wanted = entry_.inputs[i].dims[axis];
        if (wanted >= 0 && wanted != inputs_[i].shape.at(axis)) return refuse(kStaticDim, "a static dim");
      }
    if (!find_symbols(known)) return false;
    for (size_t i = 0; i < inputs_.size(); ++i)
      for (size_t axis = 0; axis < entry_.inputs[i].dims.size(); ++axis) {
        int64_t wanted = entry_.inputs[i].dims[axis];
        if (wanted >= 0 || wanted == INT64_MIN) continue;
        if (symbols_.at(static_cast<size_t>(-1 - wanted)) != inputs_[i].shape[axis])
          return refuse(kSymbolEquality, "a symbol's dim");
      }
    if (entry_.values.empty()) return true;
    std::vector<void*> buffers = buffers_;
    buffers.push_back(symbols_.data());
    return ask(entry_.values, buffers, known);
  }

  bool find_symbols(std::vector<int64_t>& known) {
    for (const interface::Symbol& symbol : entry_.symbols) {
      bool dim = symbol.tensor >= 0;
      symbols_.push_back(dim ? inputs_[static_cast<size_t>(symbol.tensor)].shape.at(static_cast<size_t>(symbol.axis))
                             : INT64_MIN);
      if (!dim) continue;
      known.push_back(symbols_.back());
      if (known.back() < symbol.lower || known.back() > symbol.upper || known.back() % symbol.multiple_of != 0)
        return refuse(kDimBounds, "the bounds of a symbol");
    }
    return true;
  }

  static size_t count_dims(const std::vector<interface::Tensor>& tensors) {
    size_t count = 0;
    for (const interface::Tensor& tensor : tensors) count += tensor.dims.size();
    return count;
  }
  size_t num_out_dims() const { return count_dims(entry_.outputs); }
  size_t num_dims() const { return count_dims(entry_.inputs) + num_out_dims(); }

  bool given_dims_fit(const std::vector<int64_t>& dims) {
    size_t at = 0;
    for (const HostTensor& input : inputs_)
      for (int64_t dim : input.shape)
        if (dims.at(at++) != dim) return refuse(kDerivedDim, "a dim of an input");
    return true;
  }

  std::vector<HostTensor> make_outputs(std::vector<int64_t>& out_dims) const {
    std::vector<HostTensor> outputs;
    size_t at = 0;
    for (const interface::Tensor& spec : entry_.outputs) {
      HostTensor output{spec.dtype, {}, {}};
      size_t first = at;
      __int128 elements = 1;
      for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
        output.shape.push_back(out_dims[at++]);
        elements = std::min<__int128>(elements * output.shape.back(), INT64_MAX);
      }
      auto count = static_cast<int64_t>(elements);
      if (spec.data_dependent) count = options_.capacity.value_or(std::min(count, kManyElements));
      output.bytes.resize(static_cast<size_t>(count * spec.dtype.bytes()));
      output.bytes.resize(output.bytes.size() + kMargin, kMark);
      if (spec.data_dependent) out_dims[first] = count;
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  static bool is_intact(const HostTensor& output) {
    return std::all_of(output.bytes.end() - kMargin, output.bytes.end(), [](std::byte one) { return one == kMark; });
  }

  std::vector<std::byte> read_weights() const {
    std::vector<std::byte> bytes;
    if (object_.weights.stream)
      object_.weights.stream([&](const std::byte* data, size_t size) { bytes.insert(bytes.end(), data, data + size); });
    RELAXC_CHECK(bytes.size() == object_.weights.bytes, "the weights have another size than is said");
    return bytes;
  }

  void set_dims(std::vector<HostTensor>& outputs, const std::vector<int64_t>& out_dims) {
    size_t at = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      HostTensor& output = outputs[i];
      for (int64_t& dim : output.shape) dim = out_dims[at++];
      if (paired(i) != nullptr) output.bytes = paired(i)->bytes;
      output.bytes.resize(static_cast<size_t>(output.elements() * output.dtype.bytes()));
    }
  }

  const relax::Module& module_;
  const interface::Object& object_;
  const interface::Entry& entry_;
  std::vector<HostTensor> inputs_;
  tir::Evaluator& evaluator_;
  const EntryCallOptions& options_;
  std::vector<void*> buffers_;
  std::vector<int64_t> symbols_;
  relax::RunFault fault_;
};

}  // namespace

Outcome call_entry(const relax::Module& module, const interface::Object& object, const interface::Entry& entry,
                   const std::vector<HostTensor>& inputs, tir::Evaluator& evaluator, const EntryCallOptions& options) {
  return Call(module, object, entry, inputs, evaluator, options).run();
}

}  // namespace relaxc::equivalence
