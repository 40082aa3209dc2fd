// data_type.cpp: unification of types, and their text.
//
// A type may have a part many times over, so what walks types counts its steps; a text that needs more is given up.
#include "frontends/relay/text/data_type.h"

#include <fmt/format.h>

#include <algorithm>

namespace relaxc::relay {

namespace {

constexpr int kMostSteps = 20'000;

}  // namespace

Type* Types::variable(bool is_hidden) {
  Type* made = &types_.emplace_back();
  made->is_hidden = is_hidden;
  return made;
}

Type* Types::tensor(std::vector<int64_t> dims, std::string dtype) {
  Type* made = compound(Type::kTensor, {}, std::move(dtype));
  made->dims = std::move(dims);
  return made;
}

Type* Types::compound(Type::Kind kind, std::vector<Type*> parts, std::string text) {
  Type* made = &types_.emplace_back();
  made->kind = kind, made->parts = std::move(parts), made->text = std::move(text);
  return made;
}

Type* Types::of_operator(std::string name, std::vector<Type*> arguments, std::string attrs) {
  Type* made = compound(Type::kOperator, std::move(arguments), std::move(name));
  made->attrs = std::move(attrs);
  return made;
}

Type* Types::resolved(Type* type) {
  while (true) {
    if (type->kind == Type::kOperator && type->bound == nullptr) type->bound = deduced(*type);
    if (type->bound == nullptr) return type;
    type = type->bound;
  }
}

/// An operator's call as a program of its own.
Type* Types::deduced(Type& call) {
  std::string params, arguments;
  for (size_t i = 0; i < call.parts.size(); ++i) {
    std::string type = text(call.parts[i]);
    if (type.empty() || !is_closed(call.parts[i]) || holds_data(call.parts[i])) return variable(true);
    params += fmt::format("{}%a{}: {}", i == 0 ? "" : ", ", i, type);
    arguments += fmt::format("{}%a{}", i == 0 ? "" : ", ", i);
  }
  std::string program = fmt::format("#[version = \"0.0.5\"]\ndef @main({}) {{\n  {}({}{})\n}}\n", params, call.text,
                                    arguments, call.attrs);
  auto [known, fresh] = known_.emplace(std::move(program), nullptr);
  if (fresh) known->second = deduce_ ? deduce_(*this, known->first) : nullptr;
  return known->second == nullptr ? variable(true) : known->second;
}

bool Types::unify(Type* a, Type* b) {
  int steps = kMostSteps;
  return unify(a, b, steps);
}

bool Types::occurs(Type* variable, Type* in, int& steps) {
  in = resolved(in);
  if (in == variable || --steps < 0) return true;
  return std::any_of(in->parts.begin(), in->parts.end(), [&](Type* part) { return occurs(variable, part, steps); });
}

bool Types::unify(Type* a, Type* b, int& steps) {
  a = resolved(a), b = resolved(b);
  if (a == b) return true;
  if (--steps < 0) return false;
  if (a->kind != Type::kVariable) std::swap(a, b);
  if (a->kind == Type::kVariable) {
    if (b->kind == Type::kVariable && b->is_hidden && !a->is_hidden) std::swap(a, b);
    if (b->kind != Type::kVariable && occurs(a, b, steps)) return false;
    a->bound = b;
    return true;
  }
  if (a->kind != b->kind || a->text != b->text) return false;
  if (a->parts.size() != b->parts.size() || a->dims.size() != b->dims.size()) return false;
  for (size_t i = 0; i < a->dims.size(); ++i)
    if (a->dims[i] != b->dims[i] && a->dims[i] != Type::kOpenDim && b->dims[i] != Type::kOpenDim) return false;
  for (size_t i = 0; i < a->parts.size(); ++i)
    if (!unify(a->parts[i], b->parts[i], steps)) return false;
  return true;
}

bool Types::holds(Type* type, Type::Kind kind, int& steps) {
  type = resolved(type);
  if (type->kind == kind || --steps < 0) return true;
  return std::any_of(type->parts.begin(), type->parts.end(), [&](Type* part) { return holds(part, kind, steps); });
}

bool Types::holds_data(Type* type) {
  int steps = kMostSteps;
  return holds(type, Type::kData, steps);
}

bool Types::is_closed(Type* type) {
  int steps = kMostSteps;
  return !holds(type, Type::kVariable, steps);
}

std::string Types::text(Type* type) {
  std::string out;
  write(type, out);
  return out.size() > kLongest ? std::string() : out;
}

void Types::write(Type* type, std::string& out) {
  if (out.size() > kLongest) return;
  type = resolved(type);
  auto list = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      write(type->parts[i], out);
    }
  };
  switch (type->kind) {
    case Type::kVariable:
    case Type::kOperator:
      out += "_";
      break;
    case Type::kTensor:
      out += "Tensor[(";
      for (size_t i = 0; i < type->dims.size(); ++i)
        out += (i == 0 ? "" : ", ") + (type->dims[i] == Type::kOpenDim ? "?" : std::to_string(type->dims[i]));
      out += "), " + type->text + "]";
      break;
    case Type::kTuple:
      out += "(";
      list(type->parts.size());
      out += type->parts.size() == 1 ? ",)" : ")";
      break;
    case Type::kFunction:
      out += "fn (";
      list(type->parts.size() - 1);
      out += ") -> ";
      write(type->parts.back(), out);
      break;
    case Type::kData:
      out += type->text;
      if (type->parts.empty()) break;
      out += "[";
      list(type->parts.size());
      out += "]";
      break;
  }
}

}  // namespace relaxc::relay
