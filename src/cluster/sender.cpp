#include "cluster/sender.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>

namespace gorgo::cluster {
namespace {

using doors::nats::failed;

/// A stream whose leader has died answers nothing, and what was sent to it has to come again.
constexpr std::chrono::milliseconds kSilence{3000};

/// Why a stream has not taken a message; empty: it has.
std::string refusal_in(natsMsg* answer) {
  const std::string_view payload(natsMsg_GetData(answer),
                                 static_cast<std::size_t>(natsMsg_GetDataLength(answer)));
  const auto json = nlohmann::json::parse(payload, nullptr, false);
  if (json.is_object() && json.contains("seq") && !json.contains("error")) return "";
  return payload.empty() ? "there is no such stream" : std::string(payload);
}

}  // namespace

Result<void> Sender::open(natsConnection* connection) {
  close();
  natsInbox* inbox = nullptr;
  auto status = natsInbox_Create(&inbox);
  if (status != NATS_OK) return failed("an inbox", status);
  inbox_ = std::string(inbox);
  natsInbox_Destroy(inbox);
  natsSubscription* made = nullptr;
  status = natsConnection_SubscribeSync(&made, connection, (inbox_ + ".*").c_str());
  answers_.reset(made);
  if (status != NATS_OK) return failed("an inbox", status);
  connection_ = connection;
  return {};
}

void Sender::close() {
  subjects_.clear();
  answers_.reset();
  connection_ = nullptr;
}

Result<void> Sender::publish(const StreamMessage& message, std::size_t number) {
  const std::string reply = inbox_ + "." + std::to_string(number);
  natsMsg* made = nullptr;
  auto status = natsMsg_Create(&made, message.subject.c_str(), reply.c_str(),
                               reinterpret_cast<const char*>(message.payload.data()),
                               static_cast<int>(message.payload.size()));
  const doors::nats::Owned<natsMsg> owned(made);
  for (const auto& [name, value] : message.headers) {
    if (status == NATS_OK) status = natsMsgHeader_Set(made, name.c_str(), value.c_str());
  }
  if (status == NATS_OK) status = natsConnection_PublishMsg(connection_, made);
  return status == NATS_OK ? Result<void>()
                           : Result<void>(failed("a message to " + message.subject, status));
}

/// Where the message went that this is the answer to.
std::string Sender::subject_of(natsMsg* answer) const {
  const std::string_view number =
      std::string_view(natsMsg_GetSubject(answer)).substr(inbox_.size());
  for (std::size_t i = 0; i < subjects_.size(); ++i) {
    if (number == "." + std::to_string(i)) return subjects_[i];
  }
  return "a stream of the cluster";
}

Result<void> Sender::publish(const std::vector<StreamMessage>& messages) {
  for (const StreamMessage& message : messages) {
    if (auto sent = publish(message, subjects_.size()); !sent) return sent;
    subjects_.push_back(message.subject);
  }
  return {};
}

Result<void> Sender::await(const std::function<bool()>& gives_up) {
  auto heard = std::chrono::steady_clock::now();
  for (std::size_t left = subjects_.size(); left > 0;) {
    natsMsg* came = nullptr;
    const auto status = natsSubscription_NextMsg(&came, answers_.get(), doors::nats::kStep.count());
    if (status == NATS_TIMEOUT) {
      if (gives_up() || std::chrono::steady_clock::now() > heard + kSilence) {
        return Error{"it is not known whether the streams have the events", ""};
      }
      continue;
    }
    if (status != NATS_OK) return failed("the answers of the streams", status);
    const doors::nats::Owned<natsMsg> answer(came);
    if (const std::string why = refusal_in(came); !why.empty()) {
      return Error{"no stream takes a message to " + subject_of(came) + ": " + why,
                   "deploy the rules again: that makes the streams"};
    }
    heard = std::chrono::steady_clock::now();
    --left;
  }
  subjects_.clear();
  return {};
}

Result<void> Sender::send(const std::vector<StreamMessage>& messages,
                          const std::function<bool()>& gives_up) {
  auto sent = publish(messages);
  return sent ? await(gives_up) : sent;
}

}  // namespace gorgo::cluster
