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

/// What it finds may change where events go.
Result<void> Gateway::look_if_due() {
  const auto now = Clock::now();
  if (now < next_look_) return {};
  prepared_.reset();
  if (auto looked = look(); !looked) return looked;
  if (auto told = tell_clock(); !told) return told;
  next_look_ = now + kBetweenLooks;
  return {};
}

Result<void> Gateway::tell_clock() {
  const Parcels::Round round = parcels_.tell_clock();
  auto told = sender_.send(round, [this] { return gives_up(); });
  if (!told) return told;
  parcels_.sent();
  parcels_.confirm();
  return {};
}

Result<void> Gateway::close_after(Result<void> outcome) {
  if (outcome) return outcome;
  connection_.close();
  sender_.close();
  store_.close();
  prepared_.reset();
  parcels_.take_back();
  return outcome;
}

void Gateway::prepare(std::span<const doors::DepartingColumns> parts) {
  if (Clock::now() < next_look_) prepared_ = parcels_.pack(parts);
}

Result<void> Gateway::send_columns(std::span<const doors::DepartingColumns> parts) {
  if (auto opened = open(); !opened) return close_after(std::move(opened));
  if (auto looked = look_if_due(); !looked) return close_after(std::move(looked));
  if (!prepared_) prepared_ = parcels_.pack(parts);
  if (auto sent = send_rounds(*prepared_); !sent) return close_after(std::move(sent));
  prepared_.reset();
  parcels_.sent();
  if (!sender_.is_under_way()) parcels_.confirm();
  return {};
}

/// The last one is under way behind it.
Result<void> Gateway::send_rounds(std::span<const Parcels::Round> rounds) {
  for (const Parcels::Round& round : rounds) {
    if (auto settled = sender_.await([this] { return gives_up(); }); !settled) return settled;
    if (auto sent = sender_.publish(round); !sent) return sent;
    // A deployment does not wait for a gateway that is silent for long.
    if (Clock::now() < next_word_) continue;
    if (auto said = say_that_it_is_there(); !said) return said;
  }
  return {};
}

Result<void> Gateway::settle() {
  auto settled = sender_.await([this] { return gives_up(); });
  if (settled) parcels_.confirm();
  return close_after(std::move(settled));
}

Result<void> Gateway::idle() {
  if (auto opened = open(); !opened) return close_after(std::move(opened));
  return close_after(look_if_due());
}

}  // namespace gorgo::cluster
