// function_printer.h: prints one Relax function as text.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/relax/module.h"
#include "compiler/relax/print_constant.h"
#include "compiler/relax/print_info.h"
#include "compiler/tir/names.h"

namespace relaxc::relax {

/// Constants that the text refers to by number.
struct LargeConstants {
  std::vector<ConstantRef> constants;
  size_t index_of(const ConstantRef& constant);
};

class FunctionPrinter {
 public:
  /// `module` may be null; then names of other functions are not known.
  FunctionPrinter(const Function& function, const Module* module, std::string class_name, int indent,
                  LargeConstants& large, bool has_effects);
  std::string run();

 private:
  // Function and regions (function_printer.cpp).
  void signature();
  std::string result_annotation();
  void attributes();
  std::string bounds_of(const std::vector<Var>& symbols);
  void region(const Region& region);
  void block(const Block& block);
  std::string outputs(const Block& block);
  void returned();

  // Ops (print_op.cpp).
  void print(const Op& op);
  void print_if(const Op& op);
  void print_branch(const Region& region, const Op& op);
  void print_loop(const Op& op);
  /// Returns the right side of the assignment.
  std::string expression(const Op& op);
  std::string shape(const Op& op);
  std::string call_closure(const Op& op);
  std::string call_external(const Op& op);
  std::string operator_call(const Op& op);
  std::string call_tir(const Op& op);
  std::string call_inplace(const Op& op);

  void line(const std::string& text);
  std::string name(const Value* value);
  std::string name_or_none(const Value* value) { return value == nullptr ? "None" : name(value); }
  /// `a, b`
  std::string names(const std::vector<Value*>& values, size_t from = 0);
  /// `(a, b)`, `(a,)`
  std::string tuple(const std::vector<Value*>& values, size_t from = 0);
  std::string info(Info one, bool quoted = false) {
    return info_text(one, names_, quoted, [this](Var var) { return namer_.of(var); });
  }
  std::string infos(const std::vector<Info>& list);
  std::string info_tuple(const std::vector<Info>& list) { return "(" + infos(list) + (list.size() == 1 ? ",)" : ")"); }

  const Function& function_;
  const Module* module_;
  std::string class_name_;
  int indent_;
  LargeConstants& large_;
  bool has_effects_;  ///< whether the function has effects, by itself or through calls
  tir::Namer namer_;
  arith::Names names_;
  std::unordered_map<const Value*, std::string> values_;
  std::unordered_map<const arith::Node*, std::string> shared_;  ///< symbols that have the name of a value
  std::vector<Var> mentioned_;                                  ///< symbols in the body, in order of first mention
  std::unordered_set<const arith::Node*> known_;
  bool calls_ = false;  ///< whether `cls` is used
  std::string out_;
};

}  // namespace relaxc::relax
