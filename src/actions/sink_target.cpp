#include "actions/sink_target.hpp"

#include <utility>

#include "doors/file/file_sink.hpp"
#include "doors/kind.hpp"

namespace gorgo::actions {
namespace {

class SinkTarget : public Target {
 public:
  explicit SinkTarget(std::unique_ptr<doors::Sink> sink) : sink_(std::move(sink)) {}

  std::vector<Outcome> attempt(std::span<const Order* const> orders) override {
    doors::Departing departing;
    for (const Order* order : orders) {
      departing.rows.insert(departing.rows.end(), order->rows.begin(), order->rows.end());
    }
    const auto sent = sink_->send(departing);
    if (sent) return std::vector<Outcome>(orders.size());
    return std::vector<Outcome>(orders.size(), {Outcome::What::failed, sent.error().message});
  }
  void wake() override { sink_->wake(); }

 private:
  const std::unique_ptr<doors::Sink> sink_;
};

}  // namespace

Result<std::unique_ptr<Target>> make_sink_target(const std::string& name,
                                                 const Settings& settings) {
  doors::Settings door = settings.sink;
  if (settings.kind == "file") {
    door.kind = "file";
    door.path = settings.path;
  }
  // Retries and tests are out of order, so the last line of a file does not tell what it has.
  if (door.kind == "file") {
    return {std::in_place, std::make_unique<SinkTarget>(std::make_unique<doors::FileSink>(
                               door, doors::FileSink::Repeated::written))};
  }
  auto sink = doors::find_kind(door.kind)->make_sink("action-" + name, door);
  if (!sink) return sink.error();
  return {std::in_place, std::make_unique<SinkTarget>(std::move(*sink))};
}

}  // namespace gorgo::actions
