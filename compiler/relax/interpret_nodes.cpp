// interpret_nodes.cpp: algebraic data.
//
// A value is the number of its node, or, where the constructor has no fields, -1 - tag; compiled code numbers nodes
// otherwise (lower/host/nodes.cpp), and no program can tell.
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/op_def.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

/// The number of nodes that compiled code makes unless --max-data-nodes says otherwise.
constexpr size_t kMostNodes = 100'000;

bool Frame::run_node(const Op& op) {
  if (op.is("adt.construct")) {
    const int64_t tag = op.attrs.integer("tag");
    int64_t made = -1 - tag;
    if (!op.operands().empty()) {
      if (program_.nodes.size() == kMostNodes)
        return values_.fail(kNodeLimit, origin_text(op), kMostNodes, kMostNodes + 1);
      made = static_cast<int64_t>(program_.nodes.size());
      program_.nodes.push_back({tag, values_.of_all(op.operands())});
    }
    values_.set(op.result(), {part_of(DType::i(64), made)});
    return true;
  }
  const int64_t value = cell_of(*values_.of(op.operand(0))[0]);
  const auto count = static_cast<int64_t>(program_.nodes.size());
  if (value >= count) return values_.fail(kIndexRange, origin_text(op), count, value);
  if (op.is("adt.field")) return take_field(op, value);
  const int64_t tag = value < 0 ? -1 - value : program_.nodes[static_cast<size_t>(value)].tag;
  values_.set(op.result(), {part_of(DType::i(64), tag)});
  return true;
}

bool Frame::take_field(const Op& op, int64_t value) {
  const int64_t tag = op.attrs.integer("tag");
  if (value < 0) return values_.fail(kDataBound, origin_text(op), tag, -1 - value);
  const Node& node = program_.nodes[static_cast<size_t>(value)];
  if (node.tag != tag) return values_.fail(kDataBound, origin_text(op), tag, node.tag);
  const auto index = static_cast<size_t>(op.attrs.integer("index"));
  if (index >= node.fields.size()) return values_.fail(kIndexRange, origin_text(op));
  std::shared_ptr<HostTensor> read;
  if (!values_.allocate(op.result()->dtype(), op.result()->shape(), read, label(op))) return false;
  const HostTensor& stored = *node.fields[index];
  if (stored.bytes.size() != read->bytes.size())
    return values_.fail(kDataBound, origin_text(op), static_cast<int64_t>(read->bytes.size()),
                        static_cast<int64_t>(stored.bytes.size()));
  read->bytes = stored.bytes;
  values_.set(op.result(), {std::move(read)});
  return true;
}

}  // namespace relaxc::relax::interpreter
