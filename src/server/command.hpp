#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gorgo/processor.hpp"
#include "journal/format.hpp"
#include "protocol/batch.hpp"
#include "protocol/batch_check.hpp"
#include "protocol/framing.hpp"
#include "server/dead_letters.hpp"
#include "server/security/user.hpp"
#include "server/sessions/outbox.hpp"
#include "server/work.hpp"

namespace gorgo::server {

/// How far a publication got. It refers to the frame of its command.
struct Publication {
  explicit Publication(const wire::Batch& events) : batch(protocol::view_of(events)) {}

  IncomingBatch batch;
  std::span<const std::uint8_t> frame = {};  ///< that it came in, for the journal
  journal::Place frame_at = 0;               ///< where the journal has the frame; 0: nowhere
  UserPtr restricted = nullptr;              ///< who may not publish all of the types; null: nobody
  std::vector<bool> is_forbidden;            ///< by table; empty: none is
  std::optional<std::uint64_t> applied_before;  // its producer's sequence number
  std::string door;                             ///< of the server that it came through; empty: none
  /// How far its door had read before this publication.
  std::optional<std::vector<std::uint8_t>> position_before;
  std::vector<RefusedRow> dead_letters;  ///< what came through the door and was refused
  wire::AckT ack;
  /// A row found no memory. The rows behind it are refused, too, so that what is sent again keeps
  /// its order, also where there is memory again before they have their turn.
  bool found_no_memory = false;
};

/// Whether a request may change rules or types: such requests are carried out one after the other.
inline bool changes_rules(wire::Body kind) {
  return kind == wire::Body::Deploy || kind == wire::Body::Remove || kind == wire::Body::Declare ||
         kind == wire::Body::Reload || kind == wire::Body::PromoteShadow ||
         kind == wire::Body::DropShadow;
}
/// Whether a request may take several turns, because other threads work for it: such requests are
/// carried out one after the other, too.
inline bool takes_turns(wire::Body kind) {
  return changes_rules(kind) || kind == wire::Body::AskWhy;
}

/// What is to be done about the rule files once the configuration was read again.
struct Reload {
  std::vector<std::string> paths;    ///< where rule files are from now on
  std::vector<std::string> changed;  ///< keys of the configuration that were taken over, for people
  std::shared_ptr<void> guard;       ///< released when the reload is over, whatever became of it
};

/// What the engine thread is asked to do.
struct Command {
  enum class Kind : std::uint8_t {
    request,     ///< `frame`: opened and, for a Publish, its batch checked
    disconnect,  ///< `client` sends nothing more; the last command of a client
    reload,      ///< read the rule files again
    checked,     ///< a rule text was checked
    synced,      ///< the journal has made records durable, or has failed
    feed,        ///< `client` has taken what waited for it
    beat,        ///< only to show that the engine thread makes progress
  };

  Kind kind = Kind::request;
  std::shared_ptr<Outbox> client;
  protocol::Bytes frame;
  /// Without the pieces that were taken, but for the last one.
  Work work;
  /// Only so many rows of the publication are to be carried out; the rest goes back into the queue.
  /// 0: all of it.
  std::uint32_t piece_rows = 0;
  std::uint64_t cost = 0;                              ///< of what is to be carried out
  std::unique_ptr<Publication> publication = nullptr;  ///< set once it has begun
  std::chrono::steady_clock::time_point received = std::chrono::steady_clock::now();
  std::unique_ptr<Reload> reload = nullptr;  ///< set for each reload, whoever asks for it
  /// Called when a change was carried out and its reply queued, or the last command of a door; may
  /// be empty.
  std::function<void()> done = {};
  /// On whose behalf, where the engine thread has to look at permissions; of a publication only
  /// where some of its types are forbidden. Null: everything is allowed.
  UserPtr user = nullptr;
  bool is_of_door = false;  ///< a door of the server asks

  /// Precondition: a request.
  const wire::Message& message() const {
    return *flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data());
  }
};

}  // namespace gorgo::server
