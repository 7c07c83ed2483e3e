#include "tools/lsp/session.hpp"

#include "codec/parse_json.hpp"
#include "tools/lsp/messages.hpp"

namespace gorgo::tools::lsp {
namespace {

// The codes of JSON-RPC and LSP.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kNotInitialized = -32002;
constexpr int kRequestFailed = -32803;

constexpr std::string_view kAboutDocuments = "textDocument/";

Json capabilities() {
  return {{"textDocumentSync", {{"openClose", true}, {"change", 1}}},
          {"hoverProvider", true},
          {"definitionProvider", true},
          {"referencesProvider", true},
          {"renameProvider", {{"prepareProvider", true}}},
          {"documentSymbolProvider", true},
          {"documentFormattingProvider", true},
          {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}},
          {"completionProvider", {{"triggerCharacters", {".", "$", "(", "@", ":"}}}}};
}

std::string uri_in(const Json& params) { return params.at("textDocument").at("uri"); }

}  // namespace

std::vector<std::string> Session::handle(std::string_view content) {
  const auto message = codec::parse_json<Json>(content);
  if (message.is_discarded()) {
    fail(nullptr, {kParseError, "the message is no JSON"});
  } else {
    dispatch(message);
  }
  return std::exchange(outbox_, {});
}

void Session::dispatch(const Json& message) {
  const bool object = message.is_object();
  const Json id = object && message.contains("id") ? message["id"] : Json();
  const bool has_method = object && message.contains("method") && message["method"].is_string();
  if (!has_method) {
    const bool response = object && (message.contains("result") || message.contains("error"));
    if (!response) fail(id, {kInvalidRequest, "the message has no method"});
    return;
  }
  const std::string method = message["method"];
  const Json params = message.contains("params") ? message["params"] : Json::object();
  if (message.contains("id")) {
    request(id, method, params);
  } else if (state_ != State::created || method == "exit") {
    notify(method, params);
  }
}

void Session::request(const Json& id, const std::string& method, const Json& params) {
  if (state_ == State::created && method != "initialize") {
    return fail(id, {kNotInitialized, "the first request is `initialize`"});
  }
  if (state_ != State::created && (state_ == State::shut_down || method == "initialize")) {
    return fail(id, {kInvalidRequest, "`" + method + "` cannot be asked for now"});
  }
  try {
    const Answer answered = answer(method, params);
    if (answered.failure) return fail(id, *answered.failure);
    send({{"jsonrpc", "2.0"}, {"id", id}, {"result", answered.result}});
  } catch (const Json::exception&) {
    fail(id, {kInvalidParams, "parameters of `" + method + "` are missing or of another type"});
  }
}

void Session::notify(const std::string& method, const Json& params) {
  try {
    if (method == "exit") {
      ended_well_ = state_ == State::shut_down;
      state_ = State::ended;
    } else if (method == "textDocument/didOpen") {
      publish(workspace_.set(uri_in(params), params.at("textDocument").at("text")));
    } else if (method == "textDocument/didChange") {
      const Json& changes = params.at("contentChanges");
      if (changes.empty()) return;
      publish(workspace_.set(uri_in(params), changes.back().at("text")));
    } else if (method == "textDocument/didClose") {
      const std::string uri = uri_in(params);
      publish(uri, Json::array());
      publish(workspace_.close(uri));
    }
  } catch (const Json::exception&) {
    // Nobody waits for an answer.
  }
}

Session::Answer Session::answer(const std::string& method, const Json& params) {
  if (method == "initialize") {
    state_ = State::running;
    return Json{{"capabilities", capabilities()}, {"serverInfo", {{"name", "gorgo"}}}};
  }
  if (method == "shutdown") {
    state_ = State::shut_down;
    return Json();
  }
  if (!method.starts_with(kAboutDocuments)) {
    return Failure{kMethodNotFound, "there is no method `" + method + "`"};
  }
  const std::string uri = uri_in(params);
  const View* view = workspace_.find(uri);
  if (view == nullptr) return Failure{kInvalidParams, uri + " is not open"};
  return answer_about(*view, method, params);
}

Session::Answer Session::answer_about(const View& view, const std::string& method,
                                      const Json& params) const {
  const auto asks = [&](std::string_view about) {
    return std::string_view(method).substr(kAboutDocuments.size()) == about;
  };
  if (asks("formatting")) return formatting_of(view);
  if (asks("documentSymbol")) return outline_of(view);
  if (asks("codeAction")) return code_actions_of(view, to_range(params.at("range")));
  const bool known = asks("hover") || asks("completion") || asks("definition") ||
                     asks("references") || asks("prepareRename") || asks("rename");
  if (!known) return Failure{kMethodNotFound, "there is no method `" + method + "`"};

  const Position position = to_position(params.at("position"));
  if (asks("hover")) return to_json(hover(view, position));
  if (asks("completion")) return to_json(complete(view, position));
  if (asks("rename")) return rename(view, position, params.at("newName"));
  const auto* occurrence = occurrence_at(view, position);
  if (occurrence == nullptr) return Json();
  if (asks("definition")) return to_json(definitions(workspace_, view, occurrence->symbol));
  if (asks("prepareRename")) return to_json(view.document.range(occurrence->at));
  const bool with_definitions = params.at("context").at("includeDeclaration");
  return to_json(references(workspace_, view, occurrence->symbol, with_definitions));
}

Session::Answer Session::rename(const View& view, Position position,
                                const std::string& name) const {
  const auto* occurrence = occurrence_at(view, position);
  if (occurrence == nullptr) return Failure{kRequestFailed, "there is no name here"};
  const auto renaming = lsp::rename(workspace_, view, occurrence->symbol, name);
  if (!renaming) return Failure{kRequestFailed, renaming.error().to_string()};
  return to_json(*renaming);
}

void Session::publish(const std::vector<const View*>& views) {
  for (const View* view : views) publish(view->uri, diagnostics_of(*view));
}

void Session::publish(const std::string& uri, const Json& diagnostics) {
  send({{"jsonrpc", "2.0"},
        {"method", "textDocument/publishDiagnostics"},
        {"params", {{"uri", uri}, {"diagnostics", diagnostics}}}});
}

void Session::fail(const Json& id, const Failure& failure) {
  send({{"jsonrpc", "2.0"},
        {"id", id},
        {"error", {{"code", failure.code}, {"message", failure.message}}}});
}

void Session::send(const Json& message) {
  outbox_.push_back(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace gorgo::tools::lsp
