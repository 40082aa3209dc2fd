// print.cpp: prints expressions in the syntax of the text IR.
//
// The grammar is Python's, so parentheses follow Python's precedence; the right operand of a left-associative operator
// has them also at the same precedence, because float arithmetic must be read back in the written order. Constants of
// `index` are bare numbers, all others have their dtype. Text comes from an explicit stack of pieces, so a chain of ten
// thousand additions does not need ten thousand frames.
#include "compiler/arith/print.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <variant>

#include "compiler/arith/simplify.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {
namespace {

enum Level { kOr = 1, kAnd = 2, kNot = 3, kCompare = 4, kSum = 9, kProduct = 10, kUnary = 11, kAtom = 12 };

/// How a binary operation is written: by an operator of a precedence level, or as a function if `level` is kAtom.
struct Spelling {
  const char* text;
  int level;
};

Spelling spelling(ExprKind kind, DType dtype) {
  bool whole = !dtype.is_float();
  switch (kind) {
    case ExprKind::kAdd:
      return {" + ", kSum};
    case ExprKind::kSub:
      return {" - ", kSum};
    case ExprKind::kMul:
      return {" * ", kProduct};
    case ExprKind::kDiv:
      return whole ? Spelling{"T.truncdiv", kAtom} : Spelling{" / ", kProduct};
    case ExprKind::kMod:
      return {whole ? "T.truncmod" : "T.fmod", kAtom};
    case ExprKind::kFloorDiv:
      return whole ? Spelling{" // ", kProduct} : Spelling{"T.floordiv", kAtom};
    case ExprKind::kFloorMod:
      return whole ? Spelling{" % ", kProduct} : Spelling{"T.floormod", kAtom};
    case ExprKind::kMin:
      return {"T.min", kAtom};
    case ExprKind::kMax:
      return {"T.max", kAtom};
    case ExprKind::kEq:
      return {" == ", kCompare};
    case ExprKind::kNe:
      return {" != ", kCompare};
    case ExprKind::kLt:
      return {" < ", kCompare};
    case ExprKind::kLe:
      return {" <= ", kCompare};
    case ExprKind::kAnd:
      return {" and ", kAnd};
    case ExprKind::kOr:
      return {" or ", kOr};
    default:
      RELAXC_UNREACHABLE("not a binary kind");
  }
}

std::string int_text(int64_t value, DType dtype) {
  if (dtype.is_bool()) return value != 0 ? "T.bool(True)" : "T.bool(False)";
  // The text IR has no literal for these: a minus sign is an operator on a number that must itself fit int64.
  if (dtype.bits == 64 && value == INT64_MIN && !dtype.is_uint()) return "T.min_value(\"int64\")";
  if (dtype == DType::u(64) && value < 0)
    return fmt::format("T.reinterpret(\"uint64\", {})", int_text(value, DType::i(64)));
  return dtype.is_index() ? fmt::format("{}", value) : fmt::format("T.{}({})", to_string(dtype), value);
}

class Printer {
 public:
  explicit Printer(const Names& names) : names_(names) {}

  std::string run(Expr e) {
    std::vector<Expr> parts = names_.part ? shared_parts(e) : std::vector<Expr>{};
    if (parts.empty()) return text(e);
    for (Expr part : parts) part_names_[part] = names_.part();
    std::string where;
    for (Expr part : parts) {
      const std::string name = part_names_.at(part);
      where += (where.empty() ? "" : ", ") + name + ": " + text(part);
    }
    return "T.Let(" + text(e) + ", where={" + where + "})";
  }

 private:
  struct Piece {
    std::string text;
    Expr e;
    int level = 0;
  };

  /// Number of nodes up to which an expression, or a part of it, is written as a tree without names.
  static constexpr double kPlainWhole = 200, kPlainPart = 8;

  /// The parts that get a name because they are shared and long, operands first.
  static std::vector<Expr> shared_parts(Expr root) {
    struct Count {
      double tree = 1, written = 1;  ///< nodes as a tree, and with names for shared parts
      int uses = 0;
    };
    std::unordered_map<Expr, Count> counts;
    std::vector<Expr> order;
    for_each_node(root, [&](Expr node) {
      order.push_back(node);
      Count& mine = counts[node];
      for (Expr operand : operands(node)) {
        Count& part = counts.at(operand);
        ++part.uses;
        mine.tree += part.tree;
      }
    });
    if (counts.at(root).tree <= kPlainWhole) return {};
    std::vector<Expr> shared;
    for (Expr node : order) {
      Count& mine = counts.at(node);
      for (Expr operand : operands(node)) mine.written += counts.at(operand).written;
      if (mine.uses < 2 || mine.written < kPlainPart) continue;
      shared.push_back(node);
      mine.written = 1;
    }
    return shared;
  }

  std::string text(Expr e) {
    out_.clear();
    expand(e, 0);
    while (!pending_.empty()) {
      Piece piece = std::move(pending_.back());
      pending_.pop_back();
      auto part = piece.e ? part_names_.find(piece.e) : part_names_.end();
      if (part != part_names_.end())
        out_ += part->second;
      else if (piece.e)
        expand(piece.e, piece.level);
      else
        out_ += piece.text;
    }
    return std::move(out_);
  }

  void push(Expr e, int level) { pending_.push_back({{}, e, level}); }
  void push(std::string text) { pending_.push_back({std::move(text), {}, 0}); }

  /// Pushes the text `head(first, ...)` and its arguments; pieces are pushed in reverse.
  void push_call(std::string head, const std::vector<Expr>& args, const char* close = ")") {
    push(close);
    for (size_t i = args.size(); i-- > 0;) {
      push(args[i], 0);
      if (i > 0) push(", ");
    }
    push(std::move(head));
  }

  void expand(Expr e, int level) {
    visit(
        e,
        [&](const IntImm& n) {
          bool parenthesize = n.value < 0 && n.dtype.is_index() && level > kUnary;
          out_ += parenthesize ? "(" + int_text(n.value, n.dtype) + ")" : int_text(n.value, n.dtype);
        },
        [&](const FloatImm& n) { out_ += fmt::format("T.{}({})", to_string(n.dtype), float_text(n.value, n.dtype)); },
        [&](const VarNode& n) { out_ += names_.var(Var(&n)); }, [&](const Binary& n) { binary(n, level); },
        [&](const Not& n) {
          if (level > kNot) push(")");
          push(n.a, kNot);
          push(level > kNot ? "(not " : "not ");
        },
        [&](const Select& n) {
          push_call("T.Select(", {n.condition, n.then_value, n.else_value});
        },
        [&](const Cast& n) { push_call("T.Cast(\"" + to_string(n.dtype) + "\", ", {n.value}); },
        [&](const Load& n) {
          std::string name = names_.buffer(n.buffer);
          n.indices.empty() ? push(name + "[()]") : push_call(name + "[", n.indices, "]");
        },
        [&](const Call& n) {
          if (n.intrinsic == Intrinsic::k_bitcast)
            push_call("T.reinterpret(\"" + to_string(n.dtype) + "\", ", n.args);
          else
            push_call(fmt::format("T.{}(", intrinsic_name(n.intrinsic)), n.args);
        },
        [&](const Extern& n) {
          push_call(
              fmt::format("T.call_extern(\"{}\", \"{}\"{}", to_string(n.dtype), n.name, n.args.empty() ? "" : ", "),
              n.args);
        });
  }

  void binary(const Binary& n, int level) {
    auto [text, own] = spelling(n.kind, n.a.dtype());
    if (own == kAtom) return push_call(std::string(text) + "(", {n.a, n.b});
    if (level > own) push(")");
    push(n.b, own + 1);
    push(text);
    push(n.a, own == kCompare ? own + 1 : own);
    if (level > own) push("(");
  }

  const Names& names_;
  std::unordered_map<Expr, std::string> part_names_;
  std::string out_;
  std::vector<Piece> pending_;
};

}  // namespace

std::string float_text(double value, DType dtype) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  std::string text = fmt::format("{}", static_cast<float>(value));
  if (round_to_dtype(std::strtod(text.c_str(), nullptr), dtype) != value) text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string print(Expr e, const Names& names) {
  return Printer(names).run(e);
}

std::string to_string(Expr e) {
  if (!e) return "<none>";
  int parts = 0;
  return print(e, {[](Var var) { return var.name(); }, [](const tir::Buffer*) { return std::string("buffer"); },
                   [&] { return fmt::format("part{}", ++parts); }});
}

}  // namespace relaxc::arith
