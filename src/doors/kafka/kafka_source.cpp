#include "doors/kafka/kafka_source.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace gorgo::doors::kafka {
namespace {

using Json = nlohmann::json;

/// Between two looks for new partitions.
constexpr std::chrono::seconds kLook{10};

Error failed(const std::string& what, rd_kafka_resp_err_t why) {
  return {what + ": " + rd_kafka_err2str(why), ""};
}

}  // namespace

KafkaSource::KafkaSource(const std::string& door, const Settings& settings, const Types& types,
                         const Position& position)
    : door_(door),
      settings_(settings),
      reader_(settings, types, {}, kMqttTopics),
      next_(offsets_in(position)),
      begins_(position.empty()) {}

KafkaSource::~KafkaSource() {
  if (client_ != nullptr) rd_kafka_consumer_close(client_.get());
}

KafkaSource::Offsets KafkaSource::offsets_in(const Position& position) {
  Offsets offsets;
  const Json json = Json::parse(position, nullptr, false);
  if (!json.is_array()) return offsets;
  for (const Json& one : json) {
    offsets[{one.at(0).get<std::string>(), one.at(1).get<std::int32_t>()}] =
        one.at(2).get<std::int64_t>();
  }
  return offsets;
}

Position KafkaSource::position() const {
  Json json = Json::array();
  for (const auto& [partition, offset] : next_) {
    json.push_back({partition.first, partition.second, offset});
  }
  return json.dump();
}

std::string KafkaSource::describe(const Position& position) const {
  std::string text;
  for (const auto& [partition, offset] : offsets_in(position)) {
    text += (text.empty() ? "" : ", ") + partition.first + "[" + std::to_string(partition.second) +
            "]@" + std::to_string(offset);
  }
  return text;
}

Result<void> KafkaSource::open() {
  Config config;
  // No group is joined: the name is what the library asks of consumers.
  config.set("group.id", "gorgo-" + door_);
  config.set("enable.auto.commit", "false");
  config.set("enable.auto.offset.store", "false");
  config.set("auto.offset.reset", "error");
  config.set("fetch.wait.max.ms", "100");
  config.set("queued.max.messages.kbytes", "32768");
  if (auto configured = configure(config, settings_, door_); !configured) return configured;
  auto made = config.make(RD_KAFKA_CONSUMER, trouble_);
  if (!made) return made.error();
  client_ = std::move(*made);
  rd_kafka_poll_set_consumer(client_.get());
  next_look_ = {};
  return {};
}

Result<std::int64_t> KafkaSource::edge(const Partition& partition, bool end) const {
  std::int64_t low = 0, high = 0;
  const auto status =
      rd_kafka_query_watermark_offsets(client_.get(), partition.first.c_str(), partition.second,
                                       &low, &high, static_cast<int>(kAnswer.count()));
  if (status != RD_KAFKA_RESP_ERR_NO_ERROR) return failed("the topic " + partition.first, status);
  return end ? high : low;
}

Result<bool> KafkaSource::look(const std::string& topic) {
  const Owned<rd_kafka_topic_t> known(rd_kafka_topic_new(client_.get(), topic.c_str(), nullptr));
  const rd_kafka_metadata_t* found = nullptr;
  auto status =
      rd_kafka_metadata(client_.get(), 0, known.get(), &found, static_cast<int>(kAnswer.count()));
  const std::unique_ptr<const rd_kafka_metadata_t, Destroy> metadata(found);
  if (status == RD_KAFKA_RESP_ERR_NO_ERROR && found->topic_cnt > 0) status = found->topics[0].err;
  if (status != RD_KAFKA_RESP_ERR_NO_ERROR) return failed("the topic " + topic, status);
  bool has_new = false;
  for (int i = 0; i < found->topics[0].partition_cnt; ++i) {
    const Partition partition{topic, found->topics[0].partitions[i].id};
    if (next_.contains(partition)) continue;
    // What is in a partition that came later was written since the door opened.
    const bool at_end = settings_.from == "end" && begins_;
    const auto offset = edge(partition, at_end);
    if (!offset) return offset.error();
    next_.emplace(partition, *offset);
    has_new = true;
  }
  return has_new;
}

Result<bool> KafkaSource::look() {
  bool has_new = false;
  for (const std::string& topic : settings_.topics) {
    const auto looked = look(topic);
    if (!looked) return looked.error();
    has_new = has_new || *looked;
  }
  begins_ = false;
  const bool is_first = next_look_ == Clock::time_point();
  next_look_ = Clock::now() + kLook;
  if (!has_new && !is_first) return false;
  if (auto assigned = assign(); !assigned) return assigned.error();
  return has_new;
}

Result<void> KafkaSource::assign() {
  const Owned<rd_kafka_topic_partition_list_t> list(
      rd_kafka_topic_partition_list_new(static_cast<int>(next_.size())));
  for (const auto& [partition, offset] : next_) {
    if (std::ranges::find(settings_.topics, partition.first) == settings_.topics.end()) continue;
    rd_kafka_topic_partition_list_add(list.get(), partition.first.c_str(), partition.second)
        ->offset = offset;
  }
  const auto status = rd_kafka_assign(client_.get(), list.get());
  if (status == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return failed("the topics", status);
}

Result<void> KafkaSource::take(const rd_kafka_message_t& message, Arrived& arrived) {
  const std::string topic = message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt);
  const Partition partition{topic, message.partition};
  const std::string place = topic + "[" + std::to_string(message.partition) + "]";
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    std::int64_t& next = next_[partition];
    // The library may have fetched it before partitions were assigned anew.
    if (message.offset < next) return {};
    next = message.offset + 1;
    reader_.take(place + "@" + std::to_string(message.offset),
                 {static_cast<const char*>(message.payload), message.len}, arrived);
    return {};
  }
  if (message.err != RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
    // The library goes on by itself.
    trouble_.note(rd_kafka_message_errstr(&message));
    return {};
  }
  const auto first = edge(partition, false);
  if (!first) return first.error();
  arrived.dead.push_back({place,
                          "the offset " + std::to_string(next_[partition]) +
                              " is not there any more; reading goes on at " +
                              std::to_string(*first),
                          ""});
  next_[partition] = *first;
  return assign();
}

Result<void> KafkaSource::read(Arrived& arrived, Clock::time_point until) {
  while (!arrived.full()) {
    // Behind the first message only what is there already is taken.
    auto wait =
        arrived.empty()
            ? std::min(kStep, std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()))
            : std::chrono::milliseconds(0);
    if (wait.count() < 0 || (arrived.empty() && is_woken_.exchange(false))) return {};
    const Owned<rd_kafka_message_t> message(
        rd_kafka_consumer_poll(client_.get(), static_cast<int>(wait.count())));
    if (message != nullptr) {
      if (auto taken = take(*message, arrived); !taken) {
        // The library reads a partition whose offset is gone only when it is assigned again.
        next_look_ = {};
        return taken;
      }
    } else if (!arrived.empty() || Clock::now() >= until) {
      return {};
    }
  }
  return {};
}

Result<Arrived> KafkaSource::poll(std::chrono::milliseconds patience) {
  Arrived arrived;
  reader_.begin_batch();
  const auto until = Clock::now() + patience;
  if (client_ == nullptr) {
    if (auto opened = open(); !opened) return opened.error();
  }
  bool has_new = false, has_looked = false;
  if (Clock::now() >= next_look_) {
    const auto looked = look();
    if (!looked) {
      const std::string trouble = trouble_.take();
      return Error{looked.error().message + (trouble.empty() ? "" : " (" + trouble + ")"), ""};
    }
    has_new = *looked;
    has_looked = true;
  }
  if (auto went = read(arrived, has_looked ? Clock::now() : until); !went && arrived.empty())
    return went.error();
  const std::string trouble = trouble_.take();
  if (arrived.empty() && !trouble.empty()) {
    next_look_ = std::min(next_look_, Clock::now());  // which tells whether it is over
    return Error{"the brokers " + settings_.broker + ": " + trouble, ""};
  }
  // Where reading begins is kept, too: `end` means the end of that moment.
  if (has_new || !arrived.empty()) arrived.position = position();
  return {std::in_place, std::move(arrived)};
}

}  // namespace gorgo::doors::kafka
