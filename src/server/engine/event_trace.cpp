#include "server/engine/event_trace.hpp"

#include <algorithm>
#include <chrono>

#include "codec/event_text.hpp"
#include "protocol/batch_check.hpp"
#include "server/replies.hpp"

namespace gorgo::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostComposites = 1000;

std::uint64_t nanoseconds(Clock::duration duration) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

/// What comes out of the processor while one event is traced.
class Watch {
 public:
  Watch(std::string type, std::optional<Timestamp> timestamp, wire::TracedT& traced)
      : type_(std::move(type)), timestamp_(timestamp), traced_(traced) {
    traced_.held = true;
    traced_.timestamp = timestamp.value_or(0);
  }

  void take(const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      if (row.rule != OutputBatch::kPrimitive) {
        if (traced_.composites.size() < kMostComposites) write(batch, row);
      } else if (batch.type_name(row) == type_ &&
                 row.timestamp == timestamp_.value_or(row.timestamp)) {
        traced_.held = false;
        traced_.timestamp = row.timestamp;
      }
    }
  }

 private:
  void write(const OutputBatch& batch, const OutputBatch::Row& row) {
    std::string line;
    writer_->begin(line, batch.type_name(row), row.timestamp);
    batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
      writer_->attribute(line, name, value);
    });
    writer_->end(line);
    if (line.ends_with('\n')) line.pop_back();
    traced_.composites.push_back(std::move(line));
  }

  const std::string type_;
  const std::optional<Timestamp> timestamp_;
  wire::TracedT& traced_;
  const std::unique_ptr<codec::EventWriter> writer_ = codec::make_line_writer();
};

/// Notes which rules have done something, or keep events of the type.
void compare(const std::vector<RuleCounters>& before, const std::vector<RuleInfo>& after,
             const std::string& type, wire::TracedT& traced) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    auto rule = std::make_unique<wire::TracedRuleT>();
    rule->name = after[i].name;
    rule->reads = std::ranges::find(after[i].reads, type) != after[i].reads.end();
    rule->terminators = after[i].terminators - before[i].terminators;
    rule->composites = after[i].composites - before[i].composites;
    if (rule->reads || rule->terminators > 0 || rule->composites > 0) {
      traced.rules.push_back(std::move(rule));
    }
  }
}

}  // namespace

void EventTrace::trace(const Command& command, std::uint64_t id, const wire::Trace& request) {
  if (protocol::row_count(*request.batch()) != 1) {
    command.client->reply(
        error_reply(id, wire::ErrorCode::Invalid, {"one event is traced at a time", ""}));
    return;
  }
  wire::TracedT traced;
  const auto taken = Clock::now();
  traced.queue = nanoseconds(taken - command.received);
  parts_.process();
  const auto before = parts_.processor.rule_counters();

  if (const auto room = parts_.admission.make_room(command.frame.size()); !room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return;
  }
  Publication publication(*request.batch());
  Admission::restrict(publication, command.user);
  publication.frame = command.frame;
  const BatchCursor& event = publication.batch.next();
  const std::string type(event.table().type);
  Watch watch(type, event.timestamp(), traced);
  const Fanout::Tracing tracing(parts_.fanout);
  const auto start = Clock::now();
  traced.ahead = nanoseconds(start - taken);
  parts_.admission.append_some(publication, 1, true);
  if (publication.ack.refused > 0) {
    const wire::RefusalT& why = *publication.ack.refusals.front();
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, {why.reason, why.hint}));
    return;
  }
  const auto released = Clock::now();
  traced.sequence = nanoseconds(released - start);
  Clock::duration delivering{}, watching{};
  parts_.processor.process([&](const OutputBatch& batch) {
    const auto evaluated = Clock::now();
    traced.copies += parts_.deliver(batch);
    const auto delivered = Clock::now();
    watch.take(batch);
    delivering += delivered - evaluated;
    watching += Clock::now() - delivered;
  });
  traced.evaluate = nanoseconds(Clock::now() - released - delivering - watching);
  traced.deliver = nanoseconds(delivering);
  compare(before, parts_.processor.rules(), type, traced);
  command.client->reply(trace_reply(id, traced, parts_.max_frame));
}

}  // namespace gorgo::server
