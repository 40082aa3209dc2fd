// lower_function.h: one prim func's body as LLVM IR.
//
// A vectorized loop is not left to LLVM's vectorizer: its body is lowered once with every value either uniform, affine
// in the lane (an index that grows by a constant step from lane to lane), or a vector with one element a lane. Affine
// subscripts become vector loads and stores, uniform ones a load and a splat, others gathers. What differs between
// lanes in control flow becomes a mask. A body that this cannot express (compiler/tir/lanes.h) runs lane after lane,
// with the same bits.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "compiler/arith/dot.h"
#include "compiler/arith/facts.h"
#include "compiler/arith/prover.h"
#include "compiler/codegen/llvm/lower.h"
#include "compiler/tir/index_checks.h"

namespace relaxc::codegen_llvm {

/// The value of an expression in all lanes. Outside of vectorized loops only `scalar` is set.
struct Lanes {
  llvm::Value* scalar = nullptr;  ///< the value of lane 0, when all others follow from it
  int64_t step = 0;               ///< lane i holds scalar + i * step
  llvm::Value* vector = nullptr;  ///< else: one element a lane
  /// Whether index arithmetic overflowed on the way, which nothing has tested yet; null: it did not. Only in scalar
  /// code; the value is then some number, never poison.
  llvm::Value* overflow = nullptr;

  bool is_uniform() const { return vector == nullptr && step == 0; }
};

class FunctionLowering {
 public:
  /// `data`: of the object, for a function that C calls.
  FunctionLowering(ModuleLowering& module, const Signature& signature, const ObjectAddresses* data = nullptr);
  void run();

 private:
  struct Place {
    llvm::Value* address = nullptr;
    bool per_lane = false;  ///< every element is as many as there are lanes: a local of a vectorized loop's body
  };
  struct Loop {
    llvm::BasicBlock *leave, *next;
  };

  // lower_function.cpp: statements
  void bind_parameters();
  void bind_c_function(const tir::CFunction& function);
  void lower_copy();
  void lower(tir::Stmt s);
  /// What is undone, last first, where the scopes end that a suite has opened.
  using Leave = std::vector<std::function<void()>>;
  /// These give the statement that is still to be lowered in the scope that they open.
  tir::Stmt lower_seq(const tir::Seq& s);
  void lower_straight(tir::Stmt s);  ///< a guard or a call: what it computes dominates what follows
  tir::Stmt lower_let(const tir::Let& s, Leave& leave);
  tir::Stmt lower_alloc(const tir::Alloc& s, Leave& leave);
  tir::Stmt lower_view(const tir::View& s, Leave& leave);
  void lower_leave(bool whole);  ///< the innermost loop, or its iteration
  void lower_for(const tir::For& s);
  void lower_serial(const tir::For& s, llvm::Value* min, llvm::Value* extent);
  void lower_unrolled(const tir::For& s, llvm::Value* min, int64_t count);
  void lower_vectorized(const tir::For& s, llvm::Value* min, uint32_t lanes);
  void lower_while(const tir::While& s);
  void lower_if(const tir::If& s);
  void lower_block(const tir::Block& s);
  void lower_store(const tir::Store& s);
  void lower_under(Lanes condition, const std::function<void()>& then_body, const std::function<void()>& else_body);
  void with(arith::Expr var, Lanes value, const std::function<void()>& body);
  /// The same, knowing that the variable lies in min .. min + extent - 1.
  void with_range(arith::Var var, arith::Expr min, arith::Expr extent, Lanes value, const std::function<void()>& body);
  llvm::BasicBlock* block(const char* name);
  void branch_to(llvm::BasicBlock* target);

  // lower_parallel.cpp: loops that become tasks
  struct Captures {
    std::vector<arith::Expr> vars;
    std::vector<tir::BufferRef> buffers;
  };
  FunctionLowering(const FunctionLowering& parent, llvm::Function* body);
  bool can_run_in_tasks(const tir::For& s) const;
  Captures captured(const tir::For& s) const;
  llvm::Function* parallel_body(const tir::For& s, const Captures& captures);
  llvm::Function* parallel_task(llvm::Function* body, llvm::StructType* record);
  void lower_parallel(const tir::For& s, llvm::Value* min, llvm::Value* extent);

  // lower_call.cpp: guards and calls
  void lower_guard(const tir::Guard& s);
  void lower_invoke(const tir::Invoke& s);
  llvm::Value* call_external(const tir::Invoke& s, std::vector<std::function<void()>>& results);
  llvm::Value* handle_argument(tir::BufferRef buffer, int32_t node, std::vector<std::function<void()>>& results);
  llvm::Value* call_runtime(const tir::Invoke& s);
  llvm::Value* call_internal(const tir::Invoke& s, const Signature& callee);
  llvm::Value* tensor_record(tir::BufferRef buffer);
  llvm::Value* tensor_record(DType dtype, llvm::Value* data, llvm::Value* shape = nullptr, uint64_t rank = 0);
  std::vector<llvm::Value*> symbol_arguments(const tir::Invoke& s, const Signature& callee);
  void leave_if(llvm::Value* failed, const std::function<llvm::Value*()>& status);
  llvm::Value* fail(const tir::Guard& s, llvm::Value* expected, llvm::Value* actual);
  llvm::Value* name_failure(int32_t node, llvm::Value* status);
  llvm::Value* field(llvm::Value* record, interface::Record which, std::string_view name);

  // lower_hooks.cpp: what the context wants to be told
  void with_hook(std::string_view hook, const std::function<void(llvm::Value* function, llvm::Value* user)>& call);
  void poll(int32_t node);
  void trace(int32_t node, bool begin);

  // lower_external.cpp: plain C functions
  llvm::Value* call_plain(const tir::Invoke& s);
  llvm::Value* call_scalar(const arith::Extern& e);
  Lanes reduced_angle(const arith::Extern& e);
  std::pair<llvm::Value*, llvm::Value*> reduce_angles(llvm::Value* x, llvm::Value* rest, llvm::Value* quadrant);
  llvm::Value* plain_result(const std::string& name, DType dtype, const std::vector<tir::Argument>& given);
  llvm::CallInst* call_symbol(const std::string& name, llvm::Type* result, const std::vector<llvm::Value*>& args);
  llvm::Value* ask_owner(const std::string& name, const std::vector<llvm::Value*>& records);
  llvm::Value* scalar_record(arith::Expr given);
  llvm::Value* at_entry(llvm::Type* type);

  // lower_expr.cpp: values
  Lanes value(arith::Expr e);    ///< nothing overflowed on the way
  Lanes pending(arith::Expr e);  ///< whether something did is still to be tested
  Lanes compute(arith::Expr e);
  llvm::Value* scalar(arith::Expr e);  ///< of an expression that must be uniform
  Lanes divide_index(const arith::Binary& e, arith::Expr whole);
  arith::Range range_of_index(arith::Expr e);
  Lanes index_binary(const arith::Binary& e, Lanes a, Lanes b);
  Lanes unchecked(arith::ExprKind kind, Lanes a, Lanes b);
  Lanes binary(const arith::Binary& e);
  std::optional<Lanes> compare_lanes(const arith::Binary& e, Lanes a, Lanes b);  ///< nothing: not of that form
  Lanes select(const arith::Select& e);
  Lanes lazily(arith::Expr condition, const std::function<Lanes()>& then_value,
               const std::function<Lanes()>& else_value, DType dtype);
  Lanes lazily_by_mask(llvm::Value* decided, const std::function<Lanes()>& then_value,
                       const std::function<Lanes()>& else_value, DType dtype);
  Lanes short_circuit(const arith::Binary& e);
  bool must_be_lazy(arith::Expr e);

  // lower_checks.cpp: index arithmetic that leaves the function where it overflows, and what is remembered
  Lanes checked(arith::ExprKind kind, Lanes a, Lanes b);
  llvm::Value* checked_now(arith::ExprKind kind, llvm::Value* a, llvm::Value* b);
  bool needs_check(arith::Expr e) { return index_ranges_ && !index_ranges_->fits(e); }
  llvm::Value* any_of(llvm::Value* a, llvm::Value* b);  ///< of two flags, each of which may be null
  static bool may_have_overflowed(const Lanes& a, const Lanes& b) {
    return a.overflow != nullptr || b.overflow != nullptr;
  }
  llvm::Value* divisor_where_fits(Lanes a, Lanes b);
  void leave_if_overflowed(llvm::Value* flag);
  void leave_by_overflow(const tir::Guard& record);
  void settle(arith::Expr e);
  void remember(arith::Expr e, Lanes value);
  void forget_since(size_t mark);
  void forget_reads_since(size_t mark);

  // lower_dot.cpp: sums of products of bytes
  llvm::Intrinsic::ID dot_intrinsic(DotProduct kind) const;
  std::optional<Lanes> dot(const arith::Binary& e);  ///< nothing: not of that form, or not by an instruction
  llvm::Value* word_of(const arith::Dot4& dot);
  llvm::Value* dot_of_quads(llvm::Intrinsic::ID intrinsic, llvm::Value* sum, llvm::Value* a, llvm::Value* b);
  llvm::Value* dot_of_pairs(llvm::Value* a, llvm::Value* b);
  llvm::Value* dot_of_same_sign(llvm::Value* sum, llvm::Value* a, llvm::Value* b);

  Lanes apply(const std::vector<Lanes>& operands, const std::vector<DType>& dtypes,
              const std::function<llvm::Value*(const std::vector<llvm::Value*>&)>& f);
  llvm::Value* widened(Lanes value, DType dtype);
  Lanes offset_of(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  Lanes add(Lanes a, Lanes b);
  Lanes multiply(Lanes a, Lanes b);
  template <typename F>
  auto isolated(F f);  ///< values computed in `f` are not used after it
  /// What `f` computes dominates what follows: where index arithmetic is checked, so that each operation is a test,
  /// values that read no memory are kept to the end of the suite.
  template <typename F>
  auto in_passing(F f);
  Lanes where_asked(
      arith::Expr e);  ///< an operand that is computed, but of which only an overflow counts that is asked for

  // lower_memory.cpp: loads and stores
  std::optional<Lanes> look_up(const arith::Load& e);  ///< nothing: not of that form, or not by an instruction
  Lanes load(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  llvm::Value* read_field(const arith::Load& e);  ///< of a struct: a number or a pointer
  llvm::Value* pointer(arith::Expr address);
  void store(tir::BufferRef buffer, Lanes offset, Lanes value);
  Lanes to_stored(DType dtype, Lanes value);
  Lanes spread(tir::BufferRef buffer, Lanes offset);
  bool is_certain(tir::BufferRef buffer, Lanes offset) const;
  bool is_private(tir::BufferRef buffer, Lanes offset) const;
  llvm::Value* load_if_any(tir::BufferRef buffer, Lanes offset);
  llvm::Value* load_strided(tir::BufferRef buffer, Lanes offset);
  llvm::Value* load_raw(tir::BufferRef buffer, Lanes offset, bool& is_vector);
  llvm::Value* address(tir::BufferRef buffer, Lanes offset);
  void prefetch(tir::BufferRef buffer, llvm::Value* address);
  const Place& place(tir::BufferRef buffer) const;
  llvm::Value* as_vector_mask();

  // lower_interleaved.cpp: stores that together leave no gaps
  struct Interleaved {
    tir::BufferRef buffer = nullptr;
    int64_t count = 0;                ///< stores; lanes of each store so many elements apart
    llvm::Value* first = nullptr;     ///< the place of the first store's first lane
    std::vector<llvm::Value*> parts;  ///< what they store
  };
  tir::BufferRef interleaved_by(const tir::For& s, int64_t count) const;  ///< null: such a loop it is not
  tir::BufferRef memory_of(tir::BufferRef buffer) const;
  bool may_read(tir::Stmt s, tir::BufferRef buffer) const;
  bool wait_for_neighbours(tir::BufferRef buffer, Lanes offset, llvm::Value* stored);
  size_t lower_interleaved(std::span<const tir::Stmt> body);  ///< how many it took from the begin of `body`
  /// `stores` in turn, those to the buffer as one (null: as they are).
  void interleave(tir::BufferRef buffer, int64_t count, const std::function<void()>& stores);
  void store_interleaved(const Interleaved& all);

  ModuleLowering& module_;
  const Signature& signature_;
  const tir::PrimFunc& source_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  Numeric numeric_;
  std::optional<tir::IndexRanges> index_ranges_;  ///< of a function whose index arithmetic is checked
  llvm::BasicBlock* overflow_ = nullptr;          ///< where checks leave the function; null: none has yet
  const tir::Guard* guard_ = nullptr;             ///< whose condition is being computed
  llvm::BasicBlock* guard_overflow_ = nullptr;    ///< where checks of that leave; null: none has yet
  int64_t tests_ = 0;                             ///< of overflow that the function has, a branch each
  bool optional_ = false;                         ///< what is being computed may be what no one asks for
  bool in_task_ = false;

  const ObjectAddresses* data_ = nullptr;
  llvm::Value* context_ = nullptr;
  llvm::Value* error_ = nullptr;
  std::unordered_map<arith::Expr, Lanes> vars_;
  std::unordered_map<tir::BufferRef, Place> places_;
  std::unordered_map<tir::BufferRef, tir::BufferRef> bases_;  ///< of views
  arith::Facts facts_;
  std::optional<arith::Prover> prover_;         ///< under these facts, from the first question on
  std::unordered_set<arith::Expr> simplified_;  ///< divisions that simplify() has nothing to say about any more
  std::unordered_map<arith::Expr, Lanes> memo_;
  std::vector<std::pair<arith::Expr, std::optional<Lanes>>> memo_log_;  ///< and what was known before
  std::unordered_map<arith::Expr, bool> reads_;                         ///< memory, or calls an external function
  std::vector<Loop> loops_;
  uint32_t lanes_ = 0;                  ///< 0: not in a vectorized loop
  llvm::Value* mask_ = nullptr;         ///< lanes that run; null: all
  Interleaved* interleaved_ = nullptr;  ///< what stores wait for each other in; null: they do not
  int64_t prefetch_ = 0;                ///< bytes behind each vector that is read, to be asked for; 0: none
};

template <typename F>
auto FunctionLowering::isolated(F f) {
  size_t mark = memo_log_.size();
  auto out = f();
  forget_since(mark);
  return out;
}

template <typename F>
auto FunctionLowering::in_passing(F f) {
  size_t mark = memo_log_.size();
  auto out = f();
  index_ranges_ ? forget_reads_since(mark) : forget_since(mark);
  return out;
}

}  // namespace relaxc::codegen_llvm
