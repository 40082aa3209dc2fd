// einsum.cpp: sums of products over labelled axes (NumPy's einsum: "bij,bjk->bik", implicit outputs, "...").
//
// Expands operand by operand, from the left: labels of only one of two operands that are not needed later are summed
// first; common labels become batches, and contracted ones the inner dim of one matmul, which does all the work. A
// label that occurs twice in one operand is its diagonal. A pass that knows sizes may search for the cheapest order of
// more than two operands.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/expansion_builder.h"
#include "compiler/ops/gradients/moves.h"

namespace relaxc::ops::einsum_family {
namespace {

constexpr OperandDef kTensors[] = {{"tensors", OperandDef::kVariadic}};
constexpr AttrDef kEquation[] = {{"equation", AttrType::kString, true}};
constexpr AttrDef kAxes[] = {{"axis1", AttrType::kInt, false, "-2"}, {"axis2", AttrType::kInt, false, "-1"}};

/// Labels of one operand's axes: letters, and -n..-1 for the n axes of an ellipsis, counted from its end.
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// Reads the labels of one term. A `rank` of -1 means the output, whose ellipsis has `dots` axes. Empty if malformed.
std::optional<Labels> read_term(const std::string& term, int64_t rank, int64_t dots) {
  Labels labels;
  size_t ellipsis = term.find("...");
  int64_t letters = static_cast<int64_t>(term.size()) - (ellipsis == std::string::npos ? 0 : 3);
  if (rank >= 0) dots = rank - letters;
  if (dots < 0 || (ellipsis == std::string::npos && rank >= 0 && dots != 0)) return std::nullopt;
  for (size_t at = 0; at < term.size(); ++at) {
    if (at == ellipsis) {
      for (int64_t k = dots; k > 0; --k) labels.push_back(static_cast<int>(-k));
      at += 2;
    } else if (std::isalpha(static_cast<unsigned char>(term[at]))) {
      labels.push_back(term[at]);
    } else {
      return std::nullopt;
    }
  }
  return labels;
}

std::optional<Equation> read_equation(std::string text, const std::vector<int64_t>& ranks) {
  std::erase(text, ' ');
  size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation e;
  int64_t dots = 0;
  std::vector<std::string> terms{""};
  for (char ch : left) {
    if (ch == ',')
      terms.emplace_back();
    else
      terms.back() += ch;
  }
  if (terms.size() != ranks.size()) return std::nullopt;
  for (size_t k = 0; k < terms.size(); ++k) {
    std::optional<Labels> labels = read_term(terms[k], ranks[k], 0);
    if (!labels) return std::nullopt;
    dots = std::max<int64_t>(dots, std::count_if(labels->begin(), labels->end(), [](int label) { return label < 0; }));
    e.inputs.push_back(*labels);
  }
  if (arrow != std::string::npos) {
    std::optional<Labels> output = read_term(text.substr(arrow + 2), -1, dots);
    if (!output) return std::nullopt;
    e.output = *output;
  } else {  // implicit output: the ellipsis, then labels that occur once, in alphabetical order
    std::map<int, int> times;
    for (const Labels& labels : e.inputs)
      for (int label : labels) ++times[label];
    for (auto [label, count] : times)
      if (label < 0 || count == 1) e.output.push_back(label);
  }
  Labels seen;
  for (int label : e.output) {
    bool known = std::any_of(e.inputs.begin(), e.inputs.end(), [&](const Labels& l) { return has(l, label); });
    if (!known || has(seen, label)) return std::nullopt;
    seen.push_back(label);
  }
  return e;
}

std::optional<Equation> equation_of(const Op& op) {
  std::vector<int64_t> ranks;
  for (Value* operand : op.operands()) ranks.push_back(static_cast<int64_t>(operand->shape().size()));
  return read_equation(op.attrs.string("equation"), ranks);
}

InferResult infer(InferContext& c) {
  if (c.operands() == 0) return c.error(Kind::wrong_arity, "'einsum' needs at least one tensor");
  RELAXC_TRY(const TensorInfo* first, c.tensor(0));
  for (size_t k = 0; k < c.operands(); ++k) {
    RELAXC_TRY(const TensorInfo* x, c.tensor(k));
    if (x->dtype != first->dtype || !is_number(*x->dtype))
      return c.error(Kind::dtype_mismatch, "'einsum' of {} and {}", to_string(*first->dtype), to_string(*x->dtype));
  }
  std::optional<Equation> e = equation_of(c.op);
  if (!e)
    return c.error(Kind::invalid_attribute, "equation \"{}\" of 'einsum' does not fit its {} operands",
                   c.op.attrs.string("equation"), c.operands());
  std::map<int, Expr> dims;
  for (size_t k = 0; k < c.operands(); ++k) {
    const Dims& shape = c.op.operand(k)->shape();
    for (size_t i = 0; i < shape.size(); ++i) {
      auto [it, fresh] = dims.try_emplace(e->inputs[k][i], shape[i]);
      if (fresh) continue;
      if (it->first > 0) {
        RELAXC_DO(
            require_equal(c, it->second, shape[i], fmt::format("dims of label {}", static_cast<char>(it->first))));
        continue;
      }
      RELAXC_TRY(Dims both, broadcast_dims(c, {it->second}, {shape[i]}));
      it->second = both[0];
    }
  }
  Dims shape;
  for (int label : e->output) shape.push_back(dims.at(label));
  return one(tensor_info(c.context, std::move(shape), *first->dtype));
}

/// A tensor with one label for each axis.
struct Term {
  Value* value = nullptr;
  Labels labels;
};

class Contraction {
 public:
  Contraction(relax::GraphBuilder& b, const Op& op) : chain_(b), op_(op), equation_(*equation_of(op)) {}

  Values run() {
    Term left = operand(0);
    for (size_t k = 1; k < op_.operands().size() && !chain_.failed(); ++k) left = multiply(left, operand(k), k);
    left = summed(left, equation_.output, {});
    if (chain_.failed()) return chain_.done({});
    Value* y = ordered(left, equation_.output);
    return chain_.done({y});
  }

 private:
  /// Returns operand k; an axis that repeats a label is removed by taking the diagonal.
  Term operand(size_t k) {
    Term term{op_.operand(k), equation_.inputs[k]};
    for (size_t i = 0; i < term.labels.size(); ++i)
      for (size_t j = i + 1; j < term.labels.size(); ++j)
        if (term.labels[i] == term.labels[j]) {
          relax::Attrs axes{{"axis1", static_cast<int64_t>(i)}, {"axis2", static_cast<int64_t>(j)}};
          term.value = chain_.call("diagonal", {term.value}, axes);
          term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(j--));
        }
    return term;
  }

  bool needed_after(int label, size_t k) const {
    if (has(equation_.output, label)) return true;
    for (size_t next = k + 1; next < equation_.inputs.size(); ++next)
      if (has(equation_.inputs[next], label)) return true;
    return false;
  }

  /// Sums the term over the labels that are in neither list.
  Term summed(Term term, const Labels& keep, const Labels& also) {
    std::vector<int64_t> axes;
    Labels kept;
    for (size_t i = 0; i < term.labels.size(); ++i) {
      if (has(keep, term.labels[i]) || has(also, term.labels[i]))
        kept.push_back(term.labels[i]);
      else
        axes.push_back(static_cast<int64_t>(i));
    }
    if (!axes.empty()) term.value = chain_.call("sum", {term.value}, {{"axis", axes}});
    term.labels = kept;
    return term;
  }

  /// Permutes the axes to the order of `labels`, which has the same labels as the term.
  Value* ordered(const Term& term, const Labels& labels) {
    if (labels == term.labels) return term.value;
    std::vector<int64_t> axes;
    for (int label : labels)
      axes.push_back(std::find(term.labels.begin(), term.labels.end(), label) - term.labels.begin());
    return chain_.permute(term.value, axes);
  }

  static Dims dims_of(const Term& term, const Labels& labels) {
    Dims dims;
    for (int label : labels)
      dims.push_back(term.value->shape()[static_cast<size_t>(std::find(term.labels.begin(), term.labels.end(), label) -
                                                             term.labels.begin())]);
    return dims;
  }

  Term multiply(Term a, Term b, size_t k) {
    Labels later;
    for (const Labels* labels : {&a.labels, &b.labels})
      for (int label : *labels)
        if (needed_after(label, k)) later.push_back(label);
    a = summed(a, later, b.labels), b = summed(b, later, a.labels);
    if (chain_.failed()) return a;
    Labels batch, inner, rows, columns;
    for (int label : a.labels) (!has(b.labels, label) ? rows : has(later, label) ? batch : inner).push_back(label);
    for (int label : b.labels)
      if (!has(a.labels, label)) columns.push_back(label);
    return product(a, b, batch, inner, rows, columns);
  }

  /// Multiplies [batch…, rows, inner] by [batch…, inner, columns]. Each group is reshaped to one dim, except the batch.
  Term product(const Term& a, const Term& b, const Labels& batch, const Labels& inner, const Labels& rows,
               const Labels& columns) {
    Dims row_dims = dims_of(a, rows), column_dims = dims_of(b, columns);
    Dims inner_a = dims_of(a, inner), inner_b = dims_of(b, inner);
    Dims left_shape = dims_of(a, batch), right_shape = dims_of(b, batch);
    left_shape.insert(left_shape.end(), {product_of(row_dims), product_of(inner_a)});
    right_shape.insert(right_shape.end(), {product_of(inner_b), product_of(column_dims)});
    Value* left = chain_.reshape(ordered(a, joined({batch, rows, inner})), left_shape);
    Value* right = chain_.reshape(ordered(b, joined({batch, inner, columns})), right_shape);
    Value* y = chain_.call("matmul", {left, right});
    if (chain_.failed()) return a;
    Dims shape(y->shape().begin(), y->shape().end() - 2);
    shape.insert(shape.end(), row_dims.begin(), row_dims.end());
    shape.insert(shape.end(), column_dims.begin(), column_dims.end());
    return {chain_.reshape(y, shape), joined({batch, rows, columns})};
  }

  Expr product_of(const Dims& dims) { return ops::product(chain_.builder().context(), dims); }
  static Labels joined(std::initializer_list<Labels> lists) {
    Labels all;
    for (const Labels& labels : lists) all.insert(all.end(), labels.begin(), labels.end());
    return all;
  }

  ExpansionBuilder chain_;
  const Op& op_;
  Equation equation_;
};

Values expand(relax::GraphBuilder& b, const Op& op) {
  return Contraction(b, op).run();
}

InferResult infer_diagonal(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(int64_t first, c.axis(c.op.attrs.integer("axis1"), x->ndim));
  RELAXC_TRY(int64_t second, c.axis(c.op.attrs.integer("axis2"), x->ndim));
  if (first == second) return c.error(Kind::invalid_attribute, "'diagonal' of axis {} with itself", first);
  RELAXC_DO(
      require_equal(c, (*x->shape)[static_cast<size_t>(first)], (*x->shape)[static_cast<size_t>(second)], "dims"));
  Dims shape = *x->shape;
  shape.erase(shape.begin() + second);
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_diagonal(DefineContext& d) {
  BufferRef x = d.input(0);
  size_t rank = x->shape.size();
  size_t first = axis_of(d.attrs().integer("axis1"), rank), second = axis_of(d.attrs().integer("axis2"), rank);
  return d.builder.compute(d.output(), [&](const Indices& i) {
    Indices from = i;
    from.insert(from.begin() + static_cast<std::ptrdiff_t>(second), i[first < second ? first : first - 1]);
    return d.builder.load(x, from);
  });
}

constexpr OpDef kOps[] = {
    {.name = "einsum",
     .operands = kTensors,
     .attrs = kEquation,
     .infer = infer,
     .expand = expand,
     .doc = "sums of products over labelled axes, as NumPy's einsum"},
    {.name = "diagonal",
     .operands = kX,
     .attrs = kAxes,
     .infer = infer_diagonal,
     .define = define_diagonal,
     .gradient = derivatives::diagonal,
     .doc = "the elements whose subscripts along two axes are the same; the second axis is removed"},
};

}  // namespace
}  // namespace relaxc::ops::einsum_family

RELAXC_OPERATORS(einsum, kOps)
