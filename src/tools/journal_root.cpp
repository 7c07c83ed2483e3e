#include "tools/journal_root.hpp"

#include <algorithm>
#include <utility>

#include "codec/event_notation.hpp"
#include "gorgo/processor.hpp"
#include "journal/records.hpp"
#include "journal/snapshot.hpp"
#include "server/durability/replay.hpp"
#include "server/http/place_text.hpp"

namespace gorgo::tools {
namespace {

namespace stored = journal::stored;

/// The settings at the beginning of what can be read.
Result<stored::SettingsT> first_settings(const journal::View& journal) {
  if (journal.low > 1) {
    const auto places = journal::snapshots_in(*journal.disk, journal.folder);
    if (!places) return places.error();
    for (auto place = places->rbegin(); place != places->rend(); ++place) {
      auto reader =
          journal::SnapshotReader::open(*journal.disk, journal.folder, journal.number, *place);
      const auto first = reader ? reader->next() : Result<std::optional<journal::Record>>(Error{});
      if (!first || !*first) continue;
      const auto state = journal::decode<stored::ServerState>((*first)->payload);
      if (state) return *state->settings;
    }
  }
  auto reader = journal.read(journal.low);
  while (true) {
    const auto record = reader.next();
    if (!record) return record.error();
    if (!*record) return Error{"the journal tells no settings, so it holds nothing to replay", ""};
    if ((*record)->kind == static_cast<std::uint16_t>(stored::Kind::Settings)) {
      return journal::decode<stored::Settings>((*record)->payload);
    }
  }
}

ProcessorOptions processor_options(const stored::SettingsT& settings, server::EngineClock& clock) {
  ProcessorOptions options;
  options.lateness = settings.lateness;
  options.max_late = settings.max_late;
  options.max_depth = settings.max_depth;
  options.max_composites = settings.max_composites;
  options.max_instants = settings.max_instants;
  options.clock = [&clock] { return clock.now(); };
  options.on_suspension = [](const std::string&, bool) { return false; };
  return options;
}

/// Nobody gets what durable subscriptions keep, so it need not wait for any record.
constexpr journal::Place kNowhere = 0;

/// What a server knows when it starts, for as long as it takes to find an event.
class Again {
 public:
  Again(const journal::View& journal, const stored::SettingsT& settings, const gorgo::Place& id)
      : id_(id),
        processor_(processor_options(settings, clock_)),
        replay_(journal,
                {.processor = processor_,
                 .clock = clock_,
                 .producers = producers_,
                 .positions = positions_,
                 .declared_doors = declared_doors_,
                 .deployments = deployments_,
                 .results = results_,
                 .durables = durables_,
                 .process = [this] { processor_.process(look_); },
                 .process_if_many = [] {},
                 .flush = [this] { processor_.flush(look_); }},
                settings, progress_, log_) {}

  Result<FoundEvent> find() {
    const auto record = replay_.run_to(id_.root);
    if (!record) return record.error();
    if (!notation_.empty()) return FoundEvent{*record, notation_};
    return Error{"no event has the id " + server::http::text_of(id_),
                 "name the id of an event that was delivered"};
  }

 private:
  const gorgo::Place id_;
  std::string notation_;
  server::EngineClock clock_{[] { return Timestamp{0}; }};
  Processor processor_;
  server::Producers producers_{1};
  server::DoorPositions positions_;
  server::DeclaredDoors declared_doors_;
  server::Deployments deployments_;
  server::ResultHash results_;
  server::DurableSubscriptions durables_{{}, {}, [] { return std::uint64_t{0}; }};
  server::StartProgress progress_;
  server::Log log_{server::LogFormat::text, server::LogLevel::off};
  const std::function<void(const OutputBatch&)> look_ = [this](const OutputBatch& batch) {
    results_.take(batch);
    // An acknowledgement is of what came before, so it is refused where nothing was delivered.
    durables_.take(batch, kNowhere);
    const auto found = std::ranges::find(batch.rows, id_, &OutputBatch::Row::place);
    if (found != batch.rows.end()) notation_ = codec::notation_of(batch.to_event(*found));
  };
  server::Replay replay_;
};

}  // namespace

Result<FoundEvent> find_event(const journal::View& journal, const gorgo::Place& id) {
  const auto settings = first_settings(journal);
  if (!settings) return settings.error();
  return Again(journal, *settings, id).find();
}

}  // namespace gorgo::tools
