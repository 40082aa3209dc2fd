// names.h: removes names of the model from an object (--names).
#pragma once

#include <deque>

#include "compiler/api/compile_options.h"
#include "compiler/arith/expr.h"

namespace relaxc::api {

/// Owns what a renamed object refers to; must live as long as that.
struct RenamedFunctions {
  arith::Context context;
  std::deque<tir::PrimFunc> functions;
};

/// Returns the object for backends; texts for users (header, manifest, reports) are made of the original. With kIo and
/// kNone functions are named by numbers and kernels have no names in the tables; with kNone inputs, outputs and dims
/// have empty names. Names of symbols stay: those of entries, public prim funcs and external functions. The result
/// depends only on the object, so two copies have equal names.
interface::Object with_names(const interface::Object& object, Names names, RenamedFunctions& renamed);

}  // namespace relaxc::api
