// host_external.cpp: calls of external functions, and what they make.
//
// A result of declared shape is memory of ours that the function fills. A result that the function makes itself comes
// back as words (runtime-lite/core/result.c): where it lies and how large it is, checked before anything is read. A
// handle is 8 bytes; a cast of one to a tensor, shape or scalar reads the object that it points to in the same way.
//
// In a call of an external function a buffer of handles says how it is passed: of rank 0 it is the handle itself, with
// one element the place for a handle that the function makes, with more the words of a tensor that it makes.
#include <fmt/format.h>

#include "compiler/interface/dlpack.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

namespace {

constexpr int64_t kNdimWord = 1, kDtypeWord = 2, kDimWords = 3;  ///< RLX_RESULT_*
enum ObjectKind : int64_t { kTensorObject = 0, kShapeObject = 1, kScalarObject = 2 };

}  // namespace

/// Words that say what is wanted.
BufferRef HostFunction::result_words(const std::string& name, DType dtype, size_t rank) {
  interface::DLPackType type = interface::dlpack_type(dtype);
  Expr count = build_.index(kDimWords + static_cast<int64_t>(rank));
  BufferRef words = memory_.allocate(name + "_words", DType::i(64), {count});
  auto set = [&](int64_t word, int64_t value) {
    at_.add(build_.store(words, {build_.index(word)}, context().imm(DType::i(64), value)));
  };
  set(kNdimWord, static_cast<int64_t>(rank));
  set(kDtypeWord, type.code | int64_t{type.bits} << 8);
  return words;
}

/// What the words say was found, with its dims checked against `shape` or bound to the symbols that are new there.
BufferRef HostFunction::found_tensor(BufferRef words, const std::string& name, DType dtype,
                                     const std::vector<Expr>& shape) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Expr found = build_.load(words, {build_.index(kDimWords + static_cast<int64_t>(axis))});
    const auto* var = shape[axis].as<arith::VarNode>();
    if (var != nullptr && !symbols_.in_scope(Var(var)))
      shapes_.bind_from_data(Var(var), found, {});
    else
      shapes_.require_equal(shape[axis], arith::cast(DType::index(), found), axis, exact_dim(axis, name));
  }
  Var address = context().var(name + "_at");
  at_.let(address, block_word(build_, words, 0));
  BufferRef seen = build_.buffer(name, dtype, symbols_.known(shape));
  at_.steps().view(seen, nullptr, address);
  return seen;
}

Status HostFunction::call_external(Op& op) {
  Diagnostics& diag = this->diag();
  tir::Invoke invoke;
  invoke.callee = op.callee, invoke.external = true, invoke.error_node = origins_.of_call();
  if (op.results.empty()) at_.note_effect();
  std::vector<const Value*> operands(op.operands().begin(), op.operands().end());
  if (op.kind == OpKind::kCallInplace) operands = placed_operands(op);
  for (const Value* operand : operands) {
    if (operand->info->as<TensorInfo>() != nullptr)
      invoke.args.push_back(values_.buffer(*operand));
    else if (operand->info->as<PrimInfo>() != nullptr)
      invoke.args.push_back(arith::cast(DType::index(), values_.scalar(*operand)));
    else
      for (Expr dim : shapes_.dims(operand->info)) invoke.args.push_back(dim);
  }
  std::vector<Value*> results = fresh_results(op);
  std::vector<BufferRef> words(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const Value& result = *results[i];
    if (result.info->as<TupleInfo>() != nullptr && result.info->as<TupleInfo>()->fields.empty()) continue;
    const auto* tensor = result.info->as<TensorInfo>();
    if (tensor == nullptr || !tensor->shape || !tensor->dtype)
      return diag.error(op.location, Kind::unbounded,
                        "external function '{}' needs results of known rank and dtype, found {}", op.callee,
                        to_string(result.info));
    std::string name = result.name.empty() ? op.callee : result.name;
    if (is_handle(result)) {
      BufferRef place =
          build_.buffer(name, DType::handle(), {build_.index(1)}, tir::Scope::kGlobal, WeightLayout::kAlignment);
      at_.alloc(place);
      invoke.args.push_back(place);
      values_.slot(result).buffer = memory_.view_as(place, name, DType::handle(), {});
    } else if (op.attrs.has("returned")) {
      words[i] = result_words(name, *tensor->dtype, tensor->shape->size());
      invoke.args.push_back(memory_.view_as(words[i], name, DType::handle(), words[i]->shape));
    } else {
      values_.slot(result).buffer = produce(result);
      invoke.args.push_back(values_.slot(result).buffer);
    }
  }
  at_.add(build_.invoke(std::move(invoke)));
  for (size_t i = 0; i < results.size(); ++i) {
    const Value& result = *results[i];
    if (words[i] == nullptr) continue;
    std::string name = result.name.empty() ? op.callee : result.name;
    values_.slot(result).buffer = found_tensor(words[i], name, result.dtype(), relax_dims(result.info));
  }
  return Done{};
}

/// A match_cast of a handle.
Status HostFunction::open_object(Op& op) {
  const Value &from = *op.operand(0), &to = *op.result();
  const auto* tensor = to.info->as<TensorInfo>();
  const auto* shape = to.info->as<ShapeInfo>();
  const auto* prim = to.info->as<PrimInfo>();
  bool known =
      prim != nullptr || (shape != nullptr && shape->dims) || (tensor != nullptr && tensor->shape && tensor->dtype);
  if (!known)
    return diag().error(op.location, Kind::unbounded,
                        "a cast of an object says what it is, such as R.Tensor((m,), \"float32\"), found {}",
                        to_string(to.info));
  DType dtype = tensor != nullptr                            ? *tensor->dtype
                : prim != nullptr && !prim->dtype.is_index() ? prim->dtype
                                                             : DType::i(64);
  size_t rank = tensor != nullptr ? tensor->shape->size() : shape != nullptr ? 1 : 0;
  std::string name = to.name.empty() ? "opened" : to.name;
  BufferRef words = result_words(name, dtype, rank);
  tir::Invoke read;
  read.callee = "rlx_object_read", read.external = read.runtime = true, read.error_node = origins_.of_call();
  read.args = {values_.buffer(from), words,
               build_.index(tensor != nullptr  ? kTensorObject
                            : shape != nullptr ? kShapeObject
                                               : kScalarObject)};
  at_.add(build_.invoke(std::move(read)));
  if (tensor != nullptr) {
    values_.slot(to).buffer = found_tensor(words, name, dtype, *tensor->shape);
    return Done{};
  }
  std::vector<Expr> said = numbers(to.info);
  std::vector<Expr> extent(rank, build_.index(static_cast<int64_t>(said.size())));
  BufferRef elements = found_tensor(words, name, dtype, extent);
  if (said.empty()) values_.slot(to).buffer = elements;
  for (size_t k = 0; k < said.size(); ++k) {
    Expr value = build_.load(elements, tir::Indices(rank, build_.index(static_cast<int64_t>(k))));
    const auto* var = said[k].as<arith::VarNode>();
    if (var != nullptr && !symbols_.in_scope(Var(var)))
      shapes_.bind_from_data(Var(var), value, {}, false);
    else
      shapes_.require_equal(said[k], arith::cast(DType::index(), value), k,
                            {Finding::kExact, fmt::format("number {}", k)});
  }
  return Done{};
}

}  // namespace relaxc::lower
