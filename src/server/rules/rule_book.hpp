#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gorgo/processor.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/durability/known_files.hpp"
#include "server/rules/rule_history.hpp"

namespace gorgo::server {

/// The full names of the rules of a text that was checked without errors.
std::vector<std::string> full_names(const dispatch::CheckedText& text);

/// A change as the history has it, without its number. `deployment`: that a removed rule was in.
RuleHistory::Entry entry_of(journal::stored::RuleChangeT change, std::string deployment = {});

/// Puts rules in force and takes them out of force, and has the journal keep each change. Used by
/// the thread that owns the processor. Functions that change rules throw std::runtime_error, with
/// nothing changed, where the journal has no room. Precondition: `processor().pending() == 0`.
class RuleBook {
 public:
  /// `before_change` is called before rules come or go.
  RuleBook(
      Processor& processor, EngineClock& clock, JournalWriter& journal,
      std::function<void()> before_change = [] {})
      : processor_(processor),
        clock_(clock),
        journal_(journal),
        before_change_(std::move(before_change)) {}

  Processor& processor() { return processor_; }
  /// The rule files whose rules are in force.
  const KnownFiles& files() const { return files_; }
  const RuleHistory& history() const { return history_; }
  /// Takes over rule files whose rules are in force already, and what was changed before.
  void adopt(KnownFiles files, RuleHistory history) {
    files_ = std::move(files);
    history_ = std::move(history);
  }

  /// Where a text comes from.
  struct Origin {
    bool file = false;            ///< a rule file of the server's, whose name is that of the text
    std::string who = {};         ///< the user who deployed or removed it
    std::string deployment = {};  ///< of a rule that is removed, if a client has deployed it
  };
  /// Takes the source's text over.
  Diagnostics deploy(const PreparedRules& prepared, const Origin& origin);
  /// See `Processor::get_ready`.
  bool get_ready(const PreparedRules& prepared, std::chrono::steady_clock::time_point until) {
    before_change_();
    return processor_.get_ready(prepared, until);
  }
  Result<void> remove(const std::string& rule, const Origin& origin);
  Result<void> pin(const std::string& rule, const std::string& engine, const std::string& who);

 private:
  Processor& processor_;
  EngineClock& clock_;
  JournalWriter& journal_;
  const std::function<void()> before_change_;
  KnownFiles files_;
  RuleHistory history_;

  void make_room(std::size_t bytes);
};

}  // namespace gorgo::server
