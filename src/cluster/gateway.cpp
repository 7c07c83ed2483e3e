#include "cluster/gateway.hpp"

#include <cstdio>
#include <utility>

namespace gorgo::cluster {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{1000};

std::string from_of(const std::string& node, std::uint64_t journal) {
  char number[18];
  std::snprintf(number, sizeof number, "-%016llx", static_cast<unsigned long long>(journal));
  return node + number;
}

}  // namespace

Gateway::Gateway(const Settings& settings, std::uint64_t journal)
    : node_(settings.node),
      replicas_(settings.replicas),
      connection_(broker_settings(settings),
                  "gorgo-" + settings.name + "-" + settings.node + "-in"),
      store_(settings.name),
      parcels_(settings.name, from_of(settings.node, journal)) {}

Result<void> Gateway::open() {
  const auto opened = connection_.open();
  if (!opened) return opened.error();
  if (!*opened) return {};
  store_.close();
  next_look_ = {};
  return sender_.open(connection_.get());
}

/// Everything that was sent before is stored by now, so that the deployment holds from here on.
Result<void> Gateway::look() {
  if (!store_.is_open()) {
    // The first deployment, too, waits for the gateways that it finds here.
    if (auto made = store_.make(connection_.get(), replicas_); !made) return made;
  }
  auto found = store_.read();
  if (!found) return found.error();
  if (found->deployment.version != version_) {
    parcels_.follow(Routing(found->deployment));
    version_ = found->deployment.version;
  }
  return say_that_it_is_there();
}

Result<void> Gateway::say_that_it_is_there() {
  next_word_ = Clock::now() + kBetweenLooks;
  return store_.confirm(node_, version_);
}

Result<void> Gateway::look_if_due() {
  const auto now = Clock::now();
  if (now < next_look_) return {};
  if (auto looked = look(); !looked) return looked;
  if (auto told = send_round(parcels_.tell_clock()); !told) return told;
  parcels_.confirm();
  next_look_ = now + kBetweenLooks;
  return {};
}

Result<void> Gateway::send_round(const Parcels::Round& round) {
  if (round.empty()) return {};
  return sender_.send(round, [this] { return connection_.was_woken(); });
}

Result<void> Gateway::close_after(Result<void> outcome) {
  if (outcome) return outcome;
  connection_.close();
  sender_.close();
  store_.close();
  return outcome;
}

Result<void> Gateway::send_columns(std::span<const doors::DepartingColumns> parts) {
  if (auto opened = open(); !opened) return close_after(std::move(opened));
  if (auto looked = look_if_due(); !looked) return close_after(std::move(looked));
  for (const Parcels::Round& round : parcels_.pack(parts)) {
    if (auto sent = send_round(round); !sent) return close_after(std::move(sent));
    // A deployment does not wait for a gateway that is silent for long.
    if (Clock::now() < next_word_) continue;
    if (auto said = say_that_it_is_there(); !said) return close_after(std::move(said));
  }
  parcels_.confirm();
  return {};
}

Result<void> Gateway::idle() {
  if (auto opened = open(); !opened) return close_after(std::move(opened));
  return close_after(look_if_due());
}

}  // namespace gorgo::cluster
