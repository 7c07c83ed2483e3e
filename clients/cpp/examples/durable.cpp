// Publishes a fire that survives a crash, and takes it from a durable subscription. The server
// needs --journal.
#include <gorgo/publisher.hpp>
#include <gorgo/subscription.hpp>

#include <iostream>
#include <string>
#include <vector>

int fail(const gorgo::Error& error) {
  std::cerr << error.to_string() << "\n";
  return 1;
}

int main(int argc, char** argv) {
  const std::string server = argc > 1 ? argv[1] : "127.0.0.1:7450";

  gorgo::StreamOptions stream;
  stream.subscribe.durable = "billing";
  auto fires = gorgo::Subscription::open(server, {"Fire"}, stream);
  if (!fires) return fail(fires.error());
  gorgo::PublisherOptions publishing;
  publishing.acknowledge = gorgo::Acknowledge::durable;
  auto publisher = gorgo::Publisher::open(server, publishing);
  if (!publisher) return fail(publisher.error());

  const std::vector<gorgo::Event> events = {
      {"Temp", std::nullopt, {{"area", "cellar"}, {"value", 60.0}}},
      {"Smoke", std::nullopt, {{"area", "cellar"}}},
  };
  const auto outcome = publisher->publish(events);
  if (!outcome) return fail(outcome.error());
  std::cout << "safe " << outcome->published.accepted << "\n";

  while (true) {
    const auto item = fires->next(5'000'000'000);
    if (!item) return fail(item.error());
    if (!*item) return fail({"no fire within 5 s", ""});
    const auto* fire = std::get_if<gorgo::Delivery>(&**item);
    if (fire == nullptr) continue;  // a notice
    std::cout << fire->event.type << " in "
              << std::get<std::string>(fire->event.attributes[0].value) << "\n";
    fires->acknowledge(fire->place);
    const auto drained = fires->drain();
    return drained ? 0 : fail(drained.error());
  }
}
