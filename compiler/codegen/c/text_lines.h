// text_lines.h: indented lines of C, while they are written.
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
  /// A line that ends in a brace; what follows is inside of it until `close`.
  void open(const std::string& head) {
    line("{}", head);
    ++indent_;
  }
  void close() {
    --indent_;
    line("}}");
  }

  /// Where the next line begins.
  size_t place() const { return text_.size(); }
  /// A line between others: it has the indentation of now.
  void line_at(size_t place, const std::string& text) {
    text_.insert(place, std::string(static_cast<size_t>(indent_) * 2, ' ') + text + "\n");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int indent_ = 0;
};

}  // namespace relaxc::codegen_c
