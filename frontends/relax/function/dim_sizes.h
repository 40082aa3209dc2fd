// dim_sizes.h: limits the size of dims with the names in them written out.
#pragma once

#include <map>
#include <string>

#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

class DimSizes {
 public:
  explicit DimSizes(SourceText& source) : source_(source) {}

  /// Records the size of an assigned dim. Repeating `s = s * s` would double the written out expression in every line,
  /// so one that is too large is reported.
  Status note(const ast::Stmt& assignment);

 private:
  double size_of(const ast::Expr& e) const;

  SourceText& source_;
  std::map<std::string, double> sizes_;
};

}  // namespace relaxc::frontend
