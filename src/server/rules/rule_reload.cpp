#include "server/rules/rule_reload.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "server/replies.hpp"

namespace gorgo::server {

void RuleReload::begin(const Reload& reload) {
  parts_.files.set_paths(reload.paths);
  parts_.files.begin(parts_.book.files());
}

void RuleReload::check_next() {
  parts_.checker.begin([this, snapshot = parts_.book.processor().snapshot()]() mutable {
    has_checked_ = parts_.files.check_next(std::exchange(snapshot, nullptr));
  });
}

bool RuleReload::put_in_force() {
  parts_.checker.finish();
  if (!has_checked_) return false;
  parts_.files.put_in_force(parts_.book);
  parts_.types.post(parts_.book.processor().schema());
  parts_.rates.rules_came(std::chrono::steady_clock::now());
  return true;
}

void RuleReload::end(const Command& command) {
  log_outcome();
  if (command.client == nullptr) return;
  parts_.journal.reply_when_durable(
      command.client,
      reloaded_reply(command.message().id(), command.reload->changed, parts_.files.outcome()));
}

void RuleReload::log_outcome() const {
  const auto& outcome = parts_.files.outcome();
  for (const Diagnostic& d : outcome.diagnostics.list) {
    const std::string at =
        d.file + ":" + std::to_string(d.at.line) + ":" + std::to_string(d.at.column);
    if (d.severity == Severity::error) {
      parts_.log.error("rule file not deployed, the old rules stay",
                       {{"at", at}, {"error", d.message}});
    } else {
      parts_.log.warning("rule file", {{"at", at}, {"warning", d.message}});
    }
  }
  for (const Error& error : outcome.errors)
    parts_.log.error("rules", {{"error", error.to_string()}});
  for (const std::string& file : outcome.gone) {
    parts_.log.warning("rule file has left its folder, its rules are removed", {{"file", file}});
  }
  parts_.log.info("rules read again", {{"files", outcome.files},
                                       {"removed", outcome.removed.size()},
                                       {"rules", parts_.book.processor().rule_count()}});
}

}  // namespace gorgo::server
