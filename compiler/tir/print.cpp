// print.cpp: prints prim funcs in the current syntax of the text IR.
//
// TVMScript's own syntax is used where it exists: T.grid, T.sblock, T.axis.remap, T.alloc_buffer, T.match_buffer. An
// allocation or binding extends to the end of its suite. What TVMScript has no syntax for is written as:
//
//   V = T.decl_buffer((n, 4), "float32", data=base.data, byte_offset=64)      a View
//   V = T.decl_buffer((n,), "float32", data=T.reinterpret("handle", a))       a View at an address
//   T.guard(n == m, code=7, tensor=1, axis=0, symbol=2, node=3, expected=n, actual=m)
//   T.invoke("kernel", X, Y, n, trace=3)                                      an Invoke of a prim func of the module
//   T.call_packed("custom", X, n)                                             an Invoke of an external function
//   T.call_extern("int32", "custom", X, n)                                    one of a plain C function
//   T.call_runtime("rlx_heap_reserve", heap, block, 0, n * 4)                 an Invoke of a function of runtime-lite
//   C = T.match_buffer(c, (1, 19), "rlx_context")                             an array of structs; C[0, 2] is a field
//   x: T.index = n * 4                                                        a Let (any dtype: T.float32, T.bool, …)
//
// Fields with their default (-1, no annotation, scope "global") are not printed. Index parameters are T.int64, as
// programs write them.
#include "compiler/tir/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/arith/simplify.h"
#include "compiler/support/quote.h"
#include "compiler/tir/equal.h"
#include "compiler/tir/func_attrs.h"
#include "compiler/tir/names.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir {
namespace {

class Printer {
 public:
  explicit Printer(int indent, bool anonymous = false)
      : indent_(indent), anonymous_(anonymous), namer_(anonymous), names_(namer_.names()) {}

  std::string run(const PrimFunc& function) {
    signature(function);
    indent_ += 4;
    attributes(function);
    for (Var symbol : function.symbols) line("{} = T.int64()", namer_.of(symbol));
    for (const auto& [handle, buffer] : handles_)
      line("{} = T.match_buffer({}, {})", namer_.of(buffer), handle, description(*buffer));
    suite(function.body);
    indent_ -= 4;
    std::string body = std::exchange(out_, {});
    decorator(function);
    return out_ + body;
  }

  std::string run(Stmt s) {
    suite(s);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_.append(static_cast<size_t>(indent_), ' ');
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }
  std::string text(Expr e) { return arith::print(e, names_); }
  std::string list(const std::vector<Expr>& items) {
    std::string out;
    for (Expr e : items) out += (out.empty() ? "" : ", ") + text(e);
    return out;
  }
  std::string tuple(const std::vector<Expr>& items) { return "(" + list(items) + (items.size() == 1 ? ",)" : ")"); }

  /// Shape, dtype and what else differs from the default: the arguments of T.match_buffer and the like.
  std::string description(const Buffer& buffer) {
    std::string element = buffer.record != nullptr ? std::string(buffer.record->name) : to_string(buffer.dtype);
    std::string out = tuple(buffer.shape) + ", \"" + element + "\"";
    if (!buffer.strides.empty()) out += ", strides=" + tuple(buffer.strides);
    if (buffer.scope != Scope::kGlobal)
      out += buffer.scope == Scope::kLocal ? ", scope=\"local\"" : ", scope=\"weights\"";
    if (buffer.alignment != 0) out += fmt::format(", align={}", buffer.alignment);
    return out;
  }

  /// Prints the decorator. `s_tir` is the dialect that has blocks; a function without blocks is the same in both.
  void decorator(const PrimFunc& function) {
    std::string options = function.is_private ? "private=True" : "";
    if (has_blocks_) options += options.empty() ? "s_tir=True" : ", s_tir=True";
    line("@T.prim_func{}", options.empty() ? "" : "(" + options + ")");
  }

  void signature(const PrimFunc& function) {
    std::string params;
    for (const Param& param : function.params) {
      if (!params.empty()) params += ", ";
      if (param.buffer == nullptr) {
        params +=
            namer_.of(param.var) + ": T." + (param.var.dtype().is_index() ? "int64" : to_string(param.var.dtype()));
      } else if (has_static_shape(*param.buffer)) {
        params += namer_.of(param.buffer) + ": T.Buffer(" + description(*param.buffer) + ")";
      } else {
        std::string handle = namer_.fresh("var_" + namer_.of(param.buffer));
        params += handle + ": T.handle";
        handles_.push_back({handle, param.buffer});
      }
    }
    line("def {}({}):", anonymous_ ? "f" : function.name, params);
  }
  static bool has_static_shape(const Buffer& buffer) {
    auto constant = [](Expr e) { return e.constant() != nullptr; };
    return std::all_of(buffer.shape.begin(), buffer.shape.end(), constant) &&
           std::all_of(buffer.strides.begin(), buffer.strides.end(), constant);
  }

  void attributes(const PrimFunc& function) {
    std::string entries;
    auto add = [&](const std::string& key, const std::string& value) {
      entries += (entries.empty() ? "" : ", ") + quoted(key) + ": " + value;
    };
    if (!function.noalias) add("tirx.noalias", "False");
    for (const auto& [key, value] : attribute_texts(function))
      add(key, value == "True" || value == "False" ? value : quoted(value));
    if (!entries.empty()) line("T.func_attr({{{}}})", entries);
  }

  /// Prints the body of anything that ends in a colon; it is never empty.
  void suite(Stmt s) {
    size_t before = out_.size();
    if (s) stmt(s);
    if (out_.size() == before) line("T.evaluate(0)");
  }
  void indented(Stmt s) {
    indent_ += 4;
    suite(s);
    indent_ -= 4;
  }

  /// Prints what follows an allocation or binding in a loop, not by recursion: a host function has thousands of them.
  void stmt(Stmt s) {
    size_t before = hidden_.size();
    while (s) s = visit(s, [&](const auto& n) { return print(n); });
    show_again(before);
  }

  void show_again(size_t before) {
    for (; hidden_.size() > before; hidden_.pop_back()) namer_.restore(hidden_.back().first, hidden_.back().second);
  }

  /// The name for what is bound here. Lowering opens a view or a scalar again in each scope that needs it; each time it
  /// gets another name, since it is another one when the text is read.
  template <typename Entity>
  std::string bound(Entity entity, const void* identity) {
    std::string before = namer_.rebind(entity);
    if (!before.empty()) hidden_.push_back({identity, before});
    return namer_.of(entity);
  }
  std::string bound(Var var) { return bound(var, var.node()); }
  std::string bound(BufferRef buffer) { return bound(buffer, buffer); }

  // Each prints a statement and returns the one that follows on the same level, if that is a part of the statement.
  Stmt print(const Seq& n) {
    for (size_t i = 0; i + 1 < n.body.size(); ++i) stmt(n.body[i]);
    return n.body.empty() ? Stmt() : n.body.back();
  }
  Stmt print(const While& n) {
    line("while {}:", text(n.condition));
    indented(n.body);
    return {};
  }
  Stmt print(const If& n) {
    line("if {}:", text(n.condition));
    indented(n.then_body);
    if (!n.else_body) return {};
    line("else:");
    indented(n.else_body);
    return {};
  }
  Stmt print(const Let& n) {
    std::string value = text(n.value);
    line("{}: T.{} = {}", bound(n.var), to_string(n.var.dtype()), value);
    return n.body;
  }
  Stmt print(const Alloc& n) {
    std::string described = description(*n.buffer);
    line("{} = T.alloc_buffer({})", bound(n.buffer), described);
    return n.body;
  }
  Stmt print(const View& n) {
    if (n.base == nullptr) {
      std::string address = text(n.byte_offset);
      std::string described = description(*n.buffer);
      line("{} = T.decl_buffer({}, data=T.reinterpret(\"handle\", {}))", bound(n.buffer), described, address);
      return n.body;
    }
    std::string base = namer_.of(n.base), described = description(*n.buffer), offset = text(n.byte_offset);
    std::string rounded = n.round_up == 0 ? "" : fmt::format(", round_up={}", n.round_up);
    line("{} = T.decl_buffer({}, data={}.data, byte_offset={}{})", bound(n.buffer), described, base, offset, rounded);
    return n.body;
  }
  Stmt print(const Store& n) {
    line("{}[{}] = {}", namer_.of(n.buffer), n.indices.empty() ? "()" : list(n.indices), text(n.value));
    return {};
  }
  Stmt print(const Break&) {
    line("break");
    return {};
  }
  Stmt print(const Continue&) {
    line("continue");
    return {};
  }

  /// Prints a loop; a nest of plain loops whose extents do not depend on each other is one T.grid.
  Stmt print(const For& outer) {
    std::vector<const For*> nest = {&outer};
    auto plain = [](const For& n) {
      return n.loop_kind == LoopKind::kSerial && n.annotations.empty() && n.min.is_constant(0);
    };
    for (const auto* next = outer.body.as<For>(); plain(outer) && next != nullptr && plain(*next);
         next = next->body.as<For>()) {
      std::vector<Var> vars = arith::free_vars(next->extent);
      bool depends = std::any_of(nest.begin(), nest.end(), [&](const For* n) {
        return std::find(vars.begin(), vars.end(), n->var) != vars.end();
      });
      if (depends) break;
      nest.push_back(next);
    }
    std::string vars;
    std::vector<Expr> extents;
    for (const For* n : nest) extents.push_back(n->extent);
    std::string extent_text = list(extents);
    std::string domain = nest.size() > 1 ? "T.grid(" + extent_text + ")" : range(outer);
    size_t before = hidden_.size();
    for (const For* n : nest) {
      vars += (vars.empty() ? "" : ", ") + bound(n->var);
      domains_[n->var] = n;
    }
    line("for {} in {}:", vars, domain);
    indented(nest.back()->body);
    show_again(before);
    for (const For* n : nest) domains_.erase(n->var);
    return {};
  }

  std::string range(const For& n) {
    std::string limits =
        n.min.is_constant(0) ? text(n.extent) : text(n.min) + ", " + text(arith::simplify(n.min + n.extent));
    const char* head = n.loop_kind == LoopKind::kParallel     ? "T.parallel"
                       : n.loop_kind == LoopKind::kVectorized ? "T.vectorized"
                       : n.loop_kind == LoopKind::kUnrolled   ? "T.unroll"
                       : n.annotations.empty()                ? "range"
                                                              : "T.serial";
    if (!n.annotations.empty()) limits += ", annotations=" + dict(n.annotations);
    return fmt::format("{}({})", head, limits);
  }
  static std::string dict(const std::map<std::string, int64_t>& entries) {
    std::string out;
    for (const auto& [key, value] : entries)
      out += (out.empty() ? "" : ", ") + quoted(key) + ": " + std::to_string(value);
    return "{" + out + "}";
  }

  Stmt print(const Block& n) {
    has_blocks_ = true;
    line("with T.sblock({}):", quoted(anonymous_ ? "" : n.name));
    indent_ += 4;
    size_t before = hidden_.size();
    axes(n);
    if (n.predicate) line("T.where({})", text(n.predicate));
    if (!n.reads.empty()) line("T.reads({})", regions(n.reads));
    if (!n.writes.empty()) line("T.writes({})", regions(n.writes));
    if (!n.annotations.empty()) line("T.sblock_attr({})", dict(n.annotations));
    if (n.init) {
      line("with T.init():");
      indented(n.init);
    }
    suite(n.body);
    indent_ -= 4;
    show_again(before);
    return {};
  }

  static std::pair<char, const char*> axis_kind(IterKind kind) {
    switch (kind) {
      case IterKind::kSpatial:
        return {'S', "spatial"};
      case IterKind::kReduce:
        return {'R', "reduce"};
      case IterKind::kOpaque:
        return {0, "opaque"};
      case IterKind::kScan:
        return {0, "scan"};
    }
    RELAXC_UNREACHABLE();
  }

  /// Prints axes: together (remap) if each is a loop variable over its loop's whole range, else one by one.
  void axes(const Block& n) {
    bool remap = n.iters.size() > 1;
    for (const IterVar& iter : n.iters) {
      auto loop = domains_.find(iter.binding);
      remap = remap && axis_kind(iter.iter_kind).first != 0 && loop != domains_.end() &&
              loop->second->min == iter.min && loop->second->extent == iter.extent;
    }
    std::string vars, kinds, bindings;
    for (const IterVar& iter : n.iters) {
      auto [letter, name] = axis_kind(iter.iter_kind);
      if (remap) {
        bindings += (vars.empty() ? "" : ", ") + text(iter.binding);
        vars += (vars.empty() ? "" : ", ") + bound(iter.var);
        kinds += letter;
        continue;
      }
      std::string domain = iter.min.is_constant(0)
                               ? text(iter.extent)
                               : fmt::format("({}, {})", text(iter.min), text(arith::simplify(iter.min + iter.extent)));
      std::string binding = text(iter.binding);
      line("{} = T.axis.{}({}, {})", bound(iter.var), name, domain, binding);
    }
    if (remap) line("{} = T.axis.remap(\"{}\", [{}])", vars, kinds, bindings);
  }

  std::string regions(const std::vector<BufferRegion>& regions) {
    std::string out;
    for (const BufferRegion& region : regions) {
      std::string spans;
      for (const Span& span : region.spans) {
        spans += (spans.empty() ? "" : ", ") + text(span.begin);
        if (!span.extent.is_constant(1)) spans += ":" + text(arith::simplify(span.begin + span.extent));
      }
      out += fmt::format("{}{}[{}]", out.empty() ? "" : ", ", namer_.of(region.buffer), spans.empty() ? "()" : spans);
    }
    return out;
  }

  static bool is_assertion(const Guard& n) {
    bool located = n.tensor != -1 || n.axis != -1 || n.symbol != -1 || n.error_node != -1 || n.expected || n.actual;
    return n.code == kAssertion && !located;
  }

  Stmt print(const Guard& n) {
    if (is_assertion(n)) {
      line("assert {}, {}", text(n.condition), quoted(n.message));
      return {};
    }
    std::string fields;
    for (auto [name, value] :
         {std::pair{"tensor", n.tensor}, {"axis", n.axis}, {"symbol", n.symbol}, {"node", n.error_node}})
      if (value != -1) fields += fmt::format(", {}={}", name, value);
    if (n.expected) fields += ", expected=" + text(n.expected);
    if (n.actual) fields += ", actual=" + text(n.actual);
    if (!n.message.empty()) fields += ", message=" + quoted(n.message);
    line("T.guard({}, code={}{})", text(n.condition), n.code, fields);
    return {};
  }

  static std::string result_name(DType dtype) { return dtype == DType::handle() ? "void" : to_string(dtype); }

  Stmt print(const Invoke& n) {
    std::string args;
    for (const Argument& arg : n.args) {
      const auto* buffer = std::get_if<BufferRef>(&arg);
      args += ", " + (buffer != nullptr ? namer_.of(*buffer) : text(std::get<Expr>(arg)));
    }
    if (n.trace_node != -1) args += fmt::format(", trace={}", n.trace_node);
    if (n.error_node != -1) args += fmt::format(", node={}", n.error_node);
    if (n.status) args += ", status=True";
    std::string head = n.plain      ? "T.call_extern(\"" + result_name(n.result) + "\", "
                       : n.runtime  ? "T.call_runtime("
                       : n.external ? "T.call_packed("
                                    : "T.invoke(";
    line("{}{}{})", head, quoted(n.callee), args);
    return {};
  }

  std::string out_;
  int indent_;
  bool anonymous_, has_blocks_ = false;
  Namer namer_;
  arith::Names names_;
  std::vector<std::pair<std::string, BufferRef>> handles_;
  std::unordered_map<Expr, const For*> domains_;
  std::vector<std::pair<const void*, std::string>> hidden_;  ///< what was bound again, and its name outside
};

}  // namespace

std::string to_string(const PrimFunc& function, int indent) {
  return Printer(indent).run(function);
}

std::string to_string(Stmt s, int indent) {
  return s ? Printer(indent).run(s) : std::string();
}

/// Compares texts, so that what is printed is compared as well.
bool structurally_equal(const PrimFunc& a, const PrimFunc& b) {
  return Printer(0, true).run(a) == Printer(0, true).run(b);
}

}  // namespace relaxc::tir
