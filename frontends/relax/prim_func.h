// prim_func.h: the tree of a @T.prim_func to TIR.
//
// prim_func.cpp has the signature and attributes; prim_buffer.cpp buffers and what subscripts them; prim_stmt.cpp the
// statements; prim_call.cpp those that are calls; prim_loop.cpp loops; prim_block.cpp blocks and their axes;
// prim_vector.cpp stores of several lanes; prim_bounds.cpp what can be told of subscripts.
#pragma once

#include <functional>
#include <set>

#include "compiler/arith/simplify.h"
#include "compiler/tir/builder.h"
#include "frontends/relax/globals.h"
#include "frontends/relax/scalar.h"
#include "frontends/relax/scope.h"

namespace relaxc::frontend {

/// Reads the function that `definition` is.
Result<tir::PrimFunc> read_prim_func(ModuleScope& scope, const ast::Stmt& definition);

/// The strides of compact memory, in elements.
std::vector<arith::Expr> compact_strides(arith::Context& context, const std::vector<arith::Expr>& shape);

/// What a name stands for inside a prim func.
struct PrimName {
  enum Kind : uint8_t { kPoison, kScalar, kBuffer, kHandle };
  Kind kind = kPoison;
  arith::Expr scalar;
  tir::BufferRef buffer = nullptr;
  size_t param = 0;       ///< kHandle: which parameter
  bool unbound = false;   ///< a symbol that no buffer's shape has bound yet
  size_t bound_in = 0;    ///< a scalar with a value: how many suites are open around its assignment
  size_t loop_level = 0;  ///< a loop variable: 1 + how many blocks with axes stand around its loop
};

/// "T.block" for the call `T.block(...)`; the names that TIR had before it was T are brought to it. Empty for what is
/// no call of a path.
std::string callee_of(const ast::Expr* e);
/// Whether the function names the iterations of a loop: T.grid, T.serial, range, …
bool is_loop(const std::string& callee);
/// The targets of an assignment or loop: one name, or the names of a tuple.
std::vector<const ast::Expr*> targets_of(const ast::Expr& target);

class PrimFuncReader : ScalarReader {
 public:
  /// `index_params`: the integer parameters that are extents and offsets, and so of dtype index.
  PrimFuncReader(ModuleScope& scope, const std::set<std::string>& index_params)
      : ScalarReader(scope.module.context(), scope.source),
        tree_(scope.tree),
        module_symbols_(scope.symbols),
        builder_(context_),
        index_params_(index_params) {}

  Result<tir::PrimFunc> run(const ast::Stmt& definition);
  /// The parameters that the body has used as extents, offsets or subscripts.
  const std::set<std::string>& used_as_index() const { return used_as_index_; }

 private:
  using Body = std::vector<const ast::Stmt*>;
  /// Statements in order; an allocation or binding opens a piece that holds all that follows it.
  struct Piece {
    std::function<tir::Stmt(tir::Stmt)> wrap;
    std::vector<tir::Stmt> stmts;
    tir::BufferRef view = nullptr;  ///< the view that it opens
  };
  using Suite = std::vector<Piece>;

  // Signature.
  Status decorators(const ast::Stmt& definition);
  Status parameter(const ast::Parameter& parameter);
  Status type_parameters(const ast::Stmt& definition);
  Status function_attributes(const ast::Expr& call);
  Status attribute(const ast::Expr& key, const ast::Expr& value);
  Status finish_signature(const ast::Stmt& definition);
  bool is_symbol(const std::string& name) const;
  bool in_some_shape(arith::Expr symbol) const;

  // Buffers.
  /// The arguments of a buffer; null: not given.
  struct Description {
    Place place;
    const ast::Expr *shape = nullptr, *dtype = nullptr, *data = nullptr, *strides = nullptr, *elem_offset = nullptr,
                    *byte_offset = nullptr, *scope = nullptr;
    uint32_t alignment = 0, round_up = 0;
  };
  Result<tir::BufferRef> buffer_annotation(const ast::Expr& annotation, const std::string& name);
  /// The arguments of T.match_buffer, T.alloc_buffer and the like, from position `first` on.
  Result<Description> describe_buffer(const ast::Expr& call, size_t first, const std::string& callee);
  Result<uint32_t> read_alignment(const ast::Expr& e);
  Result<tir::BufferRef> make_buffer(const Description& description, const std::string& name);
  /// `base`: what the buffer is a part of; its strides are the default then.
  Result<tir::BufferRef> make_buffer(const Description& description, const std::string& name,
                                     std::vector<arith::Expr> dims, const tir::Buffer* base);
  /// A parameter's strides and offset: symbols there take the values of compact memory.
  Status parameter_layout(const Description& description, std::vector<arith::Expr>& strides,
                          const std::vector<arith::Expr>& compact, arith::Expr offset);
  Result<std::vector<arith::Expr>> shape(const ast::Expr& e);
  /// The buffer of `A.shape`, of `*A.shape` and of `A.dtype` (`what` is the name behind the dot); null for all else.
  tir::BufferRef described(const ast::Expr& e, std::string_view what);
  Result<arith::Expr> dim(const ast::Expr& e);
  Result<tir::Scope> storage(const ast::Expr& e);
  Result<tir::BufferRef> find_buffer(const ast::Expr& e);
  /// Memory that an expression points to: a buffer's, from `byte_offset` on.
  struct Pointer {
    tir::BufferRef buffer = nullptr;
    arith::Expr byte_offset;
    uint32_t round_up = 0;  ///< to a multiple of it
  };
  bool is_pointer(const ast::Expr& e);
  Result<Pointer> pointer(const ast::Expr& e);
  Result<Pointer> element_pointer(const ast::Expr& e);
  Status open_buffer(const std::string& callee, const ast::Stmt& stmt, Suite& out);
  Status open_view(const ast::Stmt& stmt, tir::BufferRef opened, Pointer base, Suite& out);
  Status open_constant(const ast::Stmt& stmt, Suite& out);
  Status match_buffer(const ast::Stmt& stmt, Suite& out);
  Status match_region(const ast::Stmt& stmt, Suite& out);
  Status open_scope(const ast::Stmt& stmt);
  /// The memory that a view is a part of.
  tir::BufferRef root_of(tir::BufferRef buffer) const;

  // Names and subscripts.
  Result<std::vector<arith::Expr>> subscripts(tir::BufferRef buffer, const std::vector<const ast::Expr*>& items,
                                              Place place);
  Result<Scalar> element(const ast::Expr& buffer, const ast::Expr& e);
  Result<Scalar> name(const ast::Expr& e) override;
  Result<Scalar> subscript(const ast::Expr& e) override;
  Result<Scalar> other_call(const ast::Expr& e, const std::string& callee) override;
  void open_parts() override { names_.push(); }
  void name_part(const std::string& name, const Scalar& part, Place place) override;
  void close_parts() override { names_.pop(); }
  Status check_reached(arith::Expr e, Place place) override;
  void use_as_index(arith::Expr e) override;
  Failure unbound(const ast::Expr& e);
  void bind(const std::string& name, PrimName value, Place place) { names_.bind(name, std::move(value), place); }
  void poison(const ast::Expr* target);
  /// Reports a subscript that leaves its dim whenever it is reached.
  Status check_bounds(tir::BufferRef buffer, size_t axis, arith::Expr at, Place place);
  std::optional<arith::Range> attained(arith::Expr e);
  void note_store(tir::BufferRef buffer, arith::Expr value);
  void note_range(arith::Expr var, arith::Expr min, arith::Expr extent);

  // Statements.
  Result<tir::Stmt> suite(const Body& body);
  Status statement(const ast::Stmt& stmt, Suite& out);
  /// Ends pieces until `left` are left.
  void close(Suite& pieces, size_t left);
  void reopen(Suite& pieces, size_t left);
  Status assignment(const ast::Stmt& stmt, Suite& out);
  Status declare(const std::string& callee, const ast::Stmt& stmt, Suite& out, bool& done);
  Status declare_symbols(const ast::Stmt& stmt, bool& done);
  void declare_symbol(const std::string& name, Place place);
  Status store(const ast::Expr& target, const ast::Expr& value, const std::string& op, Suite& out);
  Status store_element(tir::BufferRef buffer, std::vector<arith::Expr> indices, Scalar value, Place place, Suite& out,
                       arith::Expr mask = {});
  Status let(const ast::Stmt& stmt, Suite& out);
  Result<arith::Expr> let_type(const ast::Stmt& stmt, const ast::Expr& value);
  Status bind_scalar(const ast::Expr& target, arith::Expr value, const ast::Stmt& stmt, Suite& out);
  Status branch(const ast::Stmt& stmt, Suite& out);
  Status leave_iteration(bool loop, Place place, Suite& out);
  Status assertion(const ast::Expr& condition, const ast::Expr* message, Suite& out);
  Status with(const ast::Stmt& stmt, Suite& out);

  // Calls.
  Status expression(const ast::Stmt& stmt, Suite& out);
  Status effect(const ast::Expr& e, const ast::Stmt& stmt, Suite& out);
  Status attribute_scope(const ast::Expr& call);
  Status old_store(const ast::Expr& call, Suite& out);
  Status guard(const ast::Expr& call, Suite& out);
  Status invoke(const ast::Expr& call, const std::string& callee, Suite& out);
  Status call_plain(const ast::Expr& call, Suite& out);
  /// T.call_extern(dtype, name, arguments…), or older T.call_extern(name, arguments…, dtype=…).
  struct PlainCall {
    const ast::Expr *dtype = nullptr, *name = nullptr;
    size_t arguments = 0;  ///< where they begin among the call's items
  };
  Result<PlainCall> plain_call(const ast::Expr& call);
  Result<std::string> external_name(const ast::Expr& e);
  Result<Scalar> external_value(const ast::Expr& e);
  Result<arith::Expr> c_argument(const Scalar& scalar, Place place);

  // Loops.
  struct Extent {
    arith::Expr min, extent;
    int64_t step = 1;
  };
  Status loop(const ast::Expr& iterator, const ast::Expr& target, const Body& body, Suite& out);
  Result<tir::Stmt> nest(const ast::Expr& iterator, const ast::Expr& target, const Body& body);
  Result<std::vector<Extent>> extents(const ast::Expr& iterator, const std::string& callee);
  Result<int64_t> loop_step(const ast::Expr& e);
  Result<std::map<std::string, int64_t>> annotations(const ast::Expr* dict);

  // Stores of several lanes.
  struct Lanes {
    arith::Var var;
    int64_t count = 0;
  };
  int64_t lanes_in(const ast::Expr& e);
  int64_t slice(const ast::Expr& e);
  Result<DType> element_dtype(const ast::Expr& e) override;
  /// `mask`: for which lanes; null: for all.
  Status store_lanes(tir::BufferRef buffer, std::vector<arith::Expr> indices, arith::Expr value, arith::Expr mask,
                     Place place, Suite& out);
  tir::Stmt if_chosen(arith::Expr mask, tir::Stmt store) { return mask ? builder_.branch(mask, store, {}) : store; }
  bool moves_with_lanes(const std::vector<arith::Expr>& indices) const;
  Status vector_store(const ast::Expr& call, Suite& out);
  Result<Scalar> vector_load(const ast::Expr& call);
  Result<Scalar> active_lane(const ast::Expr& call);
  Result<Scalar> shuffle(const ast::Expr& call);
  Result<arith::Expr> lane_subscript(const ast::Expr& e, arith::Expr extent);

  // Blocks.
  Status block(const ast::Stmt& stmt, const ast::Expr& head, Suite& out);
  Status block_init(const ast::Stmt& stmt);
  Status block_head(const ast::Stmt& stmt, const ast::Expr& head);
  Status positional_axes(const ast::Expr& ranges, const ast::Expr* target);
  Status bind_axis(const ast::Expr& call);
  Status finish_axes();
  Status check_reduction();
  Status axes(const std::string& callee, const ast::Stmt& stmt);
  Status remap(const ast::Stmt& stmt, const std::vector<const ast::Expr*>& targets);
  Status add_axis(tir::IterKind kind, tir::Span range, arith::Expr binding, const ast::Expr& target);
  Result<tir::Span> axis_range(const ast::Expr& e);
  Result<arith::Expr> axis_value(const ast::Expr& e);
  Status block_clause(const std::string& callee, const ast::Expr& call, bool& done);
  Status regions(const ast::Expr& call, std::vector<tir::BufferRegion>& out);
  Result<tir::BufferRegion> region(const ast::Expr& e);

  ast::Tree& tree_;
  const ModuleSymbols& module_symbols_;
  tir::Builder builder_;
  const std::set<std::string>& index_params_;
  std::set<std::string> used_as_index_;
  Scope<PrimName> names_;
  tir::PrimFunc function_;
  std::vector<std::pair<std::string, Place>> symbols_;  ///< declared ones
  std::vector<std::pair<std::string, Place>> param_names_;
  std::map<uint32_t, std::string> integer_params_;  ///< those of no index dtype, by their id

  /// The block that is being read, and what its body has shown so far.
  struct BlockState {
    tir::Block* block = nullptr;
    Place place;
    std::vector<arith::Expr> loops;        ///< the variables of the loops around it, up to the next block
    std::vector<tir::BufferRef> read;      ///< by T.reads
    std::vector<tir::BufferRef> stored;    ///< by its statements
    std::vector<tir::BufferRef> combined;  ///< stored with a value that reads them
  };
  BlockState block_;
  std::vector<arith::Expr> loop_vars_;              ///< of the loops around, up to the next block
  std::map<uint32_t, tir::Span> loop_ranges_;       ///< of each loop variable, by its id
  std::map<uint32_t, arith::Range> attained_;       ///< variables that take all values of a range
  std::map<tir::BufferRef, tir::BufferRef> bases_;  ///< of views
  std::map<std::string, tir::BufferRef> views_;     ///< the latest view of each name
  std::set<tir::BufferRef> written_;                ///< bases that a statement so far stores to
  Lanes lanes_;
  size_t open_scopes_ = 0;
  size_t loop_depth_ = 0;
  size_t suites_ = 0;
  size_t axis_blocks_ = 0;  ///< blocks with axes around
  bool in_head_ = false;    ///< in what binds an axis or says when the block runs
  bool pattern_ = false;    ///< unknown names in shapes become symbols
};

}  // namespace relaxc::frontend
