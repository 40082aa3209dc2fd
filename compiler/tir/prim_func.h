// prim_func.h: a function of loops and buffers: a kernel, an entry point's body, or a shape program.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/tir/stmt.h"

namespace relaxc::tir {

/// A parameter is a buffer (passed by address) or a scalar (int64_t for index, else its C type).
struct Param {
  BufferRef buffer = nullptr;
  Var var;
};

/// Data in an object beside its functions, by a name that the backend knows: "weights", a table.
struct ObjectData {
  BufferRef buffer = nullptr;
  std::string name;
};

/// A function that C calls: it has exactly the prim func's parameters and always returns a status. These buffers stand
/// for the hidden parameters of other prim funcs (the context, the error record).
struct CFunction {
  BufferRef context = nullptr;  ///< the rlx_context that it passes on; null: a null pointer
  /// The rlx_error of guards and calls. Before it exists, or if it is null, errors give only the status.
  BufferRef error = nullptr;
  std::vector<ObjectData> data;  ///< buffers that exist throughout the function
  bool is_global = false;        ///< whether it is a global symbol of the object
  bool ties_runtime = false;     ///< whether linking it requires the runtime of this version
};

/// An operand whose memory a kernel's result may share in part: if it begins at least `distance` bytes before the
/// operand, since the kernel goes through both upwards, or, with `behind`, as many bytes after it.
struct Overlap {
  size_t input = 0;  ///< index in `params`
  int64_t distance = 0;
  bool behind = false;
};

/// How a kernel uses its buffer parameters; found by passes.
struct KernelMemory {
  /// Indices in `params` of parameters whose memory the kernel's last buffer parameter may be.
  std::vector<size_t> in_place;
  /// Operands that the result, the last buffer parameter before scratch memory, may overlap.
  std::vector<Overlap> overlaps;
  /// Indices in `params` of those that share memory with another one in some call; all others are apart.
  std::vector<size_t> overlapping;
  /// Whether it copies its first parameter to its second, of the same dims: nothing to do if both are the same memory.
  bool copies = false;
  /// The number of its last buffer parameters that are scratch memory, which callers provide.
  size_t scratch = 0;
};

/// The memory of a host function, which runs in an arena of its caller and calls kernels.
struct HostMemory {
  std::optional<size_t> arena;  ///< index in `params` of the arena; nullopt if it is no host function
  /// The host function for which this one claims a frame from the run's heap; empty if there is none.
  std::string frame_of;
};

/// How a function handles index arithmetic that may overflow int64 (index_checks.h).
struct IndexChecks {
  /// The code (an rlx_status) that the function returns if index arithmetic overflows; 0: not checked, because guards
  /// before the call exclude it.
  int32_t overflow_code = 0;
  int32_t error_node = -1;  ///< the record's node for an overflow outside of guards
  /// Ranges of the scalar parameters, in order, which guards before the call check; empty if nothing is known.
  std::vector<arith::Range> ranges;
};

/// How passes changed the rounding of results, so that their bits may differ from the source's.
struct Rounding {
  std::optional<DType> narrowed;  ///< the dtype to which operands of products were converted
};

/// The schedule of a kernel's loops, in the syntax of compiler/schedule/trace and of schedule files.
struct LoopSchedule {
  std::string steps;  ///< the applied steps, separated by "; "
  /// What is requested where strategies have options ("tile: 4x3; …"); once the kernel is scheduled, every decision
  /// with its options. nullopt: not wanted.
  std::optional<std::string> choices;
  std::string remark;  ///< why a matching strategy left the kernel as it was; may be empty
};

struct PrimFunc {
  std::string name;
  std::vector<Param> params;
  /// Variables that occur in buffer shapes and are no scalar parameters, in order of first occurrence. A text program
  /// binds them by matching shapes; compiled code receives them as int64_t after `params`.
  std::vector<Var> symbols;
  Stmt body;
  bool is_private = true;  ///< false: an entry point of the object
  bool noalias = true;     ///< buffer parameters do not overlap
  std::optional<CFunction> c_function;
  KernelMemory memory;
  HostMemory host;
  IndexChecks checks;
  std::optional<Rounding> rounding;
  LoopSchedule schedule;
  /// Attributes of other compilers, which are kept.
  std::map<std::string, std::string> attrs;
  std::vector<Location> origins;  ///< the source nodes that the function computes
  Location location = nullptr;

  bool is_host() const { return host.arena.has_value(); }
  /// Index in `params` of the last buffer before scratch memory; nullopt if there is none.
  std::optional<size_t> result() const {
    size_t scratch = memory.scratch;
    for (size_t i = params.size(); i-- > 0;)
      if (params[i].buffer != nullptr && scratch-- == 0) return i;
    return std::nullopt;
  }
  /// Whether no other parameter shares memory with `buffer`.
  bool is_apart(BufferRef buffer) const {
    return noalias && std::none_of(memory.overlapping.begin(), memory.overlapping.end(),
                                   [&](size_t param) { return params[param].buffer == buffer; });
  }
};

}  // namespace relaxc::tir
