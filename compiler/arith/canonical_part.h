// canonical_part.h: the base class of Canonical's parts (conditions, division, ranges, assumptions, proofs).
#pragma once

#include "compiler/arith/facts.h"
#include "compiler/arith/polynomial.h"

namespace relaxc::arith {

class Canonical;

/// A part caches its own results and calls the other parts through Canonical.
class CanonicalPart {
 public:
  CanonicalPart(const CanonicalPart&) = delete;
  CanonicalPart& operator=(const CanonicalPart&) = delete;

 protected:
  explicit CanonicalPart(Canonical& canonical) : canonical_(canonical) {}
  ~CanonicalPart() = default;
  // The functions of Canonical (canonical.h):
  Expr expr(Expr e);
  const Polynomial& poly(Expr e);
  Expr to_expr(const Polynomial& p);
  Context& context() const;

  Canonical& canonical_;
};

}  // namespace relaxc::arith
