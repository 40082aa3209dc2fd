// function.cpp: statements as C.
//
// Loops stay loops, whatever their kind: a vectorized or parallel loop run serially gives the same bits. A block
// becomes a scope that declares its axes.
#include "compiler/codegen/c/function.h"

#include <fmt/format.h>

#include <map>

#include "compiler/codegen/c/expression.h"
#include "compiler/codegen/c/types.h"
#include "compiler/interface/dlpack.h"
#include "compiler/interface/object.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {
namespace {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

/// Codes that only the data can give; what they report as needed is then more than any memory.
bool is_data_code(int32_t code) {
  return code >= 32;
}

bool is_checked(const tir::PrimFunc& function) {
  return function.overflow_code() != 0;
}

class FunctionPrinter {
 public:
  FunctionPrinter(const tir::PrimFunc& function, const Conventions& conventions, interface::Hooks hooks,
                  std::set<std::string>& helpers)
      : function_(function),
        conventions_(conventions),
        hooks_(hooks),
        own_(conventions.at(function.name)),
        checked_(is_checked(function)),
        expressions_(names_, helpers, checked_) {
    tir::for_each_stmt(function_.body, [&](Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke != nullptr && invoke->external) names_.reserve(invoke->callee);
      for (Expr e : tir::expressions(s))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* external = node.as<arith::Extern>()) names_.reserve(external->name);
        });
    });
  }

  std::string prototype() {
    signature();
    return out_.substr(0, out_.rfind(" {")) + ";\n\n";
  }

  std::string run() {
    signature();
    ++indent_;
    if (checked_) line("int bad = 0;");
    suite(function_.body);
    for (const tir::Param& param : function_.params) unused(param);
    if (own_.fails) line("return 0;");
    --indent_;
    line("}}");
    return out_ + "\n";
  }

 private:
  void signature() {
    std::string params;
    auto add = [&](const std::string& param) { params += (params.empty() ? "" : ", ") + param; };
    if (own_.context) add("rlx_context* context");
    std::set<BufferRef> written = written_buffers(), changed = changed_buffers();
    for (const tir::Param& param : function_.params) {
      if (param.buffer == nullptr) {
        add(value_type(param.var.dtype()) + " " + names_.of(param.var));
        continue;
      }
      bool constant = written.count(param.buffer) == 0;
      // What is only read may be given twice (a concat of x and x): that it differs from what is written is all there
      // is to know.
      bool alone = function_.noalias && changed.count(param.buffer) != 0;
      add((constant ? "const " : "") + memory_type(param.buffer->dtype) + "* " + (alone ? "restrict " : "") +
          names_.of(param.buffer));
    }
    for (arith::Var symbol : function_.symbols) add("int64_t " + names_.of(symbol));
    if (own_.fails) add("rlx_error* error");
    out_ += fmt::format("{}{} {}({}) {{\n", "static RLX_NOINLINE ", own_.fails ? "int32_t" : "void",
                        function_name(function_.name), params.empty() ? "void" : params);
  }

  /// Buffers that the function stores to, passes on or looks into through a view: their parameters are not const.
  std::set<BufferRef> written_buffers() const {
    std::set<BufferRef> written;
    tir::for_each_stmt(function_.body, [&](Stmt s) {
      if (const auto* store = s.as<tir::Store>()) written.insert(store->buffer);
      if (const auto* view = s.as<tir::View>()) written.insert(view->base);  // null, of an address, is no parameter
      if (const auto* invoke = s.as<tir::Invoke>())
        for (const tir::Argument& argument : invoke->args)
          if (const auto* buffer = std::get_if<BufferRef>(&argument)) written.insert(*buffer);
    });
    return written;
  }

  /// Buffers that the function stores to, itself or through views, or passes on.
  std::set<BufferRef> changed_buffers() const {
    std::set<BufferRef> changed;
    std::map<BufferRef, BufferRef> bases;
    tir::for_each_stmt(function_.body, [&](Stmt s) {
      if (const auto* view = s.as<tir::View>(); view != nullptr && view->base != nullptr)
        bases[view->buffer] = view->base;
    });
    auto change = [&](BufferRef buffer) {
      for (; changed.insert(buffer).second && bases.count(buffer) != 0; buffer = bases.at(buffer)) {
      }
    };
    tir::for_each_stmt(function_.body, [&](Stmt s) {
      if (const auto* store = s.as<tir::Store>()) change(store->buffer);
      if (const auto* invoke = s.as<tir::Invoke>())
        for (const tir::Argument& argument : invoke->args)
          if (const auto* buffer = std::get_if<BufferRef>(&argument)) change(*buffer);
    });
    return changed;
  }

  void unused(const tir::Param& param) {
    line("(void){};", param.buffer != nullptr ? names_.of(param.buffer) : names_.of(param.var));
  }

  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + fmt::format(text, std::forward<Args>(args)...) + "\n";
  }
  void open(const std::string& head) {
    line("{}", head);
    ++indent_;
  }
  void close() {
    --indent_;
    line("}}");
  }

  /// Temporaries of a statement live in a scope of their own, if there are any.
  template <typename F>
  void scoped(const std::vector<Expr>& roots, F print) {
    std::vector<std::string> shared = expressions_.share(roots);
    if (!shared.empty()) open("{");
    for (const std::string& declaration : shared) line("{}", declaration);
    print();
    expressions_.end_statement();
    if (!shared.empty()) close();
  }
  /// Temporaries that stay visible to what follows in the enclosing scope.
  std::string hoisted(Expr e) {
    for (const std::string& declaration : expressions_.share({e})) line("{}", declaration);
    std::string text = expressions_.text(e);
    expressions_.end_statement();
    return text;
  }
  void check_overflow() {
    if (checked_)
      line("if (bad) return {}(error, {}, -1, -1, -1, -1, {}, 0);", expressions_.helper("fail"),
           function_.overflow_code(), is_data_code(function_.overflow_code()) ? "INT64_MAX" : "0");
  }

  /// One of several statements: what it declares is its own.
  void statement(Stmt s) {
    bool scope = s && (s.as<tir::Let>() != nullptr || s.as<tir::Alloc>() != nullptr || s.as<tir::View>() != nullptr);
    if (scope) open("{");
    suite(s);
    if (scope) close();
  }

  /// All that stands between two braces. Scopes that reach to the end need none of their own, however many there are.
  void suite(Stmt s) {
    while (s)
      s = tir::visit(
          s, [&](const tir::Seq& n) { return print_seq(n); }, [&](const tir::Let& n) { return print_let(n); },
          [&](const tir::Alloc& n) { return print_alloc(n); }, [&](const tir::View& n) { return print_view(n); },
          [&](const auto& n) { return print(n), Stmt(); });
  }

  Stmt print_seq(const tir::Seq& node) {
    for (size_t i = 0; i + 1 < node.body.size(); ++i) statement(node.body[i]);
    return node.body.empty() ? Stmt() : node.body.back();
  }

  void print(const tir::For& node) {
    if (node.min.constant() != nullptr && node.extent.constant() != nullptr) return print_counted(node);
    open("{");
    std::string var = names_.of(node.var), end = names_.fresh(var + "_end");
    std::string begin = hoisted(node.min);
    line("const int64_t {} = {};", end, hoisted(node.min + node.extent));
    check_overflow();
    open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0}++) {{", var, begin, end));
    suite(node.body);
    close();
    close();
  }

  /// A loop whose bounds are numbers.
  void print_counted(const tir::For& node) {
    std::string var = names_.of(node.var), begin = hoisted(node.min), end = hoisted(node.min + node.extent);
    open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0}++) {{", var, begin, end));
    suite(node.body);
    close();
  }

  void print(const tir::While& node) {
    open("for (;;) {");
    line("if (!{}) break;", hoisted(node.condition));
    suite(node.body);
    close();
  }

  void print(const tir::Break&) { line("break;"); }
  void print(const tir::Continue&) { line("continue;"); }

  void print(const tir::If& node) {
    open("{");
    std::string condition = hoisted(node.condition);
    check_overflow();
    open("if (" + condition + ") {");
    suite(node.then_body);
    close();
    if (node.else_body) {
      open("else {");
      suite(node.else_body);
      close();
    }
    close();
  }

  Stmt print_let(const tir::Let& node) {
    line("const {} {} = {};", value_type(node.value.dtype()), names_.of(node.var), hoisted(node.value));
    check_overflow();
    return node.body;
  }

  Stmt print_alloc(const tir::Alloc& node) {
    const tir::Buffer& buffer = *node.buffer;
    int64_t count = 1;
    for (Expr dim : buffer.shape) {
      RELAXC_CHECK(dim.constant() != nullptr, "an unplanned allocation: " + buffer.name);
      count *= *dim.constant();
    }
    line("{} {}[{}];", memory_type(buffer.dtype), names_.of(node.buffer), std::max<int64_t>(count, 1));
    return node.body;
  }

  Stmt print_view(const tir::View& node) {
    std::string type = memory_type(node.buffer->dtype);
    if (node.base == nullptr)
      line("{0}* {1} = ({0}*)(uintptr_t){2};", type, names_.of(node.buffer), hoisted(node.byte_offset));
    else
      line("{0}* {1} = ({0}*)(void*)((unsigned char*)(void*){2} + {3});", type, names_.of(node.buffer),
           names_.of(node.base), hoisted(node.byte_offset));
    check_overflow();
    line("(void){};", names_.of(node.buffer));
    return node.body;
  }

  void print(const tir::Store& node) {
    std::vector<Expr> roots{node.value};
    if (!node.indices.empty()) roots.push_back(tir::element_offset(node.value.context(), *node.buffer, node.indices));
    scoped(roots, [&] {
      std::string to = expressions_.element(node.buffer, node.indices);
      line("{} = {};", to, expressions_.stored(node.buffer->dtype, expressions_.text(node.value)));
    });
    check_overflow();
  }

  void print(const tir::Block& node) {
    open("{ /* " + node.name + " */");
    for (const tir::IterVar& iter : node.iters) {
      line("const int64_t {} = {};", names_.of(iter.var), hoisted(iter.binding));
      line("(void){};", names_.of(iter.var));
    }
    if (node.predicate) open("if (" + hoisted(node.predicate) + ") {");
    if (node.init) {
      open("if (" + first_step(node) + ") {");
      suite(node.init);
      close();
    }
    suite(node.body);
    if (node.predicate) close();
    close();
  }

  /// Every reduce axis stands at its beginning.
  std::string first_step(const tir::Block& node) {
    std::string text;
    for (const tir::IterVar& iter : node.iters)
      if (iter.iter_kind == tir::IterKind::kReduce)
        text += fmt::format("{}{} == {}", text.empty() ? "" : " && ", names_.of(iter.var), expressions_.text(iter.min));
    return text.empty() ? "1" : text;
  }

  void print(const tir::Guard& node) {
    auto value = [&](Expr e) { return e ? expressions_.text(e) : std::string("0"); };
    open("{");
    std::string condition = hoisted(node.condition);
    check_overflow();
    line("if (!{}) return {}({}, {}, {}, {}, {}, {}, {}, {});", condition, expressions_.helper("fail"), "error",
         node.code, node.tensor, node.axis, node.symbol, node.error_node, value(node.expected), value(node.actual));
    close();
  }

  void print(const tir::Invoke& node) {
    open("{");
    std::string args;
    std::vector<std::string> results;  // of unknown size, taken after the call
    auto add = [&](const std::string& arg) { args += (args.empty() ? "" : ", ") + arg; };
    Convention callee = node.plain      ? Convention{}
                        : node.external ? Convention{true, true}
                                        : conventions_.at(node.callee);
    if (callee.context) add("context");
    for (const tir::Argument& argument : node.args) {
      if (const auto* e = std::get_if<Expr>(&argument))
        add(hoisted(*e));
      else if (node.external && !node.runtime && !node.plain && std::get<BufferRef>(argument)->dtype == DType::handle())
        add(handle_argument(std::get<BufferRef>(argument), results));
      else if (node.external && !node.runtime && !node.plain)
        add("&" + tensor_record(std::get<BufferRef>(argument)));
      else
        add(names_.of(std::get<BufferRef>(argument)));
    }
    check_overflow();
    if (callee.fails && (!node.external || node.runtime)) add("error");
    std::string call = (node.external ? node.callee : function_name(node.callee)) + "(" + args + ")";
    bool traced = hooks_.at(node.trace_node) && hooks_.trace;
    if (hooks_.at(node.trace_node) && hooks_.poll) poll(node.trace_node);
    if (traced) trace(node.trace_node, true);
    if (callee.fails)
      line("const int32_t status = {};", call);
    else
      line("{}{};", node.plain ? "(void)" : "", call);
    if (traced) trace(node.trace_node, false);  // whatever the status
    if (callee.fails) {
      if (node.external && !node.runtime)
        line("if (status != 0) return {}(error, RLX_EXTERNAL_FAILED, -1, -1, -1, -1, 0, status);",
             expressions_.helper("fail"));
      else
        line("if (status != 0) return status;");
    }
    for (const std::string& take : results) line("{}", take);
    close();
  }

  void trace(int32_t node, bool begin) {
    line("if (context != NULL && context->trace != NULL) context->trace(context->trace_user, {}, {});", node,
         begin ? 1 : 0);
  }

  void poll(int32_t node) {
    open("if (context != NULL && context->poll != NULL) {");
    line("const int32_t answer = context->poll(context->poll_user, {});", node);
    line("if (answer != 0) return {}(error, RLX_POLLED, -1, -1, -1, {}, 0, answer);", expressions_.helper("fail"),
         node);
    close();
  }

  /// A handle that is passed, the place for one, or the place for a tensor (tir::Invoke says which is which).
  std::string handle_argument(BufferRef buffer, std::vector<std::string>& results) {
    std::string words = names_.of(buffer), record = names_.fresh(words + "_result");
    if (buffer->shape.empty()) return "(rlx_object*)(uintptr_t)*" + words;
    if (buffer->shape[0].is_constant(1)) {
      line("rlx_object* {} = NULL;", record);
      results.push_back(fmt::format("*{} = (uint64_t)(uintptr_t){};", words, record));
      return "&" + record;
    }
    line("rlx_tensor {};", record);
    line("rlx_result_begin((int64_t*){}, &{});", words, record);
    std::string code = names_.fresh("code");
    results.push_back(
        fmt::format("const int32_t {0} = rlx_result_end(&{1}, (int64_t*){2}, error);", code, record, words));
    results.push_back(fmt::format("if ({0} != 0) return {0};", code));
    return "&" + record;
  }

  /// Declares an rlx_tensor that describes `buffer`, and gives its name.
  std::string tensor_record(BufferRef buffer) {
    std::string shape = names_.fresh(names_.of(buffer) + "_shape"),
                record = names_.fresh(names_.of(buffer) + "_tensor");
    line("int64_t {}[{}];", shape, std::max<size_t>(buffer->shape.size(), 1));
    for (size_t i = 0; i < buffer->shape.size(); ++i) line("{}[{}] = {};", shape, i, hoisted(buffer->shape[i]));
    interface::DLPackType type = interface::dlpack_type(buffer->dtype);
    line("rlx_tensor {} = {{(void*)(uintptr_t){}, 1, 0, {}, {}, {}, 1, {}, NULL, 0}};", record, names_.of(buffer),
         buffer->shape.size(), static_cast<int>(type.code), static_cast<int>(type.bits), shape);
    return record;
  }

  const tir::PrimFunc& function_;
  const Conventions& conventions_;
  interface::Hooks hooks_;
  Convention own_;
  bool checked_;
  Names names_;
  Expressions expressions_;
  std::string out_;
  int indent_ = 0;
};

}  // namespace

Convention convention_of(const tir::PrimFunc& function, const Conventions& callees, interface::Hooks hooks) {
  Convention own;
  own.fails = is_checked(function);
  tir::for_each_stmt(function.body, [&](Stmt s) {
    if (s.as<tir::Guard>() != nullptr) own.fails = true;
    const auto* invoke = s.as<tir::Invoke>();
    if (invoke == nullptr || invoke->plain) return;
    Convention callee = invoke->external ? Convention{true, true} : callees.at(invoke->callee);
    bool hooked = hooks.at(invoke->trace_node);
    own.fails |= callee.fails || (hooked && hooks.poll);
    own.context |= callee.context || hooked;
  });
  return own;
}

std::string function_name(const std::string& prim_func) {
  return "k_" + interface::identifier(prim_func);
}

std::string prototype_text(const tir::PrimFunc& function, const Conventions& conventions) {
  std::set<std::string> helpers;
  return FunctionPrinter(function, conventions, {}, helpers).prototype();
}

std::string function_text(const tir::PrimFunc& function, const Conventions& conventions, interface::Hooks hooks,
                          std::set<std::string>& helpers) {
  return FunctionPrinter(function, conventions, hooks, helpers).run();
}

}  // namespace relaxc::codegen_c
