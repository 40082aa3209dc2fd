// stmt.h: loops, blocks and stores: an immutable statement tree in an arena.
//
// A rewrite is Stmt -> Stmt; an old root stays valid, so a search can go back for free. Loops and blocks carry ids that
// survive a rewrite: schedules name ids, never pointers. All subscripts, extents and offsets are `index` expressions.
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

/// A handle of a statement; null means "nothing to do".
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
  Expr min, extent;  ///< var runs min .. min + extent - 1; no iteration if extent <= 0
  LoopKind loop_kind = LoopKind::kSerial;
  std::map<std::string, int64_t> annotations;
  Stmt body;
};

/// Runs body while `condition` (bool, evaluated anew before each iteration) holds.
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

/// A buffer that exists in `body`, with unspecified contents at entry.
struct Alloc : StmtOf<StmtKind::kAlloc> {
  BufferRef buffer = nullptr;
  Stmt body;
};

/// `buffer` is the memory of `base` from `byte_offset` (index expression) on, in `body`. Without a base, `byte_offset`
/// is the address itself, which somebody found while running: the heap of a run, or an external function.
struct View : StmtOf<StmtKind::kView> {
  BufferRef buffer = nullptr, base = nullptr;
  Expr byte_offset;
  uint32_t round_up = 0;  ///< to the next address that is a multiple of this power of two; 0: the offset as it is
  Stmt body;
};

struct Store : StmtOf<StmtKind::kStore> {
  BufferRef buffer = nullptr;
  std::vector<Expr> indices;
  Expr value;  ///< of the buffer's dtype
};

/// kSpatial: in any order, each point its own elements; kReduce: combined into the same elements; kOpaque: nothing is
/// known, and no schedule touches the block; kScan: one after the other.
enum class IterKind : uint8_t { kSpatial, kReduce, kOpaque, kScan };

/// A block's own axis: `var` takes the value `binding` (over the loops around) and is in min .. min + extent - 1.
struct IterVar {
  Var var;
  Expr min, extent;
  IterKind iter_kind = IterKind::kSpatial;
  Expr binding;
};

/// One dim of a region: begin and extent.
struct Span {
  Expr begin, extent;
};
struct BufferRegion {
  BufferRef buffer = nullptr;
  std::vector<Span> spans;
};

/// The unit that schedules move: a computation of one point of the iteration space. `init` runs before the first
/// reduction step of each point. `predicate` (bool, may be null) says for which loop iterations it runs at all. `reads`
/// and `writes` may be empty: they are derived by analysis where needed.
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

/// The rlx_status of an `assert` that fails.
constexpr int32_t kAssertion = 34;

/// Leaves the whole function with `code` (an rlx_status number) unless `condition` holds. The other fields go into the
/// error record: table indices (-1: none), and values that `expected` and `actual` (index expressions, may be null)
/// give at that moment.
struct Guard : StmtOf<StmtKind::kGuard> {
  Expr condition;
  int32_t code = 0;
  int32_t tensor = -1, axis = -1, symbol = -1, error_node = -1;
  Expr expected, actual;
  std::string message;  ///< of an `assert`
};

/// An argument of a call: a buffer (passed as the address of its first element) or a scalar.
using Argument = std::variant<BufferRef, Expr>;

/// Calls a prim func of the module or, if `external`, an undefined symbol of that name. A non-zero status leaves the
/// function with it. External functions take, in order, the context pointer, each buffer as an rlx_tensor (shape from
/// the buffer), each scalar as int64_t. A function of the `runtime` (external as well) takes the context pointer, the
/// address of each buffer, each scalar as int64_t, and the error record, which it fills itself. A `plain` one is any C
/// function: each buffer is a pointer to its first element, each scalar has its own C type, and what it returns is of
/// dtype `result` (handle: nothing) and dropped.
struct Invoke : StmtOf<StmtKind::kInvoke> {
  std::string callee;
  bool external = false, plain = false;
  DType result = DType::i(32);
  std::vector<Argument> args;
  int32_t trace_node = -1;  ///< index of the kernel in the entry's node table; -1: not traced
  bool runtime = false;
  int32_t error_node = -1;  ///< the `node` of the record where it fails and names none
  bool status = false;      ///< what a plain one returns (int32) is a status as well
};

}  // namespace relaxc::tir
