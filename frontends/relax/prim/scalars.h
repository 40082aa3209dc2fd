// scalars.h: reads the scalar expressions of a prim func: subscripts, extents, values.
#pragma once

#include "compiler/tir/buffer.h"
#include "frontends/relax/scalars/scalar.h"
#include "frontends/relax/shared/save_and_restore.h"

namespace relaxc::frontend {

struct PrimName;
struct PrimParts;

class PrimScalars : public ScalarReader {
 public:
  explicit PrimScalars(PrimParts& parts);

  /// Whether the current expression is evaluated unconditionally.
  bool certain() const { return choices_ == 0; }
  /// Says that the rest of the block is executed conditionally.
  void add_choice() { ++choices_; }
  Result<DType> element_dtype(const ast::Expr& e) override;

  /// Restores the number of conditions at the end of a block.
  class Block : SaveAndRestore<size_t> {
   public:
    explicit Block(PrimScalars& scalars) : SaveAndRestore(scalars.choices_, scalars.choices_) {}
  };
  /// While it lives, the head of a block is read (bindings of axes, predicates), which uses the enclosing loops.
  class Head : SaveAndRestore<bool> {
   public:
    explicit Head(PrimScalars& scalars) : SaveAndRestore(scalars.in_head_, true) {}
  };

 private:
  Result<Scalar> name(const ast::Expr& e) override;
  Result<Scalar> attribute(const ast::Expr& e) override;
  Result<Scalar> subscript(const ast::Expr& e) override;
  Status check_visible(const PrimName& name, const ast::Expr& e);
  Result<Scalar> loop_of(const PrimName& name, const ast::Expr& e);
  Result<Scalar> stride_of(tir::BufferRef buffer, const ast::Expr& e);
  Result<Scalar> dim_of(tir::BufferRef buffer, const ast::Expr& e);
  Result<Scalar> other_call(const ast::Expr& e, const std::string& callee) override;
  Failure lanes_alone(const ast::Expr& e);
  Result<Scalar> with_parts(const std::function<Result<Scalar>()>& read) override;
  void name_part(const std::string& name, const Scalar& part, Place place) override;
  Status check_reached(arith::Expr e, Place place) override;
  bool is_long(arith::Expr e) const override;
  void use_as_index(arith::Expr e) override;
  bool divides_integers() const override { return true; }

  PrimParts& parts_;
  bool in_head_ = false;
};

}  // namespace relaxc::frontend
