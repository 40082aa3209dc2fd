// steps.h: the list of all steps, by name.
//
// Parser, printer, the table of docs/schedules.md and the random tests come from it: a new primitive is its own file
// and two lines here. A step that gets another name has a line in the table of former names (trace.cpp) as well.
#pragma once

#include <variant>

#include "compiler/schedule/primitives/bind_axes.h"
#include "compiler/schedule/primitives/block_sum.h"
#include "compiler/schedule/primitives/cache_read.h"
#include "compiler/schedule/primitives/cache_window.h"
#include "compiler/schedule/primitives/cache_write.h"
#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/collapse.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/primitives/decompose_reduction.h"
#include "compiler/schedule/primitives/distribute.h"
#include "compiler/schedule/primitives/drop_unit_loop.h"
#include "compiler/schedule/primitives/factor_out.h"
#include "compiler/schedule/primitives/focus_nests.h"
#include "compiler/schedule/primitives/focus_statements.h"
#include "compiler/schedule/primitives/fuse.h"
#include "compiler/schedule/primitives/fused_conv_pool_tiling.h"
#include "compiler/schedule/primitives/inline.h"
#include "compiler/schedule/primitives/interleave_words.h"
#include "compiler/schedule/primitives/jam.h"
#include "compiler/schedule/primitives/jam_inner.h"
#include "compiler/schedule/primitives/lift_allocs.h"
#include "compiler/schedule/primitives/merge_rows.h"
#include "compiler/schedule/primitives/online_softmax.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/pad_to.h"
#include "compiler/schedule/primitives/pair_terms.h"
#include "compiler/schedule/primitives/parallel.h"
#include "compiler/schedule/primitives/peel_ends.h"
#include "compiler/schedule/primitives/pool_rows.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/prefetch_iterations.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/primitives/reduce_in_lanes.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/reverse_compute_at.h"
#include "compiler/schedule/primitives/scalar_replace.h"
#include "compiler/schedule/primitives/simplify_subscripts.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/split_overlapped.h"
#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/primitives/strip_mine_nests.h"
#include "compiler/schedule/primitives/strip_mine_rows.h"
#include "compiler/schedule/primitives/tensorize_bf16_dot.h"
#include "compiler/schedule/primitives/tensorize_dot4.h"
#include "compiler/schedule/primitives/tensorize_dot8.h"
#include "compiler/schedule/primitives/tile.h"
#include "compiler/schedule/primitives/tile_matrix_dots.h"
#include "compiler/schedule/primitives/tile_sums.h"
#include "compiler/schedule/primitives/unfocus.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/primitives/use_fma.h"
#include "compiler/schedule/primitives/vectorize.h"
#include "compiler/schedule/primitives/widen_bytes.h"
#include "compiler/schedule/primitives/winograd.h"

namespace relaxc::schedule {

using Step =
    std::variant<BindAxes, BlockSum, CacheRead, CacheWindow, CacheWrite, Chunk, Collapse, ComputeAt, DecomposeReduction,
                 Distribute, DropUnitLoop, FactorOut, FocusNests, FocusStatements, Fuse, FusedConvPoolTiling, Inline,
                 InterleaveWords, Jam, JamInner, LiftAllocs, MergeRows, OnlineSoftmax, Pack, PadTo, PairTerms, Parallel,
                 PeelEnds, PoolRows, Prefetch, PrefetchIterations, Reassociate, ReduceInLanes, Reorder,
                 ReverseComputeAt, ScalarReplace, SimplifySubscripts, Split, SplitOverlapped, StageLoads,
                 StripMineNests, StripMineRows, TensorizeBFloatDot, TensorizeDot4, TensorizeDot8, Tile, TileMatrixDots,
                 TileSums, Unfocus, Unroll, UseFma, Vectorize, WidenBytes, Winograd>;

}  // namespace relaxc::schedule
