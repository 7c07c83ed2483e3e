#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "gorgo/value.hpp"

namespace gorgo::codec {

/// What an event line or a tick says.
struct PlainLine {
  std::string_view type;  ///< empty: it is a tick
  std::optional<Timestamp> timestamp;
  std::vector<std::string_view> names;  ///< of the attributes
  std::vector<Datum> values;            ///< of the attributes

  bool is_tick() const { return type.empty(); }
  /// Precondition: it is an event.
  void add_to(BatchBuilder& batch) const;
};

/// Reads event lines as programs write them, and leaves the others to `read_event_line`, which is
/// several times slower and can say what is wrong. What both read, they read alike.
class PlainLines {
 public:
  PlainLines();
  ~PlainLines();

  /// Valid until the next call. Null: the line is no event and no tick, or an unusual one.
  const PlainLine* read(std::string_view line);
  /// Bytes that it takes, about.
  std::size_t memory() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace gorgo::codec
