// relax_form.cpp: forms that compute nothing of their own: explicit emission, where a value lives, marks for passes.
//
// A hint about a device is read, since a module printed for a CPU is full of them, and means nothing more: an object
// file runs on one CPU. A hint that names another device is an error, because dropping it would drop what the program
// says.
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// "llvm" of "llvm:0" and of "llvm -mcpu=skylake".
std::string_view target_kind(std::string_view text) {
  return text.substr(0, text.find_first_of(": "));
}

bool is_cpu(std::string_view kind) {
  return kind == "llvm" || kind == "cpu" || kind == "c" || kind.empty();
}

}  // namespace

/// A device: "llvm:0", R.cpu(0), R.device("cpu", 0), I.vdevice("llvm", 0, "global"), a dict {"kind": "llvm"}.
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

/// The forms that give their operand; `known` is false for any other.
Result<Term> RelaxFunctionReader::transparent(const std::string& path, const ast::Expr& e, bool& known) {
  struct Form {
    std::string_view path;
    size_t least, most;
  };
  static constexpr Form kForms[] = {
      {"R.emit", 1, 2},
      {"R.to_vdevice", 2, 2},
      {"R.hint_on_device", 1, 3},
      {"R.stop_lift_params", 1, 1},
      {"R.builtin.stop_lift_params", 1, 1},
      {"R.grad.no_grad", 1, 1},
      {"R.grad.start_checkpoint", 1, 1},
      {"R.grad.end_checkpoint", 1, 1},
      {"R.str", 1, 1},
      {"R.dtype", 1, 1},
  };
  const Form* form = nullptr;
  for (const Form& row : kForms)
    if (row.path == path) form = &row;
  known = form != nullptr;
  if (!known) return Term();
  size_t given = e.items.size() - 1 + e.keywords.size();
  if (e.items.size() < 2 || given < form->least || given > form->most)
    return source_.error(e.place, Kind::wrong_arity, "{} takes {}{} arguments, found {}", path, form->least,
                         form->least == form->most ? "" : " to " + std::to_string(form->most), given);
  Result<Term> operand = eval(*e.items[1]);
  const ast::Expr* second = e.items.size() > 2 ? e.items[2] : nullptr;
  for (std::string_view name : {"dst_vdevice", "dst_device"})
    if (const ast::Keyword* keyword = e.keyword(name)) second = keyword->value;
  if (path == "R.emit") {
    for (std::string_view name : {"annotate_struct_info", "annotate_ty"})
      if (const ast::Keyword* keyword = e.keyword(name)) second = keyword->value;
    if (!operand || second == nullptr) return operand;
    return annotate(*operand, *second);
  }
  if (second != nullptr) RELAXC_DO(check_device(source_, *second));
  return operand;
}

}  // namespace relaxc::frontend
