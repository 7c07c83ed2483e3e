#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/lsp/workspace.hpp"

namespace gorgo::tools::lsp {

using Json = nlohmann::ordered_json;

/// A conversation with an editor in LSP 3.17, message by message. Not thread-safe.
class Session {
 public:
  explicit Session(Workspace workspace) : workspace_(std::move(workspace)) {}

  /// Handles the content of a message and returns the contents to send, in order. Whatever is
  /// wrong with it is answered as JSON-RPC says.
  std::vector<std::string> handle(std::string_view content);

  /// Whether the client said `exit`.
  bool ended() const { return state_ == State::ended; }
  /// Whether it said `shutdown` before.
  bool ended_well() const { return ended_well_; }

 private:
  enum class State : std::uint8_t { created, running, shut_down, ended };

  /// What is answered in place of a result.
  struct Failure {
    int code = 0;
    std::string message;
  };
  /// A result or a failure. It is no `Result`, because JSON converts to whatever is wanted.
  struct Answer {
    Answer(Json json) : result(std::move(json)) {}
    Answer(Failure why) : failure(std::move(why)) {}

    Json result;
    std::optional<Failure> failure;
  };

  void dispatch(const Json& message);
  void request(const Json& id, const std::string& method, const Json& params);
  void notify(const std::string& method, const Json& params);
  Answer answer(const std::string& method, const Json& params);
  Answer answer_about(const View& view, const std::string& method, const Json& params) const;
  Answer rename(const View& view, Position position, const std::string& name) const;
  void publish(const std::vector<const View*>& views);
  void publish(const std::string& uri, const Json& diagnostics);
  void fail(const Json& id, const Failure& failure);
  void send(const Json& message);

  Workspace workspace_;
  State state_ = State::created;
  bool ended_well_ = false;
  std::vector<std::string> outbox_;
};

}  // namespace gorgo::tools::lsp
