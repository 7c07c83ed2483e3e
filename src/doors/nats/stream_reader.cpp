#include "doors/nats/stream_reader.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::doors::nats {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
/// More than the server sends before it waits for the reader (32 MiB), so nothing is dropped here.
constexpr int kMostWaitingBytes = 256 << 20;

}  // namespace

Error StreamReader::in_stream(natsStatus status) const {
  return failed("the stream " + stream_, status);
}

Result<StreamState> StreamReader::look(const Connection& connection) {
  end();
  jsCtx* context = nullptr;
  auto status = natsConnection_JetStream(&context, connection.get(), nullptr);
  context_.reset(context);
  jsStreamInfo* found = nullptr;
  if (status == NATS_OK) {
    status = js_GetStreamInfo(&found, context, stream_.c_str(), nullptr, nullptr);
  }
  if (status != NATS_OK) return in_stream(status);
  const Owned<jsStreamInfo> info(found);
  return StreamState{.created = info->Created,
                     .first = info->State.FirstSeq,
                     .last = info->State.LastSeq,
                     .keeps = std::chrono::nanoseconds(info->Config->MaxAge)};
}

Result<void> StreamReader::begin(std::uint64_t sequence) {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream_.c_str();
  options.Config.DeliverPolicy = js_DeliverByStartSequence;
  options.Config.OptStartSeq = std::max<std::uint64_t>(sequence, 1);
  options.Config.AckPolicy = js_AckNone;
  options.Config.FlowControl = true;
  options.Config.Heartbeat = 2 * kSecond;
  options.Config.InactiveThreshold = 10 * kSecond;
  natsSubscription* made = nullptr;
  auto status =
      js_SubscribeSync(&made, context_.get(), subjects_.c_str(), nullptr, &options, nullptr);
  subscription_.reset(made);
  if (status == NATS_OK) status = natsSubscription_SetPendingLimits(made, -1, kMostWaitingBytes);
  if (status != NATS_OK) return in_stream(status);
  delivered_ = 0;
  heard_ = std::chrono::steady_clock::now();
  return {};
}

Result<void> StreamReader::check_alive() {
  constexpr std::chrono::seconds kSilence{3};
  const auto now = std::chrono::steady_clock::now();
  if (now - heard_ < kSilence) return {};
  heard_ = now;
  jsConsumerInfo* info = nullptr;
  const auto status =
      natsSubscription_GetConsumerInfo(&info, subscription_.get(), nullptr, nullptr);
  jsConsumerInfo_Destroy(info);
  if (status == NATS_OK) return {};
  return in_stream(status);
}

Result<std::optional<StreamReader::Message>> StreamReader::next(
    std::chrono::milliseconds patience) {
  natsMsg* came = nullptr;
  const auto status = natsSubscription_NextMsg(&came, subscription_.get(), patience.count());
  if (status == NATS_TIMEOUT) {
    if (auto alive = check_alive(); !alive) return alive.error();
    return std::optional<Message>();
  }
  if (status != NATS_OK) return in_stream(status);
  heard_ = std::chrono::steady_clock::now();
  Message message{.content = Owned<natsMsg>(came)};
  jsMsgMetaData* told = nullptr;
  const auto known = natsMsg_GetMetaData(&told, came);
  if (known != NATS_OK) return in_stream(known);
  const Owned<jsMsgMetaData> about(told);
  if (about->Sequence.Consumer != ++delivered_) {
    return Error{"the stream " + stream_ + ": messages were lost on their way", ""};
  }
  message.sequence = about->Sequence.Stream;
  message.stored = about->Timestamp;
  message.behind = about->NumPending;
  return {std::in_place, std::move(message)};
}

Result<std::uint64_t> StreamReader::left() const {
  jsConsumerInfo* info = nullptr;
  const auto status =
      natsSubscription_GetConsumerInfo(&info, subscription_.get(), nullptr, nullptr);
  if (status != NATS_OK) return in_stream(status);
  // A replica that has just begun to lead may not know yet of all that was delivered.
  const std::uint64_t sent = std::max<std::uint64_t>(info->Delivered.Consumer, delivered_);
  const std::uint64_t left = info->NumPending + (sent - delivered_);
  jsConsumerInfo_Destroy(info);
  return left;
}

void StreamReader::end() {
  subscription_.reset();
  context_.reset();
}

}  // namespace gorgo::doors::nats
