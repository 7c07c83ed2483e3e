#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dispatch/order/handed_out.hpp"
#include "dispatch/order/headers.hpp"
#include "dispatch/order/released.hpp"
#include "dispatch/order/sequencer.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "gorgo/event_batch.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Takes events of a batch together where none of them needs a look of its own, so that what is
/// checked is checked once for a table or in one pass over its timestamps. What is left goes
/// through `Sequencer::admit`, event by event, which also names what it refuses.
///
/// The events that it takes are unseen: no rule reads their type and nobody wants it. They count,
/// have places and tell the time, and never become rows.
class ColumnIntake {
 public:
  using TableHeaders = std::vector<std::shared_ptr<Header>>;  ///< by table; null: not made yet
  static constexpr std::uint32_t kMost = 4096;                ///< events that are taken together

  ColumnIntake(const RuleSet& rules, const history::History& history, const HandedOut& handed_out,
               Headers& headers, Sequencer& sequencer)
      : rules_(rules),
        history_(history),
        handed_out_(handed_out),
        headers_(headers),
        sequencer_(sequencer) {}

  /// To be called before events of a batch with so many tables are taken, while rules, types and
  /// what is wanted stay as they are.
  void begin(std::size_t tables);
  /// Whether it is known that `take` takes none of the table.
  bool passes_over(std::size_t table) const { return forms_[table] == Form::rows; }
  /// Takes events from the next one on, at most `most` and kMost. Returns how many; 0: the next one
  /// is to be admitted by itself.
  std::uint32_t take(BatchCursor& next, std::uint32_t most, TableHeaders& headers,
                     Released& released);

 private:
  enum class Form : std::uint8_t { unknown, rows, unseen };

  bool is_unseen(const BatchCursor& next, TableHeaders& headers);
  bool are_unseen(const EventTable& table, Header& header) const;

  const RuleSet& rules_;
  const history::History& history_;
  const HandedOut& handed_out_;
  Headers& headers_;
  Sequencer& sequencer_;
  std::vector<Form> forms_;         // by table
  std::vector<std::size_t> known_;  // tables whose form is known
};

}  // namespace gorgo::dispatch
