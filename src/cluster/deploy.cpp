#include "cluster/deploy.hpp"

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "cluster/names.hpp"
#include "cluster/plan_store.hpp"
#include "cluster/sender.hpp"
#include "doors/nats/connection.hpp"

namespace gorgo::cluster {
namespace {

using doors::nats::Connection;
using doors::nats::Owned;

/// A gateway says once a second that it is there. One that has said nothing for so long is not.
constexpr std::chrono::milliseconds kSilenceOfGateway{4000};
constexpr std::chrono::milliseconds kBetweenAsks{200};

/// Carries out one deployment.
class Deploying {
 public:
  explicit Deploying(const Settings& settings)
      : settings_(settings),
        connection_(broker_settings(settings), "gorgo-deploy"),
        store_(settings.name) {}

  Result<Deployed> run(std::vector<RuleText> texts, ClusterPlan plan) {
    if (settings_.partitions == 0) {
      return Error{"a family cannot have 0 partitions", "have 1 at least"};
    }
    if (auto opened = connection_.open(); !opened) return opened.error();
    if (auto made = store_.make(connection_.get(), settings_.replicas); !made) return made.error();
    auto found = store_.read();
    if (!found) return found.error();
    before_ = std::move(found->deployment);
    next_ = before_;
    if (before_.version == 0) {
      next_.partitions = settings_.partitions;
      next_.replicas = settings_.replicas;
      next_.retain_hours = settings_.retain_hours;
    }
    ++next_.version;
    next_.texts = std::move(texts);
    next_.plan = std::move(plan);
    if (auto made = make_streams(); !made) return made.error();
    if (auto put = store_.replace(next_, found->revision); !put) return put.error();
    if (auto waited = await_gateways(); !waited) return waited.error();
    if (auto told = tell_partitions(); !told) return told.error();
    return std::move(done_);
  }

 private:
  const Settings settings_;
  Connection connection_;
  PlanStore store_;
  Deployment before_, next_;
  Deployed done_;

  Result<void> make_streams() {
    for (const Family& family : next_.plan.families) {
      auto made = make_stream(input_stream(settings_.name, family.name),
                              input_subjects(settings_.name, family.name));
      for (std::uint32_t i = 0; made && i < next_.partitions_of(family); ++i) {
        made = make_stream(output_stream(settings_.name, family.name, i),
                           output_subject(settings_.name, family.name, i));
      }
      if (!made) return made;
    }
    return {};
  }

  /// Makes a stream, unless there is one of this name.
  Result<void> make_stream(const std::string& name, const std::string& subject) {
    jsCtx* made = nullptr;
    auto status = natsConnection_JetStream(&made, connection_.get(), nullptr);
    const Owned<jsCtx> context(made);
    jsStreamInfo* known = nullptr;
    if (status == NATS_OK) status = js_GetStreamInfo(&known, made, name.c_str(), nullptr, nullptr);
    const Owned<jsStreamInfo> info(known);
    if (status == NATS_OK) return {};
    if (status != NATS_NOT_FOUND) return doors::nats::failed("the stream " + name, status);
    const char* subjects[] = {subject.c_str()};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = name.c_str();
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Storage = js_FileStorage;
    config.Replicas = next_.replicas;
    config.MaxAge = next_.retained();
    status = js_AddStream(nullptr, made, &config, nullptr, nullptr);
    if (status == NATS_OK) return {};
    return doors::nats::failed("the stream " + name + " cannot be made", status);
  }

  Result<void> await_gateways() {
    using Clock = std::chrono::steady_clock;
    std::map<std::string, std::pair<std::uint64_t, Clock::time_point>> heard;
    while (true) {
      const auto gateways = store_.gateways();
      if (!gateways) return gateways.error();
      bool waits = false;
      done_ = {.version = next_.version, .gateways = {}, .absent = {}};
      for (const auto& [node, gateway] : *gateways) {
        auto& [revision, at] = heard[node];
        if (revision != gateway.revision) at = Clock::now();
        revision = gateway.revision;
        if (gateway.version >= next_.version) {
          done_.gateways.push_back(node);
        } else if (Clock::now() - at > kSilenceOfGateway) {
          done_.absent.push_back(node);
        } else {
          waits = true;
        }
      }
      if (!waits) return {};
      std::this_thread::sleep_for(kBetweenAsks);
    }
  }

  /// Families that have lost all their rules are told, too.
  Result<void> tell_partitions() {
    Sender sender;
    if (auto opened = sender.open(connection_.get()); !opened) return opened;
    std::vector<StreamMessage> messages;
    for (const Family& family : next_.plan.families) add_messages(family, messages);
    for (Family family : before_.plan.families) {
      if (next_.plan.find(family.name) != nullptr) continue;
      family.rules.clear();
      add_messages(family, messages);
    }
    auto sent = sender.send(messages, [] { return false; });
    connection_.close();
    return sent;
  }

  void add_messages(const Family& family, std::vector<StreamMessage>& messages) const {
    const std::string json = next_.rules_of(family).to_json();
    for (std::uint32_t i = 0; i < next_.partitions_of(family); ++i) {
      messages.push_back({.subject = input_subject(settings_.name, family.name, i),
                          .headers = {{kRulesHeader, std::to_string(next_.version)}},
                          .payload = {json.begin(), json.end()}});
    }
  }
};

}  // namespace

Result<Deployment> deployed(const Settings& settings) {
  Connection connection(broker_settings(settings), "gorgo-rules");
  if (auto opened = connection.open(); !opened) return opened.error();
  PlanStore store(settings.name);
  const auto there = store.open(connection.get());
  if (!there) return there.error();
  if (!*there) return Deployment();
  auto found = store.read();
  if (!found) return found.error();
  return std::move(found->deployment);
}

Result<Deployed> deploy(const Settings& settings, std::vector<RuleText> texts, ClusterPlan plan) {
  return Deploying(settings).run(std::move(texts), std::move(plan));
}

}  // namespace gorgo::cluster
