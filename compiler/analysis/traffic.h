// traffic.h: how many bytes pass between a function and each memory that it names.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "compiler/analysis/kernel_work.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

/// Bytes that `body` loads and stores, by the parameter or allocation that they are in. Loops count as often as they
/// run, called functions (`find` gives them) as often as they are called, and what is not known (an external function)
/// as if it touched each byte once.
std::map<tir::BufferRef, double> traffic(tir::Stmt body, Numbers numbers,
                                         const std::function<const tir::PrimFunc*(const std::string&)>& find);

}  // namespace relaxc::analysis
