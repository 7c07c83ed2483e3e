#include "cluster/output.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "cluster/header.hpp"

namespace gorgo::cluster {
namespace {

using doors::nats::failed;
using doors::nats::Owned;

constexpr const char* kWriterHeader = "Gorgo-Node";
constexpr const char* kExpectedHeader = "Nats-Expected-Last-Sequence";

Result<Owned<jsStreamInfo>> info_of(jsCtx* context, const std::string& stream) {
  jsStreamInfo* found = nullptr;
  const auto status = js_GetStreamInfo(&found, context, stream.c_str(), nullptr, nullptr);
  if (status != NATS_OK) return failed("the stream " + stream, status);
  return Owned<jsStreamInfo>(found);
}

}  // namespace

Result<void> Output::look(natsConnection* connection, std::uint64_t evaluated) {
  jsCtx* made = nullptr;
  const auto status = natsConnection_JetStream(&made, connection, nullptr);
  const Owned<jsCtx> context(made);
  if (status != NATS_OK) return failed("the stream " + stream_, status);
  const auto found = info_of(made, stream_);
  if (!found) return found.error();
  const auto& info = **found;
  const bool is_known = last_ && last_sequence_ == info.State.LastSeq && created_ == info.Created &&
                        info.State.Msgs > 0;
  if (is_known) return {};
  last_sequence_ = known_ = info.State.LastSeq;
  created_ = info.Created;
  last_.reset();
  last_writer_.clear();
  // The place of a message that has expired has gone, too.
  auto looked =
      info.State.Msgs == 0 ? Result<void>() : look_at_last(made, info.State.FirstSeq, evaluated);
  if (looked) stray_.clear();
  return looked;
}

Result<void> Output::look_at_last(jsCtx* context, std::uint64_t first, std::uint64_t evaluated) {
  natsMsg* message = nullptr;
  auto status = NATS_NOT_FOUND;
  std::uint64_t sequence = last_sequence_ + 1;
  // A message that was removed leaves its sequence behind. nats-server 2.9 does not find the last
  // message of a subject when one behind it was removed, so each sequence is tried.
  while (status == NATS_NOT_FOUND && sequence > first) {
    status = js_GetMsg(&message, context, stream_.c_str(), --sequence, nullptr, nullptr);
  }
  if (status != NATS_OK) return failed("the stream " + stream_, status);
  const Owned<natsMsg> last(message);
  const std::string_view writer = header_of(message, kWriterHeader);
  const auto place = OutputPlace::parse(header_of(message, kPlaceHeader));
  if (!place || writer.empty()) {
    return is_stray(sequence, "comes from no node of the cluster");
  }
  if (place->sequence > evaluated) {
    const auto input = info_of(context, input_);
    if (!input) return input.error();
    if (place->sequence > (*input)->State.LastSeq) {
      return is_stray(sequence, "follows from message " + std::to_string(place->sequence) +
                                    " of the stream " + input_ + ", which has not had so many");
    }
  }
  last_writer_ = writer;
  last_ = place;
  return {};
}

Error Output::is_stray(std::uint64_t sequence, const std::string& why) {
  const std::string number = std::to_string(sequence);
  const Error error{"message " + number + " of the stream " + stream_ + " " + why,
                    "remove it: nats stream rmm " + stream_ + " " + number};
  if (error.to_string() != stray_) ++strays_;
  stray_ = error.to_string();
  return error;
}

Result<void> Output::open(natsConnection* connection) {
  natsInbox* inbox = nullptr;
  auto status = natsInbox_Create(&inbox);
  if (status != NATS_OK) return failed("an inbox", status);
  inbox_ = std::string(inbox) + ".";
  natsInbox_Destroy(inbox);
  natsSubscription* made = nullptr;
  status = natsConnection_SubscribeSync(&made, connection, (inbox_ + "*").c_str());
  answers_.reset(made);
  if (status != NATS_OK) return failed("an inbox", status);
  connection_ = connection;
  return {};
}

Result<void> Output::begin(natsConnection* connection) {
  end();
  if (answers_ == nullptr) {
    if (auto opened = open(connection); !opened) return opened;
  }
  base_ = last_sequence_;
  return {};
}

Result<void> Output::publish(const OutputMessage& message) {
  if (published_ == confirmed_) heard_ = std::chrono::steady_clock::now();
  const std::string reply = inbox_ + std::to_string(round_) + "-" + std::to_string(published_);
  natsMsg* made = nullptr;
  auto status = natsMsg_Create(&made, subject_.c_str(), reply.c_str(),
                               reinterpret_cast<const char*>(message.payload.data()),
                               static_cast<int>(message.payload.size()));
  const Owned<natsMsg> owned(made);
  const auto set = [&](const char* name, const std::string& value) {
    if (status == NATS_OK) status = natsMsgHeader_Set(made, name, value.c_str());
  };
  set(kPlaceHeader, message.last.text());
  set(kWriterHeader, writer_);
  // Written by hand, because the library leaves a sequence of 0 out, which the broker checks, too.
  set(kExpectedHeader, std::to_string(base_ + published_));
  if (status == NATS_OK) status = natsConnection_PublishMsg(connection_, made);
  if (status != NATS_OK) return failed("a publication to " + subject_, status);
  ++published_;
  return {};
}

Result<void> Output::take(natsMsg* answer) {
  const std::string subject = natsMsg_GetSubject(answer);
  char* number = nullptr;
  const auto round = std::strtoull(subject.c_str() + inbox_.size(), &number, 10);
  if (round != round_) return {};
  const std::string_view payload(natsMsg_GetData(answer),
                                 static_cast<std::size_t>(natsMsg_GetDataLength(answer)));
  const auto json = nlohmann::json::parse(payload, nullptr, false);
  if (!json.is_object() || json.contains("error") || !json.contains("seq")) {
    const std::string why = payload.empty() ? "nobody has it" : std::string(payload);
    return Error{"the stream " + stream_ + " refused a publication: " + why, ""};
  }
  // One that is accepted stands behind all those before it.
  confirmed_ = std::max<std::uint64_t>(confirmed_, std::strtoull(number + 1, nullptr, 10) + 1);
  known_ = base_ + confirmed_;
  return {};
}

Result<void> Output::take_answers(std::chrono::milliseconds patience) {
  while (confirmed_ < published_) {
    natsMsg* came = nullptr;
    const auto status = natsSubscription_NextMsg(&came, answers_.get(), patience.count());
    patience = std::chrono::milliseconds(0);
    if (status == NATS_TIMEOUT) {
      if (std::chrono::steady_clock::now() - heard_ < kSilence) return {};
      return Error{"the stream " + stream_ + " does not answer", ""};
    }
    if (status != NATS_OK) return failed("the stream " + stream_, status);
    const Owned<natsMsg> answer(came);
    heard_ = std::chrono::steady_clock::now();
    if (auto taken = take(came); !taken) return taken;
  }
  return {};
}

void Output::end() {
  ++round_;
  published_ = confirmed_ = 0;
}

void Output::close() {
  end();
  answers_.reset();
  connection_ = nullptr;
}

}  // namespace gorgo::cluster
