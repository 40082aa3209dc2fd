// text.cpp: TfIdfVectorizer.
//
// Tokens that are strings become numbers first: their positions in a sorted list of the dictionary, -1 for others. The
// dictionary is sorted at compile time, by length and then by symbols, and `ngram_counts` counts; the weights are
// applied by arithmetic on the counts.
#include <algorithm>
#include <map>

#include "frontends/onnx/converter.h"
#include "frontends/onnx/ml.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend::text_family {
namespace {

/// The tables of the operator in compiler/ops/ngrams.cpp.
struct Dictionary {
  Ints pool, grams, lengths;
  std::vector<double> weights;  ///< by column
  int64_t columns = 0;
  StringTable tokens;  ///< the strings of the pool, which refers to them by index; empty for a pool of integers
};

/// Reads where each length starts in the pool, and the column and weight of each n-gram.
class Reader {
 public:
  explicit Reader(Node& node)
      : node_(node),
        starts_(node.ints_attr("ngram_counts")),
        columns_(node.ints_attr("ngram_indexes")),
        weights_(node.floats_attr("weights")) {
    dictionary_.pool = node.ints_attr("pool_int64s");
    for (const std::string& token : node.strings_attr("pool_strings")) {
      if (dictionary_.tokens.entries.empty()) dictionary_.tokens = string_table(node.strings_attr("pool_strings"));
      const std::vector<std::string>& all = dictionary_.tokens.entries;
      dictionary_.pool.push_back(std::lower_bound(all.begin(), all.end(), token) - all.begin());
    }
  }

  Result<Dictionary> read() {
    RELAXC_DO(check());
    dictionary_.columns = *std::max_element(columns_.begin(), columns_.end()) + 1;
    dictionary_.weights.assign(static_cast<size_t>(dictionary_.columns), 1);
    size_t gram = 0;
    for (size_t i = 0; i < starts_.size(); ++i) {
      auto length = static_cast<int64_t>(i + 1);
      int64_t end = i + 1 < starts_.size() ? starts_[i + 1] : static_cast<int64_t>(dictionary_.pool.size());
      RELAXC_TRY(gram, read_length(length, starts_[i], end, gram));
    }
    if (gram != columns_.size())
      return node_.error(Kind::invalid_attribute, "the pool holds {} n-grams and there are {} indices", gram,
                         columns_.size());
    return std::move(dictionary_);
  }

 private:
  Status check() {
    if (node_.has_attr("pool_strings") && node_.has_attr("pool_int64s"))
      return node_.error(Kind::invalid_attribute, "it takes pool_strings or pool_int64s, not both");
    auto pool = static_cast<int64_t>(dictionary_.pool.size());
    bool ordered = std::is_sorted(starts_.begin(), starts_.end()) && (starts_.empty() || starts_[0] >= 0);
    if (columns_.empty() || !ordered || (!starts_.empty() && starts_.back() > pool))
      return node_.error(Kind::invalid_attribute,
                         "ngram_counts must rise from 0 to {} at most, and there must be n-grams", pool);
    if (*std::min_element(columns_.begin(), columns_.end()) < 0 ||
        *std::max_element(columns_.begin(), columns_.end()) > INT32_MAX)
      return node_.error(Kind::invalid_attribute, "ngram_indexes must be 32-bit columns");
    if (!weights_.empty() && weights_.size() != columns_.size())
      return node_.error(Kind::invalid_attribute, "there are {} weights for {} n-grams", weights_.size(),
                         columns_.size());
    return Done{};
  }

  /// Adds the n-grams of one length, sorted; returns the number of the next n-gram.
  Result<size_t> read_length(int64_t length, int64_t begin, int64_t end, size_t gram) {
    int64_t shortest = node_.int_attr("min_gram_length", 1), longest = node_.int_attr("max_gram_length", 1);
    if ((end - begin) % length != 0)
      return node_.error(Kind::invalid_attribute, "{} tokens do not divide into {}-grams", end - begin, length);
    std::map<Ints, std::pair<int64_t, int64_t>> sorted;
    for (int64_t at = begin; at < end; at += length, ++gram) {
      if (gram >= columns_.size())
        return node_.error(Kind::invalid_attribute, "there are only {} indices for the n-grams of the pool",
                           columns_.size());
      auto first = dictionary_.pool.begin() + at;
      sorted.try_emplace(Ints(first, first + length), at, columns_[gram]);
      if (!weights_.empty()) dictionary_.weights[static_cast<size_t>(columns_[gram])] = weights_[gram];
    }
    if (length < shortest || length > longest || sorted.empty()) return gram;
    auto row = static_cast<int64_t>(dictionary_.grams.size() / 2);
    for (const auto& [symbols, where] : sorted) {
      dictionary_.grams.push_back(where.first);
      dictionary_.grams.push_back(where.second);
    }
    dictionary_.lengths.insert(dictionary_.lengths.end(), {length, row, row + static_cast<int64_t>(sorted.size())});
    return gram;
  }

  Node& node_;
  Ints starts_, columns_;
  std::vector<double> weights_;
  Dictionary dictionary_;
};

/// Returns input 0 as int64.
Result<Value*> tokens_of(ConversionBuilder& c, const StringTable& table) {
  if (!table.entries.empty()) {
    RELAXC_TRY(Strings strings, strings_input(c.node, 0));
    return find_strings(c.node, strings, table);
  }
  Value* x = c.as(c.input(0), DType::i(64));
  return c.ok() ? Result<Value*>(x) : c.failed();
}

Status tf_idf_vectorizer(Node& node) {
  ConversionBuilder c(node);
  std::string mode = node.string_attr("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.error(Kind::invalid_attribute, "mode '{}' is not one of TF, IDF, TFIDF", mode);
  RELAXC_TRY(Dictionary d, Reader(node).read());
  auto pairs = static_cast<int64_t>(d.grams.size() / 2), kinds = static_cast<int64_t>(d.lengths.size() / 3);
  RELAXC_TRY(Value * x, tokens_of(c, d.tokens));
  bool row = rank_of(x) == 1;
  if (!row) RELAXC_DO(expect_rank(node, x, 2, "the input"));
  if (row) x = c.call("expand_dims", {x}, {{"axis", Ints{0}}});
  Value* pool = constant_of(node, {static_cast<int64_t>(d.pool.size())}, d.pool);
  Value *grams = constant_of(node, {pairs, 2}, d.grams), *lengths = constant_of(node, {kinds, 3}, d.lengths);
  Value* y = c.call("ngram_counts", {x, pool, grams, lengths},
                    {{"columns", d.columns}, {"max_skip", node.int_attr("max_skip_count", 0)}});
  if (mode == "IDF") y = c.as(c.call("greater", {y, c.like(y, 0)}), DType::f(32));
  if (mode != "TF") y = c.multiply(y, list_of(node, DType::f(32), d.weights));
  return c.set(0, row ? c.call("squeeze", {y}, {{"axis", Ints{0}}}) : y);
}

constexpr Converter kRows[] = {
    {.name = "TfIdfVectorizer", .convert = tf_idf_vectorizer},
};

}  // namespace
}  // namespace relaxc::frontend::text_family

RELAXC_CONVERTERS(text, kRows)
