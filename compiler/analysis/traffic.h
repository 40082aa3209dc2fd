// traffic.h: the bytes that a function loads from and stores to each buffer.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "compiler/analysis/kernel_work.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

/// Returns the bytes that `body` loads and stores, by the parameter or allocation that they are in. Loops count as
/// often as they run, called functions (which `find` returns) as often as they are called, and unknown ones (external
/// functions) as if they accessed each byte of their arguments once.
std::map<tir::BufferRef, double> traffic(tir::Stmt body, Numbers numbers,
                                         const std::function<const tir::PrimFunc*(const std::string&)>& find);

}  // namespace relaxc::analysis
