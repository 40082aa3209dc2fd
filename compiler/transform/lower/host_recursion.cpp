// host_recursion.cpp: functions that call themselves or each other other than last.
//
// The problem: each call needs a frame of its own, and how many there will be only the data decides; the arena is
// planned for a number that is known.
//
// The method: such a function is two prim funcs. The one that is called counts the depth, claims a frame for the
// other, which is the function's body, from the run's heap, and releases it after. How large the frame is plan_memory
// says once the body is planned. So a caller reserves two words for a call, whatever the body needs, and a body can be
// lowered and planned before those that it calls in a circle are.
//
// A call knows of the function only what is known before its body is lowered: its guards stand in the body, and a
// result whose dims its parameters do not decide is claimed from the heap too.
//
// Rejected: frames on the machine's stack (no target says how large it is), and one stack of states for a loop over the
// body cut at its calls (every value that lives across a call would have to be in memory).
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

namespace {

constexpr int64_t kHeapDepthWord = 58;  ///< RLX_HEAP_DEPTH; tests/unit/lower compares

}  // namespace

Status HostFunction::announce() {
  RELAXC_DO(check_known());
  InsertionPoint::Nested before(at_, 0);
  for (Value* argument : function_.body().arguments)
    values_.slot(*argument) = add_parameter(argument->name, argument->info);
  RELAXC_DO(add_symbols());
  list_outputs();
  make_outputs();
  HostCallee callee;
  callee.function = &function_;
  callee.name = shared_.module.unique_name(function_.name + "_call");
  callee.symbols = symbols_.entry(), callee.values = read_values_;
  callee.needs_heap = true;
  for (const Input& input : inputs_) {
    callee.inputs.push_back(input.buffer);
    callee.read.insert(input.buffer);
  }
  for (Output& output : outputs_) {
    size_t first = callee.bounds.size();
    for (Expr dim : output.buffer->shape) callee.bounds.push_back(symbols_.of_entry(dim) ? dim : Expr());
    callee.outputs.push_back(output.info);
    callee.numbers.emplace_back();
    if (output.info->as<TensorInfo>() == nullptr) callee.numbers.back().resize(numbers(output.info).size());
    if (callee.claims(callee.outputs.size() - 1, first)) output.buffer = heap_.block_buffer(output.name);
  }
  std::string body = shared_.module.unique_name(function_.name + "_body");
  shared_.bodies[function_.name] = body;
  static_cast<void>(heap_.buffer());
  shared_.module.add_prim_func(in_frame(callee.name, body));
  shared_.callees.emplace(function_.name, std::move(callee));
  return Done{};
}

/// The prim func that is called: a call of `body` with a frame from the heap, one level deeper.
tir::PrimFunc HostFunction::in_frame(const std::string& name, const std::string& body) {
  InsertionPoint::Nested whole(at_, 0);
  Var depth = context().var("depth");
  Expr word = build_.index(kHeapDepthWord), limit = build_.index(shared_.context.max_recursion);
  at_.let(depth, arith::cast(DType::index(), build_.load(heap_.buffer(), {word})) + build_.index(1));
  tir::Guard deep;
  deep.condition = arith::le(depth, limit);
  deep.code = kRecursionDepth, deep.expected = limit, deep.actual = depth;
  shapes_.add_guard(std::move(deep), {Finding::kDepth});
  at_.add(build_.store(heap_.buffer(), {word}, arith::cast(DType::i(64), depth)));
  BufferRef block = heap_.empty_block(function_.name + "_frame");
  Var bytes = context().var(function_.name + "_frame_bytes");
  symbols_.add_data(bytes, Expr());
  at_.let(bytes, build_.index(0));  // until the body is planned
  at_.add(heap_.reserve(block, build_.index(0), bytes));
  BufferRef frame = heap_.view_block(block, function_.name + "_frame", DType::u(8), {bytes});
  tir::Invoke invoke;
  invoke.callee = body;
  for (const Input& input : inputs_) invoke.args.push_back(input.buffer);
  for (const Output& output : outputs_) invoke.args.push_back(output.buffer);
  for (BufferRef memory : {frame, shared_.weights_buffer, out_dims_, heap_.buffer()}) invoke.args.push_back(memory);
  for (Var symbol : symbols_.entry()) invoke.args.push_back(Expr(symbol));
  at_.add(build_.invoke(std::move(invoke)));
  at_.add(heap_.release(block));
  at_.add(build_.store(heap_.buffer(), {word}, arith::cast(DType::i(64), depth - build_.index(1))));
  tir::PrimFunc host = host_prim_func(name, whole.finish());
  host.host.frame_of = body;
  return host;
}

}  // namespace relaxc::lower
