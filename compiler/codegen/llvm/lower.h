// lower.h: prim funcs as LLVM functions.
//
// One ModuleLowering fills one llvm::Module with functions in the given order; a FunctionLowering walks one body. What
// a caller must know of a callee beside its parameters (may it fail, does it want the context) is a Signature, computed
// once, callees first.
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

/// How a prim func looks to callers: `[context,] params…, symbols… [, error]`, int32_t if it may fail, else void.
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
  int32_t task_slots = 1;       ///< most tasks of a parallel loop; 1: such loops run serially
  bool small = false;           ///< size before speed
  bool line_tables = false;     ///< DWARF that says which source an instruction comes from
  interface::Hooks hooks = {};  ///< around calls of kernels
  bool in_process = false;      ///< for evaluation inside relaxc: buffers may come from relaxc_jit_alloc
};

using ObjectAddresses = std::map<std::string, llvm::Constant*>;

class ModuleLowering {
 public:
  ModuleLowering(llvm::Module& module, LoweringOptions options) : module_(module), options_(std::move(options)) {
    if (options_.line_tables) lines_ = std::make_unique<DebugLines>(module);
  }

  /// Declares and lowers a function whose callees were added before. `symbol`: its name in the module.
  const Signature& add(const tir::PrimFunc& function, const std::string& symbol);
  /// Declares a function that is called before it is added, because the two call each other: it is assumed to do
  /// whatever a function may.
  void declare(const tir::PrimFunc& function, const std::string& symbol);
  /// Declares a function whose body is in another module of the object; it may be called like one that was added.
  void declare_elsewhere(const tir::PrimFunc& function, const std::string& symbol);
  /// Declares and lowers a function that C calls; the prim funcs that it calls were added before. `data`: where
  /// what it names in CFunction::data is.
  llvm::Function* add_c_function(const tir::PrimFunc& function, const std::string& symbol, const ObjectAddresses& data);
  /// Lets only the other modules of an object call a function.
  static void show_to_parts(llvm::Function& function);
  /// Takes a function that is in the module already as what callers of `name` call.
  void adopt(const std::string& name, const Signature& signature) { functions_.emplace(name, signature); }
  const Signature* find(const std::string& name) const;

  /// After the last function was added.
  void finish();

  llvm::Module& module() { return module_; }
  const LoweringOptions& options() const { return options_; }
  /// The LLVM struct of a record.
  llvm::StructType* record(const tir::Record& record);
  llvm::StructType* record(interface::Record which) { return record(interface::described(which)); }
  /// `int32_t fail(rlx_error* or null, int32_t code, uint64_t tensor and axis, uint64_t symbol and node, int64_t
  /// expected, int64_t actual)`, which writes the record and gives the code: each pair has the first in the low half.
  /// Functions that C calls have one of their own, so that arguments which are the same in all calls go away in both.
  llvm::Function* fail(bool called_by_c);
  /// `int32_t name_failure(rlx_error* or null, int32_t node, int32_t status)`, which writes the node into a record that
  /// has none, and gives the status.
  llvm::Function* name_failure();
  /// What every function that relaxc emits has: CPU, features, vector width, nounwind.
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
  std::unique_ptr<DebugLines> lines_;  ///< null: none are wanted
};

}  // namespace relaxc::codegen_llvm
