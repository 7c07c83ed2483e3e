#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dispatch/order/handed_out.hpp"
#include "dispatch/order/headers.hpp"
#include "dispatch/order/released.hpp"
#include "dispatch/order/sequencer.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "gorgo/event_batch.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Takes events of a batch together where none of them needs a look of its own: they are accepted,
/// and each of them has one value for each attribute of its type, if anybody knows the type. What
/// is checked is checked once for a table or in one pass over its timestamps, and values are copied
/// column by column where there are several. What is left goes through `Sequencer::admit`, event by
/// event, which also names what it refuses.
///
/// Events are unseen where no rule reads their type and nobody wants it. They count, have places
/// and tell the time, and their values are not looked at.
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
  /// Whether `take` takes none of the table that the next event is in.
  bool passes_over(const BatchCursor& next, TableHeaders& headers) {
    return look_at(next, headers).form == Form::rows;
  }
  /// How much may be taken.
  struct Room {
    std::uint32_t events;
    std::size_t bytes;  ///< no more once `Released::bytes` has come to so many
  };
  /// Takes events from the next one on. Returns how many; 0: the next one is to be admitted by
  /// itself. Where memory fails, it throws and has taken none, or takes those before.
  std::uint32_t take(BatchCursor& next, const Room& room, TableHeaders& headers,
                     Released& released);

 private:
  enum class Form : std::uint8_t {
    unknown,
    rows,     ///< each event needs a look of its own
    unseen,   ///< values are not looked at
    cells,    ///< values are copied event by event
    columns,  ///< values are copied column by column
  };
  static constexpr std::uint32_t kNoPart = ~std::uint32_t{0};
  /// A table of fewer events takes less time event by event: what is done for each column is then
  /// more than what is done for each value.
  static constexpr std::uint32_t kFew = 4;

  struct Table {
    Form form = Form::unknown;
    const Header::Resolution* resolution = nullptr;  // null: it is taken as rows
    const EventType* type = nullptr;                 // null: nobody knows it
    std::uint32_t part = kNoPart;                    // of what is being taken
  };
  /// Events of one table that are being taken: they have records, and no values yet.
  struct Part {
    std::size_t table;
    Released::Kind kind;
    std::uint32_t first;      // in the table
    std::uint32_t row;        // of the first, in the columns of the type
    std::size_t event_bytes;  // of an event, but for its strings
    bool has_texts;
    std::uint32_t events = 0;
  };

  std::uint32_t take_run(BatchCursor& next, const Room& room, TableHeaders& headers,
                         Released& released);
  void take_turns(BatchCursor& next, const Room& room, const TableHeaders& headers,
                  Released& released, std::uint32_t& taken);
  static TableCells cells_of(const EventTable& events, const Table& table);
  void add_to(Part& part, const BatchCursor& next, Timestamp timestamp, Released& released) const;
  std::span<const Timestamp> timestamps_of(const BatchCursor& next, std::uint32_t events);
  std::uint32_t take_in_columns(Part& part, const BatchCursor& next,
                                std::span<const Timestamp> timestamps, const Room& room,
                                Released& released) const;
  const Table& look_at(const BatchCursor& next, TableHeaders& headers);
  bool is_read(TypeId type) const {
    return history_.keeps(type) || !rules_.types().joints_of(type).empty();
  }
  void find_form(const EventTable& events, Header& header, Table& table) const;
  Part* part_of(const BatchCursor& next, std::uint32_t most, Released& released);
  static Released::Kind kind_of(const Table& table, Released& released);
  void add_values(const EventBatch& batch, const TableHeaders& headers, Released& released);

  const RuleSet& rules_;
  const history::History& history_;
  const HandedOut& handed_out_;
  Headers& headers_;
  Sequencer& sequencer_;
  std::vector<Table> tables_;
  std::vector<std::size_t> known_;  // tables whose form is known
  std::vector<Part> parts_;         // no two of one kind
  std::vector<Timestamp> stamps_;   // that were given last; none: not since `take` was called
};

}  // namespace gorgo::dispatch
