// statement.cpp: prints statements as C.
//
// A block becomes a scope that declares its axes.
#include <numeric>

#include "compiler/arith/walks.h"
#include "compiler/codegen/c/contracts.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/operators.h"
#include "compiler/codegen/c/types.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

void FunctionPrinter::statement(Stmt s) {
  bool scope = s && (s.as<tir::Let>() != nullptr || s.as<tir::Alloc>() != nullptr || s.as<tir::View>() != nullptr);
  if (scope) out_.open("{");
  suite(s);
  if (scope) out_.close();
}

void FunctionPrinter::suite(Stmt s) {
  while (s) s = lanes_.is_active() ? lanes_.step(s) : step(s);
}

Stmt FunctionPrinter::step(Stmt s) {
  return tir::visit(
      s, [&](const tir::Seq& n) { return print_seq(n); }, [&](const tir::Let& n) { return print_let(n); },
      [&](const tir::Alloc& n) { return print_alloc(n); }, [&](const tir::View& n) { return print_view(n); },
      [&](const auto& n) { return print(n), Stmt(); });
}

Stmt FunctionPrinter::print_seq(const tir::Seq& node) {
  for (size_t i = 0; i + 1 < node.body.size(); ++i) statement(node.body[i]);
  return node.body.empty() ? Stmt() : node.body.back();
}

void FunctionPrinter::print(const tir::For& node) {
  if (std::optional<LanePrinter::Loop> lanes = lanes_.lanes_of(node)) return lanes_.print(node, *lanes);
  if (lanes_.is_inside() && is_copied(node)) return unroll(node);
  print_loop(node);
}

/// Prints a copy of the body for each iteration instead of a loop.
void FunctionPrinter::unroll(const tir::For& node) {
  arith::Context& context = node.extent.context();
  for (int64_t i = 0; i < *node.extent.constant(); ++i)
    statement(tir::substitute(context, node.body, {{node.var, node.min + i}}));
}

void FunctionPrinter::print_loop(const tir::For& node) {
  const std::string type = values_.counter_type(node);
  bool counted = node.min.constant() != nullptr && node.extent.constant() != nullptr;  // then no name for its end
  if (!counted) out_.open("{");
  std::string var = names_.of(node.var), begin = values_.computed(node.min),
              end = values_.hoisted(node.min + node.extent);
  if (!counted) {
    std::string name = names_.fresh(var + "_end");
    out_.line("const {} {} = {};", type, name, end);
    values_.check_overflow();
    end = name;
  }
  if (style_.contracts)
    for (const std::string& line : loop_contract(node, var, begin, end, conventions_, names_)) out_.line("{}", line);
  out_.open(fmt::format("for ({3} {0} = {1}; {0} < {2}; {0}++) {{", var, begin, end, type));
  suite(node.body);
  out_.close();
  if (!counted) out_.close();
}

void FunctionPrinter::print(const tir::While& node) {
  out_.open("for (;;) {");
  std::string condition = values_.computed(node.condition);
  values_.check_overflow();
  out_.line("if (!{}) break;", condition);
  suite(node.body);
  out_.close();
}

void FunctionPrinter::print(const tir::Break&) {
  out_.line("break;");
}
void FunctionPrinter::print(const tir::Continue&) {
  out_.line("continue;");
}

void FunctionPrinter::print(const tir::If& node) {
  out_.open("{");
  std::string condition = values_.computed(node.condition);
  values_.check_overflow();
  out_.open("if " + truth(condition) + " {");
  suite(node.then_body);
  out_.close();
  if (node.else_body) {
    out_.open("else {");
    suite(node.else_body);
    out_.close();
  }
  out_.close();
}

Stmt FunctionPrinter::print_let(const tir::Let& node) {
  const std::string value = values_.hoisted(node.value);
  out_.line("const {} {} = {};", values_.expressions().type_of(node.value), names_.of(node.var), value);
  admit_unused(node.var);
  values_.check_overflow();
  return node.body;
}

Stmt FunctionPrinter::print_alloc(const tir::Alloc& node) {
  const tir::Buffer& buffer = *node.buffer;
  int64_t count = lanes_.copies_of(node.buffer);
  for (Expr dim : buffer.shape) {
    RELAXC_CHECK(dim.constant() != nullptr, "an unplanned allocation: " + buffer.name);
    count *= *dim.constant();
  }
  out_.line("{} {}[{}];", memory_type(buffer.dtype), names_.of(node.buffer), std::max<int64_t>(count, 1));
  admit_unused(node.buffer);
  return node.body;
}

void FunctionPrinter::print_address(const std::string& type, const tir::View& node) {
  values_.declare(values_.expressions().share({node.byte_offset}));
  const std::string address = values_.expressions().pointer(type, node.byte_offset);
  out_.line("{}* {} = {};", type, names_.of(node.buffer), address);
  values_.expressions().end_statement();
  if (function_.c_function && node.buffer == function_.c_function->error) handed_.error = "error";
}

Stmt FunctionPrinter::print_view(const tir::View& node) {
  const tir::Record* record = node.buffer->record;
  std::string type = record != nullptr ? std::string(record->name) : memory_type(node.buffer->dtype);
  if (node.base == nullptr) {
    print_address(type, node);
  } else {
    const std::string offset = values_.hoisted(node.byte_offset), base = names_.of(node.base);
    const std::string name = names_.of(node.buffer);
    if (node.round_up != 0)
      out_.line("{0}* {1} = ({0}*)(((uintptr_t)(void*){2} + (uintptr_t){3} + {4}u) & ~(uintptr_t){4}u);", type, name,
                base, in_parentheses(offset), node.round_up - 1);
    else
      out_.line("{0}* {1} = ({0}*)(void*)((unsigned char*)(void*){2} + {3});", type, name, base, offset);
  }
  values_.check_overflow();
  admit_unused(node.buffer);
  return node.body;
}

void FunctionPrinter::print(const tir::Store& node) {
  std::vector<Expr> roots{node.value};
  if (!node.indices.empty()) roots.push_back(tir::element_offset(node.value.context(), *node.buffer, node.indices));
  values_.scoped(values_.expressions().share(roots), [&] {
    std::string to = values_.expressions().element(node.buffer, node.indices);
    out_.line("{} = {};", to, values_.expressions().stored(node.buffer->dtype, values_.expressions().text(node.value)));
  });
  values_.check_overflow();
}

void FunctionPrinter::print(const tir::Block& node) {
  out_.open("{ /* " + node.name + " */");
  for (const tir::IterVar& iter : node.iters) {
    const std::string binding = values_.hoisted(iter.binding);
    out_.line("const {} {} = {};", values_.expressions().type_of(iter.binding), names_.of(iter.var), binding);
    admit_unused(iter.var);
  }
  if (node.predicate) out_.open("if " + truth(values_.hoisted(node.predicate)) + " {");
  if (node.init) {
    out_.open("if (" + first_step(node) + ") {");
    suite(node.init);
    out_.close();
  }
  suite(node.body);
  if (node.predicate) out_.close();
  out_.close();
}

/// The condition that every reduce axis is at its start.
std::string FunctionPrinter::first_step(const tir::Block& node) {
  std::string text;
  for (const tir::IterVar& iter : node.iters)
    if (iter.iter_kind == tir::IterKind::kReduce)
      text += fmt::format("{}({} == {})", text.empty() ? "" : " && ", names_.of(iter.var),
                          values_.expressions().text(iter.min));
  return text.empty() ? "1 != 0" : text;
}

namespace {

/// The number of nodes of `e` as a tree, which its text is; infinite if that overflows.
double nodes_of_text(Expr e) {
  return arith::fold<double>(
      e, [](Expr, const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 1.0); });
}

}  // namespace

/// Values for the record are computed only if the guard fails, and what they share gets a name if their text is long.
void FunctionPrinter::print(const tir::Guard& node) {
  constexpr double kMostNodes = 64;
  auto value = [&](Expr e) { return e ? values_.expressions().text(e) : std::string("0"); };
  out_.open("{");
  std::string condition = values_.computed(node.condition);
  values_.check_overflow(&node);
  std::vector<Expr> shown;
  for (Expr e : {node.expected, node.actual})
    if (e && nodes_of_text(e) > kMostNodes) shown.push_back(e);
  const std::vector<std::string> declarations = values_.expressions().share(shown);
  std::string leave = fmt::format("return {};", node.code);
  if (handed_.error != "NULL")
    leave = fmt::format("return {}({}, {}, {}, {}, {}, {}, {}, {});", values_.expressions().helper("fail"),
                        handed_.error, node.code, node.tensor, node.axis, node.symbol, node.error_node,
                        value(node.expected), value(node.actual));
  values_.expressions().end_statement();
  if (declarations.empty()) {
    out_.line("if (!{}) {}", condition, leave);
  } else {
    out_.open("if (!" + condition + ") {");
    values_.declare(declarations);
    out_.line("{}", leave);
    out_.close();
  }
  out_.close();
}

}  // namespace relaxc::codegen_c
