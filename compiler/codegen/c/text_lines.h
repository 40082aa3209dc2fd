// text_lines.h: builds C text of indented lines.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace relaxc::codegen_c {

class TextLines {
 public:
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    text_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + fmt::format(text, std::forward<Args>(args)...) + "\n";
  }
  /// Adds a line that ends in a brace; lines up to `close` are indented further.
  void open(const std::string& head) {
    line("{}", head);
    ++indent_;
  }
  void close() {
    --indent_;
    line("}}");
  }

  /// The position at which the next line begins.
  size_t place() const { return text_.size(); }
  /// Inserts a line at an earlier position, with the current indentation.
  void line_at(size_t place, const std::string& text) {
    text_.insert(place, std::string(static_cast<size_t>(indent_) * 2, ' ') + text + "\n");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int indent_ = 0;
};

}  // namespace relaxc::codegen_c
