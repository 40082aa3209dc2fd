// prim_func.h: a function of loops and buffers: a kernel, an entry point's body, or a shape program.
#pragma once

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

/// What an object holds beside its functions, under a name that its backend knows: "weights", a table.
struct ObjectData {
  BufferRef buffer = nullptr;
  std::string name;
};

/// What C calls: a function of exactly the parameters that the prim func has, which always returns a status. Where
/// others have hidden parameters (the context, the record of an error) it has these buffers.
struct CFunction {
  BufferRef context = nullptr;  ///< the rlx_context that it passes on; null: a null pointer
  /// The rlx_error of guards and calls. Where this buffer does not exist (yet), or is null, they have the status alone.
  BufferRef error = nullptr;
  std::vector<ObjectData> data;  ///< buffers that exist all along
  bool is_global = false;        ///< a symbol of the object that a program may refer to
  bool ties_runtime = false;     ///< who links it needs the runtime of this version
};

/// What passes found out of how a kernel uses its buffer parameters.
struct KernelMemory {
  /// Parameters, by their index in `params`, over which the kernel may write its last buffer parameter.
  std::vector<size_t> in_place;
  /// It copies its first parameter to its second, both of the same dims: nothing to do where they are one memory.
  bool copies = false;
  /// How many of its last buffer parameters are scratch memory, which its callers provide.
  size_t scratch = 0;
};

/// What makes a function a host function: one that runs in memory of its caller and calls kernels.
struct HostMemory {
  std::optional<size_t> arena;  ///< the parameter that is its memory, by its index in `params`; none: no host function
  /// The host function that this one claims a frame for from the run's heap; "": none.
  std::string frame_of;
};

/// How a function deals with index arithmetic that may leave int64 (index_checks.h).
struct IndexChecks {
  /// The code (an rlx_status number) with which the function leaves where index arithmetic overflows; 0: not checked,
  /// because guards before the call exclude it.
  int32_t overflow_code = 0;
  int32_t error_node = -1;  ///< the node of the record where index arithmetic outside of guards overflows
  /// Of the scalar parameters, in order, as guards before the call check them; empty: nothing is known.
  std::vector<arith::Range> ranges;
};

/// A pass changed how results are rounded, so that their bits may differ from the source's.
struct Rounding {
  std::optional<DType> narrowed;  ///< the dtype that operands of products were converted to
};

/// How a kernel's loops were made, in the words of compiler/schedule/trace and of files of schedules.
struct LoopSchedule {
  std::string steps;  ///< those that were taken, "; " between them; "": none
  /// What is asked for where the rules have a choice ("tile: 4x3; …"); once the kernel is scheduled, every choice that
  /// there was with its options. None: not wanted.
  std::optional<std::string> choices;
  std::string remark;  ///< why a rule that matched left the kernel as it was; "": none did
};

struct PrimFunc {
  std::string name;
  std::vector<Param> params;
  /// Variables that occur in buffer shapes without being scalar parameters, in order of first occurrence. A text
  /// program binds them by matching shapes; compiled code receives them as int64_t after `params`.
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
  /// Attributes of other compilers: kept as they are.
  std::map<std::string, std::string> attrs;
  std::vector<Location> origins;  ///< the source nodes that it computes
  Location location = nullptr;

  bool is_host() const { return host.arena.has_value(); }
};

}  // namespace relaxc::tir
