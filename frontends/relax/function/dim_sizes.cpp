// dim_sizes.cpp: see dim_sizes.h.
#include "frontends/relax/function/dim_sizes.h"

namespace relaxc::frontend {

Status DimSizes::note(const ast::Stmt& assignment) {
  static constexpr double kLargest = 10000;
  double size = size_of(*assignment.value);
  if (size > kLargest)
    return source_.error(assignment.value->place, Kind::unsupported,
                         "written out, this dim is an expression of more than {} parts; a match_cast to a new symbol "
                         "gives its value a name",
                         kLargest);
  if (assignment.target->is(ast::ExprKind::kName)) sizes_[assignment.target->text] = size;
  return Done{};
}

/// Returns the number of names and operators in an expression of dims after all names in it are expanded.
double DimSizes::size_of(const ast::Expr& e) const {
  auto known = e.is(ast::ExprKind::kName) ? sizes_.find(e.text) : sizes_.end();
  double size = known == sizes_.end() ? 1 : known->second;
  for (const ast::Expr* item : e.items)
    if (item != nullptr) size += size_of(*item);
  for (const ast::Keyword& keyword : e.keywords) size += size_of(*keyword.value);
  return size;
}

}  // namespace relaxc::frontend
