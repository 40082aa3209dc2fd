// strongly_connected_components.cpp: strongly connected components in linear time.
#include "compiler/analysis/strongly_connected_components.h"

#include <algorithm>

namespace relaxc::analysis {
namespace {

class Walk {
 public:
  explicit Walk(const std::vector<std::vector<size_t>>& next) : next_(next), state_(next.size()) {}

  std::vector<std::vector<size_t>> run() {
    for (size_t i = 0; i < next_.size(); ++i)
      if (state_[i].entered == 0) visit(i);
    return std::move(found_);
  }

 private:
  struct State {
    size_t entered = 0, lowest = 0;  ///< 0: not visited yet
    size_t followed = 0;             ///< how many of its edges were followed
    bool open = false;               ///< on the stack
  };

  void visit(size_t root) {
    std::vector<size_t> path = {root};
    while (!path.empty()) {
      size_t node = path.back();
      State& at = state_[node];
      if (at.entered == 0) enter(node);
      if (at.followed < next_[node].size()) {
        const State& other = state_[next_[node][at.followed]];
        if (other.entered == 0) {
          path.push_back(next_[node][at.followed]);  // this node is looked at again when that one is done
          continue;
        }
        if (other.open) at.lowest = std::min(at.lowest, other.lowest);
        ++at.followed;
        continue;
      }
      if (at.lowest == at.entered) leave(node);
      path.pop_back();
    }
  }

  void enter(size_t node) {
    state_[node].entered = state_[node].lowest = ++count_;
    state_[node].open = true;
    stack_.push_back(node);
  }

  void leave(size_t first) {
    std::vector<size_t>& part = found_.emplace_back();
    do {
      part.push_back(stack_.back());
      state_[stack_.back()].open = false;
      stack_.pop_back();
    } while (part.back() != first);
    std::sort(part.begin(), part.end());
  }

  const std::vector<std::vector<size_t>>& next_;
  std::vector<State> state_;
  std::vector<size_t> stack_;
  size_t count_ = 0;
  std::vector<std::vector<size_t>> found_;
};

}  // namespace

std::vector<std::vector<size_t>> strongly_connected_components(const std::vector<std::vector<size_t>>& next) {
  return Walk(next).run();
}

}  // namespace relaxc::analysis
