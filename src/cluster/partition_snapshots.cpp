#include "cluster/partition_snapshots.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <filesystem>
#include <utility>

namespace gorgo::cluster {
namespace {

/// The kinds of records, in the order in which they stand.
enum Kind : std::uint16_t {
  kPartition = journal::kFirstKind,  // a SavedPartition
  kWaiting,                          // an output message behind its WaitingHeader
  kProcessor,                        // a part of what the processor knows
};

struct WaitingHeader {
  std::uint64_t sequence = 0;
  std::uint32_t row = 0, ordinal = 0, composites = 0, unused = 0;
};

/// What is written at a time. Smaller parts would have more headers than is worth while.
constexpr std::size_t kSomeBytes = std::size_t{256} << 10;
constexpr std::size_t kKept = 2;

std::string_view text_of(journal::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<OutputMessage> waiting_in(journal::Bytes bytes) {
  WaitingHeader header;
  if (bytes.size() < sizeof header) return Error{"a message that waits is cut short", ""};
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return OutputMessage{.last = {header.sequence, header.row, header.ordinal},
                       .payload = {begin + sizeof header, begin + bytes.size()},
                       .composites = header.composites};
}

}  // namespace

PartitionSnapshots::PartitionSnapshots(SnapshotSettings settings)
    : settings_(std::move(settings)), disk_(journal::make_posix_disk()) {}

bool PartitionSnapshots::is_due(std::chrono::nanoseconds most) const {
  if (!are_on() || is_writing() || taken_ == 0) return false;
  if (taken_ >= std::max(settings_.bytes, last_size_)) return true;
  return most.count() > 0 && Clock::now() - begun_ >= most;
}

Result<void> PartitionSnapshots::make_folder() {
  std::error_code failure;
  std::filesystem::create_directories(settings_.folder, failure);
  if (!failure) return {};
  return Error{"cannot make the folder " + settings_.folder + ": " + failure.message(), ""};
}

void PartitionSnapshots::begin(std::int64_t created, const SavedPartition& saved,
                               const std::deque<OutputMessage>& waiting, Evaluation& evaluation) {
  begun_ = Clock::now();
  taken_ = 0;
  attempt(evaluation, [&] { return write_begin(created, saved, waiting, evaluation); });
}

/// Without memory there is no snapshot, and the partition goes on.
void PartitionSnapshots::attempt(Evaluation& evaluation,
                                 const std::function<Result<void>()>& step) {
  Result<void> done;
  try {
    done = step();
  } catch (const std::exception& failure) {
    done = Error{failure.what(), ""};
  }
  if (done) return;
  problem_ = done.error().to_string();
  give_up(evaluation);
}

Result<void> PartitionSnapshots::write_begin(std::int64_t created, const SavedPartition& saved,
                                             const std::deque<OutputMessage>& waiting,
                                             Evaluation& evaluation) {
  writing_ = saved.evaluation.sequence;
  if (auto made = make_folder(); !made) return made;
  auto writer = journal::SnapshotWriter::begin(*disk_, settings_.folder,
                                               static_cast<std::uint64_t>(created), writing_ + 1);
  if (!writer) return writer.error();
  writer_ = std::move(*writer);
  const std::string json = saved.to_json();
  const std::array<journal::Bytes, 1> text = {std::as_bytes(std::span(json))};
  if (auto added = writer_->add(kPartition, text); !added) return added;
  for (const OutputMessage& message : waiting) {
    const WaitingHeader header{.sequence = message.last.sequence,
                               .row = message.last.row,
                               .ordinal = message.last.ordinal,
                               .composites = message.composites};
    const std::array parts = {std::as_bytes(std::span(&header, 1)),
                              std::as_bytes(std::span(message.payload))};
    if (auto added = writer_->add(kWaiting, parts); !added) return added;
  }
  const auto first = evaluation.begin_save();
  if (!first) return first.error();
  const std::array<journal::Bytes, 1> part = {first->bytes};
  return writer_->add(kProcessor, part);
}

void PartitionSnapshots::go_on(Evaluation& evaluation, Clock::time_point until) {
  while (is_writing()) {
    // New rules have ended it.
    if (!evaluation.is_saving()) return give_up(evaluation);
    attempt(evaluation, [&] { return write_more(evaluation); });
    if (Clock::now() >= until) return;
  }
}

Result<void> PartitionSnapshots::write_more(Evaluation& evaluation) {
  const auto part = evaluation.save_more(kSomeBytes);
  if (!part) {
    evaluation.end_save();
    return finish();
  }
  const std::array<journal::Bytes, 1> bytes = {part->bytes};
  return writer_->add(kProcessor, bytes);
}

Result<void> PartitionSnapshots::finish() {
  if (auto finished = writer_->finish(); !finished) return finished;
  last_size_ = writer_->bytes();
  writer_ = nullptr;
  sequence_ = writing_;
  problem_.clear();
  const auto there = journal::snapshots_in(*disk_, settings_.folder);
  if (!there) return there.error();
  for (std::size_t i = kKept; i < there->size(); ++i) {
    const std::string path = journal::snapshot_path(settings_.folder, (*there)[i]);
    if (auto removed = disk_->remove(path); !removed) return removed;
  }
  return {};
}

void PartitionSnapshots::give_up(Evaluation& evaluation) {
  if (evaluation.is_saving()) evaluation.end_save();
  writer_ = nullptr;
}

Result<std::optional<PartitionSnapshots::Restored>> PartitionSnapshots::restore(
    std::int64_t created, const ProcessorOptions& options, const Objection& objection,
    const std::function<bool()>& breaks_off) {
  using Found = std::optional<Restored>;
  std::error_code failure;
  if (!are_on() || !std::filesystem::exists(settings_.folder, failure)) return Found();
  const auto places = journal::snapshots_in(*disk_, settings_.folder);
  if (!places) {
    problem_ = places.error().to_string();
    return Found();
  }
  for (const journal::Place place : *places) {
    auto restored = read(place, created, options, objection, breaks_off);
    if (restored) {
      sequence_ = restored->saved.evaluation.sequence;
      begun_ = Clock::now();
      return {std::in_place, std::move(*restored)};
    }
    if (breaks_off()) return restored.error();
    const std::string path = journal::snapshot_path(settings_.folder, place);
    problem_ = path + " was removed: " + restored.error().to_string();
    if (auto removed = disk_->remove(path); !removed) problem_ = removed.error().to_string();
  }
  return Found();
}

Result<PartitionSnapshots::Restored> PartitionSnapshots::read(
    journal::Place place, std::int64_t created, const ProcessorOptions& options,
    const Objection& objection, const std::function<bool()>& breaks_off) {
  auto reader = journal::SnapshotReader::open(*disk_, settings_.folder,
                                              static_cast<std::uint64_t>(created), place);
  if (!reader) return reader.error();
  auto record = reader->next();
  const auto is = [&](Kind kind) { return record && *record && (*record)->kind == kind; };
  if (!record) return record.error();
  if (!is(kPartition)) return Error{"it does not begin with what the partition knows", ""};
  auto saved = SavedPartition::parse(text_of((*record)->payload));
  if (!saved) return saved.error();
  if (saved->settings != settings_text(options)) {
    return Error{"it was made with other settings: " + saved->settings, ""};
  }
  if (const std::string why = objection(*saved); !why.empty()) return Error{why, ""};
  Restored restored{.saved = std::move(*saved),
                    .evaluation = std::make_unique<Evaluation>(options),
                    .waiting = {}};
  for (record = reader->next(); is(kWaiting); record = reader->next()) {
    auto message = waiting_in((*record)->payload);
    if (!message) return message.error();
    restored.waiting.push_back(std::move(*message));
  }
  const auto next = [&, is_first = true]() mutable -> Result<journal::Bytes> {
    if (breaks_off()) return Error{"the partition ends", ""};
    if (!std::exchange(is_first, false)) record = reader->next();
    if (!record) return record.error();
    return is(kProcessor) ? (*record)->payload : journal::Bytes();
  };
  if (auto done = restored.evaluation->restore(restored.saved.evaluation, next); !done) {
    return done.error();
  }
  last_size_ = reader->size();
  return restored;
}

}  // namespace gorgo::cluster
