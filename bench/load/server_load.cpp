#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/log_histogram.hpp"
#include "gorgo/client.hpp"
#include "gorgo/event_batch.hpp"
#include "protocol/batch.hpp"
#include "protocol/frame_cutter.hpp"

/// Publishes to a running server through the native protocol, open loop: every publication has a
/// planned time, and latencies count from it, however late it was sent. A rule makes a composite of
/// every so many events, which carries the planned time to the subscribers.
namespace {

using namespace gorgo;
namespace asio = boost::asio;
namespace wire = gorgo::wire;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

const std::string kRules =
    "event Temp(area: int, value: float, sent: int);"
    "event Smoke(area: int, sent: int);"
    "@engine(column) rule fire: define Fire(area: int, sent: int) from Smoke(area = $a) and"
    " last Temp(area = $a, value > 45.0) within 5 s from Smoke"
    " where area = Smoke.area, sent = Smoke.sent";

struct Options {
  std::string address = "127.0.0.1:7450";
  unsigned connections = 1;
  unsigned subscribers = 1;
  unsigned threads = 1;
  unsigned batch = 256;
  unsigned composite_every = 100;  // events
  unsigned in_flight = 64;         // publications of a connection
  double rate = 0;                 // events a second, of all connections; 0: as fast as they go
  double seconds = 10;
  std::string histogram;  // file
  std::string token;      // empty: the server asks for none
  std::string execute;    // what the rule executes, such as file("log")
  bool durable = false;   // publications are acknowledged when they are
};

/// Nanoseconds since the program started.
std::int64_t now() {
  static const auto start = Clock::now();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

[[noreturn]] void give_up(const std::string& why) { throw std::runtime_error(why); }

/// A Publish frame that is sent again and again, with another id and time.
class Template {
 public:
  /// So many events, of which the last `smokes` bring about composites.
  Template(unsigned events, unsigned smokes, wire::AckMode acknowledge) {
    BatchBuilder builder;
    for (unsigned i = 0; i < events; ++i) {
      const bool is_smoke = i >= events - smokes;
      builder.add(is_smoke ? "Smoke" : "Temp", std::nullopt);
      builder.attribute("area", Datum::of(static_cast<std::int64_t>(is_smoke ? 0 : i % 100)));
      // Measured numbers, all of whose bytes differ.
      const double noise = (i * 37 % 101) / 7.0;
      if (!is_smoke) builder.attribute("value", Datum::of((i % 100 == 0 ? 50.0 : 20.0) + noise));
      builder.attribute("sent", Datum::of(std::int64_t{0}));
    }
    flatbuffers::FlatBufferBuilder packer;
    const auto publish =
        wire::CreatePublish(packer, 0, 0, acknowledge, protocol::pack(packer, builder.batch()));
    packer.ForceDefaults(true);
    packer.FinishSizePrefixed(wire::CreateMessage(packer, 1, wire::Body::Publish, publish.Union()),
                              wire::MessageIdentifier());
    frame_.assign(packer.GetBufferPointer(), packer.GetBufferPointer() + packer.GetSize());
  }

  protocol::Bytes with(std::int64_t sent) const {
    protocol::Bytes copy = frame_;
    const auto* message = flatbuffers::GetRoot<wire::Message>(copy.data() + protocol::kPrefix);
    const auto* publish = message->body_as_Publish();
    for (const wire::EventTable* const table : *publish->batch()->tables()) {
      for (const wire::Column* const column : *table->columns()) {
        if (column->name()->string_view() != "sent") continue;
        auto* values = const_cast<wire::Column*>(column)->mutable_ints();
        for (flatbuffers::uoffset_t i = 0; i < values->size(); ++i) values->Mutate(i, sent);
      }
    }
    return copy;
  }

 private:
  protocol::Bytes frame_;
};

struct Results {
  LogHistogram acknowledged, composites;  // nanoseconds since the planned time
  std::uint64_t accepted = 0, refused = 0, lost = 0;

  void merge(const Results& other) {
    acknowledged.merge(other.acknowledged);
    composites.merge(other.composites);
    accepted += other.accepted;
    refused += other.refused;
    lost += other.lost;
  }
};

/// A connection that has said Hello.
class Connection {
 public:
  Connection(asio::io_context& io, const Options& options) : socket_(io), wake_(io) {
    const std::string& address = options.address;
    const auto colon = address.rfind(':');
    tcp::resolver resolver(io);
    asio::connect(socket_, resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
    socket_.set_option(tcp::no_delay(true));
    wire::HelloT hello;
    hello.min_version = hello.max_version = protocol::kVersion;
    hello.client = "server_load";
    hello.token = options.token;
    ask(hello);
    cutter_.set_max_frame(protocol::kDefaultMaxFrame);
  }

  /// Sends a request and waits for its reply, on the caller's thread.
  template <class Body>
  void ask(const Body& body) {
    asio::write(socket_, asio::buffer(protocol::encode(1, body)));
    while (true) {
      if (const auto frame = cutter_.next().value()) {
        const auto* message = protocol::open_frame(*frame).value();
        if (const auto* error = message->body_as_Error()) give_up(error->message()->str());
        return;
      }
      const auto space = cutter_.space();
      cutter_.fill(socket_.read_some(asio::buffer(space.data(), space.size())));
    }
  }

 protected:
  tcp::socket socket_;
  asio::steady_timer wake_;
  protocol::FrameCutter cutter_{protocol::kMaxGreeting};

  /// Calls `take(message)` for each message until the connection ends.
  template <class Take>
  asio::awaitable<void> read(Take take) {
    while (true) {
      while (const auto frame = cutter_.next().value()) take(*protocol::open_frame(*frame).value());
      const auto space = cutter_.space();
      const auto [failure, size] =
          co_await socket_.async_read_some(asio::buffer(space.data(), space.size()), kTuple);
      if (failure) co_return;
      cutter_.fill(size);
    }
  }
};

class Publisher : Connection {
 public:
  Publisher(asio::io_context& io, const Options& options)
      : Connection(io, options), options_(options) {
    for (unsigned smokes = 0; smokes <= options.batch; ++smokes) {
      templates_.emplace_back(options.batch, smokes,
                              options.durable ? wire::AckMode::Durable : wire::AckMode::Accepted);
      if (smokes > options.batch / options.composite_every) break;
    }
    if (options.rate > 0) interval_ = 1e9 * options.batch * options.connections / options.rate;
  }

  void start(asio::io_context& io, std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    end_ = end;
    asio::co_spawn(io, write(), rethrow);
    asio::co_spawn(io, read([this](const wire::Message& message) { take(message); }), rethrow);
  }

  const Results& results() const { return results_; }
  std::uint64_t smokes() const { return smokes_; }
  bool is_done() const { return is_done_; }
  /// Precondition: it is done.
  std::int64_t last_acknowledged() const { return last_acknowledged_; }

 private:
  const Options& options_;
  std::vector<Template> templates_;  // by smokes
  double interval_ = 0;              // nanoseconds between publications; 0: none
  std::int64_t begin_ = 0, end_ = 0;
  std::uint64_t sent_ = 0, smokes_ = 0;
  std::deque<std::int64_t> planned_;  // of the publications that are not acknowledged
  bool is_written_ = false;
  std::int64_t last_acknowledged_ = 0;
  std::atomic<bool> is_done_ = false;  // nothing changes any more
  Results results_;

  std::int64_t planned(std::uint64_t publication) const {
    if (interval_ == 0) return std::max(begin_, now());
    return begin_ + static_cast<std::int64_t>(interval_ * static_cast<double>(publication));
  }

  protocol::Bytes next_frame(std::int64_t at) {
    const std::uint64_t events = (sent_ + 1) * options_.batch;
    const std::uint64_t wanted = events / options_.composite_every - smokes_;
    const std::size_t smokes = std::min<std::size_t>(wanted, templates_.size() - 1);
    smokes_ += smokes;
    ++sent_;
    return templates_[smokes].with(at);
  }

  asio::awaitable<void> write() {
    constexpr std::size_t kAtOnce = 64;  // publications in a write
    while (planned(sent_) < end_) {
      std::vector<protocol::Bytes> frames;
      while (planned_.size() < options_.in_flight && frames.size() < kAtOnce) {
        const std::int64_t at = planned(sent_);
        if (at > now() || at >= end_) break;
        planned_.push_back(at);
        frames.push_back(next_frame(at));
      }
      if (frames.empty()) {
        co_await wait();
        continue;
      }
      std::vector<asio::const_buffer> buffers;
      for (const auto& frame : frames) buffers.push_back(asio::buffer(frame));
      const auto [failure, size] = co_await asio::async_write(socket_, buffers, kTuple);
      if (failure) give_up("the server has closed the connection: " + failure.message());
    }
    is_written_ = true;
    is_done_ = planned_.empty();
  }

  asio::awaitable<void> wait() {
    const bool is_full = planned_.size() >= options_.in_flight;
    const std::int64_t pause =
        is_full ? 1'000'000'000 : std::max<std::int64_t>(planned(sent_) - now(), 0);
    wake_.expires_after(std::chrono::nanoseconds(pause));
    co_await wake_.async_wait(kTuple);
  }

  void take(const wire::Message& message) {
    if (const auto* error = message.body_as_Error()) give_up(error->message()->str());
    const auto* ack = message.body_as_Ack();
    if (ack == nullptr) return;
    results_.accepted += ack->accepted();
    results_.refused += ack->refused();
    const bool was_full = planned_.size() >= options_.in_flight;
    results_.acknowledged.add(
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, now() - planned_.front())));
    planned_.pop_front();
    last_acknowledged_ = now();
    if (was_full) wake_.cancel();
    if (is_written_ && planned_.empty()) is_done_ = true;
  }
};

class Subscriber : Connection {
 public:
  Subscriber(asio::io_context& io, const Options& options) : Connection(io, options) {
    wire::SubscribeT subscribe;
    subscribe.subscription = 1;
    subscribe.text = "Fire";
    ask(subscribe);
  }

  void start(asio::io_context& io) {
    asio::co_spawn(io, read([this](const wire::Message& message) { take(message); }), rethrow);
  }
  const Results& results() const { return results_; }
  std::uint64_t received() const { return received_; }

 private:
  Results results_;
  std::atomic<std::uint64_t> received_ = 0;

  void take(const wire::Message& message) {
    if (const auto* error = message.body_as_Error()) give_up(error->message()->str());
    const auto* deliver = message.body_as_Deliver();
    if (deliver == nullptr) return;
    results_.lost += deliver->lost();
    const std::int64_t arrived = now();
    for (const wire::EventTable* const table : *deliver->batch()->tables()) {
      for (const wire::Column* const column : *table->columns()) {
        if (column->name()->string_view() != "sent") continue;
        for (const std::int64_t sent : *column->ints()) {
          results_.composites.add(
              static_cast<std::uint64_t>(std::max<std::int64_t>(0, arrived - sent)));
        }
      }
    }
    received_ = results_.composites.count() + results_.lost;
  }
};

/// Some of the connections, on a thread of their own.
struct Share {
  asio::io_context io{1};
  std::vector<std::unique_ptr<Publisher>> publishers;
  std::vector<std::unique_ptr<Subscriber>> subscribers;

  /// What fails in a coroutine ends the program: nothing that it measured would mean anything.
  void run() {
    try {
      io.run_for(std::chrono::hours(24));
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "server_load: %s\n", failure.what());
      std::_Exit(1);
    }
  }
};

void print(const char* what, const LogHistogram& times) {
  if (times.count() == 0) return;
  std::printf("%-14s %10llu  p50 %8.1f us  p99 %8.1f us  p99.9 %8.1f us  most %8.1f us\n", what,
              static_cast<unsigned long long>(times.count()),
              static_cast<double>(times.quantile(0.5)) / 1e3,
              static_cast<double>(times.quantile(0.99)) / 1e3,
              static_cast<double>(times.quantile(0.999)) / 1e3,
              static_cast<double>(times.most()) / 1e3);
}

/// In the text form of HdrHistogram's tools, in microseconds.
void write_histogram(const std::string& path, const LogHistogram& times) {
  std::ofstream file(path);
  file << "       Value     Percentile TotalCount 1/(1-Percentile)\n\n";
  std::uint64_t seen = 0;
  times.for_each_bucket([&](std::uint64_t greatest, std::uint64_t count) {
    seen += count;
    const double part = static_cast<double>(seen) / static_cast<double>(times.count());
    std::array<char, 96> line{};
    std::snprintf(line.data(), line.size(), "%12.3f %2.12f %10llu %14.2f\n",
                  static_cast<double>(greatest) / 1e3, part, static_cast<unsigned long long>(seen),
                  part < 1 ? 1 / (1 - part) : 0.0);
    file << line.data();
  });
  std::array<char, 96> end{};
  std::snprintf(end.data(), end.size(), "#[Mean    = %12.3f, Total count    = %12llu]\n",
                times.mean() / 1e3, static_cast<unsigned long long>(times.count()));
  file << end.data();
}

using Shares = std::vector<std::unique_ptr<Share>>;

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

/// Returns when the last publication was acknowledged.
std::int64_t wait_for_publishers(const Shares& shares) {
  std::int64_t last = 0;
  for (const auto& share : shares) {
    for (const auto& publisher : share->publishers) {
      while (!publisher->is_done()) pause();
      last = std::max(last, publisher->last_acknowledged());
    }
  }
  return last;
}

/// Returns how many composites each subscriber should get. Waits for them while any come.
std::uint64_t wait_for_subscribers(const Shares& shares) {
  constexpr std::chrono::seconds kPatience{5};
  std::uint64_t expected = 0;
  for (const auto& share : shares) {
    for (const auto& publisher : share->publishers) expected += publisher->smokes();
  }
  for (const auto& share : shares) {
    for (const auto& subscriber : share->subscribers) {
      std::uint64_t before = subscriber->received();
      for (auto since = Clock::now(); before < expected && Clock::now() - since < kPatience;) {
        pause();
        const std::uint64_t received = subscriber->received();
        if (std::exchange(before, received) != received) since = Clock::now();
      }
    }
  }
  return expected;
}

void report(const Options& options, const Shares& shares, std::int64_t took,
            std::uint64_t expected) {
  Results all;
  for (const auto& share : shares) {
    for (const auto& publisher : share->publishers) all.merge(publisher->results());
    for (const auto& subscriber : share->subscribers) all.merge(subscriber->results());
  }
  std::printf(
      "%.0f events/s (%llu accepted, %llu refused, in %.2f s), %u connections, batches of %u, "
      "%u in flight each\n",
      static_cast<double>(all.accepted) / static_cast<double>(took) * 1e9,
      static_cast<unsigned long long>(all.accepted), static_cast<unsigned long long>(all.refused),
      static_cast<double>(took) / 1e9, options.connections, options.batch, options.in_flight);
  print("acknowledged", all.acknowledged);
  print("composites", all.composites);
  const std::uint64_t wanted = expected * options.subscribers;
  if (all.composites.count() != wanted) {
    give_up(std::to_string(wanted) + " composites were expected, " +
            std::to_string(all.composites.count()) + " came, and " + std::to_string(all.lost) +
            " were told as lost");
  }
  if (!options.histogram.empty()) write_histogram(options.histogram, all.composites);
}

void run(const Options& options) {
  ClientOptions by_token;
  by_token.token = options.token;
  auto client = Client::connect(options.address, by_token).value();
  const auto deployed = client.deploy(
      "server_load", kRules + (options.execute.empty() ? "" : " execute " + options.execute) + ";",
      {.replace = true});
  if (deployed.value().failed()) give_up(deployed.value().render());
  Shares shares;
  for (unsigned i = 0; i < options.threads; ++i) shares.push_back(std::make_unique<Share>());
  for (unsigned i = 0; i < options.subscribers; ++i) {
    Share& share = *shares[i % shares.size()];
    share.subscribers.push_back(std::make_unique<Subscriber>(share.io, options));
  }
  for (unsigned i = 0; i < options.connections; ++i) {
    Share& share = *shares[i % shares.size()];
    share.publishers.push_back(std::make_unique<Publisher>(share.io, options));
  }
  // The first hot reading stands before the first smoke whatever the size of publications.
  const std::vector<Event> hot = {
      {"Temp",
       std::nullopt,
       {{"area", std::int64_t{0}}, {"value", 50.0}, {"sent", std::int64_t{0}}}}};
  if (!client.publish(hot)) give_up("the server takes no events");
  const std::int64_t begin = now(), end = begin + static_cast<std::int64_t>(options.seconds * 1e9);
  std::vector<std::thread> threads;
  for (auto& share : shares) {
    for (auto& publisher : share->publishers) publisher->start(share->io, begin, end);
    for (auto& subscriber : share->subscribers) subscriber->start(share->io);
    threads.emplace_back([&share = *share] { share.run(); });
  }
  const std::int64_t acknowledged = wait_for_publishers(shares);
  const std::uint64_t expected = wait_for_subscribers(shares);
  for (auto& share : shares) share->io.stop();
  for (auto& thread : threads) thread.join();
  report(options, shares, acknowledged - begin, expected);
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Publishes to a running server, open loop, and measures throughput and latency.");
  Options options;
  app.add_option("--to", options.address, "Address of the server")->capture_default_str();
  app.add_option("--connections", options.connections, "That publish")->capture_default_str();
  app.add_option("--subscribers", options.subscribers, "Connections")->capture_default_str();
  app.add_option("--threads", options.threads, "That connections are divided among")
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Events of a publication")->capture_default_str();
  app.add_option("--composite-every", options.composite_every, "Events")->capture_default_str();
  app.add_option("--in-flight", options.in_flight, "Publications of a connection")
      ->capture_default_str();
  app.add_option("--rate", options.rate, "Events a second, of all together; 0: all that go")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "How long it publishes")->capture_default_str();
  app.add_option("--histogram", options.histogram,
                 "Also write the latencies of composites to this file, as HdrHistogram's tools do");
  app.add_option("--token", options.token, "Of a user of the server");
  app.add_option("--execute", options.execute, "What the rule executes, such as file(\"log\")");
  app.add_flag("--durable", options.durable, "Acknowledgements wait for the server's journal");
  CLI11_PARSE(app, count, arguments);
  try {
    run(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "server_load: %s\n", failure.what());
    return 1;
  }
  return 0;
}
