#include "cluster/membership.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cluster/names.hpp"

namespace gorgo::cluster {
namespace {

using doors::nats::failed;
using doors::nats::Owned;
using std::chrono::milliseconds;

constexpr std::string_view kNode = "node.", kDrain = "drain.", kAppoint = "appoint.";

Result<void> make_bucket(natsConnection* connection, const std::string& bucket,
                         std::uint32_t replicas) {
  jsCtx* made = nullptr;
  auto status = natsConnection_JetStream(&made, connection, nullptr);
  const Owned<jsCtx> context(made);
  kvStore* store = nullptr;
  if (status == NATS_OK) status = js_KeyValue(&store, made, bucket.c_str());
  if (status == NATS_NOT_FOUND) {
    kvConfig config;
    kvConfig_Init(&config);
    config.Bucket = bucket.c_str();
    config.Replicas = static_cast<int>(replicas);
    status = js_CreateKeyValue(&store, made, &config);
  }
  kvStore_Destroy(store);
  if (status == NATS_OK) return {};
  return failed("the bucket " + bucket, status);
}

}  // namespace

Membership::Membership(const std::string& cluster)
    : bucket_(lease_bucket(cluster)),
      prefix_("$KV." + bucket_ + "."),
      reader_("KV_" + bucket_, prefix_ + ">") {}

Result<void> Membership::open(const doors::nats::Connection& connection, std::uint32_t replicas) {
  if (auto made = make_bucket(connection.get(), bucket_, replicas); !made) return made;
  const auto state = reader_.look(connection);
  if (!state) return state.error();
  to_read_.reset();
  return reader_.begin(state->first);  // the bucket keeps the last value of each key
}

Result<bool> Membership::has_read_all() {
  const auto left = reader_.left();
  if (!left) return left.error();
  if (!to_read_) to_read_ = reader_.delivered() + *left;
  // Values that others take the place of meanwhile do not come.
  return *left == 0 || reader_.delivered() >= *to_read_;
}

bool Membership::exists(const doors::nats::Connection& connection) {
  const auto state = reader_.look(connection);
  reader_.end();
  return state.has_value();
}

Result<void> Membership::read(milliseconds patience) {
  while (true) {
    const auto message = reader_.next(patience);
    if (!message) return message.error();
    if (!*message) return {};
    natsMsg* const content = (*message)->content.get();
    const std::string_view subject = natsMsg_GetSubject(content);
    if (subject.starts_with(prefix_)) {
      take(subject.substr(prefix_.size()),
           {natsMsg_GetData(content), static_cast<std::size_t>(natsMsg_GetDataLength(content))});
    }
    patience = milliseconds(0);
  }
}

void Membership::take(std::string_view key, std::string_view value) {
  if (key.starts_with(kNode)) {
    const std::string node(key.substr(kNode.size()));
    if (const auto member = Member::parse(value)) {
      const bool is_renewed = leases_.contains(node);
      leases_[node] = {*member, Clock::now(), is_renewed};
    } else {
      leases_.erase(node);
    }
  } else if (key.starts_with(kDrain)) {
    const std::string node(key.substr(kDrain.size()));
    if (value == "true") {
      drained_.insert(node);
    } else {
      drained_.erase(node);
    }
  } else if (key.starts_with(kAppoint)) {
    const auto json = nlohmann::json::parse(value, nullptr, false);
    if (!json.is_object()) return;
    const auto partition = PartitionName::parse(json.value("partition", ""));
    const std::string node = json.value("node", "");
    if (!partition) return;
    appointed_.erase(*partition);
    if (!node.empty()) appointed_[*partition] = node;
  }
}

std::map<std::string, Member> Membership::live() const {
  std::map<std::string, Member> live;
  for (const auto& [node, lease] : leases_) {
    if (Clock::now() - lease.heard < kLease) live[node] = lease.member;
  }
  return live;
}

bool Membership::have_all_renewed() const {
  return !leases_.empty() &&
         std::ranges::all_of(leases_, [](const auto& each) { return each.second.is_renewed; });
}

Result<void> Membership::renew(natsConnection* connection, const std::string& node,
                               const Member& member) {
  const std::string subject = prefix_ + std::string(kNode) + node;
  const auto status =
      natsConnection_PublishString(connection, subject.c_str(), member.to_json().c_str());
  if (status == NATS_OK) return {};
  return failed("the lease of " + node, status);
}

void Membership::leave(natsConnection* connection, const std::string& node) {
  const std::string subject = prefix_ + std::string(kNode) + node;
  // What is lost here comes to the same a lease later.
  (void)natsConnection_PublishString(connection, subject.c_str(), "");
  (void)natsConnection_FlushTimeout(connection, 1000);
}

Result<void> Membership::put(natsConnection* connection, const std::string& key,
                             const std::string& value) {
  jsCtx* made = nullptr;
  auto status = natsConnection_JetStream(&made, connection, nullptr);
  const Owned<jsCtx> context(made);
  if (status == NATS_OK) {
    status = js_Publish(nullptr, made, (prefix_ + key).c_str(), value.data(),
                        static_cast<int>(value.size()), nullptr, nullptr);
  }
  if (status == NATS_OK) return {};
  return failed("the bucket " + bucket_, status);
}

Result<void> Membership::drain(natsConnection* connection, const std::string& node, bool drained) {
  return put(connection, std::string(kDrain) + node, drained ? "true" : "false");
}

Result<void> Membership::appoint(natsConnection* connection, const PartitionName& partition,
                                 const std::string& node) {
  const std::string key =
      std::string(kAppoint) + token(partition.family) + "." + std::to_string(partition.number);
  return put(connection, key,
             nlohmann::json{{"partition", partition.text()}, {"node", node}}.dump());
}

}  // namespace gorgo::cluster
