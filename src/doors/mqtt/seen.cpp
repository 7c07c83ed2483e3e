#include "doors/mqtt/seen.hpp"

#include <algorithm>
#include <utility>

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
    const std::uint64_t hash = number_in(saved.substr(2, kBytes - 2));
    messages_[id].push_back({.hash = hash, .state = State::before, .is_here = false});
  }
}

const Seen::Message* Seen::find_message(const Key& key) const {
  const auto of_id = messages_.find(key.id);
  if (of_id == messages_.end()) return nullptr;
  const auto found = std::ranges::find(of_id->second, key.hash, &Message::hash);
  return found == of_id->second.end() ? nullptr : &*found;
}

Seen::Message* Seen::find_message(const Key& key) {
  return const_cast<Message*>(std::as_const(*this).find_message(key));
}

Seen::Known Seen::find(const Key& key) const {
  const Message* const message = find_message(key);
  if (message == nullptr) return Known::no;
  return message->state == State::uncommitted ? Known::uncommitted : Known::done;
}

/// A broker that has used an id again takes an acknowledgement for that of the oldest message. So
/// the latest message that was acknowledged may come again, and stays; the ones before it go.
void Seen::add(const Key& key) {
  Messages& of_id = messages_[key.id];
  std::erase_if(of_id, [&](const Message& message) { return message.hash == key.hash; });
  const auto is_done = [](const Message& message) { return message.state != State::uncommitted; };
  if (std::ranges::count_if(of_id, is_done) > 1) of_id.erase(std::ranges::find_if(of_id, is_done));
  of_id.push_back({.hash = key.hash});
}

void Seen::came_again(const Key& key) {
  if (Message* const message = find_message(key)) message->is_here = true;
}

bool Seen::committed(const Key& key) {
  Message* const message = find_message(key);
  if (message == nullptr || message->is_here) return true;
  message->state = State::before;
  return false;
}

void Seen::acknowledged(const Key& key, std::uint64_t ping) {
  Message* const message = find_message(key);
  if (message == nullptr) return;
  message->state = State::acknowledged;
  message->ping = ping;
}

/// Acknowledgements stand before pings that are not answered yet, so there is nothing to find until
/// the next answer, and doors ask for each batch.
void Seen::answered(std::uint64_t pings, Time now) {
  const bool is_late = now > connected_ + kAgain;
  if (pings == pings_ && is_late == was_late_) return;
  pings_ = pings;
  was_late_ = is_late;
  for (auto& [id, of_id] : messages_) {
    if (is_late) std::erase_if(of_id, [](const auto& one) { return one.state == State::before; });
    const bool is_alone = of_id.size() == 1;
    std::erase_if(of_id, [&](const Message& message) {
      return is_alone && message.state == State::acknowledged && message.ping <= pings;
    });
  }
  std::erase_if(messages_, [](const auto& of_id) { return of_id.second.empty(); });
}

void Seen::reconnected(Time now) {
  connected_ = now;
  pings_ = 0;
  was_late_ = false;
  for (auto& [id, of_id] : messages_) {
    for (Message& message : of_id) {
      if (message.state == State::acknowledged) message.state = State::before;
      message.is_here = false;
    }
  }
}

std::size_t Seen::size() const {
  std::size_t size = 0;
  for (const auto& [id, of_id] : messages_) size += of_id.size();
  return size;
}

std::string Seen::save() const {
  std::string saved;
  for (const auto& [id, of_id] : messages_) {
    for (const Message& message : of_id) {
      put(saved, id, 2);
      put(saved, message.hash, kBytes - 2);
    }
  }
  return saved;
}

}  // namespace gorgo::doors::mqtt
