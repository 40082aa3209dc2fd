// hostile_call.cpp: a guarded page behind every tensor, and marks in what must stay as it was.
#include "tests/onnx/extremes/hostile_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "compiler/interface/dlpack.h"
#include "tests/onnx/extremes/guarded_pages.h"
#include "tests/onnx/loaded_model.h"

namespace relaxc::onnx_tests {
namespace {

using relax::HostTensor;

constexpr int64_t kMostElements = 1 << 16;   ///< of an output
constexpr uint64_t kMostArena = 16u << 20u;  ///< bytes

/// Memory that a run may ask for, up to a limit.
class Allocator {
 public:
  static void* take(void* user, uint64_t bytes, uint64_t align) {
    auto& self = *static_cast<Allocator*>(user);
    if (bytes > kMostArena || self.taken_ + bytes > kMostArena) return nullptr;
    self.taken_ += bytes;
    self.pieces_.emplace_back(static_cast<size_t>(bytes), static_cast<size_t>(align));
    return self.pieces_.back().data();
  }
  bool intact() const {
    return std::all_of(pieces_.begin(), pieces_.end(), [](const GuardedPages& piece) { return piece.intact(); });
  }

 private:
  std::deque<GuardedPages> pieces_;
  uint64_t taken_ = 0;
};

rlx_tensor record(void* data, const rlx_tensor_spec& spec, std::vector<int64_t>& shape) {
  return {data, RLX_DEVICE_CPU, 0, spec.ndim, spec.dtype_code, spec.dtype_bits, 1, shape.data(), nullptr, 0};
}

/// Whether a reader of the record learns where it is. What these statuses are about is in their names; a size without a
/// place is the arena's.
bool names_a_place(const rlx_error& error) {
  switch (error.code) {
    case RLX_ARENA_SIZE:
    case RLX_ARENA_ALIGNMENT:
    case RLX_SIZE_OVERFLOW:
      return true;
    default:
      return error.node >= 0 || error.tensor >= 0 || error.symbol >= 0;
  }
}

/// The product of `shape`; nothing if it is not the shape of a small tensor.
std::optional<int64_t> elements_of(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > kMostElements) return {};
  return count;
}

class Call {
 public:
  Call(const rlx_function& function, const std::vector<HostTensor>& inputs) : function_(function) {
    for (const HostTensor& input : inputs) {
      memory_in_.push_back(std::make_unique<GuardedPages>(input.bytes.size(), natural(input.dtype)));
      if (!input.bytes.empty()) std::memcpy(memory_in_.back()->data(), input.bytes.data(), input.bytes.size());
      memory_in_.back()->forbid_writes();
      shapes_in_.push_back(input.shape);
    }
    for (uint32_t i = 0; i < function.num_inputs; ++i)
      in_.push_back(record(memory_in_[i]->data(), function.inputs[i], shapes_in_[i]));
    context_.error = &error_;
    context_.alloc = Allocator::take;
    context_.alloc_user = &allocator_;
  }

  Answer generic(const std::vector<int64_t>& capacities) {
    Answer answer;
    make_outputs(capacities);
    ask_sizes(answer);
    if (arena_ == nullptr) give_arena(4096);
    for (uint32_t i = 0; i < function_.num_outputs; ++i) {
      shapes_out_.emplace_back(static_cast<size_t>(function_.outputs[i].ndim), 1);
      if (!shapes_out_[i].empty()) shapes_out_[i][0] = capacities[i];
    }
    for (uint32_t i = 0; i < function_.num_outputs; ++i)
      out_.push_back(record(memory_out_[i]->data(), function_.outputs[i], shapes_out_[i]));
    answer.status = function_.run(&context_, in_.data(), function_.num_inputs, out_.data(), function_.num_outputs);
    check(answer);
    if (answer.status == RLX_OK && answer.fault.empty()) take_outputs(answer, capacities);
    return answer;
  }

  Answer typed(const TypedEntry& entry, const std::vector<int64_t>& capacities, const Answer& generic) {
    Answer answer;
    std::vector<int64_t> sizes = capacities;
    for (size_t i = 0; i < sizes.size() && generic.sized; ++i)
      if ((function_.outputs[i].flags & RLX_FLAG_DATA_DEPENDENT) == 0) sizes[i] = *elements_of(generic.shapes[i]);
    make_outputs(sizes);
    ask_sizes(answer);
    if (arena_ == nullptr) give_arena(4096);
    for (uint32_t i = 0; i < function_.num_outputs; ++i) {
      shapes_out_.emplace_back(std::max<size_t>(static_cast<size_t>(function_.outputs[i].ndim), 1), 0);
      shapes_out_[i][0] = sizes[i];
    }
    std::vector<uint64_t> args = arguments(entry);
    answer.status = entry.run(&context_, args.data());
    check(answer);
    if (answer.status != RLX_OK || !answer.fault.empty()) return answer;
    if (!generic.sized) answer.fault = "the typed call succeeds where sizes cannot be told";
    for (uint32_t i = 0; i < function_.num_outputs && generic.sized; ++i) {
      bool data = (function_.outputs[i].flags & RLX_FLAG_DATA_DEPENDENT) != 0;
      if (!data) shapes_out_[i] = generic.shapes[i];
      shapes_out_[i].resize(static_cast<size_t>(function_.outputs[i].ndim));
    }
    if (answer.fault.empty()) take_outputs(answer, sizes);
    return answer;
  }

 private:
  static size_t natural(DType dtype) { return static_cast<size_t>(std::max<int64_t>(dtype.bytes(), 1)); }

  void make_outputs(const std::vector<int64_t>& capacities) {
    for (uint32_t i = 0; i < function_.num_outputs; ++i) {
      std::optional<DType> dtype = dtype_of(function_.outputs[i]);
      RELAXC_CHECK(dtype.has_value(), "an output's dtype");
      dtypes_.push_back(*dtype);
      size_t bytes = static_cast<size_t>(capacities[i] * dtype->bytes());
      memory_out_.push_back(std::make_unique<GuardedPages>(bytes, natural(*dtype)));
    }
  }

  void give_arena(uint64_t bytes) {
    arena_ = std::make_unique<GuardedPages>(bytes, std::max<uint32_t>(function_.arena_align, 1));
    context_.arena = arena_->data();
    context_.arena_bytes = bytes;
  }

  /// Lends what `arena_bytes` says, and notes the shapes of outputs, if these are small.
  void ask_sizes(Answer& answer) {
    symbols_.assign(std::max<size_t>(function_.num_symbols, 1), 0);
    rlx_error error{};
    if (function_.bind(&context_, in_.data(), function_.num_inputs, symbols_.data(), &error) != RLX_OK) return;
    uint64_t bytes = 0;
    if (function_.arena_bytes(symbols_.data(), &bytes) != RLX_OK) return;
    answer.sized = bytes <= kMostArena;
    if (answer.sized) give_arena(bytes);
    for (uint32_t i = 0; i < function_.num_outputs; ++i) {
      answer.shapes.emplace_back(static_cast<size_t>(function_.outputs[i].ndim));
      bool known = function_.output_shape(symbols_.data(), i, answer.shapes[i].data()) == RLX_OK;
      bool data = (function_.outputs[i].flags & RLX_FLAG_DATA_DEPENDENT) != 0;
      answer.sized = answer.sized && known && (data || elements_of(answer.shapes[i]).has_value());
    }
  }

  std::vector<uint64_t> arguments(const TypedEntry& entry) {
    std::vector<uint64_t> args;
    auto pointer = [&](const void* p) { args.push_back(reinterpret_cast<uintptr_t>(p)); };
    for (const interface::CallField& field : entry.fields) {
      if (field.kind == interface::CallField::kInput) pointer(memory_in_[field.index]->data());
      if (field.kind == interface::CallField::kOutput) pointer(memory_out_[field.index]->data());
      if (field.kind == interface::CallField::kOutputDims) pointer(shapes_out_[field.index].data());
      if (field.kind == interface::CallField::kSymbol) args.push_back(static_cast<uint64_t>(dim_of(field.index)));
    }
    args.push_back(0);
    return args;
  }

  /// The value of a symbol that is a dim of an input.
  int64_t dim_of(uint32_t symbol) const {
    for (uint32_t i = 0; i < function_.num_inputs; ++i)
      for (int32_t axis = 0; axis < function_.inputs[i].ndim; ++axis)
        if (function_.inputs[i].dims[axis] == -1 - static_cast<int64_t>(symbol)) return in_[i].shape[axis];
    return 0;
  }

  void check(Answer& answer) {
    if (!arena_->intact()) answer.fault = "bytes beside the arena were written";
    if (!allocator_.intact()) answer.fault = "bytes beside claimed memory were written";
    for (size_t i = 0; i < memory_out_.size(); ++i)
      if (!memory_out_[i]->intact()) answer.fault = fmt::format("bytes beside output {} were written", i);
    if (answer.status != RLX_OK && answer.status != error_.code)
      answer.fault = fmt::format("the status is {}, the record's {}", answer.status, error_.code);
    if (answer.status != RLX_OK && !names_a_place(error_))
      answer.fault = fmt::format("the record of {} names no node and no tensor", rlx_status_name(answer.status));
    if (answer.status == RLX_OK || answer.status >= RLX_INDEX_RANGE) return;
    for (size_t i = 0; i < memory_out_.size(); ++i)
      if (!memory_out_[i]->untouched())
        answer.fault = fmt::format("{} wrote output {}", rlx_status_name(answer.status), i);
    if (!arena_->untouched()) answer.fault = fmt::format("{} wrote the arena", rlx_status_name(answer.status));
  }

  void take_outputs(Answer& answer, const std::vector<int64_t>& capacities) {
    for (uint32_t i = 0; i < function_.num_outputs; ++i) {
      std::optional<int64_t> count = elements_of(shapes_out_[i]);
      if (!count || *count > capacities[i]) {
        answer.fault = fmt::format("OK with output {} of impossible dims", i);
        for (int64_t dim : shapes_out_[i]) answer.fault += fmt::format(" {}", dim);
        return;
      }
      HostTensor tensor{dtypes_[i], shapes_out_[i], {}};
      tensor.bytes.resize(static_cast<size_t>(*count * dtypes_[i].bytes()));
      if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), memory_out_[i]->data(), tensor.bytes.size());
      answer.outputs.push_back(std::move(tensor));
    }
  }

  const rlx_function& function_;
  rlx_context context_ = RLX_CONTEXT_INIT;
  rlx_error error_{0, -1, -1, -1, -1, 0, 0};
  Allocator allocator_;
  std::vector<std::unique_ptr<GuardedPages>> memory_in_, memory_out_;
  std::unique_ptr<GuardedPages> arena_;
  std::vector<std::vector<int64_t>> shapes_in_, shapes_out_;
  std::vector<rlx_tensor> in_, out_;
  std::vector<DType> dtypes_;
  std::vector<int64_t> symbols_;
};

}  // namespace

Answer call_generic(const rlx_function& function, const std::vector<HostTensor>& inputs,
                    const std::vector<int64_t>& capacities) {
  return Call(function, inputs).generic(capacities);
}

Answer call_typed(const rlx_function& function, const TypedEntry& entry, const std::vector<HostTensor>& inputs,
                  const std::vector<int64_t>& capacities, const Answer& generic) {
  return Call(function, inputs).typed(entry, capacities, generic);
}

}  // namespace relaxc::onnx_tests
