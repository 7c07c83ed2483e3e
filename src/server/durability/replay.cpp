#include "server/durability/replay.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "dispatch/rules/rule_base.hpp"
#include "journal/snapshot.hpp"
#include "protocol/info.hpp"
#include "server/durability/door_change.hpp"
#include "server/durability/server_state.hpp"
#include "server/durability/starvations.hpp"
#include "server/rules/declaration.hpp"
#include "server/rules/rule_book.hpp"

namespace gorgo::server {
namespace {

namespace stored = journal::stored;
using stored::Kind;

constexpr std::uint64_t kEveryRoot = std::numeric_limits<std::uint64_t>::max();

Error at_place(journal::Place place, const Error& why) {
  return {"the record at place " + std::to_string(place) + " of the journal: " + why.message,
          why.hint};
}

Error does_not_fit(const std::string& what) {
  return {what,
          "the journal was written by another program or with another configuration; start "
          "with those, or with a new folder"};
}

template <class Table, class Take>
Result<void> decoded(const journal::Record& record, Take take) {
  auto decoded = journal::decode<Table>(record.payload);
  if (!decoded) return decoded.error();
  return take(*decoded);
}

}  // namespace

stored::SettingsT settings_of(const ProcessorOptions& options) {
  stored::SettingsT settings;
  settings.lateness = options.lateness;
  settings.max_late = options.max_late;
  settings.max_depth = options.max_depth;
  settings.max_composites = options.max_composites;
  settings.max_instants = options.max_instants;
  return settings;
}

Replay::Replay(journal::View journal, State state, const stored::SettingsT& settings,
               StartProgress& progress, Log& log)
    : journal_(std::move(journal)),
      state_(std::move(state)),
      settings_(settings),
      progress_(progress),
      log_(log),
      feed_(state_.processor, state_.clock, state_.process_if_many, [this](const Error& why) {
        if (fits_) fits_ = does_not_fit("a row that was accepted is refused: " + why.message);
      }) {}

Result<void> Replay::run() {
  const auto first = begin(kEveryRoot);
  if (!first) return first.error();
  if (auto taken = take_from(*first, [](journal::Place) { return false; }); !taken) return taken;
  progress_.begin("evaluating what was replayed last");
  state_.process();
  return {};
}

Result<journal::Place> Replay::run_to(std::uint64_t root) {
  const auto first = begin(root);
  if (!first) return first.error();
  journal::Place at = 0;
  const auto taken = take_from(*first, [&](journal::Place place) {
    state_.process();
    if (state_.processor.roots() < root) return false;
    at = place;
    return true;
  });
  if (!taken) return taken.error();
  if (at > 0) return at;
  return Error{"no event of the journal is as late as " + std::to_string(root),
               "name the id of an event that was delivered"};
}

Result<void> Replay::take_from(journal::Place first,
                               const std::function<bool(journal::Place)>& over) {
  progress_.begin("looking for rules that found no memory");
  const auto expected = expect_starvations(journal_, first, state_.processor);
  if (!expected) return expected;
  progress_.begin("replaying the journal", "records", journal_.end - first);
  auto reader = journal_.read(first);
  while (true) {
    auto record = reader.next();
    if (!record) return record.error();
    if (!*record) return {};
    if (auto taken = take(**record); !taken) return at_place((*record)->place, taken.error());
    ++records_;
    record_bytes_ += (*record)->payload.size();
    reach((*record)->place + 1 - first);
    if (over((*record)->place)) return {};
  }
}

std::optional<std::uint64_t> Replay::next_root_at(journal::Place snapshot) const {
  auto reader =
      journal::SnapshotReader::open(*journal_.disk, journal_.folder, journal_.number, snapshot);
  const auto first = reader ? reader->next() : Result<std::optional<journal::Record>>(Error{});
  if (!first || !*first) return std::nullopt;
  const auto state = journal::decode<stored::ServerState>((*first)->payload);
  if (!state) return std::nullopt;
  return state->results->next_root;
}

Error Replay::nothing_before(std::uint64_t root, const std::vector<journal::Place>& places) const {
  const std::string begins = "the journal begins at place " + std::to_string(journal_.low);
  for (auto place = places.rbegin(); root != kEveryRoot && place != places.rend(); ++place) {
    const auto next_root = *place < journal_.low ? std::nullopt : next_root_at(*place);
    if (!next_root) continue;
    return {begins + ", because what stood before was trimmed, and event " + std::to_string(root) +
                " with it",
            "name an event from " + std::to_string(*next_root) + "-0 on or a place from " +
                std::to_string(*place) + " on, or look into a backup that is as old"};
  }
  return {begins + ", and no snapshot tells what stood before",
          "restore the journal from a backup, or start with a new folder"};
}

Result<journal::Place> Replay::begin(std::uint64_t root) {
  const auto places = journal::snapshots_in(*journal_.disk, journal_.folder);
  if (!places) return places.error();
  for (const journal::Place place : *places) {
    if (place < journal_.low || place > journal_.end) continue;
    if (root != kEveryRoot && next_root_at(place).value_or(kEveryRoot) > root) continue;
    progress_.begin("checking a snapshot");
    const auto whole =
        journal::verify_snapshot(*journal_.disk, journal_.folder, journal_.number, place);
    if (whole) {
      if (auto restored = restore(place); !restored) return restored.error();
      return place;
    }
    log_.error("a snapshot is passed over", {{"why", whole.error().to_string()}});
  }
  if (journal_.low == 1) return journal::Place{1};
  return nothing_before(root, *places);
}

/// A failure leaves a processor that is of no use, so no other snapshot is tried.
Result<void> Replay::restore(journal::Place place) {
  auto reader =
      journal::SnapshotReader::open(*journal_.disk, journal_.folder, journal_.number, place);
  if (!reader) return reader.error();
  progress_.begin("restoring a snapshot", "bytes", reader->size());
  auto saved = read_server(*reader);
  if (!saved) return saved.error();
  written_with_ = *saved->state.settings;
  snapshot_bytes_ += saved->bytes;
  std::optional<journal::Record>& record = saved->next;
  bool is_taken = false;
  const auto next = [&]() -> Result<journal::Bytes> {
    if (std::exchange(is_taken, true)) {
      auto read = reader->next();
      if (!read) return read.error();
      record = *read;
    }
    reach(reader->offset());
    const auto kind = static_cast<std::uint16_t>(stored::SnapshotKind::Processor);
    if (!record || record->kind != kind) return journal::Bytes();
    snapshot_bytes_ += record->payload.size();
    return record->payload;
  };
  if (auto restored = state_.processor.restore(next); !restored) return restored;
  if (auto restored = restore_server(saved->state); !restored) return restored;
  while (record) {
    snapshot_bytes_ += record->payload.size();
    if (auto taken = state_.durables.restore_chunk(record->payload); !taken) return taken;
    auto read = reader->next();
    if (!read) return read.error();
    record = *read;
  }
  log_.info(
      "restored a snapshot",
      {{"place", place}, {"bytes", snapshot_bytes_}, {"rules", state_.processor.rule_count()}});
  return {};
}

Result<void> Replay::restore_server(const stored::ServerStateT& state) {
  server::restore(state, state_.producers);
  server::restore(state, state_.positions);
  server::restore(state, state_.declared_doors);
  server::restore(state, state_.deployments);
  if (state_.inhibitions != nullptr) state_.inhibitions->restore(state);
  files_ = restored_files(state);
  history_ = restored_history(state);
  state_.results.restore(*state.results);
  for (const auto& frame : state.unfinished) {
    const auto* bytes = reinterpret_cast<const std::byte*>(frame->frame.data());
    if (auto begun = take_request(frame->frame_at, {bytes, frame->frame.size()}); !begun) {
      return begun;
    }
    feed_.skip(frame->frame_at, frame->next_row);
  }
  return state_.durables.restore(state.durables, state_.processor.schema());
}

void Replay::reach(std::uint64_t done) {
  constexpr std::chrono::seconds kBetweenReports{2};
  progress_.reach(done);
  if (Clock::now() - said_ < kBetweenReports) return;
  said_ = Clock::now();
  log_.info("recovering", {{"at", progress_.text()}});
}

/// What the server was given with other settings cannot be done again with these.
Result<void> Replay::take(const journal::Record& record) {
  const auto kind = static_cast<Kind>(record.kind);
  if (kind == Kind::Mark) return {};
  if (kind == Kind::Settings) {
    return decoded<stored::Settings>(record, [this](const stored::SettingsT& settings) {
      written_with_ = settings;
      return Result<void>();
    });
  }
  if (auto same = compare_settings(); !same) return same;
  return carry_out(record);
}

Result<void> Replay::carry_out(const journal::Record& record) {
  switch (static_cast<Kind>(record.kind)) {
    case Kind::Frame:
      return take_frame(record);
    case Kind::Refusals:
      return decoded<stored::Refusals>(record, [this](const stored::RefusalsT& refusals) {
        feed_.leave_out(refusals.rows);
        return Result<void>();
      });
    case Kind::ClockMove:
      return decoded<stored::ClockMove>(
          record, [this](const stored::ClockMoveT& move) { return feed_.move_clock(move); });
    case Kind::Release:
      state_.flush();
      return {};
    case Kind::RuleChange:
      return decoded<stored::RuleChange>(
          record, [this](const stored::RuleChangeT& change) { return change_rules(change); });
    case Kind::Pin:
      return decoded<stored::Pin>(record, [this](const stored::PinT& request) {
        pin(request);
        return Result<void>();
      });
    case Kind::Suspension:
      return decoded<stored::Suspension>(
          record, [this](const stored::SuspensionT& changed) { return suspend(changed); });
    case Kind::Starvation:
      return {};  // the processor has known it all along
    case Kind::Subscription:
      return decoded<stored::Subscription>(
          record, [this](const stored::SubscriptionT& changed) { return subscribe(changed); });
    case Kind::Cursor:
      return decoded<stored::Cursor>(record, [this](const stored::CursorT& cursor) {
        state_.process();
        if (state_.inhibitions != nullptr) {
          state_.inhibitions->forget(cursor.name, {cursor.root, cursor.ordinal});
        }
        return state_.durables.acknowledge(cursor.name, {cursor.root, cursor.ordinal});
      });
    case Kind::DoorChange:
      return decoded<stored::DoorChange>(record, [this](const stored::DoorChangeT& change) {
        state_.process();
        server::carry_out(change, {state_.declared_doors, state_.positions, state_.durables});
        return Result<void>();
      });
    case Kind::Results:
      return decoded<stored::Results>(record, [this](const stored::ResultsT& results) {
        compare(results);
        return Result<void>();
      });
    default:
      return does_not_fit("it is of the unknown kind " + std::to_string(record.kind));
  }
}

Result<void> Replay::take_frame(const journal::Record& record) {
  const auto frame = journal::decode_frame(record.payload);
  if (!frame) return frame.error();
  const stored::Acceptance& how = frame->acceptance;
  if (how.frame_at() != 0) return take_rows(how.frame_at(), how);
  if (auto begun = take_request(record.place, frame->frame); !begun) return begun;
  return how.rows() == 0 ? Result<void>() : take_rows(record.place, how);
}

Result<void> Replay::take_request(journal::Place at, journal::Bytes bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  protocol::Bytes frame(begin, begin + bytes.size());
  const auto message = protocol::open_frame(frame);
  if (!message) return message.error();
  if (const auto* request = (*message)->body_as_Declare()) return declare(*request);
  if (protocol::batch_of(**message) == nullptr) {
    return does_not_fit("a " + std::string(protocol::name_of((*message)->body_type())) +
                        " is no request that a journal keeps");
  }
  if (const auto* publish = (*message)->body_as_Publish(); publish && publish->producer() != 0) {
    state_.producers.advance(publish->producer(), publish->sequence());
  }
  if (const auto* publish = (*message)->body_as_Publish(); publish && publish->position()) {
    state_.positions.set(protocol::text_of(publish->door()),
                         {publish->position()->data(), publish->position()->size()});
  }
  feed_.begin(at, std::move(frame), **message);
  return {};
}

Result<void> Replay::take_rows(journal::Place frame_at, const stored::Acceptance& how) {
  if (!feed_.take_rows(frame_at, how)) return does_not_fit("its frame is missing");
  return fits_;
}

Result<void> Replay::change_rules(const stored::RuleChangeT& change) {
  state_.process();
  Processor& processor = state_.processor;
  if (change.change == stored::Change::Remove) {
    const std::string file = files_.file_of(change.name);
    history_.note(entry_of(change, file.empty() ? state_.deployments.name_of(change.name) : file));
    files_.removed(change.name);
    state_.deployments.forget(change.name);
    return processor.remove(change.name);
  }
  history_.note(entry_of(change));
  const auto prepared =
      prepare_rules(processor.snapshot(), change.name, change.text,
                    {.replace = change.replace, .with_history = change.with_history});
  const Diagnostics diagnostics = processor.deploy(prepared);
  if (diagnostics.failed()) {
    return does_not_fit("rules that were in force are refused now: " + diagnostics.render());
  }
  files_.deployed(change.name, change.text, full_names(*prepared), change.file);
  if (!change.file) state_.deployments.note(Deployments::names_of(change.name, *prepared));
  return {};
}

Result<void> Replay::declare(const wire::Declare& request) {
  state_.process();
  return server::declare(state_.processor, request);
}

Result<void> Replay::subscribe(const stored::SubscriptionT& subscription) {
  state_.process();
  if (subscription.text.empty()) return state_.durables.end(subscription.name);
  const auto begun = state_.durables.begin(subscription.name, subscription.text, subscription.who,
                                           state_.processor.schema());
  if (!begun.fresh) return begun.fresh.error();
  if (begun.diagnostics.failed()) {
    return does_not_fit("a subscription is refused now: " + begun.diagnostics.render());
  }
  return {};
}

/// The engine may belong to a device that this machine lacks; results do not depend on it.
void Replay::pin(const stored::PinT& pin) {
  state_.process();
  const auto pinned = state_.processor.pin(pin.rule, pin.engine);
  if (pinned) return;
  log_.warning("a rule does not get the engine that it was pinned to",
               {{"rule", pin.rule}, {"engine", pin.engine}, {"error", pinned.error().message}});
}

Result<void> Replay::suspend(const stored::SuspensionT& suspension) {
  state_.process();
  return state_.processor.suspend(suspension.rule, suspension.suspended);
}

Result<void> Replay::compare_settings() const {
  const stored::SettingsT& settings = written_with_;
  const auto same = [](const char* key, auto before, auto now) -> Result<void> {
    if (std::cmp_equal(before, now)) return {};
    return Error{std::string(key) + " was " + std::to_string(before) +
                     " when it was written, and "
                     "now is " +
                     std::to_string(now) + ", which would give other results",
                 "set it back, start the server, stop it in order, and change it then"};
  };
  constexpr Duration kOneMillisecond = 1'000'000;
  const Result<void> all[] = {
      same("engine.lateness_ms", settings.lateness / kOneMillisecond,
           settings_.lateness / kOneMillisecond),
      same("engine.max_late_ms", settings.max_late / kOneMillisecond,
           settings_.max_late / kOneMillisecond),
      same("engine.max_depth", settings.max_depth, settings_.max_depth),
      same("engine.max_composites", settings.max_composites, settings_.max_composites),
      same("engine.max_instants", settings.max_instants, settings_.max_instants)};
  for (const auto& compared : all) {
    if (!compared) return compared;
  }
  return {};
}

void Replay::compare(const stored::ResultsT& results) {
  state_.process();
  const auto now = state_.results.record(state_.processor.roots());
  const bool same = now.next_root == results.next_root && now.composites == results.composites &&
                    now.hash == results.hash;
  if (same || std::exchange(differs_, true)) return;
  log_.error(
      "this program gives other results than the one that wrote the journal: please report "
      "it, and keep a backup of the journal",
      {{"places", results.next_root},
       {"places_now", now.next_root},
       {"composites", results.composites},
       {"composites_now", now.composites}});
}

}  // namespace gorgo::server
