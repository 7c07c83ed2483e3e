// How many events a second one process publishes and receives with the client for C++. It prints
// the seconds. clients/python/bench/throughput.py runs it beside the other clients.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "gorgo/publisher.hpp"
#include "gorgo/subscription.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr gorgo::Duration kLong = 600'000'000'000;

int fail(const gorgo::Error& error) {
  std::cerr << error.to_string() << "\n";
  return 1;
}

void print_since(Clock::time_point begin) {
  std::cout << std::chrono::duration<double>(Clock::now() - begin).count() << "\n";
}

std::vector<gorgo::Event> thousand() {
  std::vector<gorgo::Event> events;
  for (int i = 0; i < 1000; ++i) {
    events.push_back({"Reading",
                      std::nullopt,
                      {{"area", "area" + std::to_string(i % 10)}, {"value", 20.0 + i % 20}}});
  }
  return events;
}

/// Columns that are filled anew each time, events that are put into columns, or one by one.
int publish(const std::string& address, std::size_t count, const std::string& way) {
  gorgo::PublisherOptions options;
  options.client.timeout = kLong;
  auto publisher = gorgo::Publisher::open(address, options);
  if (!publisher) return fail(publisher.error());
  const auto events = thousand();
  gorgo::BatchBuilder columns;
  for (const auto& event : events) columns.add(event);
  const auto begin = Clock::now();
  for (std::size_t sent = 0; sent < count; sent += events.size()) {
    if (way == "columns") {
      if (auto done = publisher->send(columns.batch()); !done) return fail(done.error());
    } else if (way == "lists") {
      gorgo::BatchBuilder batch;
      for (const auto& event : events) batch.add(event);
      if (auto done = publisher->send(batch.batch()); !done) return fail(done.error());
    } else {
      for (const auto& event : events) {
        if (auto done = publisher->send(event); !done) return fail(done.error());
      }
    }
  }
  const auto outcome = publisher->drain();
  if (outcome.published.accepted != count) return fail({"not all were accepted", ""});
  print_since(begin);
  return 0;
}

int receive(const std::string& address, std::size_t count, bool batches) {
  auto stream = gorgo::Subscription::open(address, {"Reading"});
  if (!stream) return fail(stream.error());
  std::cout << "ready" << std::endl;
  Clock::time_point begin;
  for (std::size_t seen = 0; seen < count;) {
    std::size_t more = 0;
    if (batches) {
      const auto item = stream->next_batch(kLong);
      if (!item) return fail(item.error());
      if (const auto* batch = std::get_if<gorgo::DeliveredBatch>(&**item)) {
        more = batch->events.events();
      }
    } else {
      const auto item = stream->next(kLong);
      if (!item) return fail(item.error());
      more = std::holds_alternative<gorgo::Delivery>(**item) ? 1 : 0;
    }
    if (seen == 0 && more > 0) begin = Clock::now();
    seen += more;
  }
  print_since(begin);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: client_load HOST:PORT COUNT columns|lists|single|batches|each\n";
    return 2;
  }
  const std::string address = argv[1], way = argv[3];
  const std::size_t count = std::strtoull(argv[2], nullptr, 10);
  if (way == "batches" || way == "each") return receive(address, count, way == "batches");
  return publish(address, count, way);
}
