// results.cpp: the declared results of a function, and the values of its `return`.
#include "frontends/relax/function/results.h"

namespace relaxc::frontend {

void Results::declare(relax::Info info) {
  const auto* tuple = info->as<relax::TupleInfo>();
  declared_ = tuple != nullptr && tuple->fields.size() != 1 ? tuple->fields : std::vector<relax::Info>{info};
  has_declared_ = info->kind != relax::InfoKind::kObject;
}

Result<std::vector<relax::Info>> Results::needed(Place place) const {
  if (has_declared_ || !declared_.empty()) return declared_;
  return source_.error(place, Kind::ill_formed, "'{}' calls itself, so it must declare what it returns",
                       definition_.text);
}

void Results::give(std::vector<relax::Value*> values) {
  returned_ = true;
  *into_ = std::move(values);
}

}  // namespace relaxc::frontend
