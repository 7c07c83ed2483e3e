#include "cluster/broker_info.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cluster/deploy.hpp"
#include "cluster/names.hpp"
#include "doors/nats/connection.hpp"
#include "protocol/address.hpp"

namespace gorgo::cluster {
namespace {

constexpr std::string_view kGreeting = "INFO ";

Result<StreamCopies> copies_of(jsCtx* context, const std::string& stream) {
  jsStreamInfo* found = nullptr;
  const auto status = js_GetStreamInfo(&found, context, stream.c_str(), nullptr, nullptr);
  if (status != NATS_OK) return doors::nats::failed("the stream " + stream, status);
  const doors::nats::Owned<jsStreamInfo> info(found);
  StreamCopies copies{.stream = stream,
                      .wanted = static_cast<std::uint32_t>(info->Config->Replicas),
                      .has_leader = true,
                      .behind = {}};
  if (info->Cluster == nullptr) return copies;
  copies.has_leader = info->Cluster->Leader != nullptr && *info->Cluster->Leader != '\0';
  for (int i = 0; i < info->Cluster->ReplicasLen; ++i) {
    const jsPeerInfo* const peer = info->Cluster->Replicas[i];
    if (!peer->Current || peer->Offline) copies.behind.emplace_back(peer->Name);
  }
  return copies;
}

}  // namespace

Result<BrokerInfo> ask_broker(const std::string& address) {
  const auto parsed = protocol::parse_address(address);
  if (!parsed) return parsed.error();
  constexpr std::chrono::seconds kPatience{3};
  boost::asio::ip::tcp::iostream connection;
  connection.expires_after(kPatience);
  connection.connect(parsed->host, parsed->port);
  std::string line;
  if (!std::getline(connection, line)) {
    return Error{"the broker " + address + " does not answer: " + connection.error().message(),
                 "start nats-server there, or correct the address"};
  }
  const auto told = line.starts_with(kGreeting)
                        ? nlohmann::json::parse(line.substr(kGreeting.size()), nullptr, false)
                        : nlohmann::json();
  if (!told.is_object() || !told.contains("version")) {
    return Error{"at " + address + " is no server of NATS", "correct the address"};
  }
  return BrokerInfo{.address = address,
                    .name = told.value("server_name", ""),
                    .version = told.value("version", ""),
                    .has_jetstream = told.value("jetstream", false)};
}

Result<std::vector<StreamCopies>> copies_of_streams(const Settings& settings) {
  const auto deployment = deployed(settings);
  if (!deployment) return deployment.error();
  doors::nats::Connection connection(broker_settings(settings), "gorgo-doctor");
  if (const auto opened = connection.open(); !opened) return opened.error();
  jsCtx* made = nullptr;
  const auto status = natsConnection_JetStream(&made, connection.get(), nullptr);
  const doors::nats::Owned<jsCtx> context(made);
  if (status != NATS_OK) return doors::nats::failed("JetStream", status);
  std::vector<std::string> streams;
  for (const Family& family : deployment->plan.families) {
    streams.push_back(input_stream(settings.name, family.name));
  }
  for (const PartitionName& name : deployment->partition_names()) {
    streams.push_back(output_stream(settings.name, name.family, name.number));
  }
  std::vector<StreamCopies> all;
  for (const std::string& stream : streams) {
    auto copies = copies_of(made, stream);
    if (!copies) return copies.error();
    all.push_back(std::move(*copies));
  }
  return all;
}

}  // namespace gorgo::cluster
