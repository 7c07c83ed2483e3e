#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/actions/action_board.hpp"
#include "server/command.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/engine/rate_watch.hpp"
#include "server/engine/type_board.hpp"
#include "server/log.hpp"
#include "server/rules/deployments.hpp"
#include "server/rules/rule_book.hpp"
#include "server/rules/rule_checker.hpp"
#include "server/rules/shadows.hpp"

namespace gorgo::server {

/// What clients ask about rules, those that run beside the ones in force included, and about types.
/// Each request queues its reply. Precondition of those that change anything:
/// `processor.pending() == 0`. Belongs to the engine thread.
class RuleRequests {
 public:
  struct Parts {
    Processor& processor;
    EngineClock& clock;
    JournalWriter& journal;
    RuleBook& book;
    Deployments& deployments;
    Shadows& shadows;
    TypeBoard& types;
    const ActionBoard& executable;
    RateWatch& rates;
    RuleChecker& checker;
    Log& log;
  };
  explicit RuleRequests(const Parts& parts) : parts_(parts) {}

  /// Begins the check of the request's text, unless none is to be checked. The request is to be
  /// carried out when the check is over.
  void check(const wire::Message& message);
  /// The text of the request that was checked to put its rules in force; null: there is none.
  PreparedRules coming(const Command& change) const;
  /// Forgets what was checked, and what is still to be removed.
  void forget();

  /// Whether the user may remove that.
  Result<void> check_user(const User& user, const wire::Remove& request) const;
  void declare(const Command& command, std::uint64_t id, const wire::Declare& request);
  /// Puts the checked rules in force, runs them beside those, or tells what was found.
  void deploy(const Command& command, std::uint64_t id, const wire::Deploy& request);
  /// Begins to remove a rule or a deployment, which may have many: `remove_some` does it.
  void remove(const Command& command, std::uint64_t id, const wire::Remove& request);
  /// Whether something is being removed.
  bool is_removing() const { return !leaving_.empty(); }
  /// Removes some of the rules, and replies behind the last. Returns whether it is over.
  /// Preconditions: `is_removing()`, and nothing is pending.
  bool remove_some(const Command& command, std::chrono::steady_clock::time_point until);
  void pin(const Command& command, std::uint64_t id, const wire::Pin& request);
  void promote(const Command& command, std::uint64_t id, const wire::PromoteShadow& request);
  void drop_shadow(const Command& command, std::uint64_t id, const wire::DropShadow& request);
  void list_shadows(const Command& command, std::uint64_t id) const;

 private:
  /// What a text is checked for.
  enum class Purpose : std::uint8_t { to_put_in_force, to_run_beside, to_tell };

  const Parts parts_;
  PreparedRules checked_;             // the text that the checker has checked
  Deployments::Names checked_names_;  // of its rules, where they are to be put in force
  std::unique_ptr<Shadow> shadow_;    // that is to run it; null: none is
  std::vector<std::string> leaving_;  // rules that are being removed, the first ones last

  void check(std::string name, std::string text, const DeployOptions& options, Purpose purpose);
  /// The checked text; null: the client was told why there is none. Precondition: a check began.
  PreparedRules finish_check(const Command& command, std::uint64_t id);
  Result<void> may_put_in_force(const Command& command,
                                const dispatch::CheckedText& prepared) const;
  Diagnostics put_in_force(const Command& command, const PreparedRules& prepared);
  void take_out_of_force(const Command& command, const std::string& rule);
  /// The rules in force in whose place those of the text come.
  Shadow::Names replaced_by(const dispatch::CheckedText& text) const;
  void run_beside(const Command& command, std::uint64_t id, const dispatch::CheckedText& text,
                  std::unique_ptr<Shadow> shadow);
  /// The rule that a removal is about; an error: it is about a deployment.
  Result<RuleInfo> rule_to_remove(const wire::Remove& request) const;
};

}  // namespace gorgo::server
