#include "cluster/plan_store.hpp"

#include <charconv>
#include <utility>

#include "cluster/names.hpp"

namespace gorgo::cluster {
namespace {

/// `gateway.north` has the version that the gateway of this node follows.
constexpr std::string_view kGateway = "gateway.";

}  // namespace

Error PlanStore::in_bucket(natsStatus status) const {
  return doors::nats::failed("the bucket " + plan_bucket(cluster_), status);
}

Result<void> PlanStore::open_context(natsConnection* connection) {
  close();
  jsCtx* made = nullptr;
  const auto status = natsConnection_JetStream(&made, connection, nullptr);
  context_.reset(made);
  return status == NATS_OK ? Result<void>() : Result<void>(in_bucket(status));
}

Result<bool> PlanStore::open(natsConnection* connection) {
  if (auto opened = open_context(connection); !opened) return opened.error();
  const auto status = js_KeyValue(&bucket_, context_.get(), plan_bucket(cluster_).c_str());
  if (status == NATS_OK) return true;
  const Error why = in_bucket(status);
  close();
  if (status == NATS_NOT_FOUND) return false;
  return why;
}

Result<void> PlanStore::make(natsConnection* connection, std::uint32_t replicas) {
  const auto opened = open(connection);
  if (!opened) return opened.error();
  if (*opened) return {};
  if (auto again = open_context(connection); !again) return again;
  const std::string name = plan_bucket(cluster_);
  kvConfig config;
  kvConfig_Init(&config);
  config.Bucket = name.c_str();
  config.Replicas = static_cast<int>(replicas);
  const auto status = js_CreateKeyValue(&bucket_, context_.get(), &config);
  return status == NATS_OK ? Result<void>() : Result<void>(in_bucket(status));
}

void PlanStore::close() {
  kvStore_Destroy(std::exchange(bucket_, nullptr));
  context_.reset();
}

Result<std::optional<PlanStore::Value>> PlanStore::get(const std::string& key) const {
  kvEntry* entry = nullptr;
  const auto status = kvStore_Get(&entry, bucket_, key.c_str());
  if (status == NATS_NOT_FOUND) return std::optional<Value>();
  if (status != NATS_OK) return in_bucket(status);
  const auto* const bytes = static_cast<const char*>(kvEntry_Value(entry));
  Value value{.text = std::string(bytes, static_cast<std::size_t>(kvEntry_ValueLen(entry))),
              .revision = kvEntry_Revision(entry)};
  kvEntry_Destroy(entry);
  return std::optional<Value>(std::move(value));
}

Result<PlanStore::Found> PlanStore::read() const {
  auto value = get(kPlanKey);
  if (!value) return value.error();
  if (!*value) return Found();
  auto deployment = Deployment::parse((*value)->text);
  if (!deployment) return deployment.error();
  return Found{std::move(*deployment), (*value)->revision};
}

Result<void> PlanStore::replace(const Deployment& deployment, std::uint64_t revision) {
  const std::string json = deployment.to_json();
  std::uint64_t made = 0;
  const auto status = revision == 0
                          ? kvStore_CreateString(&made, bucket_, kPlanKey, json.c_str())
                          : kvStore_UpdateString(&made, bucket_, kPlanKey, json.c_str(), revision);
  if (status == NATS_OK) return {};
  return Error{"the plan was not written, or somebody else deploys at the same time: " +
                   in_bucket(status).message,
               "look at what is deployed, and deploy again"};
}

Result<void> PlanStore::confirm(const std::string& node, std::uint64_t version) {
  const std::string key = std::string(kGateway) + node;
  std::uint64_t revision = 0;
  const auto status =
      kvStore_PutString(&revision, bucket_, key.c_str(), std::to_string(version).c_str());
  return status == NATS_OK ? Result<void>() : Result<void>(in_bucket(status));
}

/// The list of keys that the library makes comes of a consumer, which passes over a key that is
/// written meanwhile. The stream's list of subjects always has it.
Result<std::vector<std::string>> PlanStore::nodes() const {
  const std::string bucket = plan_bucket(cluster_);
  const std::string prefix = "$KV." + bucket + "." + std::string(kGateway);
  const std::string filter = prefix + "*";
  jsOptions options;
  jsOptions_Init(&options);
  options.Stream.Info.SubjectsFilter = filter.c_str();
  jsStreamInfo* made = nullptr;
  const auto status =
      js_GetStreamInfo(&made, context_.get(), ("KV_" + bucket).c_str(), &options, nullptr);
  const doors::nats::Owned<jsStreamInfo> info(made);
  if (status != NATS_OK) return in_bucket(status);
  std::vector<std::string> nodes;
  const jsStreamStateSubjects* const subjects = info->State.Subjects;
  for (int i = 0; subjects != nullptr && i < subjects->Count; ++i) {
    nodes.push_back(std::string(subjects->List[i].Subject).substr(prefix.size()));
  }
  return {std::in_place, std::move(nodes)};
}

Result<std::map<std::string, PlanStore::Gateway>> PlanStore::gateways() const {
  const auto names = nodes();
  if (!names) return names.error();
  std::map<std::string, Gateway> found;
  for (const std::string& node : *names) {
    const auto value = get(std::string(kGateway) + node);
    if (!value) return value.error();
    if (!*value) return Error{"the bucket " + plan_bucket(cluster_) + " lacks what it lists", ""};
    Gateway& one = found[node];
    const std::string& text = (*value)->text;
    std::from_chars(text.data(), text.data() + text.size(), one.version);
    one.revision = (*value)->revision;
  }
  return found;
}

}  // namespace gorgo::cluster
