// scope.h: nested scopes of names.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend {

/// A stack of frames. A binding replaces an earlier one of the same name in the same frame, as an assignment in Python
/// does.
template <typename T>
class Scope {
 public:
  struct Binding {
    T value;
    Place place;
    size_t order = 0;
  };
  using Frame = std::map<std::string, Binding, std::less<>>;

  Scope() { push(); }
  void push() { frames_.emplace_back(); }
  /// Removes the innermost frame and returns it.
  Frame pop() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    return frame;
  }
  /// Opens a frame, until it is destroyed or left.
  class Inner {
   public:
    explicit Inner(Scope& scope) : scope_(&scope) { scope.push(); }
    Inner(const Inner&) = delete;
    ~Inner() {
      if (scope_ != nullptr) scope_->pop();
    }
    Frame leave() { return std::exchange(scope_, nullptr)->pop(); }

   private:
    Scope* scope_;
  };
  void bind(const std::string& name, T value, Place place) {
    frames_.back().insert_or_assign(name, Binding{std::move(value), place, next_order_++});
  }
  void bind_outermost(const std::string& name, T value, Place place) {
    frames_.front().insert_or_assign(name, Binding{std::move(value), place, next_order_++});
  }
  Binding* find(std::string_view name) {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
      if (auto it = frame->find(name); it != frame->end()) return &it->second;
    return nullptr;
  }
  /// Returns the visible names for which `wanted` is true, the latest first.
  template <typename Wanted>
  std::vector<std::string> names(Wanted wanted) const {
    std::map<size_t, std::string, std::greater<>> by_order;
    for (const Frame& frame : frames_)
      for (const auto& [name, binding] : frame)
        if (wanted(binding.value)) by_order.emplace(binding.order, name);
    std::vector<std::string> out;
    for (auto& [order, name] : by_order) out.push_back(name);
    return out;
  }

 private:
  std::vector<Frame> frames_;
  size_t next_order_ = 0;
};

}  // namespace relaxc::frontend
