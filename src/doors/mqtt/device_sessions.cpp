#include "doors/mqtt/device_sessions.hpp"

#include <utility>

#include "doors/mqtt/wire.hpp"

namespace gorgo::doors::mqtt {
namespace {

constexpr char kSavedFormat = '1';
constexpr std::uint32_t kNever = ~std::uint32_t{0};

}  // namespace

bool DeviceSessions::Session::is_over(Time now) const {
  return !is_here && (!lasts() || (expiry != kNever && now - left >= std::chrono::seconds(expiry)));
}

DeviceSessions::DeviceSessions(std::string_view saved, Time now) {
  if (saved.empty() || saved.front() != kSavedFormat) return;
  saved_ = saved;
  Reader reader(saved.substr(1));
  while (!reader.empty()) {
    const Device high = reader.u32();
    const Device device = high << 32 | reader.u32();
    Session session{.expiry = reader.u32(), .is_here = false, .left = now, .held = {}};
    for (unsigned left = reader.u16(); left > 0; --left) session.held.insert(reader.u16());
    if (reader.failed()) return;
    if (sessions_.emplace(device, std::move(session)).second) ++lasting_;
  }
}

std::optional<bool> DeviceSessions::begin(Device device, bool clean, std::uint32_t expiry) {
  auto found = sessions_.find(device);
  if (clean && found != sessions_.end()) {
    forget(found);
    found = sessions_.end();
  }
  const bool present = found != sessions_.end();
  const bool lasted = present && found->second.lasts();
  if (expiry > 0 && !lasted && !make_room()) return std::nullopt;
  Session& session = sessions_[device];
  if (expiry > 0 && !lasted) ++lasting_;
  if (expiry == 0 && lasted) --lasting_;
  has_changed_ = has_changed_ || lasted || expiry > 0;
  session.expiry = expiry;
  session.is_here = true;
  return present;
}

void DeviceSessions::end(Device device, std::optional<std::uint32_t> expiry, Time now) {
  const auto found = sessions_.find(device);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  // One that does not last cannot be made to.
  if (expiry && session.lasts() && *expiry != session.expiry) {
    has_changed_ = true;
    if (*expiry == 0) --lasting_;
    session.expiry = *expiry;
  }
  session.is_here = false;
  session.left = now;
  if (session.is_over(now)) forget(found);
}

DeviceSessions::Hold DeviceSessions::hold(Device device, std::uint16_t packet_id,
                                          std::size_t most) {
  Session& session = sessions_[device];
  if (session.held.contains(packet_id)) return Hold::came_before;
  if (session.held.size() >= most) return Hold::too_many;
  session.held.insert(packet_id);
  has_changed_ = has_changed_ || session.lasts();
  return Hold::is_new;
}

std::size_t DeviceSessions::held(Device device) const {
  const auto session = sessions_.find(device);
  return session == sessions_.end() ? 0 : session->second.held.size();
}

void DeviceSessions::release(Device device, std::uint16_t packet_id) {
  Session& session = sessions_[device];
  const bool was_held = session.held.erase(packet_id) > 0;
  has_changed_ = has_changed_ || (was_held && session.lasts());
}

void DeviceSessions::forget_expired(Time now) {
  for (auto session = sessions_.begin(); session != sessions_.end();) {
    const auto here = session++;
    if (here->second.is_over(now)) forget(here);
  }
}

void DeviceSessions::forget(Sessions::iterator session) {
  if (session->second.lasts()) {
    --lasting_;
    has_changed_ = true;
  }
  sessions_.erase(session);
}

/// Forgets the session whose device has been away the longest, if there are too many.
bool DeviceSessions::make_room() {
  if (lasting_ < kMostLasting) return true;
  auto oldest = sessions_.end();
  for (auto one = sessions_.begin(); one != sessions_.end(); ++one) {
    if (one->second.is_here || !one->second.lasts()) continue;
    if (oldest == sessions_.end() || one->second.left < oldest->second.left) oldest = one;
  }
  if (oldest == sessions_.end()) return false;
  forget(oldest);
  return true;
}

const std::string& DeviceSessions::save() {
  if (!std::exchange(has_changed_, false)) return saved_;
  saved_ = kSavedFormat;
  for (const auto& [device, session] : sessions_) {
    if (!session.lasts()) continue;
    put32(saved_, static_cast<std::uint32_t>(device >> 32));
    put32(saved_, static_cast<std::uint32_t>(device & 0xffffffff));
    put32(saved_, session.expiry);
    put16(saved_, static_cast<std::uint16_t>(session.held.size()));
    for (const std::uint16_t id : session.held) put16(saved_, id);
  }
  return saved_;
}

}  // namespace gorgo::doors::mqtt
