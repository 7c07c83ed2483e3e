#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "protocol/trex/decode.hpp"
#include "protocol/trex/encode.hpp"
#include "protocol/trex/packet_cutter.hpp"

/// Publishes to a server through the T-Rex protocol, one event a packet, and measures how long it
/// takes until a rule has seen every event: each publisher's last event makes a composite, which a
/// subscriber waits for.
namespace {

using namespace gorgo;
namespace trex = protocol::trex;
namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::int32_t kReading = 2, kEnd = 1, kSeen = 3;

struct Options {
  std::string address = "127.0.0.1:50254";
  unsigned publishers = 4;
  unsigned events = 500'000;       // of each publisher
  unsigned packets_per_write = 1;  // a client of T-Rex writes each packet by itself
};

class Connection {
 public:
  explicit Connection(const std::string& address) {
    const auto colon = address.rfind(':');
    tcp::resolver resolver(io_);
    asio::connect(socket_, resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
  }
  void send(const trex::Bytes& bytes) { asio::write(socket_, asio::buffer(bytes)); }
  /// The type of the next publication.
  std::int32_t next() {
    while (true) {
      if (const auto packet = cutter_.next().value()) {
        trex::Publication event;
        trex::decode(packet->body, event).value();
        return event.type;
      }
      const auto space = cutter_.space();
      cutter_.fill(socket_.read_some(asio::buffer(space.data(), space.size())));
    }
  }

 private:
  asio::io_context io_;
  tcp::socket socket_{io_};
  trex::PacketCutter cutter_{std::size_t{1} << 24};
};

/// A composite for each end that has a hot reading of its publisher in the second before.
trex::Rule rule() {
  trex::Rule rule;
  rule.predicates = {
      {kEnd, {}, -1, 0, trex::Selection::each},
      {kReading, {{"value", trex::Comparison::greater, 45.0f}}, 0, 1000, trex::Selection::last}};
  const trex::Tree mine{ValueType::integer, trex::Reference{1, trex::Part::state, "area"}};
  const trex::Tree its{ValueType::integer, trex::Reference{0, trex::Part::state, "area"}};
  rule.parameters = {{trex::Comparison::equal, trex::Part::state, ValueType::integer, mine, its}};
  rule.composite = {
      kSeen,
      {{"value", {ValueType::floating, trex::Reference{1, trex::Part::state, "value"}}}},
      {}};
  return rule;
}

void publish(const Options& options, unsigned number) {
  Connection connection(options.address);
  const auto area = static_cast<std::int32_t>(number);
  trex::Bytes bytes;
  for (unsigned i = 0; i < options.packets_per_write; ++i) {
    trex::encode(bytes, trex::Publication{kReading, 0, {{"area", area}, {"value", 40.0f}}});
  }
  for (unsigned sent = 0; sent < options.events; sent += options.packets_per_write) {
    connection.send(bytes);
  }
  bytes.clear();
  trex::encode(bytes, trex::Publication{kReading, 0, {{"area", area}, {"value", 50.0f}}});
  trex::encode(bytes, trex::Publication{kEnd, 0, {{"area", area}}});
  connection.send(bytes);
}

void run(const Options& options) {
  Connection subscriber(options.address);
  trex::Bytes bytes;
  trex::encode(bytes, rule());
  trex::encode_subscription(bytes, {kSeen, {}});
  trex::encode_subscription(bytes, {kEnd, {}});
  trex::encode(bytes, trex::Publication{kEnd, 0, {{"area", -1}}});
  subscriber.send(bytes);
  while (subscriber.next() != kEnd) {
  }  // its own event has come back, so the rule and the subscriptions are in force
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> publishers;
  for (unsigned i = 0; i < options.publishers; ++i) {
    publishers.emplace_back([&options, i] { publish(options, i); });
  }
  for (unsigned seen = 0; seen < options.publishers;) seen += subscriber.next() == kSeen ? 1 : 0;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (auto& publisher : publishers) publisher.join();
  const double events = static_cast<double>(options.publishers) * options.events;
  std::printf("%u publishers, %.0f events, %u a write: %.3f s, %.0f events/s\n", options.publishers,
              events, options.packets_per_write, took.count(), events / took.count());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Publish to a running server as clients of T-Rex do, and measure it.");
  app.add_option("address", options.address, "HOST:PORT of the server's T-Rex port");
  app.add_option("--publishers", options.publishers)->capture_default_str();
  app.add_option("--events", options.events, "of each publisher")->capture_default_str();
  app.add_option("--packets-per-write", options.packets_per_write)
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "trex_load: %s\n", failure.what());
    return 1;
  }
  return 0;
}
