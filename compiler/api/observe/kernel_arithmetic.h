// kernel_arithmetic.h: what rounds in a kernel, and how far its results can be off.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::api {

/// The arithmetic of a kernel on floats, as it is defined.
struct KernelArithmetic {
  std::set<std::string> floats;     ///< dtypes of the floats that it computes with; empty: integers alone
  std::set<std::string> sums;       ///< numbers of terms of its sums of floats; an open one is an expression of dims
  std::set<std::string> functions;  ///< "exp (float32)": functions that are approximated
};

/// Returns what `definition` computes; it holds functions such as exp as such, not as polynomials.
KernelArithmetic arithmetic_of(const tir::PrimFunc& definition);

/// The largest error that one cause of rounding has.
struct ErrorBound {
  std::string text;  ///< as a sentence, in units in the last place or by a formula
  std::string test;  ///< the name in CTest of the test that holds it
};

/// Returns the bounds of docs/numerics.md for this arithmetic, one for each cause of rounding. `steps` is the schedule:
/// Winograd's convolutions have a bound of their own.
std::vector<ErrorBound> error_bounds(const KernelArithmetic& arithmetic, const std::string& steps);

}  // namespace relaxc::api
