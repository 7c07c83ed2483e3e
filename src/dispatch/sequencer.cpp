#include "dispatch/sequencer.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "base/arithmetic.hpp"
#include "codec/timestamp.hpp"
#include "language/reporter.hpp"

namespace gorgo::dispatch {
namespace {

using language::in_quotes;

std::string milliseconds(Timestamp timestamp) {
  std::string text;
  codec::append_milliseconds(text, timestamp);
  return text + " ms";
}

/// Writes the cells of one publication behind the batch's, in the order that records keep them.
class CellWriter {
 public:
  CellWriter(const Publication& event, const EventType* type, Batch& batch, std::uint64_t row)
      : event_(event), type_(type), batch_(batch), row_(row), first_(batch.cells.size()) {}

  Result<void> write() {
    if (type_ == nullptr) {
      add_pair("", Datum::of(event_.type));
    } else {
      batch_.cells.resize(first_ + type_->attributes.size());
    }
    for (std::size_t i = 0; i < event_.names.size(); ++i) {
      if (auto error = add(i)) return *error;
    }
    if (type_ != nullptr && type_->strict()) {
      if (auto error = find_missing()) return *error;
    }
    return {};
  }

  std::uint32_t first_cell() const { return static_cast<std::uint32_t>(first_); }
  std::uint32_t extra_cells() const { return extra_; }

 private:
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
    Datum fitted = attribute.type == ValueType::floating ? arithmetic::to_float(value) : value;
    if (fitted.type() != attribute.type) {
      return refuse("attribute " + in_quotes(attribute.name) + " is " +
                        std::string(to_string(value.type())) + ", expected " +
                        std::string(to_string(attribute.type)),
                    declaration_of(*type_));
    }
    batch_.cells[first_ + index] = kept(fitted);
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
      if (batch_.cells[first_ + i].exists()) continue;
      return refuse("attribute " + in_quotes(type_->attributes[i].name) + " is missing",
                    declaration_of(*type_));
    }
    return std::nullopt;
  }

  void add_pair(std::string_view name, const Datum& value) {
    batch_.cells.push_back(kept(Datum::of(name)));
    batch_.cells.push_back(kept(value));
    extra_ += 2;
  }

  Datum kept(const Datum& value) {
    if (value.tag != Datum::Tag::string) return value;
    return Datum::of(batch_.strings.add(value.text(), row_));
  }

  Error refuse(const std::string& what, std::string hint) const {
    return {"event of type " + in_quotes(event_.type) + " refused: " + what, std::move(hint)};
  }

  const Publication& event_;
  const EventType* type_;
  Batch& batch_;
  std::uint64_t row_;
  std::size_t first_;
  std::uint32_t extra_ = 0;
};

}  // namespace

Result<Timestamp> Sequencer::stamp(const Publication& event) const {
  if (!event.timestamp) {
    if (!released_) return clock_();
    return std::max(clock_(), arithmetic::saturating_add(*released_, 1));
  }
  const std::string what = "event of type " + in_quotes(event.type) + " refused: its timestamp " +
                           milliseconds(*event.timestamp) + " is ";
  if (released_ && *event.timestamp < *released_) {
    return Error{
        what + "before the newest released one, " + milliseconds(*released_),
        "send events in the order of their timestamps, or without one to have them stamped"};
  }
  if (max_ahead_ && *event.timestamp > arithmetic::saturating_add(clock_(), *max_ahead_)) {
    return Error{what + "more than " + milliseconds(*max_ahead_) + " ahead of the clock",
                 "check the publisher's clock and that the timestamp is in milliseconds"};
  }
  return *event.timestamp;
}

Result<std::uint64_t> Sequencer::admit(const Publication& event, const Schema& schema,
                                       Batch& batch) {
  assert(event.names.size() == event.cells.size());
  if (event.type.empty()) return Error{"an event has no type", "name the type of every event"};
  const Result<Timestamp> timestamp = stamp(event);
  if (timestamp.has_error()) return timestamp.error();

  const EventType* const type = schema.find(event.type);
  CellWriter writer(event, type, batch, count_ + 1);
  if (const Result<void> written = writer.write(); written.has_error()) {
    batch.cells.resize(writer.first_cell());
    return written.error();
  }
  released_ = *timestamp;
  batch.records.push_back({.type = type == nullptr ? kNoType : type->id,
                           .timestamp = *timestamp,
                           .root = ++count_,
                           .first_cell = writer.first_cell(),
                           .extra_cells = writer.extra_cells()});
  return count_;
}

}  // namespace gorgo::dispatch
