#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/delivery.hpp"
#include "server/http/workbench.hpp"

namespace gorgo::server::http {

/// The rows of a delivery as text, end to end.
struct RowTexts {
  std::string text;
  std::vector<std::size_t> ends;  ///< of each row

  std::string_view of(std::uint32_t first, std::uint32_t rows) const;
};

/// Rows as server-sent events.
RowTexts event_texts(const SharedDelivery& delivery);
/// Rows as event lines with their places, `{"type":..,"ts":..,"attrs":{..},"id":"ROOT-ORDINAL"`,
/// without the brace at the end.
RowTexts message_texts(const SharedDelivery& delivery);

/// Keeps the texts of deliveries that some client has not got yet, so that each is made once for
/// all clients that keep up. Belongs to the I/O thread.
class TextCache {
 public:
  using Make = RowTexts (*)(const SharedDelivery& delivery);
  /// `memory` must outlive it.
  TextCache(Make make, MemoryBudget& memory) : make_(make), memory_(memory) {}

  std::shared_ptr<const RowTexts> of(const std::shared_ptr<const SharedDelivery>& delivery);

 private:
  struct Entry {
    std::weak_ptr<const SharedDelivery> delivery;
    std::shared_ptr<const RowTexts> texts;
  };

  const Make make_;
  std::map<std::uint64_t, Entry> entries_;  // by the numbers of the deliveries
  std::size_t bytes_ = 0;
  MemoryShare memory_;

  void drop_oldest();
};

/// What the HTTP connections of a server share.
struct Texts {
  explicit Texts(MemoryBudget& memory)
      : events(event_texts, memory), messages(message_texts, memory) {}

  TextCache events, messages;
  const std::shared_ptr<Workbench> workbench = std::make_shared<Workbench>();
};

/// Appends the rows as server-sent events, behind a `gap` when rows before them were lost.
void append_events(std::string& out, const ClientDelivery& delivery, TextCache& texts);
/// Appends a server-sent event of a kind of its own; `data` is one line.
void append_event(std::string& out, const std::string& kind, const std::string& data);

/// Appends one of no kind.
void append_data(std::string& out, const std::string& data);

/// `{"lost":N,"first":"ROOT-ORDINAL","last":"ROOT-ORDINAL"}`
std::string gap_text(const Gap& gap);

}  // namespace gorgo::server::http
