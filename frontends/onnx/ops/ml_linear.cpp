// ml_linear.cpp: linear models and support vector machines: products with coefficients in attributes.
//
// What the standard leaves open (two classes from one column of scores, the effect of a transform on a single target)
// follows ONNX Runtime.
#include "frontends/onnx/converter.h"
#include "frontends/onnx/ml.h"

namespace relaxc::frontend::ml_linear_family {
namespace {

constexpr DType kF32 = DType::f(32);

/// Returns x times the transpose of the coefficients [count, features].
Value* products(ConversionBuilder& c, Value* x, int64_t count, int64_t features,
                const std::vector<double>& coefficients) {
  return c.matmul(x, c.permute(constant_of(c.node, kF32, {count, features}, coefficients), {1, 0}));
}

/// Returns x times `count` rows of coefficients, plus intercepts if there are any.
Result<Value*> linear_scores(ConversionBuilder& c, int64_t count, const std::vector<double>& intercepts) {
  Node& node = c.node;
  RELAXC_TRY(Value * x, feature_rows(c, false));
  std::vector<double> coefficients = node.floats_attr("coefficients");
  if (count < 1 || coefficients.empty() || coefficients.size() % static_cast<size_t>(count) != 0)
    return node.error(Kind::invalid_attribute, "{} coefficients do not divide into {} targets", coefficients.size(),
                      count);
  int64_t features = static_cast<int64_t>(coefficients.size()) / count;
  Value* y = products(c, x, count, features, coefficients);
  if (!intercepts.empty()) {
    if (intercepts.size() != static_cast<size_t>(count))
      return node.error(Kind::invalid_attribute, "there are {} intercepts for {} targets", intercepts.size(), count);
    y = c.add(y, list_of(node, kF32, intercepts));
  }
  return c.ok() ? Result<Value*>(y) : c.failed();
}

Status linear_regressor(Node& node) {
  ConversionBuilder c(node);
  int64_t targets = node.int_attr("targets", 1);
  RELAXC_TRY(Value * y, linear_scores(c, targets, node.floats_attr("intercepts")));
  std::string transform = node.string_attr("post_transform", "NONE");
  if (targets > 1 || transform == "PROBIT") y = transformed(c, y, transform);
  return c.set(0, y);
}

/// Returns the index of the largest score in each row; for a single column, whether the score is positive.
Value* chosen(ConversionBuilder& c, Value* scores, int64_t columns) {
  if (columns > 1) return c.call("argmax", {scores}, {{"axis", int64_t{1}}, {"keepdims", false}});
  Value* positive = c.as(c.call("greater", {scores, c.like(scores, 0)}), DType::i(64));
  return c.call("squeeze", {positive}, {{"axis", Ints{1}}});
}

/// Converts LinearClassifier: one column of scores per intercept; a single one may mean two classes, or 0 and 1.
Status linear_classifier(Node& node) {
  ConversionBuilder c(node);
  ClassLabels labels(node, "classlabels_ints", "classlabels_strings");
  std::vector<double> intercepts = node.floats_attr("intercepts");
  int64_t columns = intercepts.empty() ? std::max<int64_t>(labels.count(), 1) : static_cast<int64_t>(intercepts.size());
  bool pair = columns == 1 && labels.count() == 2;
  if (labels.count() != columns && !pair && !(columns == 1 && labels.count() == 0))
    return node.error(Kind::invalid_attribute, "there are {} class labels for {} columns of scores", labels.count(),
                      columns);
  RELAXC_TRY(Value * scores, linear_scores(c, columns, intercepts));
  Value* index = chosen(c, scores, columns);
  if (labels.count() == 0) {
    RELAXC_DO(c.set(0, index));
  } else {
    RELAXC_DO(labels.set(c, index));
  }
  std::string transform = node.string_attr("post_transform", "NONE");
  if (!pair) return c.set(1, columns > 1 || transform == "PROBIT" ? transformed(c, scores, transform) : scores);
  return c.set(1, both_classes(c, scores, false, transform));
}

/// The kernel of a support vector machine: its kind, and gamma, coef0 and degree.
struct Kernel {
  std::string kind;
  double gamma = 0, coef0 = 0, degree = 0;

  explicit Kernel(Node& node) : kind(node.string_attr("kernel_type", "LINEAR")) {
    std::vector<double> given = node.floats_attr("kernel_params");
    given.resize(3, 0);
    gamma = given[0], coef0 = given[1], degree = given[2];
  }

  /// Returns the kernel of every row of x [N, F] with each of `count` vectors, [N, count].
  Value* of(ConversionBuilder& c, Value* x, int64_t count, const std::vector<double>& vectors) const {
    if (!c.ok()) return nullptr;
    int64_t features = static_cast<int64_t>(vectors.size()) / count;
    if (kind == "RBF") {
      Value* one_each = c.call("expand_dims", {x}, {{"axis", Ints{1}}});
      Value* apart = c.subtract(one_each, constant_of(c.node, kF32, {count, features}, vectors));
      Value* distance = c.reduce("sum", c.call("square", {apart}), Ints{2}, false);
      return c.call("exp", {c.multiply(distance, -gamma)});
    }
    Value* dot = products(c, x, count, features, vectors);
    if (kind == "LINEAR") return dot;
    Value* shifted = c.add(c.multiply(dot, gamma), coef0);
    if (kind == "POLY") return c.call("power", {shifted, c.like(shifted, degree)});
    if (kind == "SIGMOID") return c.call("tanh", {shifted});
    return c.take(
        c.node.error(Kind::invalid_attribute, "kernel_type '{}' is not one of LINEAR, POLY, RBF, SIGMOID", kind));
  }
};

/// Attributes of a support vector machine, checked against each other.
struct Machine {
  std::vector<double> vectors, coefficients, rho;
  int64_t supports = 0;  ///< number of support vectors; 0 for a linear model

  Status read(Node& node, int64_t count) {
    vectors = node.floats_attr("support_vectors"), coefficients = node.floats_attr("coefficients");
    rho = node.floats_attr("rho"), supports = count;
    if (coefficients.empty() || rho.empty() || supports < 0 ||
        (supports > 0 && (vectors.empty() || vectors.size() % static_cast<size_t>(supports) != 0 ||
                          coefficients.size() % static_cast<size_t>(supports) != 0)))
      return node.error(Kind::invalid_attribute, "{} support vectors do not fit {} numbers and {} coefficients",
                        supports, vectors.size(), coefficients.size());
    return Done{};
  }
};

Status svm_regressor(Node& node) {
  ConversionBuilder c(node);
  Machine m;
  RELAXC_DO(m.read(node, node.int_attr("n_supports", 0)));
  RELAXC_TRY(Value * x, feature_rows(c, false));
  Kernel kernel(node);
  Value* y = nullptr;
  if (m.supports > 0) {
    if (static_cast<int64_t>(m.coefficients.size()) != m.supports)
      return node.error(Kind::invalid_attribute, "there are {} coefficients for {} support vectors",
                        m.coefficients.size(), m.supports);
    Value* weights = constant_of(node, kF32, {m.supports, 1}, m.coefficients);
    y = c.matmul(kernel.of(c, x, m.supports, m.vectors), weights);
  } else {
    y = kernel.of(c, x, 1, m.coefficients);
  }
  y = c.add(y, m.rho[0]);
  if (node.int_attr("one_class", 0) != 0) {
    Value *outlier = c.like(y, -1), *inlier = c.like(y, 1);
    y = c.where(c.call("greater", {y, c.like(y, 0)}), inlier, outlier);
  }
  return c.set(0, y);
}

/// Converts a classifier with one linear model per class; the largest score wins.
Status svm_linear_classifier(ConversionBuilder& c, Value* x, const Machine& m, const ClassLabels& labels) {
  Node& node = c.node;
  int64_t classes = labels.count();
  if (classes < 1 || m.coefficients.size() % static_cast<size_t>(classes) != 0)
    return node.error(Kind::invalid_attribute, "{} coefficients do not divide into {} classes", m.coefficients.size(),
                      classes);
  Value* scores = c.add(Kernel(node).of(c, x, classes, m.coefficients), m.rho[0]);
  RELAXC_DO(labels.set(c, c.call("argmax", {scores}, {{"axis", int64_t{1}}, {"keepdims", false}})));
  return c.set(1, transformed(c, scores, node.string_attr("post_transform", "NONE")));
}

/// The votes of all pairs of classes. For classes i < j, the coefficients are in row j - 1 for class i and in row i for
/// class j, in the columns of the class's own support vectors.
class Votes {
 public:
  Votes(ConversionBuilder& c, const Machine& m, Ints vectors_per_class)
      : c_(c), m_(m), counts_(std::move(vectors_per_class)), classes_(static_cast<int64_t>(counts_.size())) {}

  int64_t pairs() const { return classes_ * (classes_ - 1) / 2; }

  /// Returns the scores [N, pairs] from the kernel values [N, supports].
  Value* scores(Value* kernels) {
    std::vector<double> weights(static_cast<size_t>(m_.supports * pairs()), 0);
    int64_t pair = 0;
    for (int64_t i = 0; i < classes_; ++i)
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        put(weights, pair, i, j - 1);
        put(weights, pair, j, i);
      }
    Value* y = c_.matmul(kernels, constant_of(c_.node, kF32, {m_.supports, pairs()}, weights));
    return c_.add(y, list_of(c_.node, kF32, m_.rho));
  }

  /// Returns the number of pairs that each class wins, [N, classes].
  Value* count(Value* scores) {
    std::vector<double> to_first(static_cast<size_t>(pairs() * classes_), 0), to_second = to_first;
    int64_t pair = 0;
    for (int64_t i = 0; i < classes_; ++i)
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        to_first[static_cast<size_t>(pair * classes_ + i)] = 1;
        to_second[static_cast<size_t>(pair * classes_ + j)] = 1;
      }
    Value* won = c_.as(c_.call("greater", {scores, c_.like(scores, 0)}), kF32);
    Value* lost = c_.subtract(c_.like(won, 1), won);
    Value* of_second = c_.matmul(lost, constant_of(c_.node, kF32, {pairs(), classes_}, to_second));
    return c_.add(c_.matmul(won, constant_of(c_.node, kF32, {pairs(), classes_}, to_first)), of_second);
  }

 private:
  void put(std::vector<double>& weights, int64_t pair, int64_t of_class, int64_t row) {
    int64_t begin = 0;
    for (int64_t k = 0; k < of_class; ++k) begin += counts_[static_cast<size_t>(k)];
    for (int64_t s = begin; s < begin + counts_[static_cast<size_t>(of_class)]; ++s)
      weights[static_cast<size_t>(s * pairs() + pair)] = m_.coefficients[static_cast<size_t>(row * m_.supports + s)];
  }

  ConversionBuilder& c_;
  const Machine& m_;
  Ints counts_;
  int64_t classes_;
};

/// Returns the probabilities of the classes from the scores of pairs; prob_a and prob_b give each pair's sigmoid.
Result<Value*> probabilities(ConversionBuilder& c, Value* scores, int64_t classes) {
  Node& node = c.node;
  std::vector<double> a = node.floats_attr("prob_a"), b = node.floats_attr("prob_b");
  auto pairs = static_cast<size_t>(classes * (classes - 1) / 2);
  if (a.size() != pairs || b.size() != pairs)
    return node.error(Kind::invalid_attribute, "prob_a and prob_b have {} and {} numbers for {} pairs of classes",
                      a.size(), b.size(), pairs);
  Value* offsets = list_of(node, kF32, b);
  Value* bent = c.add(c.multiply(scores, list_of(node, kF32, a)), offsets);
  Value* second = c.call("sigmoid", {bent});
  Value* first = c.subtract(c.number(kF32, 1), second);
  first = c.call("minimum", {c.call("maximum", {first, c.number(kF32, 1e-7)}), c.number(kF32, 1 - 1e-7)});
  Value* y = c.call("pairwise_coupling", {first}, {{"classes", classes}});
  return c.ok() ? Result<Value*>(y) : c.failed();
}

Status svm_classifier(Node& node) {
  ConversionBuilder c(node);
  ClassLabels labels(node, "classlabels_ints", "classlabels_strings");
  Ints counts = node.ints_attr("vectors_per_class");
  int64_t supports = 0;
  for (int64_t count : counts)
    if (count < 0 || __builtin_add_overflow(supports, count, &supports))
      return node.error(Kind::invalid_attribute, "vectors_per_class holds {}", count);
  Machine m;
  RELAXC_DO(m.read(node, supports));
  RELAXC_TRY(Value * x, feature_rows(c, false));
  if (supports == 0) return svm_linear_classifier(c, x, m, labels);
  Votes votes(c, m, counts);
  auto classes = static_cast<int64_t>(counts.size());
  if (classes < 2 || classes != labels.count() || static_cast<int64_t>(m.rho.size()) != votes.pairs() ||
      static_cast<int64_t>(m.coefficients.size()) != (classes - 1) * supports)
    return node.error(Kind::invalid_attribute, "{} classes do not fit {} labels, {} values of rho and {} coefficients",
                      classes, labels.count(), m.rho.size(), m.coefficients.size());
  Value* scores = votes.scores(Kernel(node).of(c, x, supports, m.vectors));
  Value* most = c.call("argmax", {votes.count(scores)}, {{"axis", int64_t{1}}, {"keepdims", false}});
  RELAXC_DO(labels.set(c, most));
  std::string transform = node.string_attr("post_transform", "NONE");
  if (!node.floats_attr("prob_a").empty()) {
    RELAXC_TRY(scores, probabilities(c, scores, classes));
    return c.set(1, transformed(c, scores, transform));
  }
  if (classes > 2) return c.set(1, transformed(c, scores, transform));
  return c.set(1, both_classes(c, scores, true, transform));
}

constexpr Converter kRows[] = {
    {.name = "LinearRegressor", .convert = linear_regressor, .domain = kMl},
    {.name = "LinearClassifier", .convert = linear_classifier, .domain = kMl},
    {.name = "SVMRegressor", .convert = svm_regressor, .domain = kMl},
    {.name = "SVMClassifier", .convert = svm_classifier, .domain = kMl},
};

}  // namespace
}  // namespace relaxc::frontend::ml_linear_family

RELAXC_CONVERTERS(ml_linear, kRows)
