#include "server/http/socket_samples.hpp"

namespace gorgo::server::http {
namespace {

/// The rows of one sample in a delivery.
struct Share {
  std::uint32_t rows = 0, passing = 0;
  std::uint32_t seen = 0, passed = 0;

  bool next_passes() {
    const std::uint64_t due = std::uint64_t{passing} * ++seen / rows;
    if (due <= passed) return false;
    ++passed;
    return true;
  }
};

}  // namespace

void SocketSamples::set(std::uint32_t subscription, std::optional<std::uint32_t> most) {
  samples_.erase(subscription);
  if (most) samples_.emplace(subscription, Sample(*most));
}

std::vector<bool> SocketSamples::admit(const ClientDelivery& delivery, Sample::Time now) {
  if (samples_.empty()) return {};
  const std::uint32_t end = delivery.first + delivery.rows;
  std::map<std::uint32_t, Share> shares;
  for (std::uint32_t row = delivery.first; row < end; ++row) {
    const std::uint32_t id = delivery.subscription_of(row);
    if (samples_.contains(id)) ++shares[id].rows;
  }
  for (auto& [id, share] : shares) share.passing = samples_.at(id).admit(share.rows, now);
  std::vector<bool> passes(delivery.rows, true);
  for (std::uint32_t row = delivery.first; row < end; ++row) {
    const auto share = shares.find(delivery.subscription_of(row));
    if (share != shares.end()) passes[row - delivery.first] = share->second.next_passes();
  }
  return passes;
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> SocketSamples::take_left_out() {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> left_out;
  for (auto& [id, sample] : samples_) {
    const std::uint64_t rows = sample.take_left_out();
    if (rows > 0) left_out.emplace_back(id, rows);
  }
  return left_out;
}

}  // namespace gorgo::server::http
