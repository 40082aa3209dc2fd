// verify.cpp: one walk over a prim func that tracks which variables are bound and which buffers exist at each point.
//
// A statement's bindings are undone after its body has been visited. Types inside of an expression need no check, since
// the Context refuses to build a wrong one; what is checked is which variables and buffers an expression uses, and
// where.
#include "compiler/tir/verify.h"

#include <fmt/format.h>

#include <unordered_set>

#include "compiler/arith/simplify.h"
#include "compiler/tir/func_attrs.h"
#include "compiler/tir/index_checks.h"
#include "compiler/tir/print.h"
#include "compiler/tir/runtime_functions.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir {
namespace {

class Verifier {
 public:
  std::string run(const PrimFunc& function) {
    for (const Param& param : function.params)
      if (param.buffer == nullptr) bind(param.var);
    for (Var symbol : function.symbols) bind(symbol);
    for (const Param& param : function.params) {
      if (param.buffer == nullptr) continue;
      layout(*param.buffer);
      if (param.buffer->scope == Scope::kLocal) fault("parameter '{}' has scope local", param.buffer->name);
      enter(param.buffer);
    }
    if (function.c_function)
      for (const ObjectData& data : function.c_function->data) enter(data.buffer);
    suite(function.body);
    // The sizes that a function with an arena computes depend on data and callers, so it must check for overflow.
    if (fault_.empty()) fault_ = fault_of_attributes(function);
    if (function.is_host() && function.checks.overflow_code == 0 && fault_.empty() && !IndexRanges(function).all_fit())
      fault_ = "sizes that may overflow are computed without 'checked_index'";
    return fault_.empty() ? fault_ : fault_ + " in prim func '" + function.name + "'";
  }

 private:
  template <typename... Args>
  void fault(fmt::format_string<Args...> text, Args&&... args) {
    if (!fault_.empty()) return;
    fault_ = fmt::format(text, std::forward<Args>(args)...);
    if (!current_) return;
    std::string code = to_string(current_);
    fault_ += " (at '" + code.substr(0, code.find('\n')) + "')";
  }

  // ---- scopes

  void bind(Var var) {
    if (!vars_.insert(var).second) fault("variable '{}' is bound twice", var.name());
    trail_.push_back({var, nullptr});
  }
  void enter(BufferRef buffer) {
    if (!buffers_.insert(buffer).second) fault("buffer '{}' exists twice", buffer->name);
    trail_.push_back({{}, buffer});
  }
  void leave(size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) {
      if (trail_.back().buffer != nullptr)
        buffers_.erase(trail_.back().buffer);
      else
        vars_.erase(trail_.back().var);
    }
  }

  // ---- expressions

  void expr(Expr e) {
    arith::for_each_node(e, [&](Expr node) {
      if (const auto* var = node.as<arith::VarNode>(); var != nullptr && vars_.count(node) == 0)
        fault("variable '{}' is not bound", var->name);
      const auto* load = node.as<arith::Load>();
      if (load == nullptr) return;
      load->buffer->record != nullptr ? field(*load) : access(load->buffer, load->indices.size(), load->dtype);
    });
  }
  /// Checks a load of a struct's field, or of the address of an array of structs.
  void field(const arith::Load& load) {
    alive(load.buffer);
    const std::span<const Field> fields = load.buffer->record->fields;
    const bool address = load.indices.empty();
    const int64_t* at = load.indices.size() == 2 ? load.indices[1].constant() : nullptr;
    if (!address && (at == nullptr || *at < 0 || *at >= static_cast<int64_t>(fields.size())))
      return fault("'{}' is read and no field of '{}' is named", load.buffer->name, load.buffer->record->name);
    const DType dtype = address ? dtype_of(FieldKind::kPointer) : dtype_of(fields[static_cast<size_t>(*at)].kind);
    if (load.dtype != dtype)
      fault("a field of '{}' is read as {}, expected {}", load.buffer->name, to_string(load.dtype), to_string(dtype));
  }
  void typed(Expr e, DType dtype, const char* what) {
    if (!e) return fault("there is no {}", what);
    expr(e);
    if (e.dtype() != dtype) fault("the {} is of dtype {}, expected {}", what, to_string(e.dtype()), to_string(dtype));
  }
  void index(Expr e, const char* what) { typed(e, DType::index(), what); }
  void alive(BufferRef buffer) {
    if (buffers_.count(buffer) == 0) fault("buffer '{}' does not exist here", buffer->name);
  }
  void access(BufferRef buffer, size_t subscripts, DType dtype) {
    alive(buffer);
    if (subscripts != buffer->shape.size())
      fault("buffer '{}' has {} dims and gets {} subscripts", buffer->name, buffer->shape.size(), subscripts);
    if (dtype != buffer->dtype)
      fault("buffer '{}' holds {} and is accessed as {}", buffer->name, to_string(buffer->dtype), to_string(dtype));
  }
  void layout(const Buffer& buffer) {
    for (Expr dim : buffer.shape) index(dim, "dim");
    for (Expr stride : buffer.strides) index(stride, "stride");
    if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size())
      fault("buffer '{}' has {} dims and {} strides", buffer.name, buffer.shape.size(), buffer.strides.size());
  }
  void regions(const std::vector<BufferRegion>& regions) {
    for (const BufferRegion& region : regions) {
      access(region.buffer, region.spans.size(), region.buffer->dtype);
      for (const Span& span : region.spans) {
        index(span.begin, "start of a region");
        index(span.extent, "extent of a region");
      }
    }
  }

  // ---- statements

  /// Follows allocations and bindings in a loop: a host function nests thousands of them.
  void suite(Stmt s) {
    size_t mark = trail_.size();
    while (s && fault_.empty()) {
      current_ = s;
      s = visit(s, [&](const auto& n) { return check(n); });
    }
    leave(mark);
  }

  // Each checks a statement and returns the body in which its bindings hold, if suite() is to continue with it.
  Stmt check(const Seq& n) {
    for (size_t i = 0; i + 1 < n.body.size(); ++i) suite(n.body[i]);
    return n.body.empty() ? Stmt() : n.body.back();
  }
  Stmt check(const For& n) {
    index(n.min, "start of the loop");
    index(n.extent, "extent of the loop");
    if (!n.var || !n.var.dtype().is_index()) fault("the loop variable is not an index");
    bool constant = n.loop_kind == LoopKind::kVectorized || n.loop_kind == LoopKind::kUnrolled;
    if (constant && n.extent && n.extent.constant() == nullptr)
      fault("a vectorized or unrolled loop needs a constant extent");
    if (!fault_.empty()) return {};
    size_t mark = trail_.size();
    bind(n.var);
    loops_.push_back(n.loop_kind);
    suite(n.body);
    loops_.pop_back();
    leave(mark);
    return {};
  }
  Stmt check(const While& n) {
    typed(n.condition, DType::boolean(), "condition");
    loops_.push_back(LoopKind::kSerial);
    suite(n.body);
    loops_.pop_back();
    return {};
  }
  Stmt check(const Break&) {
    if (loops_.empty()) fault("a break outside of any loop");
    if (!loops_.empty() && (loops_.back() == LoopKind::kParallel || loops_.back() == LoopKind::kVectorized))
      fault("a break in a loop whose iterations have no order");
    return {};
  }
  Stmt check(const Continue&) {
    if (loops_.empty()) fault("a continue outside of any loop");
    return {};
  }
  Stmt check(const If& n) {
    typed(n.condition, DType::boolean(), "condition");
    suite(n.then_body);
    suite(n.else_body);
    return {};
  }
  Stmt check(const Let& n) {
    typed(n.value, n.var.dtype(), "bound value");
    bind(n.var);
    return n.body;
  }
  Stmt check(const Alloc& n) {
    layout(*n.buffer);
    if (n.buffer->scope == Scope::kWeights) fault("an allocation of scope weights");
    for (Expr dim : n.buffer->shape)
      if (n.buffer->scope == Scope::kLocal && dim.constant() == nullptr)
        fault("local buffer '{}' needs a constant size", n.buffer->name);
    enter(n.buffer);
    return n.body;
  }
  Stmt check(const View& n) {
    if (n.base != nullptr) alive(n.base);
    layout(*n.buffer);
    index(n.byte_offset, "offset");
    if ((n.round_up & (n.round_up - 1)) != 0)
      fault("'{}' is at a multiple of {}, not a power of two", n.buffer->name, n.round_up);
    enter(n.buffer);
    return n.body;
  }
  Stmt check(const Store& n) {
    for (Expr e : n.indices) index(e, "subscript");
    access(n.buffer, n.indices.size(), n.buffer->dtype);
    if (n.buffer->scope == Scope::kWeights) fault("a store into weights '{}'", n.buffer->name);
    if (n.buffer->record != nullptr) fault("a store into a struct '{}'", n.buffer->name);
    typed(n.value, n.buffer->dtype, "stored value");
    return {};
  }
  Stmt check(const Block& n) {
    for (const IterVar& iter : n.iters) {
      index(iter.min, "start of an axis");
      index(iter.extent, "extent of an axis");
      index(iter.binding, "binding of an axis");
    }
    if (!fault_.empty()) return {};
    for (const IterVar& iter : n.iters) bind(iter.var);
    if (n.predicate) typed(n.predicate, DType::boolean(), "predicate");
    regions(n.reads);
    regions(n.writes);
    suite(n.init);
    return n.body;
  }
  Stmt check(const Guard& n) {
    typed(n.condition, DType::boolean(), "guarded condition");
    if (n.expected) index(n.expected, "expected value");
    if (n.actual) index(n.actual, "actual value");
    return {};
  }
  Stmt check(const Invoke& n) {
    if (n.callee.empty()) fault("a call of nothing");
    if (n.runtime && !n.external) fault("'{}' of the runtime is not external", n.callee);
    if (n.runtime)
      if (std::string wrong = call_fault(n); !wrong.empty()) fault("{}", wrong);
    if (n.status && (!n.plain || n.result != DType::i(32))) fault("'{}' returns no status", n.callee);
    for (const Argument& arg : n.args) {
      const auto* buffer = std::get_if<BufferRef>(&arg);
      buffer != nullptr ? alive(*buffer) : expr(std::get<Expr>(arg));
    }
    return {};
  }

  struct Bound {
    Expr var;
    BufferRef buffer;
  };
  std::string fault_;
  Stmt current_;
  std::unordered_set<Expr> vars_;
  std::unordered_set<BufferRef> buffers_;
  std::vector<Bound> trail_;
  std::vector<LoopKind> loops_;
};

}  // namespace

std::string first_fault(const PrimFunc& function) {
  return Verifier().run(function);
}

}  // namespace relaxc::tir
