// names.h: an object that says less of the model that it was made of (--names).
#pragma once

#include <deque>

#include "compiler/api/compile_options.h"
#include "compiler/arith/expr.h"

namespace relaxc::api {

/// What renamed objects refer to; lives as long as they do.
struct RenamedFunctions {
  arith::Context context;
  std::deque<tir::PrimFunc> functions;
};

/// The object for backends alone; what people read (header, manifest, reports) is made of the object as it was. From
/// kIo on functions are called by numbers and kernels have no names in the tables; with kNone inputs, outputs and dims
/// have empty ones. Names that make symbols stay: those of entries, public prim funcs and external functions. Two
/// copies of one object call their functions alike.
interface::Object with_names(const interface::Object& object, Names names, RenamedFunctions& renamed);

}  // namespace relaxc::api
