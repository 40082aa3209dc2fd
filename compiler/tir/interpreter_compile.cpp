// interpreter_compile.cpp: TIR to flat code.
//
// Expressions are DAGs: a node is computed once and kept in a register. A node without loads is placed in the outermost
// loop body (or branch) in which its variables exist, so that address arithmetic leaves inner loops; loads, and what
// depends on them, stay in their statement. Code of nested bodies is collected apart and joined when the body ends, so
// that hoisted code lands before the loop.
#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "compiler/arith/math.h"
#include "compiler/tir/interpreter_batch.h"
#include "compiler/tir/interpreter_code.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir::interpreter {
namespace {

using namespace arith;

bool is_small(DType dtype) {
  return dtype.is_float() && dtype.bits < 32;
}
bool is_single(DType dtype) {
  return dtype.is_float() && dtype.bits <= 32;
}
bool is_unsigned64(DType dtype) {
  return dtype == DType::u(64);
}
bool needs_wrap(DType dtype) {
  return dtype.is_integer() && dtype.bits < 64;
}

/// The float, double or int64 form of an instruction.
Op pick(DType dtype, Op integer, Op single, Op dbl) {
  return !dtype.is_float() ? integer : is_single(dtype) ? single : dbl;
}

class Compiler {
 public:
  explicit Compiler(const PrimFunc& function) : function_(function), checked_(function.overflow_code() != 0) {}

  Program run() {
    levels_.push_back({});
    for (const Param& param : function_.params) {
      uint32_t reg = fresh();
      if (param.buffer != nullptr) {
        program_.buffer_params.push_back(reg);
        address_[param.buffer] = reg;
      } else {
        add_scalar(param.var, reg);
      }
    }
    for (Var symbol : function_.symbols) add_scalar(symbol, fresh());
    for (const Param& param : function_.params)
      if (param.buffer != nullptr) declare(param.buffer);
    statement(function_.body);
    emit({.op = Op::kEnd});
    program_.code = std::move(levels_[0].code);
    resolve_labels();
    program_.registers = next_register_;
    program_.overflow_code = function_.overflow_code();
    plan_batches(program_);
    return std::move(program_);
  }

 private:
  /// A body: function, loop body, branch. `values` are the nodes computed here.
  struct Level {
    std::vector<Instruction> code;
    std::vector<Expr> values;
  };
  struct Known {
    uint32_t reg = 0;
    size_t level = 0;
    bool loads = false;
  };

  uint32_t fresh() { return next_register_++; }
  size_t top() const { return levels_.size() - 1; }

  void add_scalar(Var var, uint32_t reg) {
    program_.scalar_params.push_back(reg);
    program_.scalar_dtypes.push_back(var.dtype());
    known_[var] = {reg, 0, false};
  }

  uint32_t emit(Instruction instruction) { return emit_at(top(), instruction); }
  uint32_t emit_at(size_t level, Instruction instruction) {
    levels_[level].code.push_back(instruction);
    return instruction.dst;
  }

  // Labels: a jump names a label until all code is joined.
  int64_t new_label() {
    label_positions_.push_back(-1);
    return static_cast<int64_t>(label_positions_.size()) - 1;
  }
  void place(int64_t label) { emit({.op = Op::kMove, .dst = kLabel, .extra = label}); }
  void resolve_labels() {
    std::vector<Instruction> code;
    for (const Instruction& instruction : program_.code) {
      if (instruction.op == Op::kMove && instruction.dst == kLabel)
        label_positions_[static_cast<size_t>(instruction.extra)] = static_cast<int64_t>(code.size());
      else
        code.push_back(instruction);
    }
    for (Instruction& instruction : code)
      if (instruction.op == Op::kJump || instruction.op == Op::kJumpIfZero || instruction.op == Op::kJumpIfNotLess ||
          instruction.op == Op::kLoopNext)
        instruction.extra = label_positions_[static_cast<size_t>(instruction.extra)];
    for (Loop& loop : program_.loops) {
      loop.head = label_positions_[static_cast<size_t>(loop.head)];
      loop.next = label_positions_[static_cast<size_t>(loop.next)];
    }
    program_.code = std::move(code);
  }

  /// Compiles `body` as a level of its own and appends its code.
  template <typename F>
  void nested(F body) {
    end_statement();
    levels_.push_back({});
    body();
    end_statement();
    Level level = std::move(levels_.back());
    levels_.pop_back();
    for (Expr e : level.values) known_.erase(e);
    auto& outer = levels_.back().code;
    outer.insert(outer.end(), level.code.begin(), level.code.end());
  }

  /// What depends on loads must be computed anew after a store.
  void end_statement() {
    for (Expr e : with_loads_) known_.erase(e);
    with_loads_.clear();
  }

  void keep(Expr e, Known known) {
    known_[e] = known;
    if (known.loads)
      with_loads_.push_back(e);
    else
      levels_[known.level].values.push_back(e);
  }

  // ---- expressions

  uint32_t reg(Expr e) {
    Expr expanded = expand_all_math(e);
    std::unordered_set<Expr> outer = std::exchange(certain_, certain_nodes(expanded));
    arith::for_each_node(expanded, [&](Expr node) {
      if (known_.count(node) == 0) compute(node);
    });
    certain_ = std::move(outer);
    return known_.at(expanded).reg;
  }

  /// The nodes that are evaluated whatever the conditions inside `root` say. All code is straight, so operands of a
  /// select are computed even if it does not choose them; loads there must not fail, and give 0 out of bounds.
  static std::unordered_set<Expr> certain_nodes(Expr root) {
    std::unordered_set<Expr> certain;
    std::vector<Expr> pending = {root};
    while (!pending.empty()) {
      Expr e = pending.back();
      pending.pop_back();
      if (!certain.insert(e).second) continue;
      std::vector<Expr> parts = operands(e);
      bool chooses = e->kind == ExprKind::kSelect || e->kind == ExprKind::kAnd || e->kind == ExprKind::kOr;
      if (chooses) parts.resize(1);
      pending.insert(pending.end(), parts.begin(), parts.end());
    }
    return certain;
  }

  void compute(Expr e) {
    if (e.as<VarNode>() != nullptr)
      RELAXC_UNREACHABLE("variable " + e.as<VarNode>()->name + " is not bound in " + function_.name);
    std::vector<Expr> parts = operands(e);
    Known known{0, 0, e.as<Load>() != nullptr || e.as<Extern>() != nullptr};
    std::vector<uint32_t> regs;
    for (Expr part : parts) {
      const Known& k = known_.at(part);
      known.level = std::max(known.level, k.level);
      known.loads |= k.loads;
      regs.push_back(k.reg);
    }
    // Checked arithmetic must not run where the program would not have run it.
    if (known.loads || checked_) known.level = top();
    known.reg = node(e, known.level, regs);
    keep(e, known);
  }

  uint32_t constant(Register value) {
    uint32_t reg = fresh();
    program_.constants.push_back({reg, value});
    return reg;
  }

  uint32_t op(size_t level, Op code, std::vector<uint32_t> in, DType dtype = {}, int64_t extra = 0) {
    in.resize(3, 0);
    return emit_at(level, {code, false, dtype, fresh(), in[0], in[1], in[2], extra});
  }
  /// Brings the result of arithmetic back into its dtype.
  uint32_t fit(size_t level, uint32_t reg, DType dtype) {
    if (needs_wrap(dtype)) return op(level, Op::kWrap, {reg}, dtype);
    if (is_small(dtype)) return op(level, Op::kRoundSmall, {reg}, dtype);
    return reg;
  }

  uint32_t node(Expr e, size_t level, const std::vector<uint32_t>& in) {
    return arith::visit(
        e, [&](const IntImm& n) { return constant({.i = n.value}); },
        [&](const FloatImm& n) {
          Register value{};
          if (n.dtype.bits == 64)
            value.d = n.value;
          else
            value.f = static_cast<float>(n.value);
          return constant(value);
        },
        [&](const VarNode&) -> uint32_t { RELAXC_UNREACHABLE(); },
        [&](const Binary& n) { return binary(n, level, in); }, [&](const Not&) { return op(level, Op::kNotB, in); },
        [&](const Select&) { return op(level, Op::kSelect, in); },
        [&](const Cast& n) { return cast(n.value.dtype(), n.dtype, level, in[0]); },
        [&](const Load& n) { return load(n, level); }, [&](const Call& n) { return call(n, level, in); },
        [&](const Extern& n) { return external(n, level, in); });
  }

  uint32_t binary(const Binary& n, size_t level, const std::vector<uint32_t>& in) {
    DType dtype = n.a.dtype();
    bool big = is_unsigned64(dtype), index = checked_ && dtype.is_index(), un = dtype.is_uint();
    switch (n.kind) {
      case ExprKind::kAdd:
        return fit(level, op(level, pick(dtype, index ? Op::kCheckedAddI : Op::kAddI, Op::kAddF, Op::kAddD), in),
                   dtype);
      case ExprKind::kSub:
        return fit(level, op(level, pick(dtype, index ? Op::kCheckedSubI : Op::kSubI, Op::kSubF, Op::kSubD), in),
                   dtype);
      case ExprKind::kMul:
        return fit(level, op(level, pick(dtype, index ? Op::kCheckedMulI : Op::kMulI, Op::kMulF, Op::kMulD), in),
                   dtype);
      case ExprKind::kDiv:
        return fit(level, op(level, pick(dtype, big ? Op::kDivU : Op::kDivI, Op::kDivF, Op::kDivD), in), dtype);
      case ExprKind::kMod:
        return fit(level, op(level, pick(dtype, big ? Op::kModU : Op::kModI, Op::kModF, Op::kModD), in), dtype);
      case ExprKind::kFloorDiv:
        return fit(level,
                   op(level,
                      pick(dtype,
                           big  ? Op::kDivU
                           : un ? Op::kDivI
                                : Op::kFloorDivI,
                           Op::kFloorDivF, Op::kFloorDivD),
                      in),
                   dtype);
      case ExprKind::kFloorMod:
        return fit(level,
                   op(level,
                      pick(dtype,
                           big  ? Op::kModU
                           : un ? Op::kModI
                                : Op::kFloorModI,
                           Op::kFloorModF, Op::kFloorModD),
                      in),
                   dtype);
      case ExprKind::kMin:
        return op(level, pick(dtype, big ? Op::kMinU : Op::kMinI, Op::kMinF, Op::kMinD), in);
      case ExprKind::kMax:
        return op(level, pick(dtype, big ? Op::kMaxU : Op::kMaxI, Op::kMaxF, Op::kMaxD), in);
      case ExprKind::kEq:
        return op(level, pick(dtype, Op::kEqI, Op::kEqF, Op::kEqD), in);
      case ExprKind::kNe:
        return op(level, pick(dtype, Op::kNeI, Op::kNeF, Op::kNeD), in);
      case ExprKind::kLt:
        return op(level, pick(dtype, big ? Op::kLtU : Op::kLtI, Op::kLtF, Op::kLtD), in);
      case ExprKind::kLe:
        return op(level, pick(dtype, big ? Op::kLeU : Op::kLeI, Op::kLeF, Op::kLeD), in);
      case ExprKind::kAnd:
        return op(level, Op::kAndI, in);
      case ExprKind::kOr:
        return op(level, Op::kOrI, in);
      default:
        RELAXC_UNREACHABLE("not a binary kind");
    }
  }

  uint32_t cast(DType from, DType to, size_t level, uint32_t in) {
    if (from.is_float()) {
      bool single = is_single(from);
      if (to.is_bool()) return op(level, single ? Op::kFToBool : Op::kDToBool, {in});
      if (!to.is_float()) return op(level, single ? Op::kFToInt : Op::kDToInt, {in}, to);
      if (to.bits == 64) return single ? op(level, Op::kFToD, {in}) : in;
      if (!single) return op(level, Op::kDToF, {in}, to);
      return fit(level, in, to);
    }
    bool big = is_unsigned64(from);
    if (to.is_bool()) return op(level, Op::kNeI, {in, constant({.i = 0})});
    if (to.is_float()) {
      if (to.bits == 64) return op(level, big ? Op::kUToD : Op::kIToD, {in});
      return fit(level, op(level, big ? Op::kUToF : Op::kIToF, {in}), to);
    }
    return fit(level, in, to);
  }

  uint32_t call(const Call& n, size_t level, const std::vector<uint32_t>& in) {
    DType dtype = n.args[0].dtype();
    auto real = [&](Op single, Op dbl) {
      return dtype.is_float() ? fit(level, op(level, is_single(dtype) ? single : dbl, in), dtype) : in[0];
    };
    switch (n.intrinsic) {
      case Intrinsic::k_sqrt:
        return real(Op::kSqrtF, Op::kSqrtD);
      case Intrinsic::k_floor:
        return real(Op::kFloorF, Op::kFloorD);
      case Intrinsic::k_ceil:
        return real(Op::kCeilF, Op::kCeilD);
      case Intrinsic::k_trunc:
        return real(Op::kTruncF, Op::kTruncD);
      case Intrinsic::k_round:
        return real(Op::kRoundF, Op::kRoundD);
      case Intrinsic::k_fma:
        return real(Op::kFmaF, Op::kFmaD);
      case Intrinsic::k_copysign:
        return real(Op::kCopysignF, Op::kCopysignD);
      case Intrinsic::k_abs:
        if (dtype.is_float()) return op(level, is_single(dtype) ? Op::kAbsF : Op::kAbsD, in);
        return dtype.is_uint() || dtype.is_bool() ? in[0] : fit(level, op(level, Op::kAbsI, in), dtype);
      case Intrinsic::k_isnan:
      case Intrinsic::k_isinf: {
        if (!dtype.is_float()) return constant({.i = 0});
        bool nan = n.intrinsic == Intrinsic::k_isnan, single = is_single(dtype);
        return op(level, nan ? (single ? Op::kIsnanF : Op::kIsnanD) : (single ? Op::kIsinfF : Op::kIsinfD), in);
      }
      case Intrinsic::k_bitwise_and:
        return op(level, Op::kAndI, in);
      case Intrinsic::k_bitwise_or:
        return op(level, Op::kOrI, in);
      case Intrinsic::k_bitwise_xor:
        return op(level, Op::kXorI, in);
      case Intrinsic::k_bitwise_not:
        return dtype.is_bool() ? op(level, Op::kNotB, in) : fit(level, op(level, Op::kNotI, in), dtype);
      case Intrinsic::k_shift_left:
        return fit(level, op(level, Op::kShiftLeft, in, dtype), dtype);
      case Intrinsic::k_shift_right:
        return op(level, dtype.is_uint() ? Op::kShiftRightU : Op::kShiftRightI, in, dtype);
      case Intrinsic::k_popcount:
        return fit(level, op(level, Op::kPopcount, in, dtype), n.dtype);
      case Intrinsic::k_clz:
        return fit(level, op(level, Op::kClz, in, dtype), n.dtype);
      case Intrinsic::k_bitcast:
        return bitcast(dtype, n.dtype, level, in[0]);
      default:
        RELAXC_UNREACHABLE(std::string(intrinsic_name(n.intrinsic)) + " has no instruction");
    }
  }

  uint32_t external(const Extern& n, size_t level, const std::vector<uint32_t>& in) {
    CallRecord record{n.name, true, n.dtype, {}};
    for (size_t i = 0; i < in.size(); ++i) record.args.push_back({false, in[i], n.args[i].dtype(), {}});
    return add_call(level, Op::kCallExternal, std::move(record));
  }
  uint32_t add_call(size_t level, Op op, CallRecord record) {
    program_.calls.push_back(std::move(record));
    return emit_at(level, {.op = op, .dst = fresh(), .extra = static_cast<int64_t>(program_.calls.size()) - 1});
  }

  uint32_t bitcast(DType from, DType to, size_t level, uint32_t in) {
    uint32_t bits = in;
    if (is_small(from)) bits = op(level, Op::kSmallToBits, {in}, from);
    if (from == DType::f(32)) bits = op(level, Op::kFToBits, {in});
    if (from.is_integer() && from.bits < 64) bits = op(level, Op::kWrap, {in}, DType::u(from.bits));
    if (is_small(to)) return op(level, Op::kBitsToSmall, {bits}, to);
    if (to == DType::f(32)) return op(level, Op::kBitsToF, {bits});
    return needs_wrap(to) ? op(level, Op::kWrap, {bits}, to) : bits;
  }

  // ---- memory

  /// The register of the number of elements, for bounds checks.
  void declare(BufferRef buffer) {
    Expr count = function_.body ? count_of(*buffer) : Expr();
    size_[buffer] = count ? reg(count) : constant({.i = 1});
    name_[buffer] = static_cast<uint32_t>(program_.buffer_names.size());
    program_.buffer_names.push_back(buffer->name);
  }
  static Expr count_of(const Buffer& buffer) {
    if (buffer.shape.empty()) return {};
    for (Expr dim : buffer.shape)
      if (dim.is_constant(INT64_MAX)) return dim;  // nobody knows how large it is
    if (buffer.strides.empty()) return element_count(buffer.shape[0].context(), buffer);
    Expr last = buffer.shape[0].context().index(1);
    for (size_t i = 0; i < buffer.shape.size(); ++i) last = last + (buffer.shape[i] - 1) * buffer.strides[i];
    return last;
  }

  uint32_t offset(BufferRef buffer, const std::vector<Expr>& indices) {
    if (indices.empty()) return constant({.i = 0});
    return reg(element_offset(indices[0].context(), *buffer, indices));
  }

  uint32_t access(BufferRef buffer, bool store) {
    RELAXC_CHECK(address_.count(buffer) != 0, "buffer " + buffer->name + " is not declared in " + function_.name);
    static_cast<void>(store);
    return address_.at(buffer);
  }

  uint32_t load(const Load& n, size_t level) {
    uint32_t base = access(n.buffer, false);
    // The offset's own nodes are placed by their variables; the load itself stays at `level`.
    bool lenient = certain_.count(Expr(&n)) == 0;
    uint32_t at = offset(n.buffer, n.indices);
    return emit_at(level,
                   {load_op(n.dtype), lenient, n.dtype, fresh(), base, at, name_.at(n.buffer), size_.at(n.buffer)});
  }
  static Op load_op(DType dtype) {
    if (is_small(dtype)) return Op::kLoadSmall;
    if (dtype == DType::f(32)) return Op::kLoadF;
    bool sign = dtype.is_int();
    switch (dtype.bytes()) {
      case 1:
        return sign ? Op::kLoad8I : Op::kLoad8U;
      case 2:
        return sign ? Op::kLoad16I : Op::kLoad16U;
      case 4:
        return sign ? Op::kLoad32I : Op::kLoad32U;
      default:
        return Op::kLoad64;
    }
  }
  static Op store_op(DType dtype) {
    if (is_small(dtype)) return Op::kStoreSmall;
    if (dtype == DType::f(32)) return Op::kStoreF;
    switch (dtype.bytes()) {
      case 1:
        return Op::kStore8;
      case 2:
        return Op::kStore16;
      case 4:
        return Op::kStore32;
      default:
        return Op::kStore64;
    }
  }

  // ---- statements

  void statement(Stmt s) {
    if (s) tir::visit(s, [&](const auto& node) { run(node); });
  }

  void run(const Seq& node) {
    for (Stmt s : node.body) statement(s);
  }

  void bind(Var var, Known known) { keep(var, known); }
  /// Binds `var` to the value of `e`, computed here.
  void bind_value(Var var, Expr e) {
    uint32_t value = reg(e);
    Known known = known_.at(expand_all_math(e));
    if (known.loads) known = {op(top(), Op::kMove, {value}), top(), false};
    bind(var, known);
  }

  void run(const For& node) {
    uint32_t begin = reg(node.min), end = reg(node.min + node.extent);
    int64_t head = new_label(), next = new_label(), out = new_label();
    uint32_t counter = op(top(), Op::kMove, {begin});
    // Up to which iteration batches were tried and given up.
    uint32_t tried = op(top(), Op::kMove, {constant({.i = INT64_MIN})});
    auto number = static_cast<int64_t>(program_.loops.size());
    program_.loops.push_back({counter, end, head, next});
    exits_.push_back({out, next});
    nested([&] {
      emit({.op = Op::kJumpIfNotLess, .a = counter, .b = end, .extra = out});
      emit({.op = Op::kBatch, .dst = tried, .a = counter, .extra = number});
      place(head);
      bind(node.var, {counter, top(), false});
      statement(node.body);
    });
    exits_.pop_back();
    place(next);
    emit({.op = Op::kLoopNext, .dst = counter, .a = counter, .b = end, .extra = head});
    place(out);
  }

  void run(const While& node) {
    int64_t head = new_label(), out = new_label();
    exits_.push_back({out, head});
    nested([&] {
      place(head);
      emit({.op = Op::kJumpIfZero, .a = reg(node.condition), .extra = out});
      end_statement();
      statement(node.body);
      emit({.op = Op::kJump, .extra = head});
    });
    exits_.pop_back();
    place(out);
  }

  void run(const Break&) { emit({.op = Op::kJump, .extra = exits_.back().leave}); }
  void run(const Continue&) { emit({.op = Op::kJump, .extra = exits_.back().next}); }

  void run(const If& node) {
    int64_t otherwise = new_label(), out = new_label();
    uint32_t condition = reg(node.condition);
    // One level around both branches: what either leaves to the outside is computed before the jump, or the branch that
    // is not taken would skip what is known after it.
    nested([&] {
      nested([&] {
        emit({.op = Op::kJumpIfZero, .a = condition, .extra = otherwise});
        statement(node.then_body);
        if (node.else_body) emit({.op = Op::kJump, .extra = out});
      });
      place(otherwise);
      if (node.else_body) nested([&] { statement(node.else_body); });
    });
    place(out);
  }

  void run(const Let& node) {
    bind_value(node.var, node.value);
    end_statement();
    statement(node.body);
  }

  void run(const Alloc& node) {
    Expr bytes = node.buffer->shape.empty() ? Expr() : byte_size(node.buffer->shape[0].context(), *node.buffer);
    uint32_t size = bytes ? reg(bytes) : constant({.i = node.buffer->dtype.bytes()});
    uint32_t address = emit({.op = Op::kAlloc, .dst = fresh(), .a = size});
    address_[node.buffer] = address;
    declare(node.buffer);
    statement(node.body);
    emit({.op = Op::kFree, .a = address});
  }

  void run(const View& node) {
    uint32_t offset = reg(node.byte_offset);
    address_[node.buffer] = node.base == nullptr ? op(top(), Op::kMove, {offset})
                                                 : op(top(), Op::kOffset, {access(node.base, true), offset});
    declare(node.buffer);
    statement(node.body);
  }

  void run(const Store& node) {
    uint32_t base = access(node.buffer, true);
    uint32_t at = offset(node.buffer, node.indices), value = reg(node.value);
    emit({store_op(node.buffer->dtype), false, node.buffer->dtype, value, base, at, name_.at(node.buffer),
          size_.at(node.buffer)});
    end_statement();
  }

  void run(const Block& node) {
    for (const IterVar& iter : node.iters) bind_value(iter.var, iter.binding);
    int64_t out = new_label();
    uint32_t predicate = node.predicate ? reg(node.predicate) : 0;
    auto body = [&] {
      if (node.predicate) emit({.op = Op::kJumpIfZero, .a = predicate, .extra = out});
      if (node.init) run_init(node);
      statement(node.body);
    };
    if (node.predicate)
      nested(body);
    else
      body();
    place(out);
    for (const IterVar& iter : node.iters) known_.erase(iter.var);
  }

  void run_init(const Block& node) {
    int64_t after = new_label();
    std::vector<uint32_t> conditions;
    for (const IterVar& iter : node.iters)
      if (iter.iter_kind == IterKind::kReduce) conditions.push_back(reg(eq(iter.var, iter.min)));
    nested([&] {
      for (uint32_t condition : conditions) emit({.op = Op::kJumpIfZero, .a = condition, .extra = after});
      statement(node.init);
    });
    place(after);
  }

  void run(const Guard& node) {
    GuardRecord record{node.code, node.tensor, node.axis, node.symbol, node.error_node, 0, 0};
    record.expected = node.expected ? reg(node.expected) : constant({.i = 0});
    record.actual = node.actual ? reg(node.actual) : constant({.i = 0});
    emit({.op = Op::kGuard, .a = reg(node.condition), .extra = static_cast<int64_t>(program_.guards.size())});
    program_.guards.push_back(record);
    end_statement();
  }

  void run(const Invoke& node) {
    CallRecord record{node.callee, node.plain, node.result, {}};
    for (const Argument& argument : node.args) {
      CallArgument arg;
      if (const auto* e = std::get_if<Expr>(&argument)) {
        arg.value = reg(*e);
        arg.dtype = e->dtype();
      } else {
        BufferRef buffer = std::get<BufferRef>(argument);
        arg = {true, access(buffer, true), buffer->dtype, {}};
        for (Expr dim : buffer->shape) arg.shape.push_back(reg(dim));
      }
      record.args.push_back(std::move(arg));
    }
    Op call = node.runtime ? Op::kCallRuntime : node.external ? Op::kCallExternal : Op::kCall;
    add_call(top(), call, std::move(record));
    end_statement();
  }

  static constexpr uint32_t kLabel = UINT32_MAX;
  const PrimFunc& function_;
  bool checked_;
  Program program_;
  std::vector<Level> levels_;
  std::unordered_map<Expr, Known> known_;
  std::vector<Expr> with_loads_;
  std::unordered_set<Expr> certain_;  ///< of the expression being compiled
  std::unordered_map<BufferRef, uint32_t> address_, size_, name_;
  std::vector<int64_t> label_positions_;
  struct Exits {
    int64_t leave, next;  ///< labels
  };
  std::vector<Exits> exits_;  ///< of the loops around
  uint32_t next_register_ = 0;
};

}  // namespace

Program compile(const PrimFunc& function) {
  return Compiler(function).run();
}

}  // namespace relaxc::tir::interpreter
