#include "server/security/accounts.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::server {

std::shared_ptr<Account> Accounts::of(const std::string& user) {
  auto& account = accounts_[user];
  if (account == nullptr) account = std::make_shared<Account>();
  return account;
}

Result<void> AccountShare::enter(Accounts& accounts, const User& user) {
  auto account = accounts.of(user.name);
  if (account == account_) return {};
  const auto most = user.limits.connections;
  if (most > 0 && account->connections >= most) {
    ++account->refused_connections;
    return Error{"the user '" + user.name + "' has " + std::to_string(account->connections) +
                     " connections, its limit",
                 "close one, or raise limits.connections of the user in the file of users"};
  }
  leave();
  account_ = std::move(account);
  ++account_->connections;
  return {};
}

void AccountShare::leave() {
  if (account_ == nullptr) return;
  --account_->connections;
  account_ = nullptr;
}

AccountShare::Wait AccountShare::wait(const UserLimits& limits, Time now) const {
  Wait longest{0};
  if (account_ == nullptr) return longest;
  if (limits.events_per_second > 0) longest = std::max(longest, account_->events.wait(now));
  if (limits.bytes_per_second > 0) longest = std::max(longest, account_->bytes.wait(now));
  return longest;
}

void AccountShare::note_wait(const UserLimits& limits, Time now) {
  if (account_ == nullptr) return;
  const auto waits = [now](std::uint64_t limit, const RateLimit& rate) {
    return limit > 0 && rate.wait(now) > Wait::zero();
  };
  if (waits(limits.events_per_second, account_->events)) ++account_->event_waits;
  if (waits(limits.bytes_per_second, account_->bytes)) ++account_->byte_waits;
}

void AccountShare::take(const UserLimits& limits, std::size_t events, std::size_t bytes, Time now) {
  if (account_ == nullptr) return;
  const auto take_of = [now](std::uint64_t limit, RateLimit& rate, std::size_t units) {
    if (limit > 0) rate.take(static_cast<double>(units), static_cast<double>(limit), now);
  };
  take_of(limits.events_per_second, account_->events, events);
  take_of(limits.bytes_per_second, account_->bytes, bytes);
}

}  // namespace gorgo::server
