// print.cpp: prints modules in the text IR: functions, blocks and regions; print_op.cpp prints ops.
//
// Every value is bound on a line of its own with its struct info, so that text and graph correspond and a pass shows as
// a difference of lines. Names are made unique within a function, symbols included; a unique name stays as it is, so
// parsing a text and printing it again gives the same text. Symbols of the signature are quoted there and declared at
// the top of the body if it uses them, as are those that the body binds.
#include "compiler/relax/print.h"

#include <algorithm>

#include "compiler/relax/effects.h"
#include "compiler/relax/function_printer.h"
#include "compiler/tir/print.h"

namespace relaxc::relax {
namespace {

void add_large(const Function& function, LargeConstants& large) {
  for (Op* op : ops_of(function.body(), true))
    if (op->kind == OpKind::kConstant && !prints_in_place(*op->constant)) large.index_of(op->constant);
}

std::string class_name(const Module& module) {
  return tir::Namer().fresh(module.name.empty() ? "Module" : module.name);
}

}  // namespace

size_t LargeConstants::index_of(const ConstantRef& constant) {
  for (size_t i = 0; i < constants.size(); ++i)
    if (constants[i] == constant) return i;
  constants.push_back(constant);
  return constants.size() - 1;
}

std::string to_string(const Module& module) {
  LargeConstants large;
  Effects effects(module);
  std::string text = "@I.ir_module\nclass " + class_name(module) + ":\n";
  std::string separator;
  for (const tir::PrimFunc* function : module.prim_funcs()) {
    text += separator + tir::to_string(*function, 4);
    separator = "\n";
  }
  for (const Function* function : module.functions()) {
    text +=
        separator +
        FunctionPrinter(*function, &module, class_name(module), 4, large, effects.of_function(function->name)).run();
    separator = "\n";
  }
  if (separator.empty()) text += "    pass\n";
  return text;
}

std::string to_string(const Function& function) {
  LargeConstants large;
  std::vector<Op*> ops = ops_of(function.body(), true);
  bool effects = std::any_of(ops.begin(), ops.end(), [](const Op* op) { return has_effect(*op); });
  return FunctionPrinter(function, nullptr, "Module", 0, large, effects).run();
}

std::vector<ConstantRef> large_constants(const Module& module) {
  LargeConstants large;
  for (const Function* function : module.functions()) add_large(*function, large);
  return large.constants;
}

}  // namespace relaxc::relax
