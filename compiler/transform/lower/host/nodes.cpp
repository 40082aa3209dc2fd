// nodes.cpp: algebraic data: the memory of nodes.
//
// The problem: lists and trees that a program builds have as many nodes as the data says, and live as long as somebody
// may reach them.
//
// The method: a node never changes, so it may be copied, and one that is no longer reached does no harm. All nodes of a
// run are in one block of the run's heap, one behind another; the block doubles when it is full, and moves then. A
// value is therefore not an address but the node's place, in words of 8 bytes; a constructor without fields needs no
// node, and is -1 - tag. A node is its tag, the number n of its fields, n + 1 words with the places of the fields and
// of its end, and the fields, which are copied in and out. The runtime knows none of it but three words of the heap's
// record. --max-data-nodes bounds the nodes of a run; its block is the caller's memory again when the run ends.
//
// Values come from the program, and what reads them relies on nothing: a place beyond the nodes, another constructor
// and a field of another size end the run with a status.
//
// Rejected: counting references (all passes would have to keep count), a block for each node (headers and rounding to
// powers of two cost more than small nodes do), and pools as tensors that functions hand on (each call would copy
// them).
#include "compiler/tir/runtime_functions.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

constexpr int64_t kNodesWord = 59, kNodeWordsWord = 61, kNodeCountWord = 62;  ///< RLX_HEAP_…; tests/unit/lower compares
constexpr int64_t kWord = 8;
constexpr int64_t kHeadWords = 2;  ///< tag and number of fields

class NodeLowering {
 public:
  NodeLowering(HostLowering& host, Op& op)
      : host_(host), op_(op), at_(host.at), build_(host.at.build()), record_(host.heap.buffer()) {}

  void construct();
  void tag();
  void field();

 private:
  Expr index(int64_t value) { return build_.index(value); }
  /// A number from memory, from here on.
  Var number(const char* name, BufferRef memory, int64_t word);
  Var heap_number(const char* name, int64_t word) { return number(name, record_, word); }
  void store(BufferRef memory, int64_t word, Expr value) {
    at_.add(build_.store(memory, {index(word)}, arith::cast(DType::i(64), value)));
  }
  void require(Expr condition, StatusCode code, Expr expected, Expr actual, const Found& found);
  /// `words` words of the nodes at the place `at`.
  BufferRef words_at(const char* name, Expr at, int64_t words);
  BufferRef memory_at(const char* name, Expr at, DType dtype, std::vector<Expr> shape);
  Expr words_of(DType dtype, const std::vector<Expr>& shape);
  /// The value that operand 0 is, which is a node with a tag.
  Var operand();
  tir::Stmt stored_tag(Var value, BufferRef result);
  void give(Expr value);

  HostLowering& host_;
  Op& op_;
  InsertionPoint& at_;
  tir::Builder& build_;
  BufferRef record_;
};

Var NodeLowering::number(const char* name, BufferRef memory, int64_t word) {
  Var made = at_.context().var(name);
  host_.shapes.symbols().add_data(made, Expr(), false);
  at_.let(made, arith::cast(DType::index(), build_.load(memory, {index(word)})));
  return made;
}

void NodeLowering::require(Expr condition, StatusCode code, Expr expected, Expr actual, const Found& found) {
  tir::Guard record;
  record.condition = condition;
  record.code = code, record.expected = expected, record.actual = actual;
  host_.shapes.add_guard(std::move(record), found);
}

BufferRef NodeLowering::memory_at(const char* name, Expr at, DType dtype, std::vector<Expr> shape) {
  Expr address = block_word(build_, record_, kNodesWord) + at * kWord;
  Var begin = at_.context().var(std::string(name) + "_at");
  at_.let(begin, address);
  BufferRef seen = build_.buffer(name, dtype, std::move(shape), tir::Scope::kGlobal, 0);
  at_.steps().view(seen, nullptr, begin);
  return seen;
}

BufferRef NodeLowering::words_at(const char* name, Expr at, int64_t words) {
  return memory_at(name, at, DType::i(64), {index(words)});
}

Expr NodeLowering::words_of(DType dtype, const std::vector<Expr>& shape) {
  return arith::floordiv(host_.shapes.bytes_of(dtype, shape) + (kWord - 1), kWord);
}

void NodeLowering::give(Expr value) {
  BufferRef memory = host_.destinations.produce(*op_.result());
  at_.add(build_.store(memory, {}, arith::cast(DType::i(64), value)));
  host_.values.slot(*op_.result()).buffer = memory;
}

void NodeLowering::construct() {
  const int64_t tag = op_.attrs.integer("tag"), fields = static_cast<int64_t>(op_.operands().size());
  if (fields == 0) return give(index(-1 - tag));
  std::vector<Expr> places{index(kHeadWords + fields + 1)};
  for (const Value* value : op_.operands())
    places.push_back(places.back() + words_of(value->dtype(), host_.shapes.dims(value->info)));
  Expr limit = index(host_.shared.context.max_data_nodes);
  Expr count = heap_number("nodes", kNodeCountWord) + 1;
  require(arith::le(count, limit), kNodeLimit, limit, count, {Finding::kNodes});
  store(record_, kNodeCountWord, count);
  Var place = heap_number("node", kNodeWordsWord);
  Expr end = place + places.back();
  BufferRef block =
      host_.memory.view_as(record_, "nodes_block", DType::i(64), {index(tir::kBlockWords)}, index(kNodesWord * kWord));
  at_.add(host_.heap.reserve(block, place * kWord, end * kWord));
  store(record_, kNodeWordsWord, end);
  BufferRef head = words_at("node_head", place, kHeadWords + fields + 1);
  store(head, 0, index(tag)), store(head, 1, index(fields));
  for (int64_t k = 0; k <= fields; ++k) store(head, kHeadWords + k, places[static_cast<size_t>(k)]);
  for (size_t k = 0; k < op_.operands().size(); ++k) {
    const Value& value = *op_.operand(k);
    const Dims dims = host_.shapes.dims(value.info);
    host_.memory.copy(host_.values.buffer(value), memory_at("node_field", place + places[k], value.dtype(), dims));
  }
  give(place);
}

Var NodeLowering::operand() {
  Var value = at_.context().var("value");
  host_.shapes.symbols().add_data(value, Expr(), false);
  at_.let(value, arith::cast(DType::index(), host_.values.scalar(*op_.operand(0))));
  return value;
}

/// Of a value that is a node, as a statement.
tir::Stmt NodeLowering::stored_tag(Var value, BufferRef result) {
  InsertionPoint::Nested node(at_, 1);
  Symbols::Scope known(host_.shapes.symbols(), true);
  Var words = heap_number("node_words", kNodeWordsWord);
  require(arith::le(value + kHeadWords, words), kIndexRange, words, value, {Finding::kAtMost, "a node"});
  BufferRef head = words_at("node_head", value, kHeadWords);
  at_.add(build_.store(result, {}, build_.load(head, {index(0)})));
  return node.finish();
}

void NodeLowering::tag() {
  Var value = operand();
  BufferRef result = host_.destinations.produce(*op_.result());
  host_.values.slot(*op_.result()).buffer = result;
  tir::Stmt of_node = stored_tag(value, result);
  tir::Stmt bare = build_.store(result, {}, arith::cast(DType::i(64), index(-1) - value));
  at_.add(build_.branch(arith::le(index(0), value), of_node, bare));
}

void NodeLowering::field() {
  const int64_t wanted = op_.attrs.integer("tag"), which = op_.attrs.integer("index");
  Var value = operand();
  const Found other{Finding::kTag};
  if (wanted < 0)
    require(at_.context().boolean(false), kDataBound, index(1), index(0),
            {Finding::kExact, "the number of clauses that fit"});
  require(arith::le(index(0), value), kDataBound, index(wanted), index(-1) - value, other);
  Var words = heap_number("node_words", kNodeWordsWord);
  require(arith::le(value + kHeadWords, words), kIndexRange, words, value, {Finding::kAtMost, "a node"});
  BufferRef head = words_at("node_head", value, kHeadWords);
  Var tag = number("node_tag", head, 0), fields = number("node_fields", head, 1);
  require(arith::eq(tag, index(wanted)), kDataBound, index(wanted), tag, other);
  require(arith::logical_and(arith::lt(index(which), fields), arith::lt(fields, words - value - kHeadWords)),
          kIndexRange, fields, index(which), {Finding::kAtMost, "a field"});
  BufferRef ends = words_at("node_places", value + (kHeadWords + which), 2);
  Var begin = number("field_begin", ends, 0), end = number("field_end", ends, 1);
  const std::vector<Expr> shape = host_.shapes.dims(op_.result()->info);
  Expr size = words_of(op_.result()->dtype(), shape);
  Expr inside = arith::logical_and(arith::le(index(0), begin), arith::le(end, words - value));
  require(arith::logical_and(inside, arith::eq(end, begin + size)), kDataBound, size, end - begin,
          {Finding::kExact, "a field's number of words"});
  BufferRef result = host_.destinations.produce(*op_.result());
  host_.memory.copy(memory_at("node_field", value + begin, op_.result()->dtype(), shape), result);
  host_.values.slot(*op_.result()).buffer = result;
}

}  // namespace

Status lower_node(HostLowering& host, Op& op) {
  NodeLowering lowering(host, op);
  if (op.is("adt.construct")) lowering.construct();
  if (op.is("adt.tag")) lowering.tag();
  if (op.is("adt.field")) lowering.field();
  return Done{};
}

}  // namespace relaxc::lower
