// regex.cpp: compiles a pattern to a table.
//
// The pattern is parsed to a tree, the tree becomes a nondeterministic automaton over bytes (Thompson), where a class
// of code points is the set of its UTF-8 sequences, and sets of its states become the states of the table. Assertions
// such as \b depend on the bytes on both sides: a set is stored before they are evaluated, together with the class of
// the last byte, and they are evaluated when the next one is known.
#include "frontends/onnx/regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "frontends/onnx/regex_tree.h"

namespace relaxc::frontend {
namespace {

using regex::Assertion;
using regex::Range;
using regex::Tree;

constexpr size_t kMostStates = 4096, kMostSteps = 100000;

/// A state of the nondeterministic automaton: it consumes a byte, or goes on without consuming one.
struct State {
  enum Kind : uint8_t { kByte, kFork, kAssert, kEnd } kind;
  uint8_t low = 0, high = 0;
  Assertion assertion = Assertion::kBegin;
  std::vector<int> next;
};

class Thompson {
 public:
  explicit Thompson(const Tree& tree) : tree_(tree) { start = build(tree.root, add({State::kEnd, 0, 0, {}, {}})); }

  std::vector<State> states;
  int start = 0;
  bool too_large = false;  ///< the tree needs more than kMostSteps states, so some are missing

 private:
  int add(State state) {
    too_large = too_large || states.size() >= kMostSteps;
    if (too_large) return 0;
    states.push_back(std::move(state));
    return static_cast<int>(states.size()) - 1;
  }
  int fork(std::vector<int> next) { return add({State::kFork, 0, 0, {}, std::move(next)}); }

  /// Returns the state from which `node` is matched and then `next`.
  int build(int node, int next) {
    const regex::Node& n = tree_.nodes[static_cast<size_t>(node)];
    if (too_large) return next;
    switch (n.kind) {
      case regex::Kind::kClass:
        return build_class(n.ranges, next);
      case regex::Kind::kAssert:
        return add({State::kAssert, 0, 0, n.assertion, {next}});
      case regex::Kind::kSequence:
        for (size_t i = n.children.size(); i-- > 0;) next = build(n.children[i], next);
        return next;
      case regex::Kind::kChoice: {
        std::vector<int> ways;
        for (int child : n.children) ways.push_back(build(child, next));
        return fork(std::move(ways));
      }
      case regex::Kind::kRepeat:
        return build_repeat(n, next);
    }
    return next;
  }

  int build_repeat(const regex::Node& n, int next) {
    int child = n.children[0], after = next;
    if (n.most < 0) {
      after = fork({next});
      int body = build(child, after);
      states[static_cast<size_t>(after)].next.push_back(body);
    }
    for (int i = n.least; i < n.most && !too_large; ++i) after = fork({build(child, after), next});
    for (int i = 0; i < n.least && !too_large; ++i) after = build(child, after);
    return after;
  }

  int build_class(const std::vector<Range>& ranges, int next) {
    std::vector<int> ways;
    for (const Range& range : ranges) add_range(range.low, range.high, next, ways);
    return fork(std::move(ways));
  }

  static std::vector<uint8_t> utf8(uint32_t c) {
    auto byte = [](uint32_t value) { return static_cast<uint8_t>(value); };
    if (c < 0x80) return {byte(c)};
    auto rest = [&](int shift) { return byte(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x800) return {byte(0xc0 | c >> 6), rest(0)};
    if (c < 0x10000) return {byte(0xe0 | c >> 12), rest(6), rest(0)};
    return {byte(0xf0 | c >> 18), rest(12), rest(6), rest(0)};
  }

  /// Splits a range of code points until the UTF-8 forms of each part are one range of values per byte.
  void add_range(uint32_t low, uint32_t high, int next, std::vector<int>& ways) {
    for (uint32_t end : {0x7fu, 0x7ffu, 0xffffu})
      if (low <= end && high > end) {
        add_range(low, end, next, ways);
        return add_range(end + 1, high, next, ways);
      }
    size_t length = utf8(low).size();
    for (size_t i = 1; i < length; ++i) {
      uint32_t mask = (1u << (6 * i)) - 1;
      if ((low & ~mask) == (high & ~mask)) continue;
      if ((low & mask) != 0) {
        add_range(low, low | mask, next, ways);
        return add_range((low | mask) + 1, high, next, ways);
      }
      if ((high & mask) != mask) {
        add_range(low, (high & ~mask) - 1, next, ways);
        return add_range(high & ~mask, high, next, ways);
      }
    }
    std::vector<uint8_t> from = utf8(low), to = utf8(high);
    for (size_t i = length; i-- > 0;) next = add({State::kByte, from[i], to[i], {}, {next}});
    ways.push_back(next);
  }

  const Tree& tree_;
};

/// What is beside a position: the end of the string, a word byte (letter, digit or underscore), or another byte.
enum class Side : uint8_t { kEdge, kWord, kOther };

Side side_of(int byte) {
  bool word =
      (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
  return word ? Side::kWord : Side::kOther;
}

bool holds(Assertion assertion, Side before, Side after) {
  switch (assertion) {
    case Assertion::kBegin:
      return before == Side::kEdge;
    case Assertion::kEnd:
      return after == Side::kEdge;
    case Assertion::kBoundary:
      return (before == Side::kWord) != (after == Side::kWord);
    case Assertion::kNoBoundary:
      return (before == Side::kWord) == (after == Side::kWord);
  }
  return false;
}

class Subsets {
 public:
  explicit Subsets(const Thompson& nfa) : nfa_(nfa) {}

  /// Returns the automaton of a search that starts after each of `sides`; nullopt if there are too many states.
  std::optional<Searcher> run(const std::vector<Side>& sides) {
    for (Side side : sides) made_.starts[static_cast<size_t>(side)] = number({{nfa_.start}, side});
    for (size_t i = 0; i < sets_.size() && sets_.size() <= kMostStates; ++i) expand(sets_[i]);
    if (sets_.size() > kMostStates) return std::nullopt;
    auto nothing = numbers_.find({{}, Side::kOther});
    if (nothing != numbers_.end()) made_.dead = nothing->second;
    return std::move(made_);
  }

 private:
  /// A state of the result: the states reached before forks and assertions are followed, and the kind of the last byte.
  struct Set {
    std::set<int> states;
    Side before;
    bool operator<(const Set& other) const {
      return states != other.states ? states < other.states : before < other.before;
    }
  };

  int32_t number(const Set& set) {
    auto [place, fresh] = numbers_.try_emplace(set, static_cast<int32_t>(sets_.size()));
    if (fresh) sets_.push_back(set);
    return place->second;
  }

  std::set<int> closure(const Set& set, Side after) const {
    std::set<int> seen(set.states.begin(), set.states.end());
    std::vector<int> open(seen.begin(), seen.end());
    while (!open.empty()) {
      const State& state = nfa_.states[static_cast<size_t>(open.back())];
      open.pop_back();
      if (state.kind == State::kByte || state.kind == State::kEnd) continue;
      if (state.kind == State::kAssert && !holds(state.assertion, set.before, after)) continue;
      for (int next : state.next)
        if (seen.insert(next).second) open.push_back(next);
    }
    return seen;
  }

  void expand(const Set set) {
    std::set<int> at_end = closure(set, Side::kEdge), word = closure(set, Side::kWord),
                  other = closure(set, Side::kOther);
    auto is_end = [&](int state) { return nfa_.states[static_cast<size_t>(state)].kind == State::kEnd; };
    for (const std::set<int>* reached : {&at_end, &word, &other})
      made_.accepts.push_back(std::any_of(reached->begin(), reached->end(), is_end) ? 1 : 0);
    for (int byte = 0; byte < 256; ++byte) {
      Side side = side_of(byte);
      Set next{{}, side};
      for (int number : side == Side::kWord ? word : other) {
        const State& state = nfa_.states[static_cast<size_t>(number)];
        if (state.kind == State::kByte && byte >= state.low && byte <= state.high) next.states.insert(state.next[0]);
      }
      if (next.states.empty()) next.before = Side::kOther;  // merge all states from which nothing matches into one
      made_.steps.push_back(number(next));
    }
  }

  const Thompson& nfa_;
  std::map<Set, int32_t> numbers_;
  std::vector<Set> sets_;
  Searcher made_;
};

std::variant<Searcher, std::string> compile(std::string_view pattern, const std::vector<Side>& sides) {
  std::variant<Tree, std::string> tree = regex::parse(pattern);
  if (auto* fault = std::get_if<std::string>(&tree)) return *fault;
  Thompson nfa(std::get<Tree>(tree));
  std::optional<Searcher> made = nfa.too_large ? std::nullopt : Subsets(nfa).run(sides);
  if (!made) return fmt::format("it needs more than {} states", kMostStates);
  return *std::move(made);
}

}  // namespace

std::variant<Automaton, std::string> compile_regex(std::string_view pattern) {
  std::variant<Searcher, std::string> made = compile(pattern, {Side::kEdge});
  if (auto* fault = std::get_if<std::string>(&made)) return *fault;
  auto& searcher = std::get<Searcher>(made);
  Automaton whole{std::move(searcher.steps), {}};
  for (size_t i = 0; i < searcher.accepts.size(); i += 3) whole.accepts.push_back(searcher.accepts[i]);
  return whole;
}

std::variant<Searcher, std::string> compile_search(std::string_view pattern) {
  return compile(pattern, {Side::kEdge, Side::kWord, Side::kOther});
}

}  // namespace relaxc::frontend
