// entry_steps.cpp: records steps and nests them.
#include "compiler/interface/entry_steps.h"

#include <algorithm>

#include "compiler/interface/layout.h"

namespace relaxc::interface {

using tir::BufferRef;
using tir::Expr;
using tir::Stmt;

EntrySteps::EntrySteps(tir::Context& context, tir::PrimFunc& function) : build_(context), function_(function) {
  function_.c_function.emplace();
  function_.noalias = false;
}

BufferRef EntrySteps::records_param(const std::string& name, const tir::Record& record) {
  function_.params.push_back({build_.records(name, record, index(INT64_MAX)), {}});
  return function_.params.back().buffer;
}

BufferRef EntrySteps::array_param(const std::string& name, DType dtype) {
  function_.params.push_back({build_.buffer(name, dtype, {index(INT64_MAX)}), {}});
  return function_.params.back().buffer;
}

Expr EntrySteps::scalar_param(const std::string& name, DType dtype) {
  function_.params.push_back({nullptr, build_.context().var(name, dtype)});
  return function_.params.back().var;
}

void EntrySteps::add(Stmt statement) {
  steps_.push_back({statement, {}});
}

void EntrySteps::require(Expr holds, Status status, const Found& found) {
  tir::Guard guard;
  guard.condition = holds;
  guard.code = status, guard.axis = found.axis, guard.symbol = found.symbol;
  guard.expected = found.expected, guard.actual = found.actual;
  add(build_.guard(std::move(guard)));
}

void EntrySteps::require_bounds(const Entry& entry, size_t k, Expr value) {
  const Symbol& symbol = entry.symbols[k];
  auto check = [&](Expr holds, int64_t bound) {
    require(holds, kDimBounds, {.symbol = static_cast<int32_t>(k), .expected = index(bound), .actual = value});
  };
  check(ge(value, index(symbol.lower)), symbol.lower);
  if (symbol.upper != INT64_MAX) check(le(value, index(symbol.upper)), symbol.upper);
  if (symbol.multiple_of <= 1) return;
  Expr rest = build_.context().binary(arith::ExprKind::kMod, value, index(symbol.multiple_of));
  check(eq(rest, 0), symbol.multiple_of);
}

Expr EntrySteps::let(const std::string& name, Expr value) {
  tir::Var var = build_.context().var(name, value.dtype());
  steps_.push_back({{}, [this, var, value](Stmt body) { return build_.let(var, value, body); }});
  return var;
}

BufferRef EntrySteps::at_address(const std::string& name, DType dtype, Expr address) {
  BufferRef buffer = build_.buffer(name, dtype, {index(INT64_MAX)});
  steps_.push_back({{}, [this, buffer, address](Stmt body) { return build_.view(buffer, nullptr, address, body); }});
  return buffer;
}

BufferRef EntrySteps::records_at(const std::string& name, const tir::Record& record, Expr count, Expr address) {
  BufferRef buffer = build_.records(name, record, count);
  steps_.push_back({{}, [this, buffer, address](Stmt body) { return build_.view(buffer, nullptr, address, body); }});
  return buffer;
}

BufferRef EntrySteps::within(const std::string& name, DType dtype, BufferRef base, int64_t offset) {
  BufferRef buffer = build_.buffer(name, dtype, {index(INT64_MAX)});
  steps_.push_back(
      {{}, [this, buffer, base, at = index(offset)](Stmt body) { return build_.view(buffer, base, at, body); }});
  return buffer;
}

BufferRef EntrySteps::array(const std::string& name, DType dtype, size_t count) {
  constexpr uint32_t kWord = 8;
  Expr size = index(static_cast<int64_t>(std::max<size_t>(count, 1)));
  BufferRef buffer = build_.buffer(name, dtype, {size}, tir::Scope::kLocal, kWord);
  steps_.push_back({{}, [this, buffer](Stmt body) { return build_.alloc(buffer, body); }});
  return buffer;
}

void EntrySteps::store(BufferRef array, size_t i, Expr value) {
  add(build_.store(array, {index(static_cast<int64_t>(i))}, value));
}

Stmt EntrySteps::invocation(const std::string& prim_func, std::vector<tir::Argument> args) {
  tir::Invoke invoke;
  invoke.callee = prim_func;
  invoke.args = std::move(args);
  return build_.invoke(std::move(invoke));
}

void EntrySteps::report_to(Expr address) {
  function_.c_function->error = records_at("error", described(Record::kError), index(1), address);
}

std::vector<tir::Argument> EntrySteps::pools(const Entry& entry, BufferRef context) {
  std::vector<tir::Argument> found;
  if (entry.pools.empty()) return found;
  BufferRef pools = records_at("pools", described(Record::kMemoryPool), index(static_cast<int64_t>(entry.pools.size())),
                               build_.field(context, "pools"));
  for (size_t i = 0; i < entry.pools.size(); ++i) {
    Expr place = index(static_cast<int64_t>(i));
    Expr address = entry.pools[i].bytes == 0 ? index(0) : build_.field(pools, place, "data");
    found.push_back(at_address("pool", DType::u(8), address));
  }
  return found;
}

BufferRef EntrySteps::weights(const Weights& weights, BufferRef context) {
  if (weights.separate) {
    BufferRef file = at_address("file", DType::u(8), build_.field(context, "weights"));
    return within("weights", DType::u(8), file, kWeightsHeaderBytes);
  }
  return data("weights");
}

BufferRef EntrySteps::data(const std::string& name) {
  BufferRef buffer = build_.buffer(name, DType::u(8), {index(INT64_MAX)}, tir::Scope::kWeights);
  function_.c_function->data.push_back({buffer, name});
  return buffer;
}

void EntrySteps::call_runtime(const std::string& name, std::vector<tir::Argument> args) {
  tir::Invoke invoke;
  invoke.callee = name;
  invoke.external = invoke.plain = invoke.status = true;
  invoke.args = std::move(args);
  add(build_.invoke(std::move(invoke)));
}

void EntrySteps::finish() {
  std::vector<Stmt> last;  // statements in reverse order
  auto body = [&] {
    std::reverse(last.begin(), last.end());
    return build_.seq(std::exchange(last, {}));
  };
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    last.push_back(step->scope ? step->scope(body()) : step->statement);
  function_.body = body();
}

}  // namespace relaxc::interface
