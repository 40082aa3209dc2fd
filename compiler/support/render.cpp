// render.cpp: formats messages for users, with the source line and a caret if there is one.
#include <fmt/color.h>

#include "compiler/support/diagnostics.h"
#include "compiler/support/quote.h"

namespace relaxc {
namespace {

class Renderer {
 public:
  explicit Renderer(RenderOptions options) : options_(options) {}

  void message(const Diagnostic& diagnostic) {
    bool error = diagnostic.severity == Severity::kError;
    out_ += place(diagnostic.location);
    out_ += paint(error ? "error: " : "warning: ", error ? fmt::color::red : fmt::color::dark_orange);
    out_ += printable(node_prefix(diagnostic.location) + diagnostic.text) + "\n";
    quote(diagnostic.location);
    for (const Note& note : diagnostic.notes) {
      out_ += note.location == nullptr ? "        " : place(note.location) + paint("note: ", fmt::color::steel_blue);
      out_ += printable(note.text) + "\n";
      quote(note.location);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  std::string place(Location location) const {
    if (location == nullptr) return "relaxc: ";
    if (const auto* node = std::get_if<NodeOrigin>(location)) return printable(node->file) + ": ";
    return printable(short_name(location)) + ": ";
  }

  static std::string node_prefix(Location location) {
    const auto* node = location == nullptr ? nullptr : std::get_if<NodeOrigin>(location);
    if (node == nullptr) return {};
    if (node->opset == 0) return fmt::format("node '{}' ({}): ", node->node, node->op);  // the format has no opsets
    return fmt::format("node '{}' ({}, opset {}): ", node->node, node->op, node->opset);
  }

  /// Prints the source line with a caret under the span; tabs count as one column on both lines.
  void quote(Location location) {
    const auto* span = location == nullptr ? nullptr : std::get_if<TextSpan>(location);
    if (span == nullptr) return;
    const std::string& text = span->file->text;
    size_t begin = span->begin == 0 ? std::string::npos : text.rfind('\n', span->begin - 1);
    begin = begin == std::string::npos ? 0 : begin + 1;
    size_t end = std::min(text.find('\n', span->begin), text.size());
    std::string line = text.substr(begin, std::min<size_t>(end - begin, kLongestLine));
    size_t column = span->begin - begin;
    if (column > line.size()) return;
    std::string pad;
    for (char c : printable_line(line.substr(0, column))) pad += c == '\t' ? '\t' : ' ';
    size_t marks = std::max<size_t>(1, std::min<size_t>(span->length, end - span->begin));
    std::string caret = "^" + std::string(std::min(marks, kLongestLine) - 1, '~');
    out_ += "    " + printable_line(line) + "\n    " + pad + paint(caret, fmt::color::green) + "\n";
  }

  std::string paint(const std::string& text, fmt::color color) const {
    return options_.color ? fmt::format(fmt::emphasis::bold | fmt::fg(color), "{}", text) : text;
  }

  static constexpr size_t kLongestLine = 240;
  RenderOptions options_;
  std::string out_;
};

}  // namespace

std::string render(const Diagnostics& diagnostics, RenderOptions options) {
  Renderer renderer(options);
  for (const Diagnostic& diagnostic : diagnostics.all()) renderer.message(diagnostic);
  return renderer.take();
}

}  // namespace relaxc
