// statement.cpp: statements as C.
//
// A block becomes a scope that declares its axes.
#include <numeric>

#include "compiler/arith/walks.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/operators.h"
#include "compiler/codegen/c/types.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

void FunctionPrinter::open(const std::string& head) {
  line("{}", head);
  ++indent_;
}

void FunctionPrinter::close() {
  --indent_;
  line("}}");
}

std::string FunctionPrinter::hoisted(Expr e) {
  for (const std::string& declaration : expressions_.share({e})) line("{}", declaration);
  std::string text = expressions_.text(e);
  expressions_.end_statement();
  return text;
}

std::string FunctionPrinter::computed(Expr e) {
  std::string text = hoisted(e);
  if (!expressions_.has_checks()) return text;
  std::string name = names_.fresh("value");
  line("const {} {} = {};", expressions_.type_of(e), name, text);
  return name;
}

void FunctionPrinter::check_overflow(const tir::Guard* computed_by) {
  if (!expressions_.take_checks()) return;
  checks_ = true;
  tir::Guard record = tir::overflow_record(function_, computed_by);
  auto known = [&](Expr e, int64_t otherwise) {
    return e && ranges_->all_fit(e) ? expressions_.text(e) : otherwise == 0 ? "0" : "INT64_MAX";
  };
  line("if (bad) return {}(error, {}, {}, {}, {}, {}, {}, {});", expressions_.helper("fail"), record.code,
       record.tensor, record.axis, record.symbol, record.error_node, known(record.expected, INT64_MAX),
       known(record.actual, tir::overflow_actual(record)));
}

void FunctionPrinter::statement(Stmt s) {
  bool scope = s && (s.as<tir::Let>() != nullptr || s.as<tir::Alloc>() != nullptr || s.as<tir::View>() != nullptr);
  if (scope) open("{");
  suite(s);
  if (scope) close();
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

/// Copies instead of a loop.
void FunctionPrinter::unroll(const tir::For& node) {
  arith::Context& context = node.extent.context();
  for (int64_t i = 0; i < *node.extent.constant(); ++i)
    statement(tir::substitute(context, node.body, {{node.var, node.min + i}}));
}

std::string FunctionPrinter::counter_type(const tir::For& node) {
  return value_type(widths_ && widths_->is_narrow(node) ? DType::i(32) : DType::index());
}

void FunctionPrinter::print_loop(const tir::For& node) {
  const std::string type = counter_type(node);
  bool counted = node.min.constant() != nullptr && node.extent.constant() != nullptr;  // then no name for its end
  if (!counted) open("{");
  std::string var = names_.of(node.var), begin = computed(node.min), end = hoisted(node.min + node.extent);
  if (!counted) {
    std::string name = names_.fresh(var + "_end");
    line("const {} {} = {};", type, name, end);
    check_overflow();
    end = name;
  }
  open(fmt::format("for ({3} {0} = {1}; {0} < {2}; {0}++) {{", var, begin, end, type));
  suite(node.body);
  close();
  if (!counted) close();
}

void FunctionPrinter::print(const tir::While& node) {
  open("for (;;) {");
  std::string condition = computed(node.condition);
  check_overflow();
  line("if (!{}) break;", condition);
  suite(node.body);
  close();
}

void FunctionPrinter::print(const tir::Break&) {
  line("break;");
}
void FunctionPrinter::print(const tir::Continue&) {
  line("continue;");
}

void FunctionPrinter::print(const tir::If& node) {
  open("{");
  std::string condition = computed(node.condition);
  check_overflow();
  open("if " + truth(condition) + " {");
  suite(node.then_body);
  close();
  if (node.else_body) {
    open("else {");
    suite(node.else_body);
    close();
  }
  close();
}

Stmt FunctionPrinter::print_let(const tir::Let& node) {
  line("const {} {} = {};", expressions_.type_of(node.value), names_.of(node.var), hoisted(node.value));
  admit_unused(node.var);
  check_overflow();
  return node.body;
}

Stmt FunctionPrinter::print_alloc(const tir::Alloc& node) {
  const tir::Buffer& buffer = *node.buffer;
  int64_t count = lanes_.copies_of(node.buffer);
  for (Expr dim : buffer.shape) {
    RELAXC_CHECK(dim.constant() != nullptr, "an unplanned allocation: " + buffer.name);
    count *= *dim.constant();
  }
  line("{} {}[{}];", memory_type(buffer.dtype), names_.of(node.buffer), std::max<int64_t>(count, 1));
  admit_unused(node.buffer);
  return node.body;
}

void FunctionPrinter::print_address(const std::string& type, const tir::View& node) {
  for (const std::string& declaration : expressions_.share({node.byte_offset})) line("{}", declaration);
  line("{}* {} = {};", type, names_.of(node.buffer), expressions_.pointer(type, node.byte_offset));
  expressions_.end_statement();
  if (function_.c_function && node.buffer == function_.c_function->error) error_ = "error";
}

Stmt FunctionPrinter::print_view(const tir::View& node) {
  const tir::Record* record = node.buffer->record;
  std::string type = record != nullptr ? std::string(record->name) : memory_type(node.buffer->dtype);
  if (node.base == nullptr)
    print_address(type, node);
  else if (node.round_up != 0)
    line("{0}* {1} = ({0}*)(((uintptr_t)(void*){2} + (uintptr_t){3} + {4}u) & ~(uintptr_t){4}u);", type,
         names_.of(node.buffer), names_.of(node.base), in_parentheses(hoisted(node.byte_offset)), node.round_up - 1);
  else
    line("{0}* {1} = ({0}*)(void*)((unsigned char*)(void*){2} + {3});", type, names_.of(node.buffer),
         names_.of(node.base), hoisted(node.byte_offset));
  check_overflow();
  admit_unused(node.buffer);
  return node.body;
}

void FunctionPrinter::print(const tir::Store& node) {
  std::vector<Expr> roots{node.value};
  if (!node.indices.empty()) roots.push_back(tir::element_offset(node.value.context(), *node.buffer, node.indices));
  scoped(expressions_.share(roots), [&] {
    std::string to = expressions_.element(node.buffer, node.indices);
    line("{} = {};", to, expressions_.stored(node.buffer->dtype, expressions_.text(node.value)));
  });
  check_overflow();
}

void FunctionPrinter::print(const tir::Block& node) {
  open("{ /* " + node.name + " */");
  for (const tir::IterVar& iter : node.iters) {
    line("const {} {} = {};", expressions_.type_of(iter.binding), names_.of(iter.var), hoisted(iter.binding));
    admit_unused(iter.var);
  }
  if (node.predicate) open("if " + truth(hoisted(node.predicate)) + " {");
  if (node.init) {
    open("if (" + first_step(node) + ") {");
    suite(node.init);
    close();
  }
  suite(node.body);
  if (node.predicate) close();
  close();
}

/// Every reduce axis is at its beginning.
std::string FunctionPrinter::first_step(const tir::Block& node) {
  std::string text;
  for (const tir::IterVar& iter : node.iters)
    if (iter.iter_kind == tir::IterKind::kReduce)
      text += fmt::format("{}({} == {})", text.empty() ? "" : " && ", names_.of(iter.var), expressions_.text(iter.min));
  return text.empty() ? "1 != 0" : text;
}

namespace {

/// As a tree, which is what text is; infinite where that is more than anybody counts.
double nodes_of_text(Expr e) {
  return arith::fold<double>(
      e, [](Expr, const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 1.0); });
}

}  // namespace

/// What the record shows is computed where the guard speaks, and what it shares gets names if it is long without them.
void FunctionPrinter::print(const tir::Guard& node) {
  constexpr double kMostNodes = 64;
  auto value = [&](Expr e) { return e ? expressions_.text(e) : std::string("0"); };
  open("{");
  std::string condition = computed(node.condition);
  check_overflow(&node);
  std::vector<Expr> shown;
  for (Expr e : {node.expected, node.actual})
    if (e && nodes_of_text(e) > kMostNodes) shown.push_back(e);
  const std::vector<std::string> declarations = expressions_.share(shown);
  std::string leave = fmt::format("return {};", node.code);
  if (error_ != "NULL")
    leave = fmt::format("return {}({}, {}, {}, {}, {}, {}, {}, {});", expressions_.helper("fail"), error_, node.code,
                        node.tensor, node.axis, node.symbol, node.error_node, value(node.expected), value(node.actual));
  expressions_.end_statement();
  if (declarations.empty()) {
    line("if (!{}) {}", condition, leave);
  } else {
    open("if (!" + condition + ") {");
    for (const std::string& declaration : declarations) line("{}", declaration);
    line("{}", leave);
    close();
  }
  close();
}

}  // namespace relaxc::codegen_c
