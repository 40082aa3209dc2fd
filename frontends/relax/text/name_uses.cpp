// name_uses.cpp: finds the names in a piece of text. The height of the tree is limited, so recursion is safe.
#include "frontends/relax/text/name_uses.h"

namespace relaxc::frontend {
namespace {

void add_words(const std::string& text, std::set<std::string>& names) {
  std::string word;
  for (char c : text + " ") {
    bool part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (part) {
      word += c;
    } else if (!word.empty()) {
      names.insert(std::move(word));
      word.clear();
    }
  }
}

void collect(const ast::Expr* e, std::set<std::string>& names) {
  if (e == nullptr) return;
  if (e->is(ast::ExprKind::kName)) names.insert(e->text);
  if (e->is(ast::ExprKind::kString)) add_words(e->text, names);
  for (const ast::Expr* item : e->items) collect(item, names);
  for (const ast::Keyword& keyword : e->keywords) collect(keyword.value, names);
}

void collect(const std::vector<const ast::Stmt*>& body, std::set<std::string>& names) {
  for (const ast::Stmt* stmt : body) {
    collect(stmt->target, names);
    collect(stmt->annotation, names);
    collect(stmt->value, names);
    for (const ast::Parameter& param : stmt->params) collect(param.annotation, names);
    for (const ast::WithItem& item : stmt->with) {
      collect(item.value, names);
      collect(item.target, names);
    }
    collect(stmt->body, names);
    collect(stmt->orelse, names);
  }
}

}  // namespace

std::set<std::string> names_used(const std::vector<const ast::Stmt*>& body) {
  std::set<std::string> names;
  collect(body, names);
  return names;
}

std::set<std::string> names_used(const ast::Expr& e) {
  std::set<std::string> names;
  collect(&e, names);
  return names;
}

}  // namespace relaxc::frontend
