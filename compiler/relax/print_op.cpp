// print_op.cpp: prints ops as statements of the text IR.
//
// An op with several results binds their tuple and takes it apart, `pair = R.split(x); a: R.Tensor(…) = pair[0]`, so
// that each result is beside its struct info. Branches end by binding their results to common names, loops by R.carry;
// frontends/relax/function/loop.cpp describes their syntax.
#include "compiler/relax/attr_text.h"
#include "compiler/relax/function_printer.h"
#include "compiler/relax/op_def.h"

namespace relaxc::relax {

void FunctionPrinter::print(const Op& op) {
  if (op.kind == OpKind::kIf) return print_if(op);
  if (op.kind == OpKind::kLoop) return print_loop(op);
  std::string text = expression(op);
  if (op.results.empty()) return line(text);
  if (op.results.size() == 1) {
    std::string target = name(op.results[0]);
    return line(target + ": " + info(op.results[0]->info) + " = " + text);
  }
  // The tuple is named after its first result, which has its final name by now, so that printing is idempotent.
  std::string group = namer_.fresh(name(op.results[0]) + "_results");
  line(group + " = " + text);
  for (size_t i = 0; i < op.results.size(); ++i) {
    std::string target = name(op.results[i]);
    line(target + ": " + info(op.results[i]->info) + " = " + group + "[" + std::to_string(i) + "]");
  }
}

std::string FunctionPrinter::shape(const Op& op) {
  std::string dims;
  for (Expr dim : *op.results[0]->info->as<ShapeInfo>()->dims)
    dims += (dims.empty() ? "" : ", ") + arith::print(dim, names_);
  return "R.shape([" + dims + "])";
}

std::string FunctionPrinter::call_closure(const Op& op) {
  std::vector<Info> given;
  for (const Value* result : op.results) given.push_back(result->info);
  const std::string result = given.size() == 1 ? infos(given) : "R.Tuple(" + infos(given) + ")";
  return "R.invoke_closure(" + name(op.operand(0)) + ", " + tuple(op.operands(), 1) + ", ty_args=(" + result + ",))";
}

std::string FunctionPrinter::call_external(const Op& op) {
  const std::string args = op.operands().empty() ? "" : ", " + names(op.operands()), callee = attr_text(op.callee);
  if (op.results.empty()) return "R.call_packed(" + callee + args + ")";
  if (op.attrs.has("returned")) {
    std::vector<Info> made;
    for (const Value* result : op.results) made.push_back(result->info);
    return (op.block->dataflow ? "R.call_pure_packed(" : "R.call_packed(") + callee + args +
           ", ty_args=" + info_tuple(made) + ")";
  }
  if (op.kind == OpKind::kShapeFunction)
    return "R.call_pure_packed(" + callee + args + ", ty_args=" + info_tuple({op.results[0]->info}) + ")";
  return call_tir(op);
}

std::string FunctionPrinter::expression(const Op& op) {
  switch (op.kind) {
    case OpKind::kOperator:
      return operator_call(op);
    case OpKind::kConstant:
      if (prints_in_place(*op.constant)) return constant_text(*op.constant);
      return "metadata[\"relax.expr.Constant\"][" + std::to_string(large_.index_of(op.constant)) + "]";
    case OpKind::kShape:
      return shape(op);
    case OpKind::kPrim:
      return "R.prim_value(" + arith::print(op.results[0]->info->as<PrimInfo>()->value, names_) + ")";
    case OpKind::kTuple:
      return op.operands().empty() ? "R.tuple()" : tuple(op.operands());
    case OpKind::kTupleGet:
      return name(op.operand(0)) + "[" + std::to_string(op.attrs.integer("index")) + "]";
    case OpKind::kMatchCast:
      return "R.match_cast(" + name(op.operand(0)) + ", " + info(op.results[0]->info) + ")";
    case OpKind::kCallTir:
      return call_tir(op);
    case OpKind::kCallFunction:
      calls_ = true;
      return "cls." + op.callee + "(" + names(op.operands()) + ")";
    case OpKind::kMakeClosure:
      calls_ = true;
      return "R.make_closure(cls." + op.callee + ", " + tuple(op.operands()) + ")";
    case OpKind::kCallClosure:
      return call_closure(op);
    case OpKind::kCallExternal:
    case OpKind::kShapeFunction:
      return call_external(op);
    case OpKind::kCallInplace:
      return call_inplace(op);
    case OpKind::kAssert:
    case OpKind::kPrint: {
      std::string text = names(op.operands()), format = op.attrs.string("format");
      if (!format.empty()) text += (text.empty() ? "" : ", ") + ("format=" + attr_text(format));
      return (op.kind == OpKind::kAssert ? "R.assert_op(" : "R.print(") + text + ")";
    }
    case OpKind::kIf:
    case OpKind::kLoop:
      break;
  }
  RELAXC_UNREACHABLE("an op with regions is not an expression");
}

std::string FunctionPrinter::call_tir(const Op& op) {
  bool external = op.kind == OpKind::kCallExternal;
  calls_ = calls_ || !external;
  std::vector<Info> outputs;
  for (const Value* result : op.results) outputs.push_back(result->info);
  std::string declared = outputs.size() == 1 ? infos(outputs) : "[" + infos(outputs) + "]";
  std::string callee = external ? "R.call_dps_packed(" + attr_text(op.callee) : "R.call_tir(cls." + op.callee;
  return callee + ", " + tuple(op.operands()) + ", out_ty=" + declared + ")";
}

std::string FunctionPrinter::call_inplace(const Op& op) {
  bool external = op.attrs.flag("external");
  calls_ = calls_ || !external;
  std::vector<Info> outputs;
  for (const Value* result : op.results) outputs.push_back(result->info);
  std::string declared = outputs.size() == 1 ? infos(outputs) : "[" + infos(outputs) + "]";
  std::string indices = ", inplace_indices=" + attr_text(op.attrs.ints("inplace_indices"));
  if (external)
    return "R.call_inplace_packed(" + attr_text(op.callee) + ", " + names(op.operands()) + indices +
           ", ty_args=" + declared + ")";
  return "R.call_tir_inplace(cls." + op.callee + ", " + tuple(op.operands()) + indices + ", out_ty=" + declared + ")";
}

/// Prints fixed operands in order, variadic ones as a tuple, then attributes that differ from their defaults.
std::string FunctionPrinter::operator_call(const Op& op) {
  const OpDef& def = *op.def;
  bool variadic = !def.operands.empty() && def.operands.back().arity == OperandDef::kVariadic;
  size_t fixed = def.operands.size() - (variadic ? 1 : 0);
  std::string text;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (size_t i = 0; i < op.operands().size() && i < fixed; ++i) add(name_or_none(op.operand(i)));
  if (variadic && op.operands().size() >= fixed) add(tuple(op.operands(), fixed));
  for (const AttrDef& attr : def.attrs) {
    const AttrValue& value = op.attrs.all().find(attr.name)->second;
    if (!attr.required && value == parse_attr(attr.fallback, attr.type)) continue;
    add(std::string(attr.name) + "=" + attr_text(value));
  }
  return "R." + std::string(def.name.text()) + "(" + text + ")";
}

void FunctionPrinter::print_if(const Op& op) {
  for (const Value* result : op.results) name(result);
  line("if " + name(op.operand(0)) + ":");
  print_branch(*op.regions[0], op);
  line("else:");
  print_branch(*op.regions[1], op);
}

void FunctionPrinter::print_branch(const Region& branch, const Op& op) {
  indent_ += 4;
  size_t before = out_.size();
  region(branch);
  for (size_t i = 0; i < op.results.size(); ++i)
    line(name(op.results[i]) + ": " + info(op.results[i]->info) + " = " + name(branch.results()[i]));
  if (out_.size() == before) line("pass");
  indent_ -= 4;
}

void FunctionPrinter::print_loop(const Op& op) {
  const Region& body = *op.regions[0];
  const std::vector<Value*>&arguments = body.arguments, &yielded = body.results();
  size_t carried = arguments.size() - 1;
  std::string head = "R.loop(" + name_or_none(op.operand(0));
  if (op.operand(1) != nullptr) head += ", condition=" + name(op.operand(1));
  std::vector<Info> argument_infos, result_infos;
  for (size_t i = 1; i < arguments.size(); ++i) argument_infos.push_back(arguments[i]->info);
  for (const Value* result : op.results) result_infos.push_back(result->info);
  // The iteration number is both a value and a symbol; both are printed under the name of the value.
  std::string targets = name(arguments[0]);
  if (const auto* iteration = arguments[0]->info->as<PrimInfo>(); iteration && iteration->value)
    shared_[iteration->value.node()] = targets;
  if (carried > 0) {
    head += ", carried=" + tuple(op.operands(), 2);
    head += ", ty_args=" + info_tuple(argument_infos);
    targets = "(" + names(arguments) + ")";
  }
  line("with " + head + ") as " + targets + ":");
  indent_ += 4;
  region(body);
  std::vector<Value*> next(yielded.begin() + 1, yielded.begin() + 1 + static_cast<int64_t>(carried));
  std::string end = "R.carry(" + names(next);
  auto add = [&](const std::string& part) { end += (end.back() == '(' ? "" : ", ") + part; };
  if (yielded[0] != nullptr) add("condition=" + name(yielded[0]));
  if (yielded.size() > carried + 1) add("scan=" + tuple(yielded, carried + 1));
  if (!result_infos.empty()) add("out_ty=" + info_tuple(result_infos));
  line((op.results.empty() ? "" : names(op.results) + " = ") + end + ")");
  indent_ -= 4;
}

}  // namespace relaxc::relax
