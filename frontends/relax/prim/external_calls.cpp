// external_calls.cpp: reads calls of functions outside of the prim func: packed ones, C functions, kernels.
#include <algorithm>

#include "compiler/tir/runtime_functions.h"
#include "frontends/relax/prim/buffers.h"
#include "frontends/relax/prim/statements.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// T.call_extern(dtype, name, arguments…), or older T.call_extern(name, arguments…, dtype=…).
struct PlainCall {
  const ast::Expr *dtype = nullptr, *name = nullptr;
  size_t arguments = 0;  ///< index of the first argument in the call's items
};

bool has_c_type(DType dtype) {
  bool whole = dtype.is_bool() || dtype.is_index() || (dtype.is_integer() && dtype.bits >= 8);
  return whole || (dtype.is_float() && dtype.bits >= 32);
}

bool is_c_name(std::string_view name) {
  bool ok = !name.empty() && (name.front() < '0' || name.front() > '9');
  for (char c : name)
    ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  return ok;
}

/// Returns the name of a packed function as that of a C function, in which dots are underscores.
Result<std::string> external_name(PrimParts& fn, const ast::Expr& e) {
  Result<std::string> name = string_value(fn.source, e, "a function's name");
  if (!name) return name;
  std::string in_c = *name;
  std::replace(in_c.begin(), in_c.end(), '.', '_');
  if (is_c_name(in_c)) return in_c;
  return fn.source.error(e.place, Kind::invalid_value, "\"{}\" is not the name of a C function", *name);
}

Result<PlainCall> plain_call(PrimParts& fn, const ast::Expr& call) {
  if (const ast::Keyword* dtype = call.keyword("dtype"); dtype != nullptr && call.items.size() >= 2)
    return PlainCall{dtype->value, call.items[1], 2};
  if (call.items.size() >= 3) return PlainCall{call.items[1], call.items[2], 3};
  return fn.source.error(call.place, Kind::wrong_arity, "T.call_extern takes a dtype, a function's name and arguments");
}

/// Returns a scalar with a C type: integer literals are int32, as in C.
Result<arith::Expr> c_argument(PrimParts& fn, const Scalar& scalar, Place place) {
  if (scalar.literal == Scalar::kInteger) return fn.scalars.adapt(scalar, DType::i(32), place);
  if (scalar.literal == Scalar::kDimLiteral) return fn.scalars.adapt(scalar, scalar.expr.dtype(), place);
  if (scalar.literal == Scalar::kReal)
    return fn.source.error(place, Kind::dtype_mismatch, "a number without a dtype; write T.float32(…)");
  if (has_c_type(scalar.expr.dtype())) return scalar.expr;
  Failure failure =
      fn.source.error(place, Kind::dtype_mismatch, "C has no type for {}", to_string(scalar.expr.dtype()));
  fn.source.hint("convert it: T.Cast(\"float32\", …)");
  return failure;
}

/// Memory that is there during a call: a part of a buffer, or a text.
struct Around {
  tir::BufferRef buffer = nullptr;
  Pointer part;                   ///< what `buffer` is a view of; none: it is new memory
  std::vector<tir::Stmt> stores;  ///< which fill new memory
};

/// Makes a C string: the bytes of the text, and a 0.
Around text_argument(PrimParts& fn, const std::string& text) {
  const auto size = static_cast<int64_t>(text.size());
  Around made;
  made.buffer = fn.builder.buffer("text", DType::u(8), {fn.context().index(size + 1)}, tir::Scope::kLocal);
  for (int64_t i = 0; i <= size; ++i) {
    const int64_t byte = i < size ? static_cast<unsigned char>(text[static_cast<size_t>(i)]) : 0;
    made.stores.push_back(fn.builder.store(made.buffer, {fn.context().index(i)}, fn.context().imm(DType::u(8), byte)));
  }
  return made;
}

tir::Stmt enclose(PrimParts& fn, const Around& around, tir::Stmt call) {
  if (around.part.buffer != nullptr)
    return fn.builder.view(around.buffer, around.part.buffer, around.part.byte_offset, call);
  std::vector<tir::Stmt> all = around.stores;
  all.push_back(call);
  return fn.builder.alloc(around.buffer, fn.builder.seq(std::move(all)));
}

/// Reads T.tvm_stack_make_array(data, shape, strides, ndim, a number of the dtype, elem_offset), by which TVM passes
/// the buffers of te.extern: the buffer, if the array is all of it.
Result<Pointer> stack_array(PrimParts& fn, const ast::Expr& e) {
  if (e.items.size() != 7 || callee_of(e.items[2]) != "T.tvm_stack_make_shape")
    return fn.source.error(e.place, Kind::wrong_arity,
                           "expected T.tvm_stack_make_array(data, T.tvm_stack_make_shape(…), strides, ndim, a number "
                           "of its dtype, elem_offset)");
  RELAXC_TRY(Pointer tensor, read_pointer(fn, *e.items[1]));
  const std::vector<const ast::Expr*> written(e.items[2]->items.begin() + 1, e.items[2]->items.end());
  bool whole = tensor.buffer != nullptr && tensor.buffer->shape.size() == written.size();
  for (size_t i = 0; whole && i < written.size(); ++i) {
    RELAXC_TRY(arith::Expr dim, fn.scalars.index(*written[i]));
    whole = arith::prove_equal(dim, tensor.buffer->shape[i]);
  }
  RELAXC_TRY(arith::Expr offset, fn.scalars.index(*e.items[6]));
  if (whole && offset.is_constant(0)) return tensor;
  return fn.source.error(e.place, Kind::unsupported, "a packed function takes whole buffers in their own shape");
}

/// Adds an argument of a packed function or a kernel to the call: a whole buffer or a number.
Status add_argument(PrimParts& fn, const ast::Expr& e, tir::Invoke& call) {
  const bool array = callee_of(&e) == "T.tvm_stack_make_array";
  if (array || is_pointer(fn, e)) {
    RELAXC_TRY(Pointer tensor, array ? stack_array(fn, e) : read_pointer(fn, e));
    if (tensor.buffer == nullptr || !tensor.byte_offset.is_constant(0))
      return fn.source.error(e.place, Kind::unsupported, "a packed function takes whole buffers");
    call.args.emplace_back(tensor.buffer);
    fn.note_store(tensor.buffer, {});
    return Done{};
  }
  RELAXC_TRY(Scalar value, fn.scalars.read(e));
  if (call.external && value.expr.dtype().is_float())
    return fn.source.error(e.place, Kind::dtype_mismatch,
                           "a packed function takes tensors and integers, found {}; T.call_extern takes floats",
                           to_string(value.expr.dtype()));
  call.args.emplace_back(value.expr);
  return Done{};
}

/// Reads a node's number into `node` if it is given.
Status read_node(PrimParts& fn, const ast::Keyword* given, int32_t& node) {
  if (given == nullptr) return Done{};
  RELAXC_TRY(arith::Expr number, fn.scalars.index(*given->value));
  if (number.constant() == nullptr || *number.constant() < 0 || *number.constant() > INT32_MAX)
    return fn.source.error(given->value->place, Kind::invalid_value, "expected a small integer");
  node = static_cast<int32_t>(*number.constant());
  return Done{};
}

/// Reads an argument of a C function; `around` gets what has to be open around the call.
Status read_c_argument(PrimParts& fn, const ast::Expr& e, tir::Invoke& call, std::vector<Around>& around) {
  if (e.is(AstKind::kString)) {
    constexpr size_t kLongest = 1024;  // the bytes are stored one by one, on the stack
    if (e.text.size() > kLongest)
      return fn.source.error(e.place, Kind::unsupported,
                             "a C function gets strings of up to {} bytes, and this one has {}; pass a buffer instead",
                             kLongest, e.text.size());
    around.push_back(text_argument(fn, e.text));
    call.args.emplace_back(around.back().buffer);
    return Done{};
  }
  if (!is_pointer(fn, e)) {
    RELAXC_TRY(Scalar value, fn.scalars.read(e));
    RELAXC_TRY(arith::Expr typed, c_argument(fn, value, e.place));
    call.args.emplace_back(typed);
    return Done{};
  }
  RELAXC_TRY(Pointer at, read_pointer(fn, e));
  if (at.buffer == nullptr)
    return fn.source.error(e.place, Kind::unsupported, "an address belongs to no buffer; T.decl_buffer gives one");
  fn.note_store(at.buffer, {});
  tir::BufferRef passed = at.buffer;
  if (!at.byte_offset.is_constant(0)) {
    passed = fn.builder.buffer(at.buffer->name, at.buffer->dtype, {fn.context().index(1)}, at.buffer->scope);
    around.push_back({passed, at, {}});
  }
  call.args.emplace_back(passed);
  return Done{};
}

/// Reads the dtype of a C function's result: handle, if there is none.
Result<DType> c_result(PrimParts& fn, const ast::Expr& e) {
  if (e.is(AstKind::kString) && (e.text == "void" || e.text.empty())) return DType::handle();
  RELAXC_TRY(DType dtype, dtype_value(fn.source, e));
  if (dtype == DType::handle() || has_c_type(dtype)) return dtype;
  return fn.source.error(e.place, Kind::dtype_mismatch, "C has no type for {}", to_string(dtype));
}

}  // namespace

bool is_packed(const std::string& callee) {
  return callee == "T.call_packed" || callee == "T.call_cpacked" || callee == "T.tvm_call_packed" ||
         callee == "T.tvm_call_cpacked";
}

bool is_plain(const std::string& callee) {
  return callee == "T.call_extern" || callee == "T.call_pure_extern";
}

Failure no_runtime_function(PrimParts& fn, const ast::Expr& name, const std::string& callee) {
  Failure failure = fn.source.error(name.place, Kind::invalid_value, "'{}' is not a function of the runtime", callee);
  std::vector<std::string> names;
  for (const tir::RuntimeRow& row : tir::runtime_functions()) names.emplace_back(row.name);
  suggest(fn.source, callee, names);
  return failure;
}

Status invoke_call(PrimParts& fn, const ast::Expr& call, const std::string& callee, Suite& out) {
  tir::Invoke made;
  made.runtime = callee == "T.call_runtime";
  made.external = made.runtime || is_packed(callee);
  if (call.items.size() < 2) return fn.source.error(call.place, Kind::wrong_arity, "the call names no function");
  if (made.external) {
    RELAXC_TRY(made.callee, external_name(fn, *call.items[1]));
  } else {
    RELAXC_TRY(made.callee, string_value(fn.source, *call.items[1], "a function's name"));
  }
  if (made.runtime && tir::find_runtime_function(made.callee) == nullptr)
    return no_runtime_function(fn, *call.items[1], made.callee);
  bool ok = true;
  for (size_t i = 2; i < call.items.size(); ++i) ok &= bool(add_argument(fn, *call.items[i], made));
  RELAXC_DO(read_node(fn, call.keyword("trace"), made.trace_node));
  RELAXC_DO(read_node(fn, call.keyword("node"), made.error_node));
  if (!ok) return fn.diag().failed();
  if (std::string wrong = made.runtime ? tir::call_fault(made) : ""; !wrong.empty())
    return fn.source.error(call.place, Kind::invalid_value, "{}", wrong);
  out.add(fn.builder.invoke(std::move(made)));
  return Done{};
}

Status call_plain(PrimParts& fn, const ast::Expr& call, Suite& out) {
  RELAXC_TRY(PlainCall parts, plain_call(fn, call));
  tir::Invoke made;
  made.external = made.plain = true;
  RELAXC_TRY(made.result, c_result(fn, *parts.dtype));
  RELAXC_TRY(made.callee, external_name(fn, *parts.name));
  std::vector<Around> around;
  for (size_t i = parts.arguments; i < call.items.size(); ++i)
    RELAXC_DO(read_c_argument(fn, *call.items[i], made, around));
  tir::Stmt s = fn.builder.invoke(std::move(made));
  for (size_t i = around.size(); i-- > 0;) s = enclose(fn, around[i], s);
  out.add(s);
  return Done{};
}

Result<Scalar> external_value(PrimParts& fn, const ast::Expr& e) {
  RELAXC_TRY(PlainCall parts, plain_call(fn, e));
  RELAXC_TRY(DType dtype, dtype_value(fn.source, *parts.dtype));
  if (!has_c_type(dtype))
    return fn.source.error(parts.dtype->place, Kind::dtype_mismatch, "C has no type for {}", to_string(dtype));
  RELAXC_TRY(std::string name, external_name(fn, *parts.name));
  std::vector<arith::Expr> args;
  for (size_t i = parts.arguments; i < e.items.size(); ++i) {
    if (e.items[i]->is(AstKind::kString) || is_pointer(fn, *e.items[i]))
      return fn.source.error(e.items[i]->place, Kind::unsupported,
                             "a call that is a value takes numbers; one with pointers or strings is a statement");
    RELAXC_TRY(Scalar value, fn.scalars.read(*e.items[i]));
    RELAXC_TRY(arith::Expr typed, c_argument(fn, value, e.items[i]->place));
    args.push_back(typed);
  }
  return Scalar{fn.context().external(dtype, name, std::move(args))};
}

}  // namespace relaxc::frontend
