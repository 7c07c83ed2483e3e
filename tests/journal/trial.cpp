#include "trial.hpp"

#include <algorithm>
#include <array>

#include "text.hpp"

namespace gorgo::journal {
namespace {

constexpr std::uint64_t kSegmentBytes = 2048;
constexpr std::size_t kGatherBytes = 600;
constexpr std::uint16_t kKind = kFirstKind + 3;

std::int64_t no_clock() { return 1; }

}  // namespace

std::vector<Step> forty_steps() {
  using enum Step::What;
  return {{append, 0},   {append, 10},   {sync},       {append, 31},  {append, 32},  {append, 100},
          {sync},        {append, 480},  {append, 1},  {append, 900}, {append, 700}, {sync},
          {append, 447}, {append, 5},    {sync},       {trim, 40},    {append, 64},  {append, 1500},
          {append, 3},   {append, 3000}, {sync},       {append, 20},  {write},       {reopen},
          {append, 200}, {append, 200},  {sync},       {append, 959}, {append, 960}, {append, 961},
          {sync},        {trim, 80},     {append, 12}, {append, 12},  {sync},        {append, 1983},
          {sync},        {append, 512},  {write},      {append, 40}};
}

Trial::Trial(std::uint64_t seed) : disk_(seed) {}

void Trial::wrong(const std::string& what) {
  if (problem_.empty()) problem_ = what;
}

void Trial::open() {
  auto opened = Journal::open(disk_, kFolder,
                              {.segment_bytes = kSegmentBytes,
                               .gather_bytes = kGatherBytes,
                               .clock = no_clock,
                               .number = 7});
  if (!opened) {
    if (disk_.powered() && !faults_) wrong("cannot open: " + opened.error().message);
    return;
  }
  journal_ = std::move(*opened);
  compare();
}

void Trial::must_open() {
  expect_no_faults();
  disk_.heal();
  open();
  if (!journal_) wrong("there is no journal");
}

void Trial::perform(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (!disk_.powered() || !journal_ || !problem_.empty()) return;
    perform(step);
  }
}

void Trial::perform(const Step& step) {
  switch (step.what) {
    case Step::What::append:
      append(step.number);
      break;
    case Step::What::write:
      write();
      break;
    case Step::What::sync:
      sync();
      break;
    case Step::What::trim:
      trim(step.number);
      break;
    case Step::What::reopen:
      close();
      journal_.reset();
      if (disk_.powered()) open();
      break;
  }
  note_promises();
}

/// Some payloads are zero, some mostly so and yet as large when they are packed, some like columns
/// of small numbers, some random. All tell one from the other by their size or their content.
std::string Trial::next_payload(std::size_t size) {
  constexpr std::size_t kBlock = 128;
  ++serial_;
  std::string payload(size, '\0');
  Random random(serial_);
  if (serial_ % 10 == 0) return payload;
  if (serial_ % 5 == 0) {
    for (std::size_t i = 0; i + 8 <= size; i += kBlock) payload.replace(i, 8, 8, '\xFF');
    return payload;
  }
  if (serial_ % 7 == 0) {
    for (std::size_t i = 0; i < size; i += 8) payload[i] = static_cast<char>(random());
    return payload;
  }
  for (char& byte : payload) byte = static_cast<char>(random());
  return payload;
}

void Trial::append(std::size_t size) {
  const std::string payload = next_payload(size);
  const Place place = journal_->end();
  const bool failed = journal_->failure().has_value();
  written_[place] = {kKind, payload};
  const std::array<Bytes, 2> parts = {bytes_of(payload).first(size / 3),
                                      bytes_of(payload).subspan(size / 3)};
  const auto appended = journal_->append(kKind, parts);
  if (!appended) return judge("append", appended.error());
  if (*appended != place) wrong("a record got place " + std::to_string(*appended));
  if (failed) wrong("a failed journal took a record");
}

void Trial::write() {
  const bool failed = journal_->failure().has_value();
  const Place end = journal_->end();
  const auto written = journal_->write();
  if (!written) return judge("write", written.error());
  if (journal_->written() != end) wrong("a record was not written");
  if (failed) wrong("a failed journal wrote");
}

void Trial::sync() {
  const bool failed = journal_->failure().has_value();
  const Place end = journal_->end();
  const auto synced = journal_->sync();
  if (!synced) return judge("sync", synced.error());
  if (*synced < end) wrong("a sync left something behind");
  if (failed) wrong("a failed journal synced");
}

void Trial::trim(std::size_t percent) {
  const Place place = journal_->end() * percent / 100;
  trims_.emplace_back(journal_->end(), place);
  written_[journal_->end()] = {};
  if (const auto trimmed = journal_->trim(place); !trimmed) judge("trim", trimmed.error());
}

void Trial::close() {
  written_[journal_->end()] = {};
  written_[journal_->end() + 1] = {};
  if (const auto closed = journal_->close(); !closed) judge("close", closed.error());
}

void Trial::judge(const char* call, const Error& error) {
  if (disk_.powered() && !faults_) wrong(std::string(call) + ": " + error.message);
}

void Trial::note_promises() {
  if (!journal_) return;
  durable_ = std::max(durable_, journal_->durable());
  with_system_ = std::max(with_system_, journal_->written());
}

void Trial::compare() {
  const Recovery& found = journal_->recovery();
  if (found.end < least_) {
    return wrong("promised up to " + std::to_string(least_) + ", found up to " +
                 std::to_string(found.end));
  }
  std::erase_if(trims_, [&](const auto& trim) { return trim.first > found.end; });
  Place low = 1;
  for (const auto& trim : trims_) low = std::max(low, trim.second);
  if (found.low > low) {
    return wrong("may be trimmed up to " + std::to_string(low) + ", is up to " +
                 std::to_string(found.low));
  }
  auto reader = journal_->read(found.low);
  if (!reader) return wrong("cannot read: " + reader.error().message);
  Place place = found.low;
  while (true) {
    const auto record = reader->next();
    if (!record) {
      if (disk_.powered() && !faults_) wrong("cannot read: " + record.error().message);
      return;
    }
    if (!*record) break;
    if ((*record)->place != place) return wrong("place " + std::to_string(place) + " is missing");
    const auto expected = written_.find(place);
    if (expected == written_.end()) return wrong(std::to_string(place) + " was never written");
    const bool own = (*record)->kind < kFirstKind;
    const bool same = own ? expected->second.kind == 0
                          : (*record)->kind == expected->second.kind &&
                                text_of((*record)->payload) == expected->second.payload;
    if (!same) return wrong("the record of place " + std::to_string(place) + " is another one");
    ++place;
  }
  if (place != found.end) wrong("the records end at " + std::to_string(place));
  written_.erase(written_.lower_bound(found.end), written_.end());
  durable_ = with_system_ = least_ = found.end;
}

void Trial::restart(Fate data, Fate names) {
  least_ = durable_;
  journal_.reset();
  disk_.restart(data, names);
}

void Trial::kill() {
  // The pages that a failed sync did not write may be lost.
  least_ = journal_ && !journal_->failure() ? with_system_ : durable_;
  journal_.reset();
  disk_.kill();
}

}  // namespace gorgo::journal
