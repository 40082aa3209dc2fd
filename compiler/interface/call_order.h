// call_order.h: functions of an object that call each other in a cycle.
#pragma once

#include <vector>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// The functions that one listed before them calls, or that call themselves: a backend declares them first. They may
/// fail and want the context.
std::vector<const tir::PrimFunc*> called_before_listed(const Object& object);

}  // namespace relaxc::interface
