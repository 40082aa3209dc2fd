// call_order.h: finds functions of an object that call each other in a cycle.
#pragma once

#include <vector>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// Returns the functions that are called before they are listed, or call themselves: a backend declares them first, and
/// assumes that they may fail and take the context.
std::vector<const tir::PrimFunc*> called_before_listed(const Object& object);

}  // namespace relaxc::interface
