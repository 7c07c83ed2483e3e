#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/processor.hpp"
#include "server/command.hpp"
#include "server/door_positions.hpp"
#include "server/durability/durable_subscriptions.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/engine/clock_watch.hpp"
#include "server/engine/latency_watch.hpp"
#include "server/engine/processed_acks.hpp"
#include "server/engine/producers.hpp"
#include "server/log.hpp"
#include "server/log_limit.hpp"
#include "server/options.hpp"
#include "server/replies.hpp"

namespace gorgo::server {

/// Takes the events of publications into the processor, writes them into the journal, and says
/// what became of them: to their clients and in numbers. Belongs to the engine thread.
class Admission {
 public:
  struct Parts {
    Processor& processor;
    EngineClock& clock;
    JournalWriter& journal;
    Producers& producers;
    DoorPositions& positions;
    DurableSubscriptions& durables;
    std::function<void()> process_if_many;  ///< evaluates when much is pending
    std::function<bool()> is_ending;        ///< whether nothing may be put off any more
  };
  Admission(Parts parts, const ServerOptions& options, Log& log);

  enum class Progress : std::uint8_t {
    over,       ///< the publication was answered
    rows_left,  ///< the command is to come again
    no_room,    ///< nothing of it was taken, for the journal finds no room; it is to come again
  };
  /// Takes a publication, or a piece of it where the command says so, and replies behind the last
  /// one.
  Progress publish(Command& command, std::uint64_t id, const wire::Publish& request);
  /// Takes at most `most` rows; false: there are no more. The publication counts what became of
  /// them, also when memory fails in the middle.
  bool append(Publication& publication, std::uint32_t most, bool measured);
  /// Takes rows until many are pending, at least one. `measured`: each may be too large for a
  /// frame.
  void append_some(Publication& publication, std::uint32_t most, bool measured);
  /// Has the rows of a client refused whose types the client may not publish. `user`: who may not
  /// publish all of them; null: nobody.
  static void restrict(Publication& publication, UserPtr user);
  enum class Own : std::uint8_t {
    accepted,  ///< some of them
    refused,   ///< all of them
    no_room,   ///< they may be published when there is memory, or room on the disk
  };
  /// Publishes events that are the server's own. `door`: a publication whose position is noted with
  /// them; null: none.
  Own publish_own(BatchBuilder& events, const wire::Publish* door = nullptr);
  /// The timestamp of such events. Where publishers say what time it is, they neither move the
  /// clock nor take it over; unset: they are stamped.
  std::optional<Timestamp> own_stamp() const;
  /// Whether a publication of so many bytes may be taken; to be asked before it is. The log tells
  /// where not: publishers try again by themselves, and may keep the reason to themselves.
  Result<void> make_room(std::size_t bytes);
  /// To be called when everything that was taken is evaluated, or held back by lateness.
  void settle();

  ClockWatch& clock_watch() { return clock_watch_; }
  const ClockWatch& clock_watch() const { return clock_watch_; }
  /// How long accepted events take, and which publications wait for their evaluation.
  const LatencyWatch& latency() const { return latency_; }
  /// Events that were published and not accepted, by the processor or before it.
  std::uint64_t refused() const { return refused_; }
  /// Adds the refusals by reason, and by type. The sum of each is `refused`.
  void report(Statistics& statistics) const;

 private:
  const Parts parts_;
  const Limits limits_;
  const std::size_t most_event_bytes_;  // brokers of a cluster take messages of a megabyte
  Log& log_;
  ProcessedAcks processed_acks_;
  LatencyWatch latency_;
  ClockWatch clock_watch_;
  std::vector<std::uint32_t> refused_rows_;  // of the piece in hand, where the journal is on
  std::uint64_t refused_ = 0;                // events, those below included
  std::uint64_t refused_too_large_ = 0;      // no frame could deliver them
  std::uint64_t refused_forbidden_ = 0;      // their user may not publish the type
  std::uint64_t refused_for_memory_ = 0;
  std::uint64_t without_room_ = 0;  // publications
  LogLimit room_limit_;
  std::map<std::string, std::uint64_t, std::less<>> refused_by_type_;  // "": of others

  /// Prepares the command's publication. Null: it was answered already.
  std::unique_ptr<Publication> begin(Command& command, std::uint64_t id,
                                     const wire::Publish& request);
  /// What the journal needs at most for the command's piece: the frame, unless it has that, and
  /// which of the rows are refused.
  std::size_t bytes_of_piece(const Command& command, const wire::Publish& request,
                             const Publication& publication) const;
  /// Whether the journal has room for the next piece of a publication that has begun.
  bool has_room_for_piece(const Command& command, const wire::Publish& request,
                          const Publication& publication);
  /// Notes how far the door has read, and publishes what it could make no event of. False: the
  /// publication is over, and was answered.
  bool begin_of_door(const Command& command, std::uint64_t id, const wire::Publish& request,
                     Publication& publication);
  /// Has the journal keep the position of a door that has come further without an event which was
  /// accepted: else it stands in the frame of the events.
  Result<void> keep_position(const wire::Publish& request, const Publication& publication);
  /// Has the sequence number of the publication be free again.
  void free_number(const wire::Publish& request, const Publication& publication);
  /// Forgets that the publication has begun, so that it may come again.
  void take_back(const wire::Publish& request, const Publication& publication);
  using AddDead = std::function<void(BatchBuilder& letters, std::optional<Timestamp> stamp)>;
  /// Publishes the dead letters of a publication that came through a door, which `add` adds to a
  /// batch. `door`: as in `publish_own`.
  Own publish_dead(const wire::Publish& request, const wire::Publish* door, const AddDead& add);
  /// Has an event tell of a row that came through a door and was refused.
  void note_dead(Publication& publication, const BatchCursor& event, const Error& why) noexcept;
  /// `last`: the largest timestamp; unset: nothing of it was taken.
  void acknowledge(const Command& command, std::uint64_t id, const Publication& publication,
                   std::optional<Timestamp> last);
  void count_refusal(std::string_view type);
  void watch_clock(const Outbox& client, const EventBatch& batch);
  /// Why the caller refuses an event before the processor looks at it.
  Result<void> check(const Publication& publication, const BatchCursor& event, bool measured);
};

}  // namespace gorgo::server
