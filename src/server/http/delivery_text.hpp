#pragma once

#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/event_text.hpp"
#include "gorgo/event_batch.hpp"
#include "server/http/redaction.hpp"
#include "server/http/workbench.hpp"
#include "server/subscriptions/delivery.hpp"

namespace gorgo::server::http {

/// The rows of a delivery as text, end to end.
struct RowTexts {
  std::string text;
  std::vector<std::size_t> ends;  ///< of each row

  std::string_view of(std::uint32_t first, std::uint32_t rows) const;
};

/// Lets at most so many rows of a stream pass in a second, and counts the others.
class Sample {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Sample(std::uint32_t most_per_second) : most_(most_per_second) {}

  /// How many of so many rows may pass now.
  std::uint32_t admit(std::uint32_t rows, Time now);
  /// Rows that did not pass since this was called last.
  std::uint64_t take_left_out() { return std::exchange(left_out_, 0); }

 private:
  const double most_;
  double may_pass_ = 1;
  Time looked_ = Time::min();
  std::uint64_t left_out_ = 0;
};

/// Appends the event as an event line without its end.
void append_line(std::string& out, codec::EventWriter& writer, const BatchCursor& event,
                 std::optional<Timestamp> timestamp, const Redaction& redaction);

/// Rows as server-sent events.
RowTexts event_texts(const SharedDelivery& delivery, const Redaction& redaction);
/// Rows as event lines with their places, `{"type":..,"ts":..,"attrs":{..},"id":"ROOT-ORDINAL"`,
/// without the brace at the end.
RowTexts message_texts(const SharedDelivery& delivery, const Redaction& redaction);

/// Keeps the texts of deliveries that some client has not got yet, so that each is made once for
/// all clients that keep up. Belongs to the I/O thread.
class TextCache {
 public:
  using Make = std::function<RowTexts(const SharedDelivery& delivery)>;
  /// `memory` must outlive it.
  TextCache(Make make, MemoryBudget& memory) : make_(std::move(make)), memory_(memory) {}

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
  Texts(MemoryBudget& memory, Redaction hidden)
      : redaction(std::move(hidden)),
        events([this](const SharedDelivery& d) { return event_texts(d, redaction); }, memory),
        messages([this](const SharedDelivery& d) { return message_texts(d, redaction); }, memory) {}
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;

  const Redaction redaction;
  TextCache events, messages;
  /// For what takes too long for the I/O thread and is not for the engine.
  boost::asio::thread_pool beside{1};
  const std::shared_ptr<Workbench> workbench = std::make_shared<Workbench>();
};

/// Appends the rows as server-sent events, behind a `gap` when rows before them were lost.
void append_events(std::string& out, const ClientDelivery& delivery, TextCache& texts);
/// Does the same for a sample of the rows. How many were left out stands behind those that
/// pass as an event `left_out`.
void append_sample(std::string& out, const ClientDelivery& delivery, Sample& sample,
                   const Redaction& redaction);
/// Appends a server-sent event of a kind of its own; `data` is one line.
void append_event(std::string& out, const std::string& kind, const std::string& data);

/// Appends one of no kind.
void append_data(std::string& out, const std::string& data);

/// `{"lost":N,"first":"ROOT-ORDINAL","last":"ROOT-ORDINAL"}`
std::string gap_text(const Gap& gap);

}  // namespace gorgo::server::http
