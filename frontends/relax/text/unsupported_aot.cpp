// unsupported_aot.cpp: names of TVMScript that cannot be compiled ahead of time, with the reason.
//
// All of them are known here, so that the user of a module that Python built, or that TVM lowered too far, is told the
// reason and not that a name is misspelt.
#include "frontends/relax/text/unsupported_aot.h"

#include <algorithm>
#include <iterator>

namespace relaxc::frontend {
namespace {

constexpr std::string_view kBuilds =
    "builds a module while Python runs; print the module that it built and compile that";
constexpr std::string_view kMachine =
    "is an instruction of a virtual machine; compile the module as it was before it was lowered for one";
constexpr std::string_view kProcesses = "needs several processes or devices, and an object file runs in one";
constexpr std::string_view kConvention =
    "belongs to the calling convention of TVM's runtime; compile the module as it was before it was lowered for it";
constexpr std::string_view kBackend = "names an instruction of one machine; write the T function that means it";
constexpr std::string_view kLanes =
    "is a number that only the machine that runs knows; a number of lanes is a constant";
constexpr std::string_view kThreads = "belongs to a GPU; this is compiled for a CPU";
constexpr std::string_view kPython = "calls back into Python, and there is none when the object runs";

/// A `name` that ends with a dot covers everything below it.
struct Row {
  std::string_view name, why;
};
constexpr Row kRows[] = {
    {"R.emit_te", kBuilds},
    {"R.emit_var_binding", kBuilds},
    {"R.If", kBuilds},
    {"R.Then", kBuilds},
    {"R.Else", kBuilds},
    {"R.SeqExpr", kBuilds},
    {"R.arg", kBuilds},
    {"R.func_ret_value", kBuilds},
    {"R.macro", kBuilds},
    {"R.rewriter", kBuilds},
    {"R.call_builtin_with_ctx", kMachine},
    {"R.null_value", kMachine},
    {"R.vm.", kMachine},
    {"R.memory.", kMachine},
    {"R.ccl.", kProcesses},
    {"R.dist.", kProcesses},
    {"R.distributed.", kProcesses},
    {"R.call_py_func", kPython},
    {"T.meta_var", kBuilds},
    {"T.macro", kBuilds},
    {"T.inline", kBuilds},
    {"T.call_llvm_intrin", kBackend},
    {"T.call_llvm_pure_intrin", kBackend},
    {"T.vectorlow", kBackend},
    {"T.vectorhigh", kBackend},
    {"T.vectorcombine", kBackend},
    {"T.vscale", kLanes},
    {"T.device_entry", kThreads},
    {"T.dp4a", kThreads},
    {"T.thread_return", kThreads},
    {"T.create_barriers", kThreads},
    {"T.tvm_load_matrix_sync", kThreads},
    {"T.tvm_mma_sync", kThreads},
    {"T.tvm_fill_fragment", kThreads},
    {"T.tvm_store_matrix_sync", kThreads},
    {"T.tvm_thread_allreduce", kThreads},
    {"T.tvm_warp_shuffle", kThreads},
    {"T.tvm_stack_alloca", kConvention},
    {"T.tvm_stack_make_shape", kConvention},
    {"T.tvm_stack_make_array", kConvention},
    {"T.tvm_struct_get", kConvention},
    {"T.tvm_struct_set", kConvention},
    {"T.tvm_throw_last_error", kConvention},
    {"T.tvm_call_packed_lowered", kConvention},
    {"T.tvm_call_cpacked_lowered", kConvention},
    {"T.call_packed_lowered", kConvention},
    {"T.lookup_param", kConvention},
    {"T.anylist_getitem", kConvention},
    {"T.start_profile_intrinsic", kConvention},
    {"T.end_profile_intrinsic", kConvention},
};

constexpr std::string_view kStatements[] = {"try",   "except", "finally", "raise",    "del",
                                            "yield", "async",  "await",   "nonlocal", "global"};
constexpr std::string_view kFunctions[] = {"print",      "len",  "range", "zip",  "map", "enumerate", "sum",
                                           "isinstance", "list", "tuple", "dict", "int", "str",       "abs"};

}  // namespace

std::string_view why_unsupported_aot(std::string_view path) {
  for (const Row& row : kRows) {
    bool below = row.name.back() == '.';
    if (below ? path.substr(0, row.name.size()) == row.name : path == row.name) return row.why;
  }
  return {};
}

bool is_python_statement(std::string_view keyword) {
  return std::find(std::begin(kStatements), std::end(kStatements), keyword) != std::end(kStatements);
}

bool is_python_function(std::string_view name) {
  return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions);
}

}  // namespace relaxc::frontend
