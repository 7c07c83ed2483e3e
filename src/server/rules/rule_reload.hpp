#pragma once

#include "server/command.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/engine/rate_watch.hpp"
#include "server/engine/type_board.hpp"
#include "server/log.hpp"
#include "server/rules/rule_book.hpp"
#include "server/rules/rule_checker.hpp"
#include "server/rules/rule_files.hpp"

namespace gorgo::server {

/// Reads the rule files again, file by file, each of which is checked on another thread. Belongs to
/// the engine thread.
class RuleReload {
 public:
  struct Parts {
    RuleBook& book;
    RuleFiles& files;
    JournalWriter& journal;
    TypeBoard& types;
    RateWatch& rates;
    RuleChecker& checker;
    Log& log;
  };
  explicit RuleReload(const Parts& parts) : parts_(parts) {}

  void begin(const Reload& reload);
  /// Has the next file checked. Precondition: no check is under way.
  void check_next();
  /// The rules that were checked; null: there are none. Precondition: the check is done.
  PreparedRules coming() const { return has_checked_ ? parts_.files.checked() : nullptr; }
  /// Takes over what was checked. False: nothing was left to check. Preconditions: the check is
  /// done, and nothing is pending.
  bool put_in_force();
  /// Logs what became of it, and tells whoever asked.
  void end(const Command& command);
  /// Forgets what was checked.
  void forget() { has_checked_ = false; }

 private:
  const Parts parts_;
  bool has_checked_ = false;  // a rule file, or found rules that are to be removed

  void log_outcome() const;
};

}  // namespace gorgo::server
