// primitives.cpp: the primitives by name: how a step of a trace becomes a call.
//
// This table is the only list of them: traces are read by it, and docs/schedules.md is made of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "compiler/schedule/trace.h"

namespace relaxc::schedule {

/// The arguments of a step, read as its primitive asks for them.
class Arguments {
 public:
  Arguments(const Schedule& s, std::vector<std::string_view> words) : s_(s), words_(std::move(words)) {}

  size_t size() const { return words_.size(); }
  uint32_t loop(size_t i) const { return s_.loop_named(words_[i]); }
  uint32_t loop_or_none(size_t i) const { return words_[i] == "-" ? 0 : loop(i); }
  uint32_t block(size_t i) const { return s_.block_named(words_[i]); }
  BufferRef buffer(size_t i) const { return s_.buffer_named(words_[i]); }
  std::vector<uint32_t> loops(size_t i) const {
    std::vector<uint32_t> ids;
    for (std::string_view name : list(i)) ids.push_back(s_.loop_named(name));
    return ids;
  }
  std::vector<uint32_t> blocks_of_kernel(size_t i) const {
    std::vector<uint32_t> ids;
    for (std::string_view name : list(i)) ids.push_back(s_.block_of_kernel(name));
    return ids;
  }
  int64_t number(size_t i) const { return number(words_[i]); }
  std::vector<int64_t> numbers(size_t i) const {
    std::vector<int64_t> all;
    for (std::string_view word : list(i)) all.push_back(number(word));
    return all;
  }
  size_t place(size_t i) const { return static_cast<size_t>(number(i)); }
  std::vector<size_t> places(size_t i) const {
    std::vector<size_t> all;
    for (int64_t one : numbers(i)) all.push_back(static_cast<size_t>(one));
    return all;
  }
  /// Whether the word is `yes`; else it must be `no`.
  bool is(size_t i, std::string_view yes, std::string_view no) const {
    require(words_[i] == yes || words_[i] == no,
            [&] { return fmt::format("'{}' should be '{}' or '{}'", words_[i], yes, no); });
    return words_[i] == yes;
  }

 private:
  static int64_t number(std::string_view word) {
    int64_t value = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    bool whole = error == std::errc() && end == word.data() + word.size();
    require(whole && value >= 0 && value <= std::numeric_limits<int32_t>::max(),
            [&] { return fmt::format("'{}' should be a whole number", word); });
    return value;
  }
  std::vector<std::string_view> list(size_t i) const;

  const Schedule& s_;
  std::vector<std::string_view> words_;
};

namespace {

using Args = const Arguments&;

// clang-format off
constexpr std::array kPrimitives = std::to_array<Primitive>({
    {"bind_axes", "", "Blocks have loops' variables in place of axes of their own.",
     [](Schedule& s, Args) { s.bind_axes(); }},
    {"cache_read", "BUFFER LOOP",
     "Before LOOP, what it reads of the buffer is copied to scratch memory, where it is contiguous.",
     [](Schedule& s, Args a) { s.cache_read(a.buffer(0), a.loop(1)); }},
    {"cache_window", "BLOCK LOOP ROW SPATIAL REDUCED LANES",
     "Before LOOP, copies the window of an operand over which the reduction's filter slides to scratch memory, contiguous "
     "along the loop ROW in whole vectors of LANES, its border filled in. SPATIAL and REDUCED are the loops of the result "
     "and of the reduction that the window is of.",
     [](Schedule& s, Args a) { s.cache_window(a.block(0), a.loop(1), a.loop(2), a.loops(3), a.loops(4), a.number(5)); }},
    {"cache_write", "BUFFER LOOP",
     "What LOOP stores to the buffer goes to scratch memory, and from there to the buffer when LOOP has ended.",
     [](Schedule& s, Args a) { s.cache_write(a.buffer(0), a.loop(1)); }},
    {"chunk", "LOOP SIZE", "SIZE iterations at a time, the last time fewer; no code twice.",
     [](Schedule& s, Args a) { s.chunk(a.loop(0), a.number(1)); }},
    {"collapse", "OUTER INNER", "Two loops, one directly inside of the other, become one, whose variable is divided.",
     [](Schedule& s, Args a) { s.collapse(a.loop(0), a.loop(1)); }},
    {"compute_at", "BLOCK LOOP",
     "The nest of a block that computes memory of the kernel's own goes; each iteration of LOOP, which alone reads that, "
     "begins with the part that it needs.",
     [](Schedule& s, Args a) { s.compute_at(a.block(0), a.loop(1)); }},
    {"contract", "BUFFER LOOP drop|store",
     "The one element of a buffer that an iteration of LOOP works on is in a register, and stored at its end, or, where "
     "nothing else reads it, dropped.",
     [](Schedule& s, Args a) { s.contract(a.buffer(0), a.loop(1), a.is(2, "store", "drop")); }},
    {"decompose_reduction", "BLOCK LOOP",
     "The block's init becomes a block of its own before LOOP, the outermost of the reduction's loops; a nest before it "
     "that fills in the same goes away.",
     [](Schedule& s, Args a) { s.decompose_reduction(a.block(0), a.loop(1)); }},
    {"drop_unit_loop", "LOOP", "A loop of one iteration goes away.",
     [](Schedule& s, Args a) { s.drop_unit_loop(a.loop(0)); }},
    {"factor_out", "BLOCK LOOP",
     "Factors of what a block sums that stay the same in LOOP multiply the loop's sum instead of each term. Changes bits.",
     [](Schedule& s, Args a) { s.factor_out(a.block(0), a.loop(1)); }, true},
    {"fuse", "OUTER INNER",
     "Two loops, one directly inside of the other, become one, if their axes are neighbours in all that is accessed.",
     [](Schedule& s, Args a) { s.fuse(a.loop(0), a.loop(1)); }},
    {"inline", "BLOCK", "What the block's nest computes is computed where it is read instead.",
     [](Schedule& s, Args a) { s.inline_nest(a.block(0)); }},
    {"jam", "LOOP",
     "The loop moves inwards around single statements, past sequences, locals and loops (unroll-and-jam).",
     [](Schedule& s, Args a) { s.jam(a.loop(0)); }},
    {"lift_allocs", "LOOP", "Memory that each iteration has becomes one for all of them.",
     [](Schedule& s, Args a) { s.lift_allocs(a.loop(0)); }},
    {"merge_rows", "FIRST SECOND", "Two nests one behind the other over the same rows become one loop over rows.",
     [](Schedule& s, Args a) { s.merge_rows(a.loop(0), a.loop(1)); }},
    {"minimal_filter", "BLOCK ROWS COLUMNS TILES fma|-",
     "A convolution by filters of three rows by minimal filtering F(ROWS, 3), and F(COLUMNS, 3) along rows unless "
     "COLUMNS is 1, in blocks of TILES tiles one below the other. Needs reassociate; fma: sums of data round once a step.",
     [](Schedule& s, Args a) {
       s.minimal_filter(a.block(0), {a.number(1), a.number(2), a.number(3)}, a.is(4, "fma", "-"));
     }, true},
    {"nest", "BLOCKS", "Steps that follow are about the nests of these blocks, which stand one behind the other.",
     [](Schedule& s, Args a) { s.focus(a.blocks_of_kernel(0)); }},
    {"online_softmax", "LOOP KEYS",
     "What LOOP, over blocks of rows, sums of powers relative to the maximum of a row is summed for KEYS scores at a time, "
     "relative to the maximum so far, with memory for those alone. Changes bits.",
     [](Schedule& s, Args a) { s.online_softmax(a.loop(0), a.number(1)); }, true},
    {"pack", "BUFFER AXIS PANEL ORDER",
     "A constant is stored in panels of PANEL elements along an axis; the other axes are in the order of ORDER.",
     [](Schedule& s, Args a) {
       s.pack(a.buffer(0), static_cast<size_t>(a.number(1)), a.number(2), a.places(3));
     }},
    {"pad_to", "LOOP MULTIPLE", "LOOP runs a multiple of so many times; what is too much is masked.",
     [](Schedule& s, Args a) { s.pad_to(a.loop(0), a.number(1)); }},
    {"parallel", "LOOP", "Iterations run on several cores.", [](Schedule& s, Args a) { s.parallel(a.loop(0)); }},
    {"pool_rows", "BLOCK ROWS",
     "A pool in blocks of ROWS rows: the rows of windows are reduced to one, then windows along it. Needs "
     "reassociate.",
     [](Schedule& s, Args a) { s.pool_rows(a.block(0), a.number(1)); }, true},
    {"prefetch", "LOOP BYTES",
     "With each vector that the vectorized LOOP reads from memory, asks for the line that lies BYTES behind it.",
     [](Schedule& s, Args a) { s.prefetch(a.loop(0), a.number(1)); }},
    {"reassociate", "BLOCK", "The order of the block's reduction may change. Changes bits.",
     [](Schedule& s, Args a) { s.allow_reassociation(a.block(0)); }, true},
    {"reduce_in_lanes", "BLOCK LOOP LANES VECTOR fma|-",
     "A reduction into one element becomes LANES partial ones, joined pairwise; what is left over is done by VECTOR and "
     "one by one. Needs reassociate.",
     [](Schedule& s, Args a) {
       s.reduce_in_lanes(a.block(0), a.loop(1), a.number(2), a.number(3), a.is(4, "fma", "-"));
     }, true},
    {"reorder", "LOOPS", "Loops directly inside of each other get this order, outermost first.",
     [](Schedule& s, Args a) { s.reorder(a.loops(0)); }},
    {"reverse_compute_at", "BLOCK LOOP AXES",
     "An element-wise consumer runs at the end of LOOP, right after what it reads; AXES are the loops around it that it "
     "runs with.",
     [](Schedule& s, Args a) { s.reverse_compute_at(a.block(0), a.loop(1), a.loops(2)); }},
    {"row_blocks", "ROWS", "All nests that compute rows run for ROWS rows at a time, with memory for those alone.",
     [](Schedule& s, Args a) { s.row_blocks(a.number(0)); }},
    {"row_steps", "LOOP ROWS", "Of a loop around several nests, each nest runs for ROWS iterations at a time.",
     [](Schedule& s, Args a) { s.row_steps(a.loop(0), a.number(1)); }},
    {"section", "BEGIN END",
     "Steps that follow are about the statements of the kernel from place BEGIN (of the first: 0) to before END.",
     [](Schedule& s, Args a) { s.section(a.place(0), a.place(1)); }},
    {"share", "LOOP TASKS", "Iterations are shared among at most so many tasks, each of which does its own in order.",
     [](Schedule& s, Args a) { s.share(a.loop(0), a.number(1)); }},
    {"simplify_subscripts", "BUFFER", "Subscripts of the buffer, by what the loops around say of their variables.",
     [](Schedule& s, Args a) { s.simplify_subscripts(a.buffer(0)); }},
    {"sink", "LOOP", "As jam, but not past locals.", [](Schedule& s, Args a) { s.sink(a.loop(0)); }},
    {"split", "LOOP FACTOR masked|peeled",
     "A loop over tiles around a loop of FACTOR iterations; what is left over is masked, or a loop of its own.",
     [](Schedule& s, Args a) { s.split(a.loop(0), a.number(1), a.is(2, "masked", "peeled") ? Tail::kMask : Tail::kPeel); }},
    {"stage_loads", "BLOCK LOOP|-",
     "What is read under a condition, and what changes along LOOP, goes through locals; conditions become branches.",
     [](Schedule& s, Args a) { s.stage_loads(a.block(0), a.loop_or_none(1)); }},
    {"tensorize_dot4", "BLOCK LOOP",
     "Products of bytes are summed four at a time, as dot products. The constant among them must be packed afterwards.",
     [](Schedule& s, Args a) { s.tensorize_dot4(a.block(0), a.loop(1)); }},
    {"tile", "LOOPS SIZES",
     "Loops directly inside of each other are split into tiles of these sizes, with the loops over tiles outside; what is "
     "left over is masked.",
     [](Schedule& s, Args a) { s.tile(a.loops(0), a.numbers(1)); }},
    {"unroll", "LOOP", "Iterations one after the other in straight-line code.",
     [](Schedule& s, Args a) { s.unroll(a.loop(0)); }},
    {"use_fma", "BLOCK", "Adds a product with one rounding. Changes bits.",
     [](Schedule& s, Args a) { s.use_fma(a.block(0)); }, true},
    {"vectorize", "LOOP", "Iterations all at once, in lanes of vectors.",
     [](Schedule& s, Args a) { s.vectorize(a.loop(0)); }},
    {"whole", "", "Steps that follow are about the whole kernel, or all of the section.", [](Schedule& s, Args) { s.focus_all(); }},
    {"window_blocks", "ROWS",
     "A pool behind a convolution runs for ROWS rows at a time, after the rows of the map that its windows cover, with "
     "memory for those alone.",
     [](Schedule& s, Args a) { s.window_blocks(a.number(0)); }},
});
// clang-format on

static_assert(std::is_sorted(kPrimitives.begin(), kPrimitives.end(),
                             [](const Primitive& a, const Primitive& b) { return a.name < b.name; }));

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  int brackets = 0;
  bool in_quotes = false;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (in_quotes && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
    const bool between = (c == ' ' || c == '\t' || c == '\r' || c == ',') && brackets == 0;
    if (between && i > begin) words.push_back(text.substr(begin, i - begin));
    if (between) begin = i + 1;
  }
  require(!in_quotes && brackets == 0, "a quote or a bracket is not closed");
  return words;
}

std::vector<std::string_view> Arguments::list(size_t i) const {
  std::string_view text = words_[i];
  require(text.size() >= 2 && text.front() == '[' && text.back() == ']',
          [&] { return fmt::format("'{}' should be a list: [a, b]", text); });
  return words_of(text.substr(1, text.size() - 2));
}

std::span<const Primitive> primitives() {
  return kPrimitives;
}

std::vector<Step> steps_of(std::string_view text) {
  std::vector<Step> steps;
  bool in_quotes = false, in_comment = false;
  size_t begin = 0;
  auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  auto add = [&](size_t end) {
    while (begin < end && is_blank(text[begin])) ++begin;
    while (end > begin && is_blank(text[end - 1])) --end;
    if (end > begin) steps.push_back({text.substr(begin, end - begin), begin});
  };
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    const bool ends_line = c == '\n', starts_comment = c == '#' && !in_quotes && (i == 0 || is_blank(text[i - 1]));
    if (in_quotes && c == '\\') ++i;
    if (c == '"' && !in_comment) in_quotes = !in_quotes;
    if (!in_comment && (ends_line || starts_comment || (c == ';' && !in_quotes))) add(i), begin = i + 1;
    if (starts_comment) in_comment = true;
    if (ends_line) in_comment = in_quotes = false, begin = i + 1;
  }
  return steps;
}

std::string in_one_line(std::string_view trace) {
  std::string line;
  for (const Step& step : steps_of(trace)) line += (line.empty() ? "" : "; ") + std::string(step.text);
  return line;
}

bool changes_bits(std::string_view trace) {
  auto changes = [](const Step& step) {
    const std::string_view name = step.text.substr(0, step.text.find(' '));
    return std::any_of(kPrimitives.begin(), kPrimitives.end(),
                       [&](const Primitive& one) { return one.name == name && one.changes_bits; });
  };
  const std::vector<Step> steps = steps_of(trace);
  return std::any_of(steps.begin(), steps.end(), changes);
}

void apply(Schedule& s, std::string_view step) {
  std::vector<std::string_view> words = words_of(step);
  require(!words.empty(), "a step begins with the name of a primitive");
  auto found =
      std::find_if(kPrimitives.begin(), kPrimitives.end(), [&](const Primitive& p) { return p.name == words[0]; });
  require(found != kPrimitives.end(), [&] {
    std::string known;
    for (const Primitive& one : kPrimitives) known += (known.empty() ? "" : ", ") + std::string(one.name);
    return fmt::format("there is no primitive '{}'; the primitives are {}", words[0], known);
  });
  const Arguments arguments(s, {words.begin() + 1, words.end()});
  require(arguments.size() == words_of(found->arguments).size(), [&] {
    return fmt::format("'{}' has {} arguments, and here are {}: {} {}", found->name, words_of(found->arguments).size(),
                       arguments.size(), found->name, found->arguments);
  });
  found->apply(s, arguments);
}

}  // namespace relaxc::schedule
