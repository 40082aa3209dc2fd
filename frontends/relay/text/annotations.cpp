// annotations.cpp: types of the text as annotations of Relax.
#include "frontends/relay/text/types.h"

namespace relaxc::relay {

using ast::ExprKind;

namespace {

/// Writes a type as Relax has it, all of it at one place.
class Writer {
 public:
  Writer(ReaderParts& reader, Place place) : reader_(reader), tree_(reader.tree), place_(place) {}

  Expr write(Type* type, Unknown unknown, const std::string& called) {
    type = reader_.types.resolved(type);
    if (type->kind == Type::kTensor) return tensor(*type, unknown, called);
    if (type->kind == Type::kTuple)
      return tree_.relax_call(place_, "Tuple", parts(*type, type->parts.size(), unknown, called));
    if (type->kind == Type::kFunction) {
      std::vector<Expr> params = parts(*type, type->parts.size() - 1, unknown, called);
      Expr result = write(type->parts.back(), Unknown::kRank, called);
      return tree_.relax_call(place_, "Callable", {tree_.make(ExprKind::kTuple, place_, std::move(params)), result});
    }
    // A value of a data type is an int64. A type that stays unknown has no values, as an element of Nil.
    if (type->kind == Type::kVariable && type->is_hidden && !reported_)
      (void)reader_.tokens.refuse(place_, Kind::unbounded,
                                  "the type of '{}' is not known where this function is called", called),
          reported_ = true;
    return tensor_info({tree_.make(ExprKind::kTuple, place_)}, "int64", {});
  }
  bool reported() const { return reported_; }

 private:
  std::vector<Expr> parts(const Type& type, size_t count, Unknown unknown, const std::string& called) {
    std::vector<Expr> made;
    for (size_t i = 0; i < count; ++i) made.push_back(write(type.parts[i], unknown, called + "_" + std::to_string(i)));
    return made;
  }

  Expr tensor(const Type& type, Unknown unknown, const std::string& called) {
    std::vector<Expr> dims;
    bool has_shape = true;
    for (int64_t extent : type.dims) {
      const bool open = extent == Type::kOpenDim;
      has_shape = has_shape && (!open || unknown == Unknown::kSymbols);
      if (!open)
        dims.push_back(tree_.integer(place_, extent));
      else if (unknown == Unknown::kSymbols)
        dims.push_back(tree_.name(place_, tree_.unique(called + "_" + std::to_string(dims.size()))));
      else
        dims.push_back(nullptr);
    }
    if (has_shape) return tensor_info({tree_.make(ExprKind::kTuple, place_, std::move(dims))}, type.text, {});
    return tensor_info({}, type.text, {{"ndim", place_, tree_.integer(place_, static_cast<int64_t>(dims.size()))}});
  }

  /// R.Tensor(shape, dtype="…")
  Expr tensor_info(std::vector<Expr> shape, const std::string& dtype, std::vector<ast::Keyword> keywords) {
    shape.insert(shape.begin(), tree_.make(ExprKind::kAttribute, place_, {tree_.name(place_, "R")}, "Tensor"));
    keywords.insert(keywords.begin(), {"dtype", place_, tree_.string(place_, dtype)});
    return tree_.call(place_, std::move(shape), std::move(keywords));
  }

  ReaderParts& reader_;
  TreeBuilder& tree_;
  const Place place_;
  bool reported_ = false;
};

}  // namespace

Annotation annotation(ReaderParts& reader, Unknown unknown, const std::string& called) {
  const size_t begin = reader.tokens.at();
  Type* type = read_type(reader, reader.values.parameters());
  if (type == nullptr) return {nullptr, reader.types.variable(true)};
  const std::vector<Token>& tokens = reader.tokens.all();
  const Place place = join(tokens[begin].place, tokens[reader.tokens.at() - 1].place);
  if (reader.values.are_inferred() && !reader.types.is_closed(type))
    return {later_annotation(reader, type, place, called, unknown), type};
  Writer writer(reader, place);
  Expr written = writer.write(type, unknown, called);
  return {writer.reported() ? nullptr : written, type};
}

Expr later_annotation(ReaderParts& reader, Type* type, Place place, const std::string& called, Unknown unknown) {
  ast::Expr* hole = reader.tree.hole(place);
  reader.values.add_hole([&reader, hole, type, place, called, unknown] {
    Writer writer(reader, place);
    *hole = *writer.write(type, unknown, called);
    return !writer.reported();
  });
  return hole;
}

}  // namespace relaxc::relay
