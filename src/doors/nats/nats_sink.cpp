#include "doors/nats/nats_sink.hpp"

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "doors/hash.hpp"
#include "doors/topic.hpp"

namespace gorgo::doors::nats {
namespace {

using std::chrono::milliseconds;

/// The id of the event that receivers may rely on, whatever the payload is.
constexpr const char* kPlace = "Gorgo-Place";

/// By which the stream knows a repetition. A server without its journal counts places anew, so the
/// place alone could be that of another event.
std::string message_id(const std::string& client, const Place& place, std::string_view payload) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash(payload)));
  return client + " " + id_of(place) + " " + digits;
}

/// Why streams have not taken events, by the number of the sink. The library tells it on a thread
/// of its own, at times behind the end of a sink.
class Refusals {
 public:
  static Refusals& all() {
    static Refusals one;
    return one;
  }
  void note(std::uintptr_t sink, std::string why) {
    const std::lock_guard lock(mutex_);
    why_[sink] = std::move(why);
  }
  std::string take(std::uintptr_t sink) {
    const std::lock_guard lock(mutex_);
    const auto found = why_.extract(sink);
    return found.empty() ? "" : found.mapped();
  }
  static std::uintptr_t next_number() {
    static std::atomic<std::uintptr_t> last = 0;
    return ++last;
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::map<std::uintptr_t, std::string> why_;
};

void answered(jsCtx*, natsMsg* message, jsPubAck*, jsPubAckErr* failure, void* sink) {
  const Owned<natsMsg> done(message);
  if (failure == nullptr) return;
  Refusals::all().note(
      reinterpret_cast<std::uintptr_t>(sink),
      failure->ErrText != nullptr ? failure->ErrText : natsStatus_GetText(failure->Err));
}

}  // namespace

NatsSink::NatsSink(const std::string& door, const Settings& settings)
    : settings_(settings),
      client_id_(settings.client_id.empty() ? "gorgo-" + door : settings.client_id),
      connection_(settings, client_id_),
      fence_(settings.stream),
      number_(Refusals::next_number()) {}

Result<void> NatsSink::open() {
  const auto opened = connection_.open();
  if (!opened) return opened.error();
  if (settings_.stream.empty() || (!*opened && stream_ != nullptr)) return {};
  jsOptions options;
  jsOptions_Init(&options);
  options.PublishAsync.MaxPending = settings_.max_in_flight;
  options.PublishAsync.StallWait = kAnswer.count();
  options.PublishAsync.AckHandler = answered;
  options.PublishAsync.AckHandlerClosure = reinterpret_cast<void*>(number_);
  stream_.reset();
  jsCtx* made = nullptr;
  const auto status = natsConnection_JetStream(&made, connection_.get(), &options);
  stream_.reset(made);
  if (status != NATS_OK) return failed("JetStream", status);
  return settings_.fenced ? fence_.look(made) : Result<void>();
}

Result<void> NatsSink::publish(const Departing::Row& row) {
  std::string payload;
  append_line(payload, row);
  const std::string subject = topic_of(settings_.topic, row.event, kSubjects);
  natsMsg* made = nullptr;
  auto status = natsMsg_Create(&made, subject.c_str(), nullptr, payload.data(),
                               static_cast<int>(payload.size()));
  Owned<natsMsg> message(made);
  if (status == NATS_OK) status = natsMsgHeader_Set(made, kPlace, id_of(row.place).c_str());
  if (status == NATS_OK && settings_.stream.empty()) {
    status = natsConnection_PublishMsg(connection_.get(), made);
  } else if (status == NATS_OK) {
    const std::string id = message_id(client_id_, row.place, payload);
    jsPubOptions options;
    jsPubOptions_Init(&options);
    if (settings_.fenced) {
      fence_.guard(options, row.place);
    } else {
      options.MsgId = id.c_str();
    }
    options.ExpectStream = settings_.stream.c_str();
    natsMsg* given = message.release();
    status = js_PublishMsgAsync(stream_.get(), &given, &options);
    message.reset(given);  // what it has not taken
  }
  if (status == NATS_OK) return {};
  return failed("the event " + id_of(row.place) + " to " + subject, status);
}

Result<void> NatsSink::await() {
  const auto until = std::chrono::steady_clock::now() + 2 * kAnswer;
  jsPubOptions step;
  jsPubOptions_Init(&step);
  step.MaxWait = kStep.count();
  auto status = js_PublishAsyncComplete(stream_.get(), &step);
  while (status == NATS_TIMEOUT && std::chrono::steady_clock::now() < until) {
    if (connection_.was_woken())
      return Error{"it is not known whether the stream has the events", ""};
    status = js_PublishAsyncComplete(stream_.get(), &step);
  }
  if (status != NATS_OK) return failed("the stream " + settings_.stream, status);
  const std::string refused = Refusals::all().take(number_);
  if (refused.empty()) return {};
  return Error{"the stream " + settings_.stream + " does not take an event: " + refused,
               "the stream must have the subject " + settings_.topic};
}

Result<void> NatsSink::publish_all(const Departing& events) {
  std::span<const Departing::Row> rows(events.rows);
  if (settings_.fenced) {
    const auto known = fence_.known(events);
    if (!known) return known.error();
    rows = rows.subspan(*known);
  }
  for (const Departing::Row& row : rows) {
    if (auto sent = publish(row); !sent) return sent;
  }
  return {};
}

Result<void> NatsSink::send(const Departing& events) {
  auto sent = open();
  if (sent) {
    Refusals::all().take(number_);
    sent = publish_all(events);
  }
  if (sent && settings_.stream.empty()) {
    const auto status = natsConnection_FlushTimeout(connection_.get(), kAnswer.count());
    if (status != NATS_OK) sent = failed("the server " + settings_.broker, status);
  } else if (sent) {
    sent = await();
  }
  if (sent) return sent;
  // The end of a fenced stream is found again, too.
  connection_.close();
  stream_.reset();
  return sent;
}

}  // namespace gorgo::doors::nats
