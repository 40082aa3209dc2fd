// loop.cpp: loops with carried values.
//
// A carried tensor has two buffers used in turn: iteration i reads one and writes the other, by the parity of i, so the
// body never waits for a copy, and sizes may change between iterations. One buffer is enough if the kernel that
// computes the next value is the last to read this one, and reads it element by element or not at all: sums that grow
// in place, states of recurrent networks. The first value may then be computed there too: the copy of it may be done in
// place, and planning drops copies of a tensor to itself. Carried dims and the number of iterations are in a small
// vector of int64, the loop's state, from which each iteration first reads its symbols.
//
// Memory is reserved for the largest iteration, by the bounds of the carried dims (loop_symbols.cpp). Without a bound,
// the two buffers are blocks of the heap that grow when they must; so are scan outputs without a known number of
// iterations.
#include "compiler/transform/lower/host/cells.h"
#include "compiler/transform/lower/host/loop_symbols.h"
#include "compiler/transform/lower/host/op_lowering.h"
#include "compiler/transform/lower/host/replaced_value.h"

namespace relaxc::lower {

using namespace relax;

namespace {

class LoopLowering {
 public:
  LoopLowering(HostLowering& host, const Op& op)
      : host_(host),
        op_(op),
        region_(*op.regions[0]),
        at_(host.at),
        build_(host.at.build()),
        shapes_(host.shapes),
        symbols_(host.shapes.symbols()),
        memory_(host.memory),
        heap_(host.heap),
        carried_(op.operands().size() - 2) {}

  Status run();

 private:
  /// Memory of a carried value.
  struct Carried {
    BufferRef room = nullptr;                         ///< null: the value is no tensor, and symbols carry it
    Expr half;                                        ///< bytes of a half, aligned; null: the room has no halves
    Expr elements;                                    ///< capacity of the room, or of a half of it, in elements
    BufferRef block = nullptr, next_block = nullptr;  ///< heap blocks that replace a room without a bound
  };
  /// Memory of a scan output.
  struct Scan {
    BufferRef memory = nullptr;  ///< a room, or a heap block …
    bool growing = false;        ///< … that grows with the number of iterations
  };

  Expr trip_count();
  void start_state(const Cells& state);
  Status reserve_scans();
  Status reserve_scan(const Value& result, Info element);
  void reserve_carried();
  void reserve_room(size_t k, Carried& value);
  void claim_carried(const Value& first, const Value& argument, Carried& value);
  Status lower_body(const Cells& state, tir::Stmt& body);
  void see_carried(size_t k, BufferRef& target);
  BufferRef scan_target(size_t k);
  void write_next(const Cells& state, const std::vector<BufferRef>& targets, const std::vector<bool>& assigned);
  void define_results(const Cells& state);
  void see_result(size_t k);
  const Value& argument(size_t k) const { return *region_.arguments[k + 1]; }
  const Value& first(size_t k) const { return *op_.operand(k + 2); }
  /// Returns the byte offset in the room at which `value` is in iteration `i`; null if the room has no halves.
  static Expr half_of(const Carried& value, Expr i) { return value.half ? arith::floormod(i, 2) * value.half : Expr(); }

  HostLowering& host_;
  const Op& op_;
  const Region& region_;
  InsertionPoint& at_;
  tir::Builder& build_;
  ShapeProgram& shapes_;
  Symbols& symbols_;
  Memory& memory_;
  Heap& heap_;
  const size_t carried_;  ///< the number of carried values
  Expr trips_;            ///< the trip count; null: the loop runs until the condition fails
  bool dynamic_ = false;  ///< the number of iterations is known only after the loop
  Var iteration_;
  LoopSymbols changing_;  ///< symbols that change from iteration to iteration
  std::vector<Carried> values_;
  std::vector<Scan> scans_;
  Expr done_;  ///< the number of iterations, set after the loop
};

Status LoopLowering::run() {
  trips_ = trip_count();
  dynamic_ = !trips_ || op_.operand(1) != nullptr || region_.results()[0] != nullptr;
  const auto* iteration = region_.arguments[0]->info->as<PrimInfo>();
  const auto* named = iteration != nullptr && iteration->value ? iteration->value.as<arith::VarNode>() : nullptr;
  iteration_ = named != nullptr ? Var(named) : at_.context().var("i");
  changing_ = carried_symbols(shapes_, op_, trips_);
  Cells state(at_, "loop_state", changing_.symbols, 1);  // the symbols, then the number of iterations so far
  start_state(state);
  RELAXC_DO(reserve_scans());
  for (size_t j = 0; j < changing_.symbols.size(); ++j)
    symbols_.add_data(changing_.symbols[j], changing_.bounds[j], false);
  reserve_carried();

  tir::Stmt body;
  RELAXC_DO(lower_body(state, body));
  Expr extent = trips_ ? trips_ : build_.index(INT64_MAX);
  tir::Stmt whole = build_.loop(iteration_, build_.index(0), extent, body);
  if (op_.operand(1) != nullptr) whole = build_.branch(host_.values.truth(*op_.operand(1)), whole);
  at_.add(whole);
  define_results(state);
  for (size_t k = 0; k < op_.results.size(); ++k)
    if (op_.results[k]->info->as<TensorInfo>() != nullptr) see_result(k);
  return Done{};
}

Expr LoopLowering::trip_count() {
  if (op_.operand(0) == nullptr) return {};
  if (const Var* input = host_.entry.trip_count(op_)) return *input;
  Expr value = host_.values.scalar(*op_.operand(0));
  if (symbols_.of_entry(value)) return arith::cast(DType::index(), value);
  if (value.as<arith::VarNode>() != nullptr) return value;
  Var trips = at_.context().var("trips");
  shapes_.bind_from_data(trips, value, {}, false);
  return trips;
}

void LoopLowering::start_state(const Cells& state) {
  state.alloc();
  for (size_t j = 0; j < changing_.symbols.size(); ++j) at_.add(state.set(j, changing_.initial[j]));
  if (dynamic_) at_.add(state.set(changing_.symbols.size(), build_.index(0)));
}

Status LoopLowering::reserve_scans() {
  for (size_t k = carried_; k < op_.results.size(); ++k)
    RELAXC_DO(reserve_scan(*op_.results[k], region_.results()[k + 1]->info));
  return Done{};
}

Status LoopLowering::reserve_scan(const Value& result, Info info) {
  std::vector<Expr> element = shapes_.dims(info);
  for (Expr dim : element)
    for (Var var : arith::free_vars(dim))
      if (!symbols_.in_scope(var))
        return host_.diag().error(op_.location, Kind::unsupported,
                                  "scan output '{}' changes its shape from step to step", result.name);
  if (!dynamic_ && symbols_.of_entry(shapes_.dims(result.info))) {
    scans_.push_back({host_.destinations.produce(result), false});
    return Done{};
  }
  Expr most;
  if (trips_) {
    const Expr elements = shapes_.elements_of(element);
    most = symbols_.bounded(arith::max(trips_, build_.index(0)) * elements);
  }
  if (!most)
    scans_.push_back({heap_.claimed_block(result.name, build_.index(0)), true});
  else
    scans_.push_back({at_.alloc(result.name + "_room", result.dtype(), {most}), false});
  return Done{};
}

void LoopLowering::reserve_carried() {
  for (size_t k = 0; k < carried_; ++k) {
    Carried& value = values_.emplace_back();
    if (argument(k).info->as<TensorInfo>() == nullptr) continue;
    value.elements = symbols_.bounded(shapes_.product_of(shapes_.dims(argument(k).info)));
    if (value.elements)
      reserve_room(k, value);
    else
      claim_carried(first(k), argument(k), value);
  }
}

/// Allocates one memory if the next value may overwrite the last, else two halves that alternate.
void LoopLowering::reserve_room(size_t k, Carried& value) {
  constexpr int64_t kAlign = WeightLayout::kAlignment;
  const std::string name = argument(k).name;
  const DType dtype = argument(k).dtype();
  if (replaces_value(host_, op_, k)) {
    value.room = at_.alloc(name + "_room", dtype, {value.elements});
  } else {
    value.half = arith::ceildiv(value.elements * dtype.bytes(), kAlign) * kAlign;
    value.room = at_.alloc(name + "_room", DType::u(8), {value.half * 2});
  }
  std::vector<Expr> shape = shapes_.dims(first(k).info);
  shapes_.require_room(shapes_.elements_of(shape), value.elements);
  BufferRef from = host_.values.buffer(first(k));
  memory_.copy(from, memory_.view_as(value.room, name, dtype, shape, build_.index(0)));
}

/// Allocates two blocks: the body reads one and writes the other, and then they are swapped.
void LoopLowering::claim_carried(const Value& first, const Value& argument, Carried& value) {
  std::vector<Expr> shape = shapes_.dims(first.info);
  value.next_block = heap_.empty_block(argument.name + "_next");
  value.block = heap_.claimed_block(argument.name, shapes_.bytes_of(argument.dtype(), shape));
  BufferRef from = host_.values.buffer(first);
  memory_.copy(from, heap_.view_block(value.block, argument.name, argument.dtype(), shape));
}

Status LoopLowering::lower_body(const Cells& state, tir::Stmt& body) {
  InsertionPoint::Nested inside(at_, 1);
  Symbols::Scope known(symbols_, false);
  symbols_.add_data(iteration_, trips_);
  for (size_t j = 0; j < changing_.symbols.size(); ++j) at_.let(changing_.symbols[j], state.get(j));
  std::vector<BufferRef> targets(region_.results().size());
  for (size_t k = 0; k < carried_; ++k) see_carried(k, targets[k + 1]);
  for (size_t k = 0; k < scans_.size(); ++k) targets[1 + carried_ + k] = scan_target(k);
  std::vector<bool> assigned = host_.destinations.assign_targets(region_, targets);
  RELAXC_DO(lower_region(host_, region_));
  write_next(state, targets, assigned);
  body = inside.finish();
  for (size_t k = 0; k < carried_; ++k)
    if (values_[k].block != nullptr) body = heap_.claim_views(body, targets[k + 1], values_[k].next_block);
  return Done{};
}

/// Gives carried value `k` its memory in the body, and sets `target` to that of its next value, if it is a tensor.
void LoopLowering::see_carried(size_t k, BufferRef& target) {
  const Value& seen = argument(k);
  const Carried& value = values_[k];
  if (value.block != nullptr) {
    host_.values.slot(seen).buffer = heap_.view_block(value.block, seen.name, seen.dtype(), shapes_.dims(seen.info));
    target = at_.arena_buffer(seen.name + "_room", seen.dtype(), {at_.context().var("room")});
  }
  if (value.room == nullptr) return;
  const Expr half = half_of(value, iteration_);
  host_.values.slot(seen).buffer = memory_.view_as(value.room, seen.name, seen.dtype(), shapes_.dims(seen.info), half);
  target =
      memory_.view_as(value.room, seen.name + "_next", seen.dtype(), {value.elements}, half_of(value, iteration_ + 1));
  memory_.limit(target, value.elements);
}

/// Returns the memory that an iteration writes its element of scan output `k` to.
BufferRef LoopLowering::scan_target(size_t k) {
  const Value& result = *region_.results()[1 + carried_ + k];
  BufferRef memory = scans_[k].memory;
  Expr elements = shapes_.elements_of(shapes_.dims(result.info));
  if (!scans_[k].growing)
    return memory_.view_as(memory, memory->name, memory->dtype, {elements},
                           iteration_ * elements * memory->dtype.bytes());
  Expr step = elements * result.dtype().bytes(), written = iteration_ * step;
  at_.add(heap_.reserve(memory, written, written + step));
  return heap_.view_block(memory, result.name, result.dtype(), {elements}, written);
}

/// Ends an iteration: copies values to their targets, stores symbols in the state, and tests the condition.
void LoopLowering::write_next(const Cells& state, const std::vector<BufferRef>& targets,
                              const std::vector<bool>& assigned) {
  const std::vector<Value*>& results = region_.results();
  for (size_t k = 0; k < results.size(); ++k) {
    if (targets[k] == nullptr || assigned[k]) continue;
    BufferRef from = host_.values.buffer(*results[k]);
    memory_.copy(from, host_.destinations.view_of(targets[k], results[k]->name, shapes_.dims(results[k]->info)));
  }
  const size_t count = changing_.symbols.size();
  for (size_t j = 0; j < count; ++j) at_.add(state.set(j, symbols_.known(changing_.next[j])));
  if (dynamic_) at_.add(state.set(count, iteration_ + 1));
  for (const Carried& value : values_)
    if (value.block != nullptr) heap_.swap_blocks(value.block, value.next_block);
  if (results[0] != nullptr)
    at_.add(build_.branch(arith::logical_not(host_.values.truth(*results[0])), build_.leave_loop()));
}

/// Binds the symbols of the results to the values that the last iteration has left.
void LoopLowering::define_results(const Cells& state) {
  done_ = trips_ ? arith::max(trips_, build_.index(0)) : Expr();
  if (dynamic_) {
    Var count = at_.context().var("iterations");
    shapes_.bind_from_data(count, state.get(changing_.symbols.size()), trips_);
    done_ = count;
  }
  for (size_t j = 0; j < changing_.symbols.size(); ++j) {
    // A result has the carried symbol itself, or a symbol of its own, which is defined below.
    at_.let(changing_.symbols[j], state.get(j));
  }
  for (size_t k = 0; k < op_.results.size(); ++k) {
    std::vector<Expr> outside = numbers(op_.results[k]->info);
    std::vector<Expr> last = k < carried_ ? numbers(argument(k).info) : shapes_.dims(region_.results()[k + 1]->info);
    if (k >= carried_) last.insert(last.begin(), done_);
    for (size_t axis = 0; axis < outside.size(); ++axis) {
      const auto* var = outside[axis].as<arith::VarNode>();
      if (var != nullptr && !symbols_.in_scope(Var(var))) symbols_.define(Var(var), symbols_.known(last[axis]));
    }
  }
}

/// Gives result `k` its memory: a carried tensor is in the half of the last iteration, or in the block written last.
void LoopLowering::see_result(size_t k) {
  const Value& result = *op_.results[k];
  BufferRef& memory = host_.values.slot(result).buffer;
  const Carried* value = k < carried_ ? &values_[k] : nullptr;
  const Scan* scan = value == nullptr ? &scans_[k - carried_] : nullptr;
  BufferRef block = value != nullptr ? value->block : scan->growing ? scan->memory : nullptr;
  if (value != nullptr && block != nullptr) at_.add(heap_.release(value->next_block));
  std::vector<Expr> shape = shapes_.dims(result.info);
  if (block != nullptr)
    memory = heap_.own_block(block, result.name, result.dtype(), shape);
  else if (value != nullptr)
    memory = memory_.view_as(value->room, result.name, result.dtype(), shape, half_of(*value, done_));
  else
    memory = memory_.view_as(scan->memory, result.name, result.dtype(), shape);
}

}  // namespace

Status lower_loop(HostLowering& host, Op& op) {
  return LoopLowering(host, op).run();
}

}  // namespace relaxc::lower
