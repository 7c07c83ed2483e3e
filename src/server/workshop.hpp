#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/schema.hpp"

namespace gorgo::server {

/// What people who write rules in the workbench ask for beside the engine. Nothing of it touches
/// what is deployed. The program that has the server brings it along, because it is made of parts
/// that stand behind the server in the order of rooms. Its functions are called on a thread that
/// may be busy for long; each ends soon once its stop token says so.
class Workshop {
 public:
  virtual ~Workshop() = default;

  struct KnownType {
    std::string name;
    std::vector<AttributeType> attributes;
  };
  using KnownTypes = std::vector<KnownType>;

  /// A conversation with an editor in the Language Server Protocol. One thread at a time.
  class Conversation {
   public:
    virtual ~Conversation() = default;
    /// Takes a message and returns those to send, in order.
    virtual std::vector<std::string> handle(std::string_view message) = 0;
    /// Whether the editor said that this is the end.
    virtual bool is_over() const = 0;
  };
  /// `types` are known to the rules in the editor.
  virtual std::unique_ptr<Conversation> converse(const KnownTypes& types) = 0;

  struct Trial {
    std::string name;    ///< of the deployment that the rules would be
    std::string rules;   ///< their text
    std::string events;  ///< event lines, or CSV
    KnownTypes types;
  };
  /// Runs rules over events. Returns JSON (docs/http.md).
  virtual std::string try_rules(const Trial& trial, const std::stop_token& stop) = 0;
  /// Runs rule tests (docs/rule-tests.md). Rule files that they name stand for `rules`. Returns
  /// JSON (docs/http.md).
  virtual std::string run_tests(const std::string& tests, const std::string& rules,
                                const std::stop_token& stop) = 0;
};

}  // namespace gorgo::server
