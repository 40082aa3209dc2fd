// recursion.cpp: functions that call themselves or each other, other than by tail calls.
//
// The problem: each call needs a frame of its own, and data decides how many there are; the arena is planned for a
// known number.
//
// The method: such a function is two prim funcs. Callers call the one that counts the depth, claims a frame for the
// other, which is the function's body, from the run's heap, and releases it afterwards. plan_memory fills in the
// frame's size once the body is planned. So a caller reserves two words for a call, whatever the body needs, and a body
// can be lowered and planned before those that it calls in a cycle are.
//
// A caller knows of the function only what is known before its body is lowered: its guards are in the body, and a
// result whose dims its parameters do not decide is claimed from the heap too.
//
// Rejected: frames on the machine's stack (no target says how large it is), and one stack of states for a loop over the
// body cut at its calls (every value that lives across a call would have to be in memory).
#include "compiler/transform/lower/host/prim_func.h"

namespace relaxc::lower {

using namespace relax;

namespace {

constexpr int64_t kHeapDepthWord = 58;  ///< RLX_HEAP_DEPTH; tests/unit/lower compares

/// Returns a call of `body` with all parameters of the function, and with `frame` as its arena.
tir::Stmt call_body(HostLowering& host, const std::string& body, BufferRef frame) {
  tir::Invoke invoke;
  invoke.callee = body;
  for (const Input& input : host.signature.inputs()) invoke.args.push_back(input.buffer);
  for (const Output& output : host.signature.outputs()) invoke.args.push_back(output.buffer);
  for (BufferRef memory : {frame, host.shared.weights_buffer, host.signature.out_dims(), host.heap.buffer()})
    invoke.args.push_back(memory);
  for (Var symbol : host.shapes.symbols().entry()) invoke.args.push_back(Expr(symbol));
  return host.at.build().invoke(std::move(invoke));
}

/// Returns the prim func that callers call: it calls `body` with a frame from the heap, one level deeper.
tir::PrimFunc in_frame(HostLowering& host, const std::string& name, const std::string& body) {
  InsertionPoint& at = host.at;
  tir::Builder& build = at.build();
  Heap& heap = host.heap;
  const std::string frame_name = host.function.name + "_frame";
  InsertionPoint::Nested whole(at, 0);
  Var depth = host.context().var("depth");
  Expr word = build.index(kHeapDepthWord), limit = build.index(host.shared.context.max_recursion);
  at.let(depth, arith::cast(DType::index(), build.load(heap.buffer(), {word})) + build.index(1));
  tir::Guard deep;
  deep.condition = arith::le(depth, limit);
  deep.code = kRecursionDepth, deep.expected = limit, deep.actual = depth;
  host.shapes.add_guard(std::move(deep), {Finding::kDepth});
  at.add(build.store(heap.buffer(), {word}, arith::cast(DType::i(64), depth)));
  BufferRef block = heap.empty_block(frame_name);
  Var bytes = host.context().var(frame_name + "_bytes");
  host.shapes.symbols().add_data(bytes, Expr());
  at.let(bytes, build.index(0));  // planning the body sets it
  at.add(heap.reserve(block, build.index(0), bytes));
  at.add(call_body(host, body, heap.view_block(block, frame_name, DType::u(8), {bytes})));
  at.add(heap.release(block));
  at.add(build.store(heap.buffer(), {word}, arith::cast(DType::i(64), depth - build.index(1))));
  tir::PrimFunc made = host_prim_func(host, name, whole.finish());
  made.host.frame_of = body;
  return made;
}

/// Returns what callers need to know; outputs without a bound become heap blocks.
HostCallee callee_of(HostLowering& host) {
  HostCallee callee;
  callee.function = &host.function;
  callee.name = host.shared.module.unique_name(host.function.name + "_call");
  callee.symbols = host.shapes.symbols().entry(), callee.values = host.entry.values();
  callee.needs_heap = true;
  for (const Input& input : host.signature.inputs()) {
    callee.inputs.push_back(input.buffer);
    callee.read.insert(input.buffer);
  }
  for (Output& output : host.signature.outputs()) {
    size_t first = callee.bounds.size();
    for (Expr dim : output.buffer->shape) callee.bounds.push_back(host.shapes.symbols().of_entry(dim) ? dim : Expr());
    callee.outputs.push_back(output.info);
    callee.numbers.emplace_back();
    if (output.info->as<TensorInfo>() == nullptr) callee.numbers.back().resize(numbers(output.info).size());
    if (callee.claims(callee.outputs.size() - 1, first)) output.buffer = host.heap.block_buffer(output.name);
  }
  return callee;
}

}  // namespace

void announce(HostLowering& host) {
  HostCallee callee = callee_of(host);
  std::string body = host.shared.module.unique_name(host.function.name + "_body");
  host.shared.bodies[host.function.name] = body;
  static_cast<void>(host.heap.buffer());
  host.shared.module.add_prim_func(in_frame(host, callee.name, body));
  host.shared.callees.emplace(host.function.name, std::move(callee));
}

}  // namespace relaxc::lower
