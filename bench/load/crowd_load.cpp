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
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gorgo/client.hpp"
#include "protocol/frame_cutter.hpp"
#include "protocol/framing.hpp"

/// Opens very many connections to a running server, each with subscriptions of its own, and
/// publishes an event for each subscription, once or again and again. Checks that every
/// subscription gets its own event, and no other.
namespace {

using namespace gorgo;
namespace asio = boost::asio;
namespace wire = gorgo::wire;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string address = "127.0.0.1:7450";
  std::uint32_t connections = 10'000;
  std::uint32_t subscriptions = 10;  // of each connection
  std::uint32_t batch = 256;
  double seconds = 0;  // so long rounds begin, in each of which every subscription gets an event
  double rate = 0;     // events a second; 0: as fast as they go
  int server = 0;      // its process; 0: its memory is not asked for
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A connection whose subscriptions want the sensors from `first` on, one each.
class Listener {
 public:
  Listener(asio::io_context& io, const tcp::endpoint& server, const Options& options,
           std::uint32_t first)
      : socket_(io), first_(first), count_(options.subscriptions) {
    socket_.connect(server);
    socket_.set_option(tcp::no_delay(true));
    wire::HelloT hello;
    hello.min_version = hello.max_version = protocol::kVersion;
    hello.client = "crowd_load";
    asio::write(socket_, asio::buffer(protocol::encode(1, hello)));
    expect(wire::Body::Welcome);
    cutter_.set_max_frame(protocol::kDefaultMaxFrame);
    subscribe();
  }

  /// Reads until each subscription has its event.
  void take_all() {
    std::set<std::uint32_t> seen;
    while (seen.size() < count_) {
      const auto frame = next();
      const auto* deliver = protocol::open_frame(frame).value()->body_as_Deliver();
      if (deliver == nullptr) throw std::runtime_error("something else than a delivery came");
      if (deliver->lost() > 0) throw std::runtime_error("events were lost");
      for (const std::uint32_t subscription : subscriptions_of(*deliver)) {
        if (!seen.insert(subscription).second) throw std::runtime_error("an event came twice");
      }
    }
  }

 private:
  tcp::socket socket_;
  std::uint32_t first_, count_;
  protocol::FrameCutter cutter_{protocol::kMaxGreeting};

  void subscribe() {
    protocol::Bytes requests;
    for (std::uint32_t i = 0; i < count_; ++i) {
      wire::SubscribeT request;
      request.subscription = i + 1;
      request.text = "Reading(sensor = " + std::to_string(first_ + i) + ")";
      const auto frame = protocol::encode(i + 2, request);
      requests.insert(requests.end(), frame.begin(), frame.end());
    }
    asio::write(socket_, asio::buffer(requests));
    for (std::uint32_t i = 0; i < count_; ++i) expect(wire::Body::Ack);
  }

  /// One for each row. Checks that the row is what the subscription asked for.
  std::vector<std::uint32_t> subscriptions_of(const wire::Deliver& deliver) const {
    std::vector<std::uint32_t> result;
    for (const wire::EventTable* const table : *deliver.batch()->tables()) {
      for (std::uint32_t row = 0; row < table->rows(); ++row) {
        const bool has_own = deliver.from() != nullptr && deliver.from()->size() > 0;
        const auto number = has_own ? deliver.from()->Get(row) : 0;
        const auto subscription = deliver.subscriptions()->Get(number);
        const auto sensor = table->columns()->Get(0)->ints()->Get(row);
        if (sensor != std::int64_t{first_} + subscription - 1) {
          throw std::runtime_error("somebody else's event came");
        }
        result.push_back(subscription);
      }
    }
    return result;
  }

  protocol::Bytes next() {
    while (true) {
      if (auto frame = cutter_.next().value()) return std::move(*frame);
      const auto space = cutter_.space();
      cutter_.fill(socket_.read_some(asio::buffer(space.data(), space.size())));
    }
  }

  void expect(wire::Body kind) {
    const auto frame = next();
    const auto* message = protocol::open_frame(frame).value();
    if (const auto* error = message->body_as_Error()) {
      throw std::runtime_error(error->message()->str());
    }
    if (message->body_type() != kind) throw std::runtime_error("an unexpected reply came");
  }
};

void print_memory(const Options& options, const char* when) {
  if (options.server == 0) return;
  std::ifstream status("/proc/" + std::to_string(options.server) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:") || line.starts_with("VmHWM:")) {
      std::printf("  server %s: %s\n", when, line.c_str());
    }
  }
}

/// The events of so many places of a round. Neighbours go to different connections, so that each
/// connection gets some all the time, and the server never asks whether it is still there.
std::vector<Event> readings(const Options& options, std::uint32_t first, std::uint32_t end) {
  std::vector<Event> events;
  for (std::uint32_t i = first; i < end; ++i) {
    const std::int64_t sensor =
        std::int64_t{i % options.connections} * options.subscriptions + i / options.connections;
    events.push_back({"Reading", std::nullopt, {{"sensor", sensor}}});
  }
  return events;
}

using Listeners = std::vector<std::unique_ptr<Listener>>;

Listeners open_listeners(asio::io_context& io, const Options& options) {
  const auto colon = options.address.rfind(':');
  const auto server =
      tcp::resolver(io)
          .resolve(options.address.substr(0, colon), options.address.substr(colon + 1))
          .begin()
          ->endpoint();
  Listeners listeners;
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    listeners.push_back(std::make_unique<Listener>(io, server, options, i * options.subscriptions));
  }
  return listeners;
}

/// Publishes an event for each of so many subscriptions, at the rate that is wanted.
void publish_to_all(Client& client, const Options& options, std::uint32_t all) {
  const auto start = Clock::now();
  for (std::uint32_t first = 0; first < all; first += options.batch) {
    if (options.rate > 0) {
      std::this_thread::sleep_until(start +
                                    std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(first / options.rate)));
    }
    const auto events = readings(options, first, std::min(all, first + options.batch));
    const auto published = client.publish(events);
    if (!published) throw std::runtime_error(published.error().to_string());
    if (published->accepted != events.size()) throw std::runtime_error("events were refused");
  }
}

void run(const Options& options) {
  const std::uint32_t all = options.connections * options.subscriptions;
  auto client = Client::connect(options.address).value();
  asio::io_context io;
  print_memory(options, "before");
  auto start = Clock::now();
  const Listeners listeners = open_listeners(io, options);
  std::printf("%u connections with %u subscriptions in all, opened in %.2f s\n",
              options.connections, all, seconds_since(start));
  print_memory(options, "with them");
  std::fflush(stdout);  // a program that started this one waits for it
  const auto begin = Clock::now();
  do {
    start = Clock::now();
    publish_to_all(client, options, all);
    std::printf("%.0f events/s accepted, one publication of %u in flight\n",
                all / seconds_since(start), options.batch);
    for (const auto& listener : listeners) listener->take_all();
    std::printf("each subscription has got its own event, after %.2f s\n", seconds_since(start));
    std::fflush(stdout);
  } while (seconds_since(begin) < options.seconds);
  print_memory(options, "at the end");
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Opens very many connections with subscriptions and publishes an event for each.");
  Options options;
  app.add_option("--to", options.address, "Address of the server")->capture_default_str();
  app.add_option("--connections", options.connections, "That are open at once")
      ->capture_default_str();
  app.add_option("--subscriptions", options.subscriptions, "Of each connection")
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Events of a publication")->capture_default_str();
  app.add_option("--seconds", options.seconds,
                 "So long rounds begin, in each of which every subscription gets an event")
      ->capture_default_str();
  app.add_option("--rate", options.rate, "Events a second; 0: all that go")->capture_default_str();
  app.add_option("--server", options.server, "Process of the server, whose memory is printed");
  CLI11_PARSE(app, count, arguments);
  try {
    run(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "crowd_load: %s\n", failure.what());
    return 1;
  }
  return 0;
}
