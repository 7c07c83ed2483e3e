#include "doors/nats/connection.hpp"

#include <algorithm>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace gorgo::doors::nats {
namespace {

/// "a:4222,b:4222" as the library wants it.
std::vector<std::string> urls_of(const std::string& brokers) {
  std::vector<std::string> urls;
  std::istringstream in(brokers);
  for (std::string one; std::getline(in, one, ',');) urls.push_back("nats://" + one);
  return urls;
}

/// Calls tell what is wrong. The library would write it to the standard error, too.
void on_error(natsConnection*, natsSubscription*, natsStatus, void*) {}

}  // namespace

Error failed(const std::string& what, natsStatus status) {
  const char* const more = nats_GetLastError(nullptr);
  const std::string reason = natsStatus_GetText(status);
  const bool says_more = more != nullptr && *more != '\0' && reason != more;
  return {what + ": " + reason + (says_more ? std::string(" (") + more + ")" : ""), ""};
}

Connection::Connection(const Settings& settings, std::string name)
    : settings_(settings), name_(std::move(name)) {}

Result<Owned<natsOptions>> Connection::options() const {
  constexpr std::int64_t kPing = 5000;  // milliseconds; two without an answer: it is lost
  natsOptions* made = nullptr;
  auto status = natsOptions_Create(&made);
  Owned<natsOptions> options(made);
  const auto urls = urls_of(settings_.broker);
  std::vector<const char*> servers;
  for (const std::string& url : urls) servers.push_back(url.c_str());
  const auto set = [&status](natsStatus outcome) {
    if (status == NATS_OK) status = outcome;
  };
  set(natsOptions_SetServers(made, servers.data(), static_cast<int>(servers.size())));
  set(natsOptions_SetName(made, name_.c_str()));
  set(natsOptions_SetTimeout(made, kAnswer.count()));
  set(natsOptions_SetAllowReconnect(made, false));
  set(natsOptions_SetErrorHandler(made, on_error, nullptr));
  set(natsOptions_SetPingInterval(made, kPing));
  set(natsOptions_SetMaxPingsOut(made, 2));
  if (!settings_.user.empty()) {
    const auto password = password_of(settings_);
    if (!password) return password.error();
    set(natsOptions_SetUserInfo(made, settings_.user.c_str(), password->c_str()));
  }
  if (!settings_.ca.empty()) {
    set(natsOptions_SetSecure(made, true));
    set(natsOptions_LoadCATrustedCertificates(made, settings_.ca.c_str()));
  }
  if (status != NATS_OK) return failed("the settings of the door", status);
  return {std::in_place, std::move(options)};
}

Result<bool> Connection::open() {
  if (connection_ != nullptr && !natsConnection_IsClosed(connection_.get())) return false;
  close();
  if (!coming_.valid()) {
    if (auto begun = begin(); !begun) return begun.error();
  }
  const auto servers = std::ranges::count(settings_.broker, ',') + 1;
  if (coming_.wait_for(kAnswer * (servers + 1)) != std::future_status::ready) {
    return Error{"the server " + settings_.broker + " does not answer", "start it again"};
  }
  auto came = coming_.get();
  if (!came) return came.error();
  connection_ = std::move(*came);
  return true;
}

/// The library may wait for ever for a server that has begun to answer, so the attempt has a thread
/// of its own, which is left behind when the connection is not wanted any more.
Result<void> Connection::begin() {
  auto chosen = options();
  if (!chosen) return chosen.error();
  std::packaged_task<Result<Owned<natsConnection>>()> attempt(
      [options = std::move(*chosen), broker = settings_.broker]() {
        natsConnection* made = nullptr;
        const auto status = natsConnection_Connect(&made, options.get());
        if (status == NATS_OK) {
          return Result<Owned<natsConnection>>(std::in_place, Owned<natsConnection>(made));
        }
        Error why = failed("the server " + broker, status);
        why.hint = "start nats-server there, or correct the address";
        return Result<Owned<natsConnection>>(std::move(why));
      });
  coming_ = attempt.get_future();
  std::thread(std::move(attempt)).detach();
  return {};
}

void Connection::close() { connection_.reset(); }

}  // namespace gorgo::doors::nats
