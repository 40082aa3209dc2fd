// tokenizer.cpp: com.microsoft.Tokenizer, which splits texts into tokens.
//
// Tokens are the matches of a regular expression, the text between separators (each a regular expression, applied one
// after the other), or characters. Rows are padded with a word of the model's, which is stored before the bytes of the
// texts so that spans can refer to it, as are the marks for the begin and end of a text.
#include <algorithm>

#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/converter.h"
#include "frontends/onnx/regex.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend::tokenizer_family {
namespace {

class Tokenizer {
 public:
  explicit Tokenizer(Node& node) : node_(node), c_(node), fill_(node.string_attr("pad_value", "")) {}

  Status run() {
    RELAXC_TRY(texts_, strings_input(node_, 0));
    std::vector<Expr> dims = texts_.dims();
    if (dims.empty() || dims.size() > 2)
      return node_.error(Kind::rank_mismatch, "the input must be [C] or [N, C] strings, found {} dims", dims.size());
    if (node_.int_attr("mincharnum", 1) < 1)
      return node_.error(Kind::invalid_attribute, "mincharnum must be 1 or more, found {}",
                         node_.int_attr("mincharnum", 1));
    std::vector<std::string> separators = node_.strings_attr("separators");
    std::string tokens = node_.string_attr("tokenexp", "");
    if (separators.empty() == tokens.empty())
      return node_.error(Kind::invalid_attribute, "it needs either separators or tokenexp");
    put_words_in_front();
    dims.push_back(node_.index(1));
    dims.push_back(node_.index(2));
    texts_.spans = c_.reshape(texts_.spans, dims);
    if (!c_.ok()) return c_.failed();
    // A lone dot matches any character, even the end of a line, which a dot within a pattern does not.
    bool characters = tokens == "." || (separators.size() == 1 && separators[0].empty());
    if (separators.empty() || characters) RELAXC_DO(tokenize_by(characters ? "(?s)." : tokens, false, true));
    for (size_t i = 0; !characters && i < separators.size(); ++i)
      RELAXC_DO(tokenize_by(separators[i], true, i + 1 == separators.size()));
    set_strings(node_, 0, texts_);
    return Done{};
  }

 private:
  bool marks() const { return node_.int_attr("mark", 0) != 0; }

  void put_words_in_front() {
    std::string words = fill_ + (marks() ? "\x02\x03" : "");
    if (words.empty()) return;
    NamedValue slot = strings_constant(node_.builder(), {1}, {words});
    auto shift = static_cast<int64_t>(words.size());
    texts_.bytes = c_.concat({strings_in(slot)->bytes, texts_.bytes}, 0);
    texts_.spans = c_.add(texts_.spans, constant_of({shift, 0}));
  }

  Value* constant_of(const std::vector<int64_t>& numbers) {
    return c_.call("shape_to_tensor", {node_.shape(node_.indices(numbers))});
  }

  template <typename T>
  Value* table(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::copy_n(reinterpret_cast<const std::byte*>(values.data()), bytes.size(), bytes.begin());
    return node_.builder().constant(relax::ConstantData::inline_bytes(dtype, std::move(shape), std::move(bytes)));
  }

  /// Replaces the texts by their tokens under one pattern. The last call adds marks and pads the rows.
  Status tokenize_by(const std::string& pattern, bool between, bool last) {
    std::variant<Searcher, std::string> compiled = compile_search(pattern);
    if (auto* fault = std::get_if<std::string>(&compiled))
      return node_.error(Kind::invalid_attribute, "the pattern '{}' cannot be compiled: {}", pattern, *fault);
    const auto& searcher = std::get<Searcher>(compiled);
    auto states = static_cast<int64_t>(searcher.accepts.size() / 3);
    Value* steps = table(DType::i(32), {states, 256}, searcher.steps);
    Value* accepts = table(DType::boolean(), {states, 3}, searcher.accepts);
    Attrs attrs{{"starts", Ints(searcher.starts.begin(), searcher.starts.end())},
                {"dead", static_cast<int64_t>(searcher.dead)},
                {"between", between},
                {"least", node_.int_attr("mincharnum", 1)},
                {"fill", last ? static_cast<int64_t>(fill_.size()) : int64_t{0}},
                {"marks", last && marks()}};
    RELAXC_TRY(texts_.spans,
               node_.call("strings.tokens", {texts_.spans, texts_.bytes, steps, accepts}, std::move(attrs)));
    return Done{};
  }

  Node& node_;
  ConversionBuilder c_;
  std::string fill_;
  Strings texts_;
};

Status tokenizer(Node& node) {
  return Tokenizer(node).run();
}

constexpr Converter kRows[] = {
    {.name = "Tokenizer", .convert = tokenizer, .note = "patterns as for RegexFullMatch", .domain = "com.microsoft"},
};

}  // namespace
}  // namespace relaxc::frontend::tokenizer_family

RELAXC_CONVERTERS(tokenizer, kRows)
