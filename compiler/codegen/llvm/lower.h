// lower.h: lowers prim funcs to LLVM functions.
//
// One ModuleLowering adds functions to one llvm::Module in the given order; a FunctionLowering lowers one body. What a
// caller must know of a callee beside its parameters (may it fail, does it take the context) is a Signature, which is
// computed once, callees first.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <memory>
#include <string>

#include "compiler/codegen/llvm/debug_lines.h"
#include "compiler/codegen/llvm/numeric.h"
#include "compiler/interface/layout.h"
#include "compiler/interface/object.h"
#include "compiler/tir/prim_func.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// How a function is called: `[context,] params…, symbols… [, error]`; it returns int32_t if it may fail, else void.
/// Buffers are addresses, index scalars and symbols int64_t, other scalars their C type (bool: int8_t).
struct Signature {
  const tir::PrimFunc* source = nullptr;
  llvm::Function* function = nullptr;
  bool may_fail = false;
  bool needs_context = false;
};

struct LoweringOptions {
  Capabilities capabilities;
  std::string cpu, features;
  int32_t vector_bits = 128;
  int32_t task_slots = 1;       ///< largest number of tasks of a parallel loop; 1: such loops run serially
  bool small = false;           ///< whether size matters more than speed
  bool line_tables = false;     ///< whether to write DWARF line tables
  interface::Hooks hooks = {};  ///< which hooks are called around kernels
  bool in_process = false;      ///< whether the code runs inside of relaxc: buffers may come from relaxc_jit_alloc
};

using ObjectAddresses = std::map<std::string, llvm::Constant*>;

class ModuleLowering {
 public:
  ModuleLowering(llvm::Module& module, LoweringOptions options) : module_(module), options_(std::move(options)) {
    if (options_.line_tables) lines_ = std::make_unique<DebugLines>(module);
  }

  /// Declares and lowers a function whose callees were added before. `symbol` is its name in the module.
  const Signature& add(const tir::PrimFunc& function, const std::string& symbol);
  /// Declares a function that is called before it is added, because the two call each other. Its signature is the most
  /// general one: it may fail and takes the context.
  void declare(const tir::PrimFunc& function, const std::string& symbol);
  /// Declares a function whose body is in another module of the object; it may be called like one that was added.
  void declare_elsewhere(const tir::PrimFunc& function, const std::string& symbol);
  /// Declares and lowers a function that C calls; the prim funcs that it calls were added before. `data` has the
  /// addresses of what it names in CFunction::data.
  llvm::Function* add_c_function(const tir::PrimFunc& function, const std::string& symbol, const ObjectAddresses& data);
  /// Makes a function visible to the other modules of an object, and hidden outside of it.
  static void show_to_parts(llvm::Function& function);
  /// Makes calls of `name` call a function that is already in the module.
  void adopt(const std::string& name, const Signature& signature) { functions_.emplace(name, signature); }
  const Signature* find(const std::string& name) const;

  /// Must be called after the last function was added.
  void finish();

  llvm::Module& module() { return module_; }
  const LoweringOptions& options() const { return options_; }
  /// Returns the LLVM struct type of a record.
  llvm::StructType* record(const tir::Record& record);
  llvm::StructType* record(interface::Record which) { return record(interface::described(which)); }
  /// Returns `int32_t fail(rlx_error* or null, int32_t code, uint64_t tensor and axis, uint64_t symbol and node,
  /// int64_t expected, int64_t actual)`, which fills the record and returns the code; the first of each pair is the low
  /// half. Functions that C calls have one of their own, so that LLVM can propagate constant arguments into both.
  llvm::Function* fail(bool called_by_c);
  /// Returns `int32_t name_failure(rlx_error* or null, int32_t node, int32_t status)`, which writes the node into a
  /// record that has none, and returns the status.
  llvm::Function* name_failure();
  /// Sets the attributes of every function that relaxc emits: CPU, features, vector width, nounwind.
  void set_attributes(llvm::Function& function) const;

 private:
  void make_function(Signature& signature, const std::string& symbol);
  llvm::Function* make_cold(const std::string& symbol, const std::vector<llvm::Type*>& parameters);
  void describe(const Signature& signature);
  llvm::Function* make_fail();

  llvm::Module& module_;
  LoweringOptions options_;
  std::map<std::string, Signature> functions_;
  llvm::Function *fail_ = nullptr, *fail_of_c_ = nullptr, *name_failure_ = nullptr;
  std::unique_ptr<DebugLines> lines_;  ///< null without line tables
};

}  // namespace relaxc::codegen_llvm
