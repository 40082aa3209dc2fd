// window.h: the part of an operand over which a filter slides.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

class Tree;

/// One dim of the operand that loops go along: at `grain * (sum of step * variable)` behind what other loops decide.
struct WindowDim {
  size_t axis = 0;
  int64_t grain = 1;
  std::vector<std::pair<uint32_t, int64_t>> steps;  ///< of the loops, in units of the grain
  int64_t extent = 1;                               ///< positions, in units of the grain, at most
  std::optional<int64_t> base;    ///< the index at position 0 without `moving`, where it is known and the grain is 1
  Expr moving;                    ///< what loops around the window add to that; null: nothing
  std::optional<int64_t> length;  ///< of the operand along the axis, where it is known
  bool slides = false;            ///< loops of the result and of the reduction meet in it

  /// Where the window begins and the operand ends is known when compiling.
  bool is_fixed() const { return base && !moving && length; }
};

struct Window {
  Expr node;  ///< the load, or the select that keeps it inside of the operand
  const arith::Load* load = nullptr;
  bool guarded = false;           ///< the latter
  std::vector<WindowDim> dims;    ///< in the operand's order
  std::vector<uint32_t> sharing;  ///< loops of the result that the operand does not depend on

  /// The dim that `loop` goes along; null: none.
  const WindowDim* dim_of(uint32_t loop) const;
  /// By how many positions `loop` moves; 0: the window does not depend on it.
  int64_t step_of(uint32_t loop) const;
};

/// Where each loop of a window goes: the loop that moves by one position stands for all of its dim.
struct Places {
  arith::Substitution at;    // from loops to positions
  arith::Substitution back;  // and what a position is
};
Places places_of(const Tree& s, const Window& window, const std::vector<Expr>& positions);

/// The operand at some place of a window.
struct PlacedOperand {
  Expr inside;  ///< whether it is read there; if not, it is what `node` selects; null: everywhere
  Expr value;
};
/// `positions`: one a dim, where all of its loops together are.
PlacedOperand operand_at(const Tree& s, const Window& window, const std::vector<Expr>& positions);

/// Iterations that loops have at most once they are cut; of others, what bounds their extents.
using MostIterations = std::map<uint32_t, int64_t>;

/// The operand of a reduction that a filter slides over, if there is one whose places are linear in the loops. Loops of
/// the result that neither slide nor share are not part of the window: it is another one in each of their iterations.
///
/// \param sum  the update of the reduction, in variables of loops
std::optional<Window> window_of(const Tree& s, const tir::Store& sum, const std::vector<uint32_t>& spatial,
                                const std::vector<uint32_t>& reduced, const MostIterations& most = {});
/// The same of a block that has no axes any more.
std::optional<Window> window_of(const Tree& s, uint32_t block, const std::vector<uint32_t>& spatial,
                                const std::vector<uint32_t>& reduced, const MostIterations& most = {});

}  // namespace relaxc::schedule
