// nest_groups.cpp: see nest_groups.h.
#include "compiler/schedule/analysis/nest_groups.h"

#include "compiler/schedule/analysis/nests.h"

namespace relaxc::schedule {
namespace {

using analysis::Nest;

bool is_start(const Nest& nest) {
  return is_reduction(nest) && is_normal(nest);
}

/// Whether nest `i` only initializes the reduction that follows it.
bool fills_next(const std::vector<Nest>& nests, size_t i) {
  return i + 1 < nests.size() && is_start(nests[i + 1]) && initializes(nests[i], nests[i + 1]);
}

/// The index after the consumers of the reduction at `i`.
size_t end_of_group(const std::vector<Nest>& nests, size_t i) {
  std::vector<BufferRef> results{nests[i].store->buffer};
  size_t next = i + 1;
  for (; next < nests.size() && joins(nests[next], nests[i], results) && !fills_next(nests, next); ++next)
    results.push_back(nests[next].store->buffer);
  return next;
}

}  // namespace

std::vector<NestGroup> nest_groups(const std::vector<Stmt>& parts) {
  std::vector<Nest> nests;
  for (Stmt part : parts) nests.push_back(analysis::as_nest(part));
  std::vector<NestGroup> groups;
  for (size_t begin = 0; begin < nests.size(); begin = groups.back().end) {
    NestGroup group{.begin = begin, .end = begin + 1, .blocks = {}};
    group.fills = fills_next(nests, begin);
    const size_t first = group.fills ? begin + 1 : begin;
    group.reduces = is_start(nests[first]);
    if (group.reduces) group.end = end_of_group(nests, first);
    for (size_t i = begin; i < group.end; ++i)
      if (nests[i].block != nullptr) group.blocks.push_back(nests[i].block->id);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<NestGroup> without_consumers(const NestGroup& group) {
  std::vector<NestGroup> alone;
  const size_t reduction = group.begin + (group.fills ? 1 : 0);
  for (size_t i = reduction; i < group.end; ++i) {
    const bool first = i == reduction;
    const size_t begin = first ? group.begin : i;
    NestGroup one{.begin = begin, .end = i + 1, .blocks = {}, .reduces = first, .fills = first && group.fills};
    for (size_t place = begin; place <= i; ++place) one.blocks.push_back(group.blocks[place - group.begin]);
    alone.push_back(std::move(one));
  }
  return alone;
}

}  // namespace relaxc::schedule
