#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "codec/event_text.hpp"
#include "gorgo/event_batch.hpp"

namespace gorgo::codec {

/// Takes event lines as programs write them, and leaves the others to `read_event_line`, which is
/// several times slower and can say what is wrong. What both take, they take alike.
class PlainLines {
 public:
  PlainLines();
  ~PlainLines();

  /// Adds the event of a line to `batch`. Nothing: the line is no event, or an unusual one; the
  /// batch is as it was.
  std::optional<LineContent> take(std::string_view line, BatchBuilder& batch);

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace gorgo::codec
