// device.cpp: reads device hints.
//
// Hints for a CPU are accepted, since a module that was printed for a CPU is full of them, and ignored: an object
// file runs on one CPU. A hint for another device is an error, because ignoring it would change what the program
// says.
#include "frontends/relax/function/infos.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// Returns the kind in a target's text: "llvm" for "llvm:0" and for "llvm -mcpu=skylake".
std::string_view target_kind(std::string_view text) {
  return text.substr(0, text.find_first_of(": "));
}

bool is_cpu(std::string_view kind) {
  return kind == "llvm" || kind == "cpu" || kind == "c" || kind.empty();
}

}  // namespace

/// Checks a device: "llvm:0", R.cpu(0), R.device("cpu", 0), I.vdevice("llvm", 0, "global"), {"kind": "llvm"}.
Status check_device(SourceText& source, const ast::Expr& e) {
  std::string kind = "cpu";
  if (e.is(AstKind::kString)) {
    kind = target_kind(e.text);
  } else if (e.is(AstKind::kDict)) {
    for (size_t i = 0; i + 1 < e.items.size(); i += 2)
      if (e.items[i]->text == "kind") return check_device(source, *e.items[i + 1]);
  } else if (e.is(AstKind::kCall)) {
    std::string path = dotted_path(*e.items[0]).value_or("");
    std::string last = path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1);
    bool named = last == "device" || last == "vdevice" || last == "Device" || last == "VDevice";
    if (named && e.items.size() > 1) return check_device(source, *e.items[1]);
    if (named && e.keyword("target") != nullptr) return check_device(source, *e.keyword("target")->value);
    if (!named) kind = last;
  }
  if (is_cpu(kind)) return Done{};
  return source.error(e.place, Kind::unsupported, "an object file runs on one CPU (\"llvm\"), found the device '{}'",
                      kind);
}

}  // namespace relaxc::frontend
