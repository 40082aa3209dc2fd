// dim_sizes.h: how large the dims are that names stand for.
#pragma once

#include <map>
#include <string>

#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

class DimSizes {
 public:
  explicit DimSizes(SourceText& source) : source_(source) {}

  /// Notes the size of what an assignment names. `s = s * s`, again and again, would be an expression that doubles with
  /// every line: one that is too large is reported.
  Status note(const ast::Stmt& assignment);

 private:
  double size_of(const ast::Expr& e) const;

  SourceText& source_;
  std::map<std::string, double> sizes_;
};

}  // namespace relaxc::frontend
