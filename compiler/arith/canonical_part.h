// canonical_part.h: what the parts of Canonical (conditions, division, ranges, assumptions, proofs) have in common.
#pragma once

#include "compiler/arith/facts.h"
#include "compiler/arith/polynomial.h"

namespace relaxc::arith {

class Canonical;

/// A part keeps its own results and asks the others through Canonical.
class CanonicalPart {
 public:
  CanonicalPart(const CanonicalPart&) = delete;
  CanonicalPart& operator=(const CanonicalPart&) = delete;

 protected:
  explicit CanonicalPart(Canonical& canonical) : canonical_(canonical) {}
  ~CanonicalPart() = default;
  // As Canonical has them (canonical.h).
  Expr expr(Expr e);
  const Polynomial& poly(Expr e);
  Expr to_expr(const Polynomial& p);
  Context& context() const;

  Canonical& canonical_;
};

}  // namespace relaxc::arith
