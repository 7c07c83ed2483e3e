// Publishes two events and prints what the rules of rules/fire.tesla make of them.
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

  auto fires = gorgo::Subscription::open(server, {"Fire"});
  if (!fires) return fail(fires.error());
  auto publisher = gorgo::Publisher::open(server);
  if (!publisher) return fail(publisher.error());

  const std::vector<gorgo::Event> events = {
      {"Temp", std::nullopt, {{"area", "kitchen"}, {"value", 51.5}}},
      {"Smoke", std::nullopt, {{"area", "kitchen"}}},
  };
  const auto outcome = publisher->publish(events);
  if (!outcome) return fail(outcome.error());
  if (outcome->kind != gorgo::Outcome::Kind::accepted) std::cerr << "not all were accepted\n";

  while (true) {
    const auto item = fires->next(5'000'000'000);
    if (!item) return fail(item.error());
    if (!*item) return fail({"no fire within 5 s", ""});
    if (const auto* fire = std::get_if<gorgo::Delivery>(&**item)) {
      std::cout << fire->event.type << " in "
                << std::get<std::string>(fire->event.attributes[0].value) << "\n";
      return 0;
    }
    if (const auto* gone = std::get_if<gorgo::Disconnected>(&**item)) {
      std::cerr << "disconnected: " << gone->reason.to_string() << "\n";
    }
  }
}
