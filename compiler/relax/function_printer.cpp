// function_printer.cpp: prints the signature, blocks and regions of a Relax function.
//
// The body is printed before the lines above it, since only then it is known which symbols it uses and whether it calls
// anything.
#include "compiler/relax/function_printer.h"

#include <algorithm>

#include "compiler/relax/attr_text.h"
#include "compiler/relax/function_attrs.h"
#include "compiler/relax/op_def.h"

namespace relaxc::relax {

FunctionPrinter::FunctionPrinter(const Function& function, const Module* module, std::string class_name, int indent,
                                 LargeConstants& large, bool has_effects)
    : function_(function),
      module_(module),
      class_name_(std::move(class_name)),
      indent_(indent),
      large_(large),
      has_effects_(has_effects) {
  names_ = namer_.names();
  names_.var = [this](Var var) {
    if (auto shared = shared_.find(var.node()); shared != shared_.end()) return shared->second;
    if (known_.insert(var.node()).second) mentioned_.push_back(var);
    return namer_.of(var);
  };
  namer_.fresh("metadata");
  namer_.fresh(class_name_);
  if (module_ == nullptr) return;
  for (const Function* other : module_->functions()) namer_.fresh(other->name);
  for (const tir::PrimFunc* other : module_->prim_funcs()) namer_.fresh(other->name);
}

std::string FunctionPrinter::run() {
  signature();
  std::string head = std::move(out_);
  out_.clear();
  mentioned_.clear();
  known_.clear();
  indent_ += 4;
  region(function_.body());
  returned();
  std::string body = std::move(out_);
  out_ = std::move(head);
  attributes();
  std::vector<Var> declared = mentioned_;
  for (Var var : declared)
    line(namer_.of(var) + " = T." + (var.dtype().is_index() ? "int64" : to_string(var.dtype())) + "()");
  std::erase_if(declared, [&](Var var) {
    return std::find(function_.symbols.begin(), function_.symbols.end(), var) != function_.symbols.end();
  });
  std::string bounds = bounds_of(declared);  // bounds of symbols that get their value in the body
  if (!bounds.empty()) line("R.func_attr({" + bounds + "})");
  if (calls_) line("cls = " + class_name_);
  return out_ + body;
}

void FunctionPrinter::line(const std::string& text) {
  out_.append(static_cast<size_t>(indent_), ' ');
  out_ += text + "\n";
}

std::string FunctionPrinter::name(const Value* value) {
  auto [at, inserted] = values_.try_emplace(value);
  if (inserted) at->second = namer_.fresh(value->name.empty() ? "lv" : value->name);
  return at->second;
}

std::string FunctionPrinter::names(const std::vector<Value*>& values, size_t from) {
  std::string text;
  for (size_t i = from; i < values.size(); ++i) text += (i == from ? "" : ", ") + name_or_none(values[i]);
  return text;
}

std::string FunctionPrinter::tuple(const std::vector<Value*>& values, size_t from) {
  return "(" + names(values, from) + (values.size() == from + 1 ? ",)" : ")");
}

std::string FunctionPrinter::infos(const std::vector<Info>& list) {
  std::string text;
  for (Info item : list) text += (text.empty() ? "" : ", ") + info(item);
  return text;
}

void FunctionPrinter::signature() {
  std::string options;
  if (function_.is_private) options = "private=True";
  if (has_effects_) options += options.empty() ? "pure=False" : ", pure=False";
  line("@R.function" + (options.empty() ? "" : "(" + options + ")"));
  std::string text;
  for (Value* param : function_.body().arguments) {
    // A scalar whose value is a symbol of the same name is printed once, as the parameter.
    const auto* prim = param->info->as<PrimInfo>();
    const auto* var = prim == nullptr || !prim->value ? nullptr : prim->value.as<arith::VarNode>();
    bool own = var != nullptr && Var(var).name() == param->name && known_.count(var) == 0;
    std::string param_name = name(param);
    if (own) shared_[var] = param_name;
    Info shown = own ? prim_info(function_.context(), prim->dtype) : param->info;
    std::string type = info(shown, true);
    text += (text.empty() ? "" : ", ") + param_name + ": " + type;
  }
  std::string result = result_annotation();
  line("def " + function_.name + "(" + text + ") -> " + result + ":");
}

std::string FunctionPrinter::result_annotation() {
  auto known = [&](Var var) {
    const std::vector<Var>& symbols = function_.symbols;
    return std::find(symbols.begin(), symbols.end(), var) != symbols.end();
  };
  std::vector<std::string> texts;
  for (Value* value : function_.body().results())
    texts.push_back(info(erase_unknown(function_.context(), value->info, known), true));
  if (texts.size() == 1) return texts[0];
  std::string text;
  for (const std::string& item : texts) text += (text.empty() ? "" : ", ") + item;
  return "R.Tuple(" + text + ")";
}

void FunctionPrinter::attributes() {
  std::string entries;
  auto add = [&](const std::string& key, const std::string& value) {
    entries += (entries.empty() ? "\"" : ", \"") + key + "\": " + value;
  };
  std::vector<Var> mentioned = mentioned_;
  for (const auto& [key, value] : attribute_values(function_)) add(key, attr_text(value));
  std::string bounds = bounds_of(function_.symbols);
  mentioned_ = mentioned;  // the bounds are printed above the declarations of symbols, so they need no declarations
  if (!bounds.empty()) entries += (entries.empty() ? "" : ", ") + bounds;
  if (!entries.empty()) line("R.func_attr({" + entries + "})");
}

/// Returns the bounds and multiples that are declared for the symbols, as entries of R.func_attr.
std::string FunctionPrinter::bounds_of(const std::vector<Var>& symbols) {
  std::string entries, lower, upper, multiple;
  auto add = [&](const std::string& key, const std::string& value) {
    entries += (entries.empty() ? "\"" : ", \"") + key + "\": " + value;
  };
  auto bound = [&](std::string& list, Var var, int64_t value) {
    list += (list.empty() ? "\"" : ", \"") + names_.var(var) + "\": " + std::to_string(value);
  };
  for (Var symbol : symbols) {
    arith::Range range = function_.facts.range_of(symbol);
    if (range.has_lower() && range.lower != 0) bound(lower, symbol, range.lower);
    if (range.has_upper()) bound(upper, symbol, range.upper);
    if (function_.facts.multiple_of(symbol) > 1) bound(multiple, symbol, function_.facts.multiple_of(symbol));
  }
  if (!lower.empty()) add("tir_var_lower_bound", "{" + lower + "}");
  if (!multiple.empty()) add("tir_var_multiple_of", "{" + multiple + "}");
  if (!upper.empty()) add("tir_var_upper_bound", "{" + upper + "}");
  return entries;
}

void FunctionPrinter::region(const Region& region) {
  for (const Block* b : region.blocks) block(*b);
}

void FunctionPrinter::block(const Block& block) {
  if (block.ops.empty()) return;
  if (!block.dataflow) {
    for (const Op* op : block.ops) print(*op);
    return;
  }
  line("with R.dataflow():");
  indent_ += 4;
  for (const Op* op : block.ops) print(*op);
  line("R.output(" + outputs(block) + ")");
  indent_ -= 4;
}

/// Returns the values of the block that ops outside of it use, as the argument list of R.output.
std::string FunctionPrinter::outputs(const Block& block) {
  std::unordered_set<const Op*> inside;
  for (const Op* op : block.ops) {
    inside.insert(op);
    for (const Region* inner : op->regions) {
      inside.insert(inner->yield);
      for (const Op* nested : ops_of(*inner, true)) {
        inside.insert(nested);
        for (const Region* deeper : nested->regions) inside.insert(deeper->yield);
      }
    }
  }
  std::string text;
  for (const Op* op : block.ops)
    for (const Value* value : op->results) {
      bool escapes = std::any_of(value->uses().begin(), value->uses().end(),
                                 [&](const Use& use) { return inside.count(use.user) == 0; });
      if (escapes) text += (text.empty() ? "" : ", ") + name(value);
    }
  return text;
}

void FunctionPrinter::returned() {
  const std::vector<Value*>& values = function_.body().results();
  line("return " + (values.size() == 1 ? name(values[0]) : "(" + names(values) + ")"));
}

}  // namespace relaxc::relax
