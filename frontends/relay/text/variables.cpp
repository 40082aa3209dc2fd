// variables.cpp: looks names up from the innermost scope out.
#include "frontends/relay/text/variables.h"

namespace relaxc::relay {

void Variables::clear() {
  scopes_.clear();
  defined_at_.clear();
  cells_.clear();
}

const std::string* Variables::find(Names Scope::*kind, const std::string& key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto known = ((*scope).*kind).find(key); known != ((*scope).*kind).end()) return &known->second;
  return nullptr;
}

std::optional<size_t> Variables::definition(const std::string& number) const {
  auto known = defined_at_.find(number);
  return known == defined_at_.end() ? std::nullopt : std::optional(known->second);
}

const std::string* Variables::cell(const Token& token) const {
  const std::string* name = token.kind == TokenKind::kLocal   ? local(token.text)
                            : token.kind == TokenKind::kGraph ? numbered(token.text)
                                                              : nullptr;
  return name == nullptr || cells_.count(*name) == 0 ? nullptr : name;
}

std::vector<std::string> Variables::cells_of_this_function() const {
  std::vector<std::string> cells;
  for (const auto& [cell, depth] : cells_)
    if (depth == function_depth_) cells.push_back(cell);
  return cells;
}

}  // namespace relaxc::relay
