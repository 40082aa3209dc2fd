// external_call.cpp: calls of external functions, and their results.
//
// A result of declared shape is a buffer of the caller that the function fills. A result that the function allocates is
// returned as words (runtime-lite/core/result.c) with address and shape, which are checked before anything is read. A
// handle is 8 bytes; a cast of one to a tensor, shape or scalar reads the object behind it in the same way.
//
// In a call of an external function, the shape of a buffer of handles says how it is passed: rank 0 is the handle
// itself, one element a place for a handle that the function makes, more elements the words of a tensor that it makes.
#include <fmt/format.h>

#include <optional>

#include "compiler/interface/dlpack.h"
#include "compiler/relax/call_symbols.h"
#include "compiler/tir/runtime_functions.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

constexpr int64_t kNdimWord = 1, kDtypeWord = 2, kDimWords = 3;  ///< RLX_RESULT_*
enum ObjectKind : int64_t { kTensorObject = 0, kShapeObject = 1, kScalarObject = 2 };

/// Allocates the words that describe a result, and stores the wanted rank and dtype in them.
BufferRef result_words(HostLowering& host, const std::string& name, DType dtype, size_t rank) {
  tir::Builder& build = host.at.build();
  interface::DLPackType type = interface::dlpack_type(dtype);
  Expr count = build.index(kDimWords + static_cast<int64_t>(rank));
  BufferRef words = host.memory.allocate(name + "_words", DType::i(64), {count});
  auto set = [&](int64_t word, int64_t value) {
    host.at.add(build.store(words, {build.index(word)}, host.context().imm(DType::i(64), value)));
  };
  set(kNdimWord, static_cast<int64_t>(rank));
  set(kDtypeWord, type.code | int64_t{type.bits} << 8);
  return words;
}

/// Returns a buffer at the address in `words`; the dims there are compared with `shape` or bound to its new symbols.
BufferRef found_tensor(HostLowering& host, BufferRef words, const std::string& name, DType dtype,
                       const std::vector<Expr>& shape) {
  tir::Builder& build = host.at.build();
  const Symbols& symbols = host.shapes.symbols();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Expr found = build.load(words, {build.index(kDimWords + static_cast<int64_t>(axis))});
    const auto* var = shape[axis].as<arith::VarNode>();
    if (var != nullptr && !symbols.in_scope(Var(var)))
      host.shapes.bind_from_data(Var(var), found, {});
    else
      host.shapes.require_equal(shape[axis], arith::cast(DType::index(), found), axis, exact_dim(axis, name));
  }
  Var address = host.context().var(name + "_at");
  host.at.let(address, block_word(build, words, 0));
  BufferRef seen = build.buffer(name, dtype, symbols.known(shape));
  host.at.steps().view(seen, nullptr, address);
  return seen;
}

/// Lowers a call of an external function.
class ExternalCall {
 public:
  ExternalCall(HostLowering& host, const Op& op) : host_(host), op_(op), results_(fresh_results(op)) {}

  Status run() {
    invoke_.callee = op_.callee, invoke_.external = true, invoke_.error_node = host_.origins.of_call();
    if (op_.results.empty()) host_.at.note_effect();
    pass_operands();
    words_.resize(results_.size());
    for (size_t i = 0; i < results_.size(); ++i) RELAXC_DO(pass_result(i));
    host_.at.add(host_.at.build().invoke(std::move(invoke_)));
    for (size_t i = 0; i < results_.size(); ++i) {
      const Value& result = *results_[i];
      if (words_[i] == nullptr) continue;
      host_.values.slot(result).buffer =
          found_tensor(host_, words_[i], name_of(result), result.dtype(), relax_dims(result.info));
    }
    return Done{};
  }

 private:
  std::string name_of(const Value& result) const { return result.name.empty() ? op_.callee : result.name; }

  void pass_operands() {
    for (const Value* operand : placed_operands(op_)) {
      if (operand->info->as<TensorInfo>() != nullptr)
        invoke_.args.push_back(host_.values.buffer(*operand));
      else if (operand->info->as<PrimInfo>() != nullptr)
        pass_scalar(host_, invoke_, host_.values.scalar(*operand));
      else
        for (Expr dim : host_.shapes.dims(operand->info)) invoke_.args.push_back(dim);
    }
  }

  /// Passes the memory of a result, or the words or place in which the function leaves a result of its own.
  Status pass_result(size_t i) {
    const Value& result = *results_[i];
    if (result.info->as<TupleInfo>() != nullptr && result.info->as<TupleInfo>()->fields.empty()) return Done{};
    const auto* tensor = result.info->as<TensorInfo>();
    if (tensor == nullptr || !tensor->shape || !tensor->dtype)
      return host_.diag().error(op_.location, Kind::unbounded,
                                "external function '{}' needs results of known rank and dtype, found {}", op_.callee,
                                to_string(result.info));
    std::string name = name_of(result);
    if (is_handle(result)) {
      BufferRef place = host_.at.alloc(name, DType::handle(), {host_.at.build().index(1)});
      invoke_.args.push_back(place);
      host_.values.slot(result).buffer = host_.memory.view_as(place, name, DType::handle(), {});
    } else if (op_.attrs.has("returned")) {
      words_[i] = result_words(host_, name, *tensor->dtype, tensor->shape->size());
      invoke_.args.push_back(host_.memory.view_as(words_[i], name, DType::handle(), words_[i]->shape));
    } else {
      BufferRef memory = host_.destinations.produce(result);
      host_.values.slot(result).buffer = memory;
      invoke_.args.push_back(memory);
    }
    return Done{};
  }

  HostLowering& host_;
  const Op& op_;
  std::vector<Value*> results_;
  std::vector<BufferRef> words_;  ///< the words of results that the function allocates itself; null for others
  tir::Invoke invoke_;
};

/// Binds new symbols of a shape or scalar to the numbers in `elements`, and requires the others to agree.
void match_numbers(HostLowering& host, BufferRef elements, const std::vector<Expr>& said) {
  tir::Builder& build = host.at.build();
  for (size_t k = 0; k < said.size(); ++k) {
    Expr value = build.load(elements, tir::Indices(elements->shape.size(), build.index(static_cast<int64_t>(k))));
    const auto* var = said[k].as<arith::VarNode>();
    if (var != nullptr && !host.shapes.symbols().in_scope(Var(var)))
      host.shapes.bind_from_data(Var(var), value, {}, false);
    else
      host.shapes.require_equal(said[k], arith::cast(DType::index(), value), k,
                                {Finding::kExact, fmt::format("number {}", k)});
  }
}

/// The kind, dtype and rank that an object is opened as.
struct Opened {
  ObjectKind kind;
  DType dtype;
  size_t rank;
};

/// Returns how to open an object as `info`; nothing if rank, dims or dtype are not known.
std::optional<Opened> opened_as(Info info) {
  if (const auto* tensor = info->as<TensorInfo>()) {
    if (!tensor->shape || !tensor->dtype) return {};
    return Opened{kTensorObject, *tensor->dtype, tensor->shape->size()};
  }
  if (const auto* shape = info->as<ShapeInfo>())
    return shape->dims ? std::optional(Opened{kShapeObject, DType::i(64), 1}) : std::nullopt;
  const auto* prim = info->as<PrimInfo>();
  return prim != nullptr ? std::optional(Opened{kScalarObject, stored_dtype(prim->dtype), 0}) : std::nullopt;
}

}  // namespace

void pass_scalar(HostLowering& host, tir::Invoke& call, Expr value) {
  if (!value.dtype().is_float()) return call.args.push_back(arith::cast(DType::index(), value));
  BufferRef place = host.at.alloc("scalar", value.dtype(), {});
  host.at.add(host.at.build().store(place, {}, value));
  call.args.push_back(place);
}

Status call_external(HostLowering& host, Op& op) {
  return ExternalCall(host, op).run();
}

Status open_object(HostLowering& host, Op& op) {
  tir::Builder& build = host.at.build();
  const Value &from = *op.operand(0), &to = *op.result();
  std::optional<Opened> opened = opened_as(to.info);
  if (!opened)
    return host.diag().error(op.location, Kind::unbounded,
                             "a cast of an object says what it is, such as R.Tensor((m,), \"float32\"), found {}",
                             to_string(to.info));
  std::string name = to.name.empty() ? "opened" : to.name;
  BufferRef words = result_words(host, name, opened->dtype, opened->rank);
  tir::Invoke read;
  read.callee = tir::runtime_name(tir::RuntimeFunction::kObjectRead), read.external = read.runtime = true,
  read.error_node = host.origins.of_call();
  read.args = {host.values.buffer(from), words, build.index(opened->kind)};
  host.at.add(build.invoke(std::move(read)));
  if (opened->kind == kTensorObject) {
    host.values.slot(to).buffer = found_tensor(host, words, name, opened->dtype, relax_dims(to.info));
    return Done{};
  }
  std::vector<Expr> said = numbers(to.info);
  std::vector<Expr> extent(opened->rank, build.index(static_cast<int64_t>(said.size())));
  BufferRef elements = found_tensor(host, words, name, opened->dtype, extent);
  if (said.empty()) host.values.slot(to).buffer = elements;
  match_numbers(host, elements, said);
  return Done{};
}

}  // namespace relaxc::lower
