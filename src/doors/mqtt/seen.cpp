#include "doors/mqtt/seen.hpp"

namespace gorgo::doors::mqtt {
namespace {

constexpr std::size_t kBytes = 10;  // of a message, the lowest byte of each number first
/// Brokers send again at once. What has not come by then will not.
constexpr std::chrono::seconds kAgain{30};

void put(std::string& out, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>((number >> (8 * i)) & 0xff);
}

std::uint64_t number_in(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

}  // namespace

Seen::Seen(std::string_view saved) {
  for (; saved.size() >= kBytes; saved.remove_prefix(kBytes)) {
    const auto id = static_cast<std::uint16_t>(number_in(saved.substr(0, 2)));
    messages_[id] = {.hash = number_in(saved.substr(2, kBytes - 2)), .state = State::before};
  }
}

Seen::Known Seen::find(std::uint16_t id, std::uint64_t hash) const {
  const auto known = messages_.find(id);
  if (known == messages_.end() || known->second.hash != hash) return Known::no;
  return known->second.state == State::uncommitted ? Known::uncommitted : Known::done;
}

void Seen::add(std::uint16_t id, std::uint64_t hash) { messages_[id] = {.hash = hash}; }

void Seen::acknowledged(std::uint16_t id, std::uint64_t ping) {
  const auto known = messages_.find(id);
  if (known == messages_.end()) return;
  known->second.state = State::acknowledged;
  known->second.ping = ping;
}

void Seen::answered(std::uint64_t pings, Time now) {
  std::erase_if(messages_, [&](const auto& message) {
    const auto& [hash, state, ping] = message.second;
    return (state == State::acknowledged && ping <= pings) ||
           (state == State::before && now > connected_ + kAgain);
  });
}

void Seen::reconnected(Time now) {
  connected_ = now;
  for (auto& [id, message] : messages_) {
    if (message.state == State::acknowledged) message.state = State::before;
  }
}

std::string Seen::save() const {
  std::string saved;
  for (const auto& [id, message] : messages_) {
    put(saved, id, 2);
    put(saved, message.hash, kBytes - 2);
  }
  return saved;
}

}  // namespace gorgo::doors::mqtt
