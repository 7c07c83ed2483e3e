#include "doors/kafka/kafka_sink.hpp"

#include <algorithm>
#include <utility>

#include "doors/topic.hpp"

namespace gorgo::doors::kafka {
namespace {

constexpr const char* kPlace = "gorgo-place";

/// The value that events are divided by among partitions; empty: there is none.
std::string key_of(const Event& event, const std::string& attribute) {
  if (attribute == "type") return event.type;
  const auto found = std::ranges::find(event.attributes, attribute, &Attribute::name);
  return found == event.attributes.end() ? "" : text_of(found->value);
}

}  // namespace

KafkaSink::KafkaSink(const std::string& door, const Settings& settings)
    : door_(door), settings_(settings) {}

KafkaSink::~KafkaSink() { close(); }

void KafkaSink::delivered(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  static_cast<KafkaSink*>(message->_private)->refused_ = rd_kafka_err2str(message->err);
}

void KafkaSink::close() {
  if (producer_ == nullptr) return;
  rd_kafka_purge(producer_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(producer_.get(), static_cast<int>(kStep.count()));
  producer_.reset();
  has_answer_ = false;
}

Result<void> KafkaSink::open() {
  if (producer_ != nullptr) return {};
  Config config;
  config.set("enable.idempotence", "true");
  config.set("linger.ms", "1");
  config.set("message.timeout.ms", "30000");
  if (auto configured = configure(config, settings_, door_); !configured) return configured;
  rd_kafka_conf_set_dr_msg_cb(config.get(), delivered);
  auto made = config.make(RD_KAFKA_PRODUCER, trouble_);
  if (!made) return made.error();
  producer_ = std::move(*made);
  return {};
}

// The macros of librdkafka are expressions of statements, which Clang notices.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

Result<void> KafkaSink::produce(const Departing::Row& row) {
  std::string payload;
  append_line(payload, row);
  const std::string topic = topic_of(settings_.topic, row.event, kKafkaTopics);
  const std::string key = key_of(row.event, settings_.message_key), place = id_of(row.place);
  while (true) {
    const auto status = rd_kafka_producev(
        producer_.get(), RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_VALUE(payload.data(), payload.size()),
        RD_KAFKA_V_KEY(key.empty() ? nullptr : key.data(), key.size()),
        RD_KAFKA_V_HEADER(kPlace, place.data(), static_cast<ssize_t>(place.size())),
        RD_KAFKA_V_OPAQUE(this), RD_KAFKA_V_END);
    if (status == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    if (status != RD_KAFKA_RESP_ERR__QUEUE_FULL || is_woken_ || !refused_.empty()) {
      const bool is_large = status == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
      return Error{
          "the event " + place + " to " + topic + ": " + rd_kafka_err2str(status),
          is_large ? "properties = { \"message.max.bytes\" = \"10000000\" }, if the brokers take it"
                   : ""};
    }
    rd_kafka_poll(producer_.get(), static_cast<int>(kStep.count()));
  }
}

#pragma GCC diagnostic pop

Result<void> KafkaSink::await() {
  // The library itself gives up what the brokers do not take (`message.timeout.ms`).
  while (rd_kafka_flush(producer_.get(), static_cast<int>(kStep.count())) ==
         RD_KAFKA_RESP_ERR__TIMED_OUT) {
    if (!refused_.empty()) break;
    if (is_woken_.exchange(false)) {
      return Error{"it is not known whether the brokers have the events", ""};
    }
  }
  if (refused_.empty()) return {};
  const std::string trouble = trouble_.take();
  return Error{"the brokers " + settings_.broker + ": " + (trouble.empty() ? refused_ : trouble),
               ""};
}

Result<void> KafkaSink::idle() {
  if (auto opened = open(); !opened) return opened;
  rd_kafka_poll(producer_.get(), 0);
  std::string trouble = trouble_.take();
  if (has_answer_ && trouble.empty()) return {};
  const rd_kafka_metadata_t* found = nullptr;
  const auto status =
      rd_kafka_metadata(producer_.get(), 0, nullptr, &found, static_cast<int>(kAnswer.count()));
  const std::unique_ptr<const rd_kafka_metadata_t, Destroy> metadata(found);
  has_answer_ = status == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (has_answer_) return {};
  if (trouble.empty()) trouble = trouble_.take();
  return Error{"the brokers " + settings_.broker + ": " +
                   (trouble.empty() ? rd_kafka_err2str(status) : trouble),
               ""};
}

Result<void> KafkaSink::send(const Departing& events) {
  refused_.clear();
  trouble_.take();
  auto sent = open();
  for (const Departing::Row& row : events.rows) {
    if (sent) sent = produce(row);
  }
  if (sent) sent = await();
  if (!sent) close();
  return sent;
}

}  // namespace gorgo::doors::kafka
