// Publishes and subscribes at the same time, on one thread.
#include <gorgo/publisher.hpp>
#include <gorgo/subscription.hpp>

#include <iostream>
#include <string>
#include <vector>

gorgo::Task<> feed(gorgo::Loop& loop, std::string server) {
  auto publisher = co_await gorgo::Publisher::async_open(loop, server);
  if (!publisher) co_return;
  std::vector<gorgo::Event> events;
  events.push_back({"Temp", std::nullopt, {{"area", "attic"}, {"value", 60.0}}});
  events.push_back({"Smoke", std::nullopt, {{"area", "attic"}}});
  const auto outcome = co_await publisher->async_publish(events);
  if (outcome) std::cout << "accepted " << outcome->published.accepted << "\n";
  co_await publisher->async_drain();
}

gorgo::Task<> watch(gorgo::Loop& loop, std::string server) {
  const std::vector<std::string> texts(1, "Fire");
  auto fires = co_await gorgo::Subscription::async_open(loop, server, texts);
  if (!fires) co_return;
  loop.spawn(feed(loop, server));
  while (true) {
    const auto item = co_await fires->async_next();
    if (!item) co_return;
    const auto* fire = std::get_if<gorgo::Delivery>(&*item);
    if (fire == nullptr) continue;  // a notice: something may be missing
    std::cout << fire->event.type << "\n";
    co_return;
  }
}

int main(int argc, char** argv) {
  gorgo::Loop loop;
  loop.spawn(watch(loop, argc > 1 ? argv[1] : "127.0.0.1:7450"));
  loop.run();
}
