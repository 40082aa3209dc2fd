// server.cpp: answers requests about the open texts.
//
// One thread does everything. A change is read at once, which takes milliseconds and finds nearly all errors. The
// passes run when the editor has been quiet for a moment, and stop as soon as it writes again.
//
// The protocol: Language Server Protocol 3.17. Texts are synchronized whole.
#include "compiler/language_server/server.h"

#include <fmt/format.h>

#include <map>

#include "compiler/api/version.h"
#include "compiler/language_server/connection.h"
#include "compiler/language_server/operator_text.h"
#include "compiler/language_server/problems.h"
#include "compiler/ops/op_table.h"

namespace relaxc::language_server {
namespace {

constexpr int kQuietMilliseconds = 150;
constexpr size_t kMostText = size_t{256} << 20;  ///< bytes of all open texts together

/// Numbers of the protocol.
enum SymbolKind : int { kSymbolModule = 2, kSymbolFunction = 12 };
enum CompletionKind : int { kCompleteFunction = 3, kCompleteVariable = 6 };

struct Refusal {
  ErrorCode code;
  std::string why;
};

class Server {
 public:
  Server(const api::CompileOptions& options, int input, int output)
      : options_(options), connection_(input, output), ops_(ops::op_table()) {}

  int run() {
    while (!exited_) {
      if (!connection_.has_input(kQuietMilliseconds) && check_next()) continue;
      std::optional<std::variant<Json, Connection::Invalid>> message = connection_.read();
      if (!message) break;
      if (const auto* invalid = std::get_if<Connection::Invalid>(&*message))
        connection_.refuse(nullptr, kParseError, invalid->why);
      else
        handle(std::get<Json>(*message));
    }
    return exited_ && shut_down_ ? 0 : 1;
  }

 private:
  void handle(const Json& message) {
    const bool valid = message.is_object() && message.contains("method") && message["method"].is_string();
    // A response to a request of ours would have no method, and there are none.
    if (!valid) {
      const bool response = message.is_object() && (message.contains("result") || message.contains("error"));
      if (!response) connection_.refuse(nullptr, kInvalidRequest, "a message has no method");
      return;
    }
    const auto method = message["method"].get<std::string>();
    const Json params = message.value("params", Json::object());
    if (!message.contains("id")) return notified(method, params);
    const Json& id = message["id"];
    try {
      connection_.answer(id, requested(method, params));
    } catch (const Refusal& refusal) {
      connection_.refuse(id, refusal.code, refusal.why);
    } catch (const Json::exception& error) {
      connection_.refuse(id, kInvalidParams, error.what());
    }
  }

  Json requested(const std::string& method, const Json& params) {
    if (method == "initialize") return initialize();
    if (!initialized_) throw Refusal{kNotInitialized, "'initialize' comes first"};
    if (shut_down_) throw Refusal{kInvalidRequest, "the server was shut down"};
    if (method == "shutdown") return shut_down_ = true, nullptr;
    if (method == "textDocument/hover") return hover(params);
    if (method == "textDocument/definition") return definition(params);
    if (method == "textDocument/completion") return completion(params);
    if (method == "textDocument/documentSymbol") return symbols(params);
    throw Refusal{kMethodNotFound, fmt::format("there is no method '{}'", method)};
  }

  void notified(const std::string& method, const Json& params) {
    if (method == "exit") exited_ = true;
    if (!initialized_ || shut_down_) return;
    try {
      if (method == "textDocument/didOpen") {
        const Json& document = params.at("textDocument");
        open(document.at("uri"), document.at("text"), version_of(document));
      } else if (method == "textDocument/didChange") {
        const Json& changes = params.at("contentChanges");
        if (!changes.is_array() || changes.empty()) return log("a change without a text was ignored");
        if (changes.back().contains("range"))
          return log("a change of a part was ignored: texts are synchronized whole");
        const Json& document = params.at("textDocument");
        open(document.at("uri"), changes.back().at("text"), version_of(document));
      } else if (method == "textDocument/didClose") {
        close(params.at("textDocument").at("uri"));
      }
    } catch (const Json::exception& error) {
      log(fmt::format("'{}' was ignored: {}", method, error.what()));
    }
  }

  /// Returns the version of a text; 0 if the editor gives none, or null.
  static int64_t version_of(const Json& document) {
    const auto version = document.find("version");
    return version != document.end() && version->is_number_integer() ? version->get<int64_t>() : 0;
  }

  void log(const std::string& text) { connection_.notify("window/logMessage", {{"type", 2}, {"message", text}}); }

  Json initialize() {
    initialized_ = true;
    return {{"capabilities",
             {{"positionEncoding", "utf-16"},
              {"textDocumentSync", {{"openClose", true}, {"change", 1}}},
              {"hoverProvider", true},
              {"definitionProvider", true},
              {"documentSymbolProvider", true},
              {"completionProvider", {{"triggerCharacters", {"."}}}}}},
            {"serverInfo", {{"name", "relaxc"}, {"version", api::kVersion}}}};
  }

  // ---- texts ----

  void open(const std::string& uri, const std::string& text, int64_t version) {
    documents_.erase(uri);
    size_t bytes = text.size();
    for (const auto& [other, document] : documents_) bytes += document->text.size();
    if (bytes > kMostText) return log(fmt::format("'{}' was ignored: the open texts have {} bytes", uri, bytes));
    auto document = std::make_unique<Document>(uri, text);
    document->version = version;
    try {
      if (document->language == Language::kRelax)
        document->names = std::make_unique<NameIndex>(document->path, document->text, ops_);
    } catch (const std::exception& error) {  // problems() publishes it
      log(error.what());
    }
    if (auto list = problems(*document, Depth::kRead, options_, ops_, {})) publish(*document, *list);
    // What the reader refuses, no pass sees, and a schedule file has no passes.
    documents_.emplace(uri, std::move(document));
  }

  void close(const std::string& uri) {
    if (documents_.erase(uri) != 0)
      connection_.notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
  }

  void publish(Document& document, const Json& list) {
    document.checked = !list.empty() || document.language == Language::kSchedules;
    connection_.notify("textDocument/publishDiagnostics",
                       {{"uri", document.uri}, {"version", document.version}, {"diagnostics", list}});
  }

  /// Runs the passes for a text that was only read so far; false if there is none.
  bool check_next() {
    for (auto& [uri, document] : documents_) {
      if (document->checked) continue;
      auto list = problems(*document, Depth::kPasses, options_, ops_, [this] { return connection_.has_input(0); });
      if (!list) return true;
      document->checked = true;
      if (!list->empty()) publish(*document, *list);
      return true;
    }
    return false;
  }

  /// Returns the text that a request is about.
  const Document& document_of(const Json& params) const {
    auto known = documents_.find(params.at("textDocument").at("uri").get<std::string>());
    if (known == documents_.end()) throw Refusal{kInvalidParams, "the text is not open"};
    return *known->second;
  }

  static size_t byte_of(const Document& document, const Json& params) {
    const Json& position = params.at("position");
    return document.lines.byte({position.at("line").get<uint64_t>(), position.at("character").get<uint64_t>()});
  }

  // ---- requests ----

  Json hover(const Json& params) const {
    const Document& document = document_of(params);
    if (document.names == nullptr) return nullptr;
    const Mention mention = document.names->mention_at(byte_of(document, params));
    std::string code, doc;
    if (const Definition* known = document.names->meaning(mention)) {
      const FunctionExtent* function = document.names->function_of(*known);
      code = function != nullptr ? function->signature : known->name + (known->type.empty() ? "" : ": " + known->type);
    } else if (const relax::OpDef* op = mention.parts.empty() ? nullptr : operator_of(ops_, mention.path())) {
      code = signature(*op), doc = op->doc;
    } else {
      return nullptr;
    }
    return {{"contents", {{"kind", "markdown"}, {"value", fmt::format("```relax\n{}\n```\n{}", code, doc)}}},
            {"range", range_of(document, mention.place.begin, mention.place.end())}};
  }

  Json definition(const Json& params) const {
    const Document& document = document_of(params);
    if (document.names == nullptr) return nullptr;
    const Definition* known = document.names->meaning(document.names->mention_at(byte_of(document, params)));
    if (known == nullptr) return nullptr;
    return {{"uri", document.uri}, {"range", range_of(document, known->place.begin, known->place.end())}};
  }

  Json completion(const Json& params) const {
    const Document& document = document_of(params);
    Json items = Json::array();
    if (document.names == nullptr) return items;
    const size_t end = byte_of(document, params);
    size_t begin = end;  // of the path before the cursor
    auto in_path = [](char c) { return c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
    while (begin > 0 && in_path(document.text[begin - 1])) --begin;
    const std::string path = document.text.substr(begin, end - begin);
    auto add = [&](const std::string& label, int kind, const std::string& detail, std::string_view doc) {
      if (label.rfind(path, 0) != 0) return;
      const Json edit = {{"range", range_of(document, begin, end)}, {"newText", label}};
      items.push_back(
          {{"label", label}, {"kind", kind}, {"detail", detail}, {"textEdit", edit}, {"filterText", label}});
      if (!doc.empty()) items.back()["documentation"] = doc;
    };
    if (path.rfind("R.", 0) == 0)
      for (const relax::OpDef* op : ops_.all())
        add("R." + std::string(op->name.text()), kCompleteFunction, signature(*op), op->doc);
    else
      for (const Definition* one : document.names->visible_at(begin)) {
        const bool function = document.names->function_of(*one) != nullptr;
        add(one->name, function ? kCompleteFunction : kCompleteVariable, one->type, {});
      }
    return items;
  }

  Json symbols(const Json& params) const {
    const Document& document = document_of(params);
    return document.names == nullptr ? Json::array() : symbols_in(document, -1);
  }

  static Json symbols_in(const Document& document, int32_t outer) {
    Json list = Json::array();
    const std::vector<FunctionExtent>& all = document.names->functions();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].outer != outer) continue;
      const Definition& definition = document.names->definitions()[all[i].definition];
      list.push_back(
          {{"name", definition.name},
           {"kind", static_cast<int>(definition.kind == Definition::kModule ? kSymbolModule : kSymbolFunction)},
           {"range", range_of(document, all[i].range.begin, all[i].range.end())},
           {"selectionRange", range_of(document, definition.place.begin, definition.place.end())},
           {"children", symbols_in(document, static_cast<int32_t>(i))}});
    }
    return list;
  }

  const api::CompileOptions& options_;
  Connection connection_;
  relax::OpTable ops_;
  std::map<std::string, std::unique_ptr<Document>> documents_;  ///< by URI
  bool initialized_ = false, shut_down_ = false, exited_ = false;
};

}  // namespace

int serve(const api::CompileOptions& options, int input, int output) {
  return Server(options, input, output).run();
}

}  // namespace relaxc::language_server
