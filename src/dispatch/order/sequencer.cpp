#include "dispatch/order/sequencer.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <string>

#include "base/arithmetic.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"
#include "language/reporter.hpp"

namespace gorgo::dispatch {
namespace {

using language::in_quotes;

std::string event_of(std::string_view type) { return "event of type " + in_quotes(type); }

std::string milliseconds(Timestamp timestamp) {
  std::string text;
  codec::append_milliseconds(text, timestamp);
  return text + " ms";
}

/// Whether the cells are values of exactly the attributes' types.
bool are_fitting(const EventType& type, std::span<const Datum> cells) {
  const AttributeType* attribute = type.attributes.data();
  for (const Datum& cell : cells) {
    if (!cell.exists() || cell.type() != (attribute++)->type) return false;
  }
  return true;
}

/// Whether none of these, which are not empty, is below the one before it, or the first below
/// `last`. Looks at all of them, so that a processor compares several at once.
bool ascends_from(Timestamp last, std::span<const Timestamp> timestamps) {
  bool falls = timestamps.front() < last;
  for (std::size_t i = 1; i < timestamps.size(); ++i) falls |= timestamps[i] < timestamps[i - 1];
  return !falls;
}

/// Takes back the cells of an event that could not be released.
class CellGuard {
 public:
  explicit CellGuard(Released& out) : out_(out), cells_(out.cells.size()) {}
  ~CellGuard() {
    if (!kept_) out_.cells.resize(cells_);
  }
  CellGuard(const CellGuard&) = delete;
  CellGuard& operator=(const CellGuard&) = delete;

  std::size_t first() const { return cells_; }
  void keep() { kept_ = true; }

 private:
  Released& out_;
  const std::size_t cells_;
  bool kept_ = false;
};

/// Adds cells that fit the type.
void add(const EventType& type, Timestamp timestamp, std::span<const Datum> cells, Released& out) {
  CellGuard guard(out);
  for (const Datum& cell : cells) out.cells.push_back(out.keep(cell));
  out.add_record(type.id, timestamp, guard.first());
  guard.keep();
}

/// Converts a value for a float attribute, which takes floats, ints, and the names that event lines
/// give to what is no number. Anything else stays as it is.
Datum float_of(const Datum& value) {
  if (value.exists() && value.type() == ValueType::string) {
    if (const auto named = codec::float_from_name(value.text())) return Datum::of(*named);
  }
  return arithmetic::to_float(value);
}

/// Writes the cells of one event behind the others, in the order that records keep them.
class CellWriter {
 public:
  /// `type`: that of the resolution, or null.
  CellWriter(const Header& header, const Header::Resolution& resolution, const EventType* type,
             Released& out)
      : header_(header), resolution_(resolution), type_(type), out_(out), guard_(out) {}

  /// Adds the item, or nothing. `cells`: one for each column of the header.
  Result<void> write(Timestamp timestamp, const Datum* cells) {
    out_.cells.resize(guard_.first() + resolution_.width);
    for (std::size_t i = 0; i < header_.names().size(); ++i) {
      if (!cells[i].exists()) continue;
      if (auto error = add(i, cells)) return *error;
    }
    if (type_ != nullptr && type_->strict()) {
      if (auto error = find_missing()) return *error;
    }
    out_.add_record(resolution_.type, timestamp, guard_.first(),
                    out_.number_of(resolution_.extras));
    guard_.keep();
    return {};
  }

 private:
  std::optional<Error> add(std::size_t column, const Datum* cells) {
    const std::string& name = header_.names()[column];
    for (auto twin = header_.twin(column); twin != Header::kNone; twin = header_.twin(twin)) {
      if (!cells[twin].exists()) continue;
      return refuse("attribute " + in_quotes(name) + " is given twice", "give it once");
    }
    if (name.empty()) return refuse("an attribute has no name", "name every attribute");
    const std::size_t cell = resolution_.exact ? column : resolution_.cells[column];
    if (cell == Header::kNone) return unknown(name);
    if (type_ != nullptr && cell < type_->attributes.size()) return add_known(cell, cells[column]);
    out_.cells[guard_.first() + cell] = out_.keep(cells[column]);
    return std::nullopt;
  }

  std::optional<Error> add_known(std::size_t index, const Datum& value) {
    const AttributeType& attribute = type_->attributes[index];
    const Datum fitted = attribute.type == ValueType::floating ? float_of(value) : value;
    if (fitted.type() != attribute.type) {
      return refuse("attribute " + in_quotes(attribute.name) + " is " +
                        std::string(to_string(value.type())) + ", expected " +
                        std::string(to_string(attribute.type)),
                    declaration_of(*type_));
    }
    out_.cells[guard_.first() + index] = out_.keep(fitted);
    return std::nullopt;
  }

  std::optional<Error> unknown(std::string_view name) const {
    std::vector<std::string> names;
    for (const auto& attribute : type_->attributes) names.push_back(attribute.name);
    const std::string_view close = closest_name(name, names);
    return refuse(
        "there is no attribute " + in_quotes(name),
        close.empty() ? declaration_of(*type_) : "did you mean " + in_quotes(close) + "?");
  }

  std::optional<Error> find_missing() const {
    for (std::size_t i = 0; i < type_->attributes.size(); ++i) {
      if (out_.cells[guard_.first() + i].exists()) continue;
      return refuse("attribute " + in_quotes(type_->attributes[i].name) + " is missing",
                    declaration_of(*type_));
    }
    return std::nullopt;
  }

  Error refuse(const std::string& what, std::string hint) const {
    return {event_of(header_.type()) + " refused: " + what, std::move(hint)};
  }

  const Header& header_;
  const Header::Resolution& resolution_;
  const EventType* type_;
  Released& out_;
  CellGuard guard_;
};

}  // namespace

bool Sequencer::is_farther(Timestamp timestamp) {
  farthest_ = arithmetic::saturating_add(options_.clock(), *options_.max_ahead);
  return timestamp > farthest_;
}

std::size_t Sequencer::accepted(std::span<const Timestamp> timestamps) {
  // Where many are refused, each look at all that follow would be in vain.
  constexpr std::size_t kAtOnce = 256;
  if (timestamps.empty()) return 0;
  Timestamp last = released_.value_or(timestamps.front());
  std::size_t count = 0;
  while (count < timestamps.size()) {
    const auto some = timestamps.subspan(count, std::min(kAtOnce, timestamps.size() - count));
    const std::size_t accepted = accepted_behind(last, some);
    count += accepted;
    if (accepted < some.size()) break;
  }
  return count;
}

/// How many of the first ones are accepted behind one at `last`, which becomes the largest of them.
std::size_t Sequencer::accepted_behind(Timestamp& last, std::span<const Timestamp> timestamps) {
  if (ascends_from(last, timestamps) && !is_ahead(timestamps.back())) {
    last = timestamps.back();
    return timestamps.size();
  }
  std::size_t count = 0;
  for (const Timestamp timestamp : timestamps) {
    if (is_too_late(timestamp, last) || is_ahead(timestamp)) break;
    last = std::max(last, timestamp);
    ++count;
  }
  return count;
}

void Sequencer::release(TypeId type, std::span<const Timestamp> timestamps, bool stamped) {
  stamps_ = stamped;
  if (ascends_from(released_.value_or(timestamps.front()), timestamps)) {
    released_ = timestamps.back();
    return;
  }
  for (const Timestamp timestamp : timestamps) count_release(type, timestamp);
}

void Sequencer::stamp_together(std::size_t events, std::vector<Timestamp>& into) const {
  into.clear();
  into.resize(events);
  Timestamp next = next_stamp();
  for (Timestamp& timestamp : into) {
    timestamp = next;
    next = arithmetic::saturating_add(next, 1);
  }
}

/// What is stamped ascends, also where the clock does not.
Timestamp Sequencer::next_stamp() const {
  if (!released_) return options_.clock();
  return std::max(options_.clock(), arithmetic::saturating_add(*released_, 1));
}

Error Sequencer::refuse_ahead(const std::string& what, Timestamp timestamp) const {
  return {what + " refused: its timestamp " + milliseconds(timestamp) + " is more than " +
              milliseconds(*options_.max_ahead) + " ahead of the clock",
          "check the publisher's clock, and that the timestamp is in the unit it should be"};
}

Error Sequencer::refuse_late(std::string_view type, const EventType* known, Timestamp timestamp) {
  ++counters_.too_late;
  if (known != nullptr) {
    prepare(known->id);
    ++late_[known->id].too_late;
  }
  return {event_of(type) + " refused: its timestamp " + milliseconds(timestamp) + " is more than " +
              milliseconds(options_.max_late) + " behind the clock, " + milliseconds(*released_),
          "send events in time, or without a timestamp to have them stamped; lateness puts those "
          "in order that come late, such as 1h for the hour that an autumn's clock repeats"};
}

Result<Timestamp> Sequencer::stamp(std::string_view type, const EventType* known,
                                   std::optional<Timestamp> timestamp) {
  if (!timestamp) return next_stamp();
  if (is_too_late(*timestamp, released_)) return refuse_late(type, known, *timestamp);
  if (is_ahead(*timestamp)) {
    ++counters_.too_ahead;
    return refuse_ahead(event_of(type), *timestamp);
  }
  return *timestamp;
}

Result<void> Sequencer::admit(const std::shared_ptr<Header>& header,
                              std::optional<Timestamp> timestamp, const Datum* cells,
                              const Schema& schema, Released& released) {
  if (header->type().empty()) return Error{"an event has no type", "name the type of every event"};
  const Header::Resolution& resolution = header->resolve(schema);
  const EventType* const type = resolution.type == kNoType ? nullptr : &schema.at(resolution.type);
  if (resolution.exact && is_direct(*type, cells)) {
    return admit_direct(*type, timestamp, cells, released);
  }
  const Result<Timestamp> stamped = stamp(header->type(), type, timestamp);
  if (stamped.has_error()) return stamped.error();
  const bool stamps = !timestamp;
  if (options_.lateness > 0) {
    if (auto held = hold(header, type, *stamped, cells); !held) return held;
    stamps_ = stamps;
    release_due(schema, released);
    return {};
  }
  prepare(resolution.type);
  CellWriter writer(*header, resolution, type, released);
  if (auto written = writer.write(*stamped, cells); !written) return written;
  stamps_ = stamps;
  count_release(resolution.type, *stamped);
  return {};
}

/// Whether the event needs neither conversion nor holding.
bool Sequencer::is_direct(const EventType& type, const Datum* cells) const {
  return options_.lateness == 0 && are_fitting(type, {cells, type.attributes.size()});
}

Result<void> Sequencer::admit_direct(const EventType& type, std::optional<Timestamp> timestamp,
                                     const Datum* cells, Released& released) {
  const bool stamps = !timestamp;
  if (stamps || !accepts(*timestamp)) {
    const Result<Timestamp> stamped = stamp(type.name, &type, timestamp);
    if (stamped.has_error()) return stamped.error();
    timestamp = *stamped;
  }
  prepare(type.id);
  add(type, *timestamp, {cells, type.attributes.size()}, released);
  stamps_ = stamps;
  count_release(type.id, *timestamp);
  return {};
}

Result<void> Sequencer::hold(const std::shared_ptr<Header>& header, const EventType* type,
                             Timestamp timestamp, const Datum* cells) {
  probe_.clear();
  CellWriter probe(*header, header->resolved(), type, probe_);
  if (auto fits = probe.write(timestamp, cells); !fits) return fits;
  keep(header, timestamp, cells);
  received_ = std::max(received_.value_or(timestamp), timestamp);
  return {};
}

/// Copies the cells.
void Sequencer::keep(const std::shared_ptr<Header>& header, Timestamp timestamp,
                     const Datum* cells) {
  Held held{.header = header, .cells = {cells, cells + header->names().size()}, .text = {}};
  std::size_t bytes = 0;
  for (const Datum& cell : held.cells) bytes += cell.length;
  held.text.resize(bytes);
  char* end = held.text.data();
  for (Datum& cell : held.cells) {
    if (cell.tag != Datum::Tag::string) continue;
    char* const begin = end;
    end = std::copy_n(cell.bytes, cell.length, begin);
    cell.bytes = begin;
  }
  held_.emplace(timestamp, std::move(held));
}

/// Releases what is due. An event that there is no memory for stays held, and is due again with the
/// next event.
void Sequencer::release_due(const Schema& schema, Released& released) {
  try {
    release_until(arithmetic::saturating_subtract(*received_, options_.lateness), schema, released);
  } catch (const std::bad_alloc&) {
  }
}

void Sequencer::release_until(Timestamp timestamp, const Schema& schema, Released& released) {
  while (!held_.empty() && held_.begin()->first <= timestamp) {
    const auto first = held_.begin();
    release(first->second, first->first, schema, released);
    held_.erase(first);
  }
}

void Sequencer::release(const Held& held, Timestamp timestamp, const Schema& schema,
                        Released& released) {
  const Header::Resolution& resolution = held.header->resolve(schema);
  const TypeId known = resolution.type;
  prepare(known);
  const EventType* const type = known == kNoType ? nullptr : &schema.at(known);
  const Datum* const cells = held.cells.data();
  // The event was accepted. Where it does not fit a type that became known meanwhile, subscribers
  // see it, but rules do not.
  if (!CellWriter(*held.header, resolution, type, released).write(timestamp, cells)) {
    [[maybe_unused]] const auto written =
        CellWriter(*held.header, held.header->unknown(), nullptr, released).write(timestamp, cells);
    assert(!written.has_error());
  }
  count_release(released.records.back().type, timestamp);
}

void Sequencer::prepare(TypeId type) {
  if (type != kNoType && type >= late_.size()) late_.resize(type + 1);
}

void Sequencer::count_late(TypeId type, std::uint64_t events) {
  counters_.late += events;
  if (type != kNoType) late_[type].late += events;
}

std::optional<Timestamp> Sequencer::first_held() const {
  return held_.empty() ? std::nullopt : std::optional(held_.begin()->first);
}

Timestamp Sequencer::now() const {
  return arithmetic::saturating_subtract(options_.clock(), options_.lateness);
}

Result<void> Sequencer::tick(Timestamp timestamp, const Schema& schema, Released& released) {
  if (is_ahead(timestamp)) return refuse_ahead("tick", timestamp);
  received_ = std::max(received_.value_or(timestamp), timestamp);
  release_until(timestamp, schema, released);
  if (released_ && timestamp <= *released_) return {};
  released_ = timestamp;
  released.add_tick(timestamp);
  return {};
}

void Sequencer::flush(const Schema& schema, Released& released) {
  release_until(std::numeric_limits<Timestamp>::max(), schema, released);
}

void Sequencer::restore(Marks marks) {
  received_ = marks.received;
  released_ = marks.released;
  stamps_ = marks.stamps;
  late_ = std::move(marks.late);
}

}  // namespace gorgo::dispatch
