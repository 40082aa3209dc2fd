// window.h: the part of an operand over which a filter slides.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

class Tree;

/// A dim of the operand that is subscripted by `grain * (sum of step * loop variable)` plus what loops outside of the
/// window add.
struct WindowDim {
  size_t axis = 0;
  int64_t grain = 1;
  std::vector<std::pair<uint32_t, int64_t>> steps;  ///< loop and step, in units of the grain
  int64_t extent = 1;                               ///< upper bound of the positions, in units of the grain
  std::optional<int64_t> base;    ///< the index at position 0 without `moving`, if it is known and the grain is 1
  Expr moving;                    ///< what loops outside of the window add to the index; null for 0
  std::optional<int64_t> length;  ///< the operand's extent along the axis, if it is known
  bool slides = false;            ///< loops both of the result and of the reduction subscript it

  /// Whether the window's first index and the operand's extent are constants.
  bool is_fixed() const { return base && !moving && length; }
};

struct Window {
  Expr node;  ///< the load, or the select that guards it against subscripts outside of the operand
  const arith::Load* load = nullptr;
  bool guarded = false;           ///< `node` is such a select
  std::vector<WindowDim> dims;    ///< in the operand's order
  std::vector<uint32_t> sharing;  ///< loops of the result that the operand does not depend on

  /// The dim that `loop` subscripts; null if there is none.
  const WindowDim* dim_of(uint32_t loop) const;
  /// The number of positions that one iteration of `loop` advances; 0 if the window does not depend on it.
  int64_t step_of(uint32_t loop) const;
};

/// Substitutions between loop variables of a window and positions in it. The loop of step 1 takes the position of its
/// dim, the dim's other loops are 0.
struct Places {
  arith::Substitution at;    ///< loop variables by positions
  arith::Substitution back;  ///< positions by loop variables
};
Places places_of(const Tree& s, const Window& window, const std::vector<Expr>& positions);

/// The operand at given positions of a window.
struct PlacedOperand {
  Expr inside;  ///< the condition of the load; null if it holds everywhere
  Expr value;
};
/// \param positions  one for each dim
PlacedOperand operand_at(const Tree& s, const Window& window, const std::vector<Expr>& positions);

/// Upper bounds of the iterations that loops have once they are tiled; the extents of other loops bound theirs.
using MostIterations = std::map<uint32_t, int64_t>;

/// The window of the reduction's operand over which a filter slides, if its subscripts are linear in the loops. Loops
/// of the result that neither slide nor share are outside of the window: each of their iterations has another one.
///
/// \param sum  the update of the reduction, subscripted by loop variables
std::optional<Window> window_of(const Tree& s, const tir::Store& sum, const std::vector<uint32_t>& spatial,
                                const std::vector<uint32_t>& reduced, const MostIterations& most = {});
/// The same for the update of a block whose axes are replaced by loop variables.
std::optional<Window> window_of(const Tree& s, uint32_t block, const std::vector<uint32_t>& spatial,
                                const std::vector<uint32_t>& reduced, const MostIterations& most = {});

}  // namespace relaxc::schedule
