// Publishes a thousand events in columns, and reads what comes in columns, too.
#include <gorgo/publisher.hpp>
#include <gorgo/subscription.hpp>

#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::string server = argc > 1 ? argv[1] : "127.0.0.1:7450";
  auto temperatures = gorgo::Subscription::open(server, {"Temp(value > 50)"});
  auto publisher = gorgo::Publisher::open(server);
  if (!temperatures || !publisher) return 1;

  const std::vector<double> values(1000, 60.0);
  std::vector<std::uint32_t> ends;
  std::vector<std::uint8_t> areas;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const char letter : {'h', 'a', 'l', 'l'}) areas.push_back(letter);
    ends.push_back(static_cast<std::uint32_t>(areas.size()));
  }
  gorgo::EventTable table;
  table.type = "Temp";
  table.events = static_cast<std::uint32_t>(values.size());
  table.columns = {
      {.name = "area", .type = gorgo::ValueType::string, .ends = ends, .bytes = areas},
      {.name = "value", .type = gorgo::ValueType::floating, .floats = values},
  };
  gorgo::EventBatch batch;
  batch.tables.push_back(table);
  const auto outcome = publisher->publish(batch);
  if (!outcome) return 1;
  std::cout << "accepted " << outcome->published.accepted << "\n";

  std::size_t events = 0;
  while (events < values.size()) {
    const auto item = temperatures->next_batch(5'000'000'000);
    if (!item || !*item) return 1;
    const auto* delivered = std::get_if<gorgo::DeliveredBatch>(&**item);
    if (delivered == nullptr) continue;  // a notice: something may be missing
    events += delivered->events.events();
  }
  std::cout << "received " << events << "\n";
}
