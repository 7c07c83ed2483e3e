#include <CLI/CLI.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Publishes NDJSON to a running server over HTTP. Each connection posts the next body when the
/// answer to the one before has come. One rule searches by an index and makes a composite of every
/// so many events; their number, as the server counts them, is held to what was sent.
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;

constexpr const char* kRules =
    "event Temp(area: int, value: float);"
    "event Smoke(area: int);"
    "@engine(column) rule fire: define Fire(area: int) from Smoke(area = $a) and"
    " last Temp(area = $a, value > 45.0) within 5 s from Smoke where area = Smoke.area;";
constexpr unsigned kHot = 10;  // one reading of so many is hot

struct Options {
  std::string address = "127.0.0.1:7451";
  unsigned connections = 4;
  unsigned batch = 1000;           // events of a body
  unsigned composite_every = 100;  // events
  const char* ack = "accepted";
  bool processed = false;
  double seconds = 10;
};

class Connection {
 public:
  explicit Connection(const std::string& address) : host_(address) {
    const auto colon = address.rfind(':');
    asio::ip::tcp::resolver resolver(io_);
    asio::connect(socket_, resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
    socket_.set_option(asio::ip::tcp::no_delay(true));
  }

  http::request<http::string_body> post(const std::string& target, std::string body) const {
    http::request<http::string_body> request(http::verb::post, target, 11, std::move(body));
    request.set(http::field::host, host_);
    request.set(http::field::content_type, "application/x-ndjson");
    request.prepare_payload();
    return request;
  }

  /// Throws unless the answer is 200.
  std::string ask(const http::request<http::string_body>& request) {
    http::write(socket_, request);
    http::response<http::string_body> answer;
    http::read(socket_, buffer_, answer);
    if (answer.result() != http::status::ok) throw std::runtime_error(answer.body());
    return std::move(answer.body());
  }

  std::string get(const std::string& target) {
    http::request<http::string_body> request(http::verb::get, target, 11);
    request.set(http::field::host, host_);
    return ask(request);
  }

 private:
  std::string host_;
  asio::io_context io_;
  asio::ip::tcp::socket socket_{io_};
  boost::beast::flat_buffer buffer_;
};

/// A hot reading comes first, so that every smoke finds one.
std::string body_of(const Options& options) {
  std::string body;
  for (unsigned i = 0; i < options.batch; ++i) {
    const std::string area = std::to_string(i % kHot == 0 ? 0 : i % 100);
    if ((i + 1) % options.composite_every == 0) {
      body += R"({"type":"Smoke","attrs":{"area":0}})";
    } else {
      body += R"({"type":"Temp","attrs":{"area":)" + area + R"(,"value":)" +
              (i % kHot == 0 ? "50.5" : "20.5") + "}}";
    }
    body += '\n';
  }
  return body;
}

struct Sums {
  std::mutex mutex;
  std::uint64_t bodies = 0, bytes = 0;
  std::string failure;  // of one connection that failed
};

void publish(const Options& options, Clock::time_point end, Sums& sums) {
  std::uint64_t bodies = 0, bytes = 0;
  std::string failure;
  try {
    Connection connection(options.address);
    const auto request =
        connection.post(std::string("/v1/events?ack=") + options.ack, body_of(options));
    for (; Clock::now() < end; ++bodies) {
      const auto answer = nlohmann::json::parse(connection.ask(request));
      if (answer.at("accepted") != options.batch) throw std::runtime_error(answer.dump());
      bytes += request.body().size();
    }
  } catch (const std::exception& problem) {
    failure = problem.what();
  }
  const std::lock_guard lock(sums.mutex);
  sums.bodies += bodies;
  sums.bytes += bytes;
  if (!failure.empty()) sums.failure = failure;
}

/// As the server counts them, of all rules since it started.
std::uint64_t composites(Connection& connection) {
  const std::string metrics = connection.get("/metrics"), name = "\ngorgo_composites_total ";
  const auto place = metrics.find(name);
  if (place == std::string::npos) throw std::runtime_error("the server counts no composites");
  return static_cast<std::uint64_t>(std::stod(metrics.substr(place + name.size())));
}

void run(const Options& options) {
  Connection control(options.address);
  control.ask(control.post("/v1/rules/http_load?replace=true", kRules));
  const std::uint64_t before = composites(control);
  Sums sums;
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.seconds));
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.connections; ++i) {
    threads.emplace_back([&] { publish(options, end, sums); });
  }
  for (auto& thread : threads) thread.join();
  const std::chrono::duration<double> took = Clock::now() - start;
  if (!sums.failure.empty()) throw std::runtime_error(sums.failure);
  // What is answered once it is processed follows what was accepted before it.
  control.ask(control.post("/v1/events?ack=processed",
                           R"({"type":"Temp","attrs":{"area":-1,"value":0.5}})"));
  const std::uint64_t expected = sums.bodies * (options.batch / options.composite_every);
  const std::uint64_t made = composites(control) - before;
  const double events = static_cast<double>(sums.bodies) * options.batch;
  std::printf("%.0f events/s, %.1f MB/s (%.0f events in %.2f s), %u connections, %u a body, %s\n",
              events / took.count(), static_cast<double>(sums.bytes) / took.count() / 1e6, events,
              took.count(), options.connections, options.batch, options.ack);
  if (made != expected) {
    throw std::runtime_error(std::to_string(expected) + " composites were expected, and " +
                             std::to_string(made) + " were made");
  }
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Publishes NDJSON to a running server over HTTP, and measures throughput.");
  Options options;
  app.add_option("--to", options.address, "Address of the server's HTTP port")
      ->capture_default_str();
  app.add_option("--connections", options.connections, "That publish")->capture_default_str();
  app.add_option("--batch", options.batch, "Events of a body")->capture_default_str();
  app.add_option("--composite-every", options.composite_every, "Events")->capture_default_str();
  app.add_flag("--processed", options.processed, "Have bodies answered once they are processed");
  app.add_option("--seconds", options.seconds, "How long it publishes")->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  if (options.processed) options.ack = "processed";
  try {
    run(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "http_load: %s\n", failure.what());
    return 1;
  }
  return 0;
}
