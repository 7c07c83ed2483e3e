#include "honest_client.hpp"

#include "gorgo/client.hpp"
#include "server/replies.hpp"

namespace gorgo::soak {
namespace {

constexpr Duration kPatience = 120'000'000'000;  // a server under attack may be slow, not dead
constexpr std::size_t kBatch = 256;              // what a client that was held up sends at once
constexpr std::chrono::milliseconds kPause{
    10};  // before a publication that was refused is sent again

std::int64_t nanoseconds(std::chrono::steady_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

ClientOptions options() {
  ClientOptions options;
  options.name = "honest";
  options.timeout = kPatience;
  return options;
}

}  // namespace

std::string HonestClient::rules(int clients) {
  std::string text;
  for (int i = 0; i < clients; ++i) {
    const std::string n = std::to_string(i);
    text += "event Beat" + n + "(n: int, planned: int);\nrule pulse" + n + ":\ndefine Pulse" + n +
            "(n: int, planned: int)\nfrom Beat" + n + "()\nwhere n = Beat" + n +
            ".n and planned = Beat" + n + ".planned;\n\n";
  }
  return text;
}

HonestClient::HonestClient(int number, const std::string& address, std::chrono::microseconds period)
    : number_(number), address_(address), period_(period) {
  subscriber_ = std::thread([this] { subscribe(); });
  subscribed_.wait(false);
  publisher_ = std::thread([this] { publish(); });
}

HonestClient::~HonestClient() {
  stop_ = true;
  if (publisher_.joinable()) publisher_.join();
  if (subscriber_.joinable()) subscriber_.join();
}

void HonestClient::fail(int side, const std::string& what) {
  problems_[side] = what;
  failed_ = true;
}

void HonestClient::publish() {
  auto client = Client::connect(address_, options());
  if (!client) fail(0, client.error().to_string());
  auto planned = Clock::now();
  std::int64_t next = 0;
  std::vector<Event> events;
  while (!failed_ && !(stop_ && events.empty())) {
    std::this_thread::sleep_until(planned);  // the load is open loop
    for (; !stop_ && planned <= Clock::now() && events.size() < kBatch; planned += period_) {
      events.push_back({"Beat" + std::to_string(number_),
                        std::nullopt,
                        {{"n", next++}, {"planned", nanoseconds(planned)}}});
    }
    const auto published = client->publish(events);
    if (!published &&
        published.error().message.find(server::kShortOfMemory.message) != std::string::npos) {
      account_.refused += events.size();  // as a whole
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (!published) {
      fail(0, published.error().to_string());
      break;
    }
    account_.accepted += published->accepted;
    account_.refused += published->refused;
    // A server that is short of memory refuses the end of a batch; that is sent again.
    if (published->refused > 0 && published->accepted > 0) {
      const auto first = published->refusals.front().index;
      if (first + published->refused != events.size()) {
        fail(0, "events in the middle were refused: " + published->refusals.front().reason);
      }
    }
    events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(published->accepted));
  }
  expected_ = account_.accepted;
  published_all_ = true;
}

bool HonestClient::take(const Event& pulse, std::int64_t& next) {
  const auto n = std::get<std::int64_t>(pulse.attributes.at(0).value);
  const auto planned = std::get<std::int64_t>(pulse.attributes.at(1).value);
  account_.latencies.push_back(nanoseconds(Clock::now()) - planned);
  ++account_.delivered;
  return n == next++;
}

void HonestClient::subscribe() {
  auto client = Client::connect(address_, options());
  const auto subscribed = client ? client->subscribe("Pulse" + std::to_string(number_))
                                 : Result<Subscribed>(client.error());
  if (!subscribed) fail(1, subscribed.error().to_string());
  subscribed_ = true;
  subscribed_.notify_all();
  std::int64_t next = 0;
  auto last = Clock::now();
  while (!failed_ && !(published_all_ && account_.delivered >= expected_)) {
    const auto delivery = client->next(100'000'000);
    if (!delivery) return fail(1, delivery.error().to_string());
    if (*delivery) {
      last = Clock::now();
      if (!take((*delivery)->event, next)) {
        return fail(1, "expected pulse " + std::to_string(next - 1));
      }
    } else if (Clock::now() - last > std::chrono::nanoseconds(kPatience)) {
      return fail(
          1, "no delivery for two minutes, " + std::to_string(account_.delivered) + " came so far");
    }
    if (client->lost() > 0) return fail(1, std::to_string(client->lost()) + " deliveries lost");
  }
}

Account HonestClient::finish() {
  stop_ = true;
  publisher_.join();
  subscriber_.join();
  for (const std::string& problem : problems_) {
    if (account_.failure.empty()) account_.failure = problem;
  }
  if (account_.failure.empty() && account_.delivered != account_.accepted) {
    account_.failure = "more was delivered than accepted";
  }
  return std::move(account_);
}

}  // namespace gorgo::soak
