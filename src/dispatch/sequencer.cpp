#include "dispatch/sequencer.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
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

/// Whether the names are those of all attributes, in their order.
bool are_attributes(const EventType& type, std::span<const std::string_view> names) {
  return std::equal(names.begin(), names.end(), type.attributes.begin(), type.attributes.end(),
                    [](std::string_view name, const AttributeType& a) { return name == a.name; });
}

void add(const EventType& type, Timestamp timestamp, std::span<const Datum> cells, Released& out) {
  const auto first = static_cast<std::uint32_t>(out.cells.size());
  for (const Datum& cell : cells) {
    Datum& kept = out.cells.emplace_back(cell);
    if (cell.tag == Datum::Tag::string) {
      kept = Datum::of(out.strings.add(cell.text(), out.items.size()));
    }
  }
  out.items.push_back({.type = type.id,
                       .timestamp = timestamp,
                       .first_cell = first,
                       .cells = static_cast<std::uint32_t>(cells.size())});
}

/// What a float attribute takes: floats, ints, and the names by which event lines write what is no
/// number. Anything else stays as it is.
Datum float_of(const Datum& value) {
  if (value.exists() && value.type() == ValueType::string) {
    if (const auto named = codec::float_from_name(value.text())) return Datum::of(*named);
  }
  return arithmetic::to_float(value);
}

/// Writes the cells of one publication behind the others, in the order that items keep them.
class CellWriter {
 public:
  CellWriter(const Publication& event, const EventType* type, Released& out)
      : event_(event), type_(type), out_(out), first_(out.cells.size()) {}

  /// Adds the item, or nothing.
  Result<void> write(Timestamp timestamp) {
    const Result<void> written = write_cells();
    if (written.has_error()) {
      out_.cells.resize(first_);
      return written;
    }
    out_.items.push_back({.type = type_ == nullptr ? kNoType : type_->id,
                          .timestamp = timestamp,
                          .first_cell = static_cast<std::uint32_t>(first_),
                          .cells = static_cast<std::uint32_t>(out_.cells.size() - first_),
                          .extra_cells = extra_});
    return {};
  }

 private:
  Result<void> write_cells() {
    if (type_ == nullptr) {
      add_pair("", Datum::of(event_.type));
    } else {
      out_.cells.resize(first_ + type_->attributes.size());
    }
    for (std::size_t i = 0; i < event_.names.size(); ++i) {
      if (auto error = add(i)) return *error;
    }
    if (type_ != nullptr && type_->strict()) {
      if (auto error = find_missing()) return *error;
    }
    return {};
  }

  std::optional<Error> add(std::size_t i) {
    const std::string_view name = event_.names[i];
    const Datum& value = event_.cells[i];
    const auto before = event_.names.first(i);
    if (std::find(before.begin(), before.end(), name) != before.end()) {
      return refuse("attribute " + in_quotes(name) + " is given twice", "give it once");
    }
    if (!value.exists()) return std::nullopt;
    if (name.empty()) return refuse("an attribute has no name", "name every attribute");
    const auto index = type_ == nullptr ? std::nullopt : type_->find(name);
    if (index) return add_known(*index, value);
    if (type_ != nullptr && type_->strict()) return unknown(name);
    add_pair(name, value);
    return std::nullopt;
  }

  std::optional<Error> add_known(std::uint32_t index, const Datum& value) {
    const AttributeType& attribute = type_->attributes[index];
    const Datum fitted = attribute.type == ValueType::floating ? float_of(value) : value;
    if (fitted.type() != attribute.type) {
      return refuse("attribute " + in_quotes(attribute.name) + " is " +
                        std::string(to_string(value.type())) + ", expected " +
                        std::string(to_string(attribute.type)),
                    declaration_of(*type_));
    }
    out_.cells[first_ + index] = kept(fitted);
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
      if (out_.cells[first_ + i].exists()) continue;
      return refuse("attribute " + in_quotes(type_->attributes[i].name) + " is missing",
                    declaration_of(*type_));
    }
    return std::nullopt;
  }

  void add_pair(std::string_view name, const Datum& value) {
    out_.cells.push_back(kept(Datum::of(name)));
    out_.cells.push_back(kept(value));
    extra_ += 2;
  }

  Datum kept(const Datum& value) {
    if (value.tag != Datum::Tag::string) return value;
    return Datum::of(out_.strings.add(value.text(), out_.items.size()));
  }

  Error refuse(const std::string& what, std::string hint) const {
    return {event_of(event_.type) + " refused: " + what, std::move(hint)};
  }

  const Publication& event_;
  const EventType* type_;
  Released& out_;
  std::size_t first_;
  std::uint32_t extra_ = 0;
};

}  // namespace

bool Sequencer::is_ahead(Timestamp timestamp) const {
  if (!options_.max_ahead) return false;
  return timestamp > arithmetic::saturating_add(options_.clock(), *options_.max_ahead);
}

Error Sequencer::refuse_ahead(const std::string& what, Timestamp timestamp) const {
  return {what + " refused: its timestamp " + milliseconds(timestamp) + " is more than " +
              milliseconds(*options_.max_ahead) + " ahead of the clock",
          "check the publisher's clock, and that the timestamp is in the unit it should be"};
}

Error Sequencer::refuse_late(std::string_view type, const EventType* known, Timestamp timestamp) {
  ++counters_.too_late;
  count_late(known != nullptr ? known->id : kNoType, &LateCounts::too_late);
  return {event_of(type) + " refused: its timestamp " + milliseconds(timestamp) + " is more than " +
              milliseconds(options_.max_late) + " behind the clock, " + milliseconds(*released_),
          "send events in time, or without a timestamp to have them stamped"};
}

Result<Timestamp> Sequencer::stamp(std::string_view type, const EventType* known,
                                   std::optional<Timestamp> timestamp) {
  if (!timestamp) {
    if (!released_) return options_.clock();
    return std::max(options_.clock(), arithmetic::saturating_add(*released_, 1));
  }
  if (released_ && *timestamp < arithmetic::saturating_subtract(*released_, options_.max_late)) {
    return refuse_late(type, known, *timestamp);
  }
  if (is_ahead(*timestamp)) return refuse_ahead(event_of(type), *timestamp);
  return *timestamp;
}

Result<void> Sequencer::admit(const Publication& event, const Schema& schema, Released& released) {
  assert(event.names.size() == event.cells.size());
  if (event.type.empty()) return Error{"an event has no type", "name the type of every event"};
  const EventType* const type = schema.find(event.type);
  if (type != nullptr && are_attributes(*type, event.names)) {
    return admit(*type, event.timestamp, event.cells.data(), schema, released);
  }
  return admit_by_name(event, type, schema, released);
}

Result<void> Sequencer::admit(const EventType& type, std::optional<Timestamp> timestamp,
                              const Datum* first_cell, const Schema& schema, Released& released) {
  const std::span cells(first_cell, type.attributes.size());
  if (options_.lateness > 0 || !are_fitting(type, cells)) {
    std::vector<std::string_view> names;
    for (const AttributeType& attribute : type.attributes) names.push_back(attribute.name);
    return admit_by_name({type.name, timestamp, names, cells}, &type, schema, released);
  }
  const bool stamps = !timestamp;
  if (stamps || !is_beyond_doubt(*timestamp)) {
    const Result<Timestamp> stamped = stamp(type.name, &type, timestamp);
    if (stamped.has_error()) return stamped.error();
    timestamp = *stamped;
  }
  add(type, *timestamp, cells, released);
  stamps_ = stamps;
  count_release(type.id, *timestamp);
  return {};
}

Result<void> Sequencer::admit_by_name(const Publication& event, const EventType* type,
                                      const Schema& schema, Released& released) {
  const Result<Timestamp> timestamp = stamp(event.type, type, event.timestamp);
  if (timestamp.has_error()) return timestamp.error();

  const bool hold_it = options_.lateness > 0;
  if (hold_it) probe_.clear();
  CellWriter writer(event, type, hold_it ? probe_ : released);
  const Result<void> written = writer.write(*timestamp);
  if (written.has_error()) return written;

  stamps_ = !event.timestamp;
  if (hold_it) {
    hold(event, *timestamp);
    received_ = std::max(received_.value_or(*timestamp), *timestamp);
    const auto due = arithmetic::saturating_subtract(*received_, options_.lateness);
    release_until(due, schema, released);
  } else {
    count_release(type == nullptr ? kNoType : type->id, *timestamp);
  }
  return {};
}

void Sequencer::hold(const Publication& event, Timestamp timestamp) {
  Event copy{.type = std::string(event.type), .timestamp = timestamp, .attributes = {}};
  for (std::size_t i = 0; i < event.names.size(); ++i) {
    copy.attributes.push_back({std::string(event.names[i]), to_value(event.cells[i])});
  }
  held_.emplace(timestamp, std::move(copy));
}

void Sequencer::release_until(Timestamp timestamp, const Schema& schema, Released& released) {
  std::vector<std::string_view> names;
  std::vector<Datum> cells;
  while (!held_.empty() && held_.begin()->first <= timestamp) {
    const auto node = held_.extract(held_.begin());
    const Event& event = node.mapped();
    names.clear();
    cells.clear();
    for (const Attribute& attribute : event.attributes) {
      names.push_back(attribute.name);
      cells.push_back(to_datum(attribute.value));
    }
    const Publication publication{event.type, node.key(), names, cells};
    // It was accepted: when it no longer fits a type that became known meanwhile, no rule sees it,
    // but subscribers do.
    if (CellWriter(publication, schema.find(event.type), released).write(node.key()).has_error()) {
      [[maybe_unused]] const auto written =
          CellWriter(publication, nullptr, released).write(node.key());
      assert(!written.has_error());
    }
    count_release(released.items.back().type, node.key());
  }
}

void Sequencer::count_release(TypeId type, Timestamp timestamp) {
  if (!released_ || timestamp >= *released_) {
    released_ = timestamp;
    return;
  }
  ++counters_.late;
  count_late(type, &LateCounts::late);
}

void Sequencer::count_late(TypeId type, std::uint64_t LateCounts::*count) {
  if (type == kNoType) return;
  if (type >= late_.size()) late_.resize(type + 1);
  ++(late_[type].*count);
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
  released.items.push_back({.timestamp = timestamp, .tick = true});
  return {};
}

void Sequencer::flush(const Schema& schema, Released& released) {
  release_until(std::numeric_limits<Timestamp>::max(), schema, released);
}

}  // namespace gorgo::dispatch
