// stmt.h: statements: loops, blocks, stores and others, as an immutable tree in an arena.
//
// A rewrite maps Stmt to Stmt; the old root stays valid, so undoing a step is free. Loops and blocks have ids that
// survive rewrites: schedules name ids, never pointers. All subscripts, extents and offsets are `index` expressions.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/source.h"
#include "compiler/tir/buffer.h"

namespace relaxc::tir {

#define RELAXC_STMT_KINDS(X) \
  X(Seq) X(For) X(While) X(If) X(Let) X(Alloc) X(View) X(Store) X(Block) X(Guard) X(Invoke) X(Break) X(Continue)

enum class StmtKind : uint8_t {
#define X(name) k##name,
  RELAXC_STMT_KINDS(X)
#undef X
};

struct StmtNode {
  StmtKind kind;
};

/// A handle of a statement; null is the empty statement.
class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(const StmtNode* node) : node_(node) {}
  const StmtNode* operator->() const { return node_; }
  const StmtNode* node() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(Stmt a, Stmt b) { return a.node_ == b.node_; }
  template <typename T>
  const T* as() const {
    return node_ != nullptr && node_->kind == T::kKind ? static_cast<const T*>(node_) : nullptr;
  }

 private:
  const StmtNode* node_ = nullptr;
};

template <StmtKind K>
struct StmtOf : StmtNode {
  static constexpr StmtKind kKind = K;
  StmtOf() : StmtNode{K} {}
};

struct Seq : StmtOf<StmtKind::kSeq> {
  std::vector<Stmt> body;
};

/// How the iterations of a loop run. kVectorized: all lanes at once (constant extent; backends without vectors run it
/// serially, which gives the same bits); kParallel: in any order, on any cores; kUnrolled: as straight-line code
/// (constant extent).
enum class LoopKind : uint8_t { kSerial, kParallel, kVectorized, kUnrolled };

struct For : StmtOf<StmtKind::kFor> {
  uint32_t id = 0;
  Var var;
  Expr min, extent;  ///< var is in [min, min + extent); no iteration if extent <= 0
  LoopKind loop_kind = LoopKind::kSerial;
  std::map<std::string, int64_t> annotations;
  Stmt body;
};

/// Runs `body` while `condition` (bool, evaluated before each iteration) is true.
struct While : StmtOf<StmtKind::kWhile> {
  Expr condition;
  Stmt body;
};

/// Leaves the innermost For or While.
struct Break : StmtOf<StmtKind::kBreak> {};

/// Ends this iteration of the innermost For or While.
struct Continue : StmtOf<StmtKind::kContinue> {};

struct If : StmtOf<StmtKind::kIf> {
  Expr condition;
  Stmt then_body, else_body;  ///< else_body may be null
};

/// Binds an immutable scalar in `body`; the value is computed once, at entry.
struct Let : StmtOf<StmtKind::kLet> {
  Var var;
  Expr value;
  Stmt body;
};

/// A buffer that exists in `body`; its initial contents are unspecified.
struct Alloc : StmtOf<StmtKind::kAlloc> {
  BufferRef buffer = nullptr;
  Stmt body;
};

/// `buffer` is the memory of `base` from `byte_offset` (index expression) on, in `body`. Without a base, `byte_offset`
/// is an address that is known at run time: of a block of the run's heap, or of an external function's result.
struct View : StmtOf<StmtKind::kView> {
  BufferRef buffer = nullptr, base = nullptr;
  Expr byte_offset;
  uint32_t round_up = 0;  ///< rounds the address up to a multiple of this power of two; 0: no rounding
  Stmt body;
};

struct Store : StmtOf<StmtKind::kStore> {
  BufferRef buffer = nullptr;
  std::vector<Expr> indices;
  Expr value;  ///< has the buffer's dtype
};

/// kSpatial: points are independent and store to different elements; kReduce: points are combined into the same
/// elements; kOpaque: nothing is known, and no schedule changes the block; kScan: points run in order.
enum class IterKind : uint8_t { kSpatial, kReduce, kOpaque, kScan };

/// An axis of a block: `var` has the value `binding` (over loop variables) and is in [min, min + extent).
struct IterVar {
  Var var;
  Expr min, extent;
  IterKind iter_kind = IterKind::kSpatial;
  Expr binding;
};

/// One dim of a region: the first index and the number of indices.
struct Span {
  Expr begin, extent;
};
struct BufferRegion {
  BufferRef buffer = nullptr;
  std::vector<Span> spans;
};

/// The unit of scheduling: the computation of one point of the iteration space. `init` runs before the first reduction
/// step of each point. `predicate` (bool, may be null) is the condition for running it. `reads` and `writes` may be
/// empty: analyses derive them where needed.
struct Block : StmtOf<StmtKind::kBlock> {
  uint32_t id = 0;
  std::string name;
  std::vector<IterVar> iters;
  Expr predicate;
  std::vector<BufferRegion> reads, writes;
  std::map<std::string, int64_t> annotations;
  Stmt init, body;
  Location location = nullptr;
};

/// The rlx_status of a failed `assert`.
constexpr int32_t kAssertion = 34;

/// Returns from the function with `code` (an rlx_status) unless `condition` is true. The other fields fill the error
/// record: table indices (-1: none), and the values of `expected` and `actual` (index expressions, may be null) at that
/// point.
struct Guard : StmtOf<StmtKind::kGuard> {
  Expr condition;
  int32_t code = 0;
  int32_t tensor = -1, axis = -1, symbol = -1, error_node = -1;
  Expr expected, actual;
  std::string message;  ///< the text of an `assert`
};

/// An argument of a call: a buffer (passed as the address of its first element) or a scalar.
using Argument = std::variant<BufferRef, Expr>;

/// Calls a prim func of the module or, if `external`, an undefined symbol of that name. A non-zero status is returned
/// from the caller. External functions take, in order, the context pointer, each buffer as an rlx_tensor (shape from
/// the buffer), each scalar as int64_t. A `runtime` function (which is external as well) takes the context pointer, the
/// address of each buffer, each scalar as int64_t, and the error record, which it fills. A `plain` function is any C
/// function: each buffer is a pointer to its first element, each scalar has its own C type, and its result of dtype
/// `result` (handle: void) is ignored.
struct Invoke : StmtOf<StmtKind::kInvoke> {
  std::string callee;
  bool external = false, plain = false;
  DType result = DType::i(32);
  std::vector<Argument> args;
  int32_t trace_node = -1;  ///< index of the kernel in the entry's node table; -1: not traced
  bool runtime = false;
  int32_t error_node = -1;  ///< the record's node for a failure that names none
  bool status = false;      ///< whether the int32 result of a plain function is a status as well
};

}  // namespace relaxc::tir
