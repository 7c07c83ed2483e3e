#include <chrono>
#include <string>
#include <utility>

#include "server/config/key.hpp"
#include "server/config/key_maker.hpp"
#include "server/config/trex_types.hpp"

namespace gorgo::server {
namespace {

/// A delivery is cut into frames of a quarter of a megabyte and one row more, and each must fit.
constexpr std::int64_t kLeastMaxFrame = 1 << 20;
constexpr std::int64_t kMostMaxFrame = 1 << 30;  // FlatBuffers end at 2 GiB
constexpr std::int64_t kMostRows = 1 << 24;
constexpr std::int64_t kMostSessions = 1'000'000;
constexpr std::int64_t kMostSubscriptions = 1 << 16;  // a delivery names them by 16 bits
constexpr std::int64_t kMostProducers = 100'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

Result<SlowConsumer> parse_slow_consumer(std::string_view text) {
  if (text == "disconnect") return SlowConsumer::disconnect;
  if (text == "drop") return SlowConsumer::drop;
  if (text == "block") return SlowConsumer::block;
  return Error{"unknown policy '" + std::string(text) + "'", "one of disconnect, drop, block"};
}

std::string_view name_of(SlowConsumer policy) {
  if (policy == SlowConsumer::drop) return "drop";
  return policy == SlowConsumer::block ? "block" : "disconnect";
}

Result<Durability> parse_durability(std::string_view text) {
  if (text == "none") return Durability::none;
  if (text == "buffered") return Durability::buffered;
  if (text == "durable") return Durability::durable;
  return Error{"unknown durability '" + std::string(text) + "'", "one of none, buffered, durable"};
}

std::string_view name_of(Durability durability) {
  if (durability == Durability::none) return "none";
  return durability == Durability::buffered ? "buffered" : "durable";
}

Result<JournalFailure> parse_journal_failure(std::string_view text) {
  if (text == "stop") return JournalFailure::stop;
  if (text == "read-only") return JournalFailure::read_only;
  if (text == "continue") return JournalFailure::go_on;
  return Error{"unknown policy '" + std::string(text) + "'", "one of stop, read-only, continue"};
}

std::string_view name_of(JournalFailure policy) {
  if (policy == JournalFailure::stop) return "stop";
  return policy == JournalFailure::read_only ? "read-only" : "continue";
}

Result<BacklogPolicy> parse_backlog_policy(std::string_view text) {
  if (text == "drop") return BacklogPolicy::drop;
  if (text == "refuse") return BacklogPolicy::refuse;
  return Error{"unknown policy '" + std::string(text) + "'", "drop or refuse"};
}

std::string_view name_of(BacklogPolicy policy) {
  return policy == BacklogPolicy::drop ? "drop" : "refuse";
}

// An option as a reference, of options that may be constant.
#define GORGO_OPTION(member) \
  [](auto& options) -> auto& { return options.member; }

void add_root(KeyMaker& keys) {
  keys.text("listen", GORGO_OPTION(listen), "HOST:PORT of the native protocol; port 0: a free one");
  keys.texts("rules", GORGO_OPTION(rules), "files, and folders of *.tesla files");
  keys.live();
  keys.text("reports", GORGO_OPTION(reports), "folder for what should be sent with a bug report");
  keys.wait("greeting_timeout_ms", GORGO_OPTION(greeting_timeout),
            "for the first message of a connection");
  keys.live();
  keys.wait("frame_timeout_ms", GORGO_OPTION(frame_timeout),
            "for the rest of a frame that has begun");
  keys.live();
  keys.wait("idle_timeout_ms", GORGO_OPTION(idle_timeout),
            "without a byte in or out, then a connection ends; 0: it may be idle", 0);
  keys.live();
  keys.wait("drain_timeout_ms", GORGO_OPTION(drain_timeout),
            "for a client to read what is left when its connection ends");
  keys.live();
  keys.wait("linger_ms", GORGO_OPTION(linger), "behind that, for it to close its side");
  keys.live();
}

void add_ports(KeyMaker& keys) {
  keys.section("http");
  keys.text("listen", GORGO_OPTION(http.listen), "HOST:PORT; empty: no HTTP");
  keys.texts("origins", GORGO_OPTION(http.origins),
             "whose pages may change things, beside the server's own");
  keys.number("max_header_bytes", GORGO_OPTION(http.max_header_bytes), {1 << 10, 1 << 20},
              "of the request line and the headers");
  keys.number("max_body_bytes", GORGO_OPTION(http.max_body_bytes), {1 << 10, kMostMaxFrame},
              "of one request, inflated");
  keys.number("max_message_bytes", GORGO_OPTION(http.max_message_bytes), {1 << 10, kMostMaxFrame},
              "from a WebSocket");
  keys.wait("keep_alive_ms", GORGO_OPTION(http.keep_alive), "for the next request of a connection");
  keys.wait("trial_timeout_ms", GORGO_OPTION(http.trial_timeout),
            "for a trial of rules, a run of rule tests, or a look into the journal");
  keys.live();
  keys.boolean("open_metrics", GORGO_OPTION(http.open_metrics), "/metrics asks nobody who he is");
  keys.live();
  keys.texts("redact", GORGO_OPTION(http.redact),
             "\"Type.attribute\": values that HTTP does not show; * stands for any characters");
  keys.section("trex");
  keys.text("listen", GORGO_OPTION(trex.listen),
            "HOST:PORT for clients of T-Rex, by habit 50254; empty: none");
  keys.table("types", GORGO_OPTION(trex.types), parse_trex_types, trex_types_table,
             "names of event types by their numbers there: 2001 = \"Temp\"");
  keys.text("user", GORGO_OPTION(trex.user),
            "of security.users: who its clients are that show no certificate");
  keys.live();
}

void add_security(KeyMaker& keys) {
  keys.section("tls");
  keys.text("certificate", GORGO_OPTION(tls.certificate),
            "PEM file of the server's chain; with it, all ports speak TLS 1.3 only");
  keys.live();
  keys.text("key", GORGO_OPTION(tls.key), "PEM file of its private key; others must not read it");
  keys.live();
  keys.text("client_ca", GORGO_OPTION(tls.client_ca),
            "PEM file of the authorities of clients' certificates; empty: none are asked for");
  keys.live();
  keys.boolean("require_client_certificate", GORGO_OPTION(tls.require_client_certificate),
               "clients without a certificate are turned away");
  keys.live();
  keys.section("security");
  keys.text("users", GORGO_OPTION(security.users),
            "file of users (docs/security.md); empty: whoever connects may do everything");
  keys.live();
  keys.boolean("insecure", GORGO_OPTION(security.insecure),
               "together with --insecure: addresses that others can reach may be listened on");
}

void add_operations(KeyMaker& keys) {
  keys.section("operations");
  keys.wait("grace_ms", GORGO_OPTION(operations.grace),
            "clients are served so long after SIGTERM, and told of the end; 0: not at all", 0);
  keys.live();
  keys.wait("stop_timeout_ms", GORGO_OPTION(operations.stop_timeout),
            "behind the grace; what is not evaluated by then is given up. 0: never", 0);
  keys.live();
  keys.wait("statistics_ms", GORGO_OPTION(operations.statistics),
            "between two of the server's own events, while somebody reads them "
            "(docs/statistics.md)",
            10);
  keys.number("slow_rule_percent", GORGO_OPTION(operations.slow_rule_percent), {1, 100'000},
              "of one thread: rules that take as much are told of as gorgo.SlowRule");
}

void add_journal(KeyMaker& keys) {
  keys.section("journal");
  keys.text("path", GORGO_OPTION(journal.path),
            "folder that keeps what was accepted (docs/reliability.md); empty: nothing is kept");
  keys.choice(
      "durability", GORGO_OPTION(journal.durability), parse_durability,
      [](Durability level) { return name_of(level); },
      "or \"none\", \"durable\": of publications that ask for nothing more");
  keys.wait("sync_ms", GORGO_OPTION(journal.sync),
            "between two syncs of the disk where nothing waits for one, with \"buffered\"");
  keys.number("backlog_bytes", GORGO_OPTION(journal.backlog_bytes), {kLeastMaxFrame, kMostBytes},
              "that wait for one durable subscription");
  keys.choice(
      "backlog_policy", GORGO_OPTION(journal.backlog_policy), parse_backlog_policy,
      [](BacklogPolicy policy) { return name_of(policy); },
      "above that: its oldest events, and it is told; or \"refuse\": publications, until it has "
      "acknowledged");
  keys.number(
      "segment_bytes", GORGO_OPTION(journal.segment_bytes), {1 << 12, 1 << 30},
      "of one of its files, 4 KiB to 1 GiB; whole ones are removed when no start needs them");
  keys.number("snapshot_bytes", GORGO_OPTION(journal.snapshot_bytes), {0, kMostBytes},
              "of records between two snapshots, which a start replays at most; 0: no snapshots");
  keys.number("retain_hours", GORGO_OPTION(journal.retain_hours), {0, 1'000'000},
              "that records stay, beyond those that a start needs");
  keys.choice(
      "on_failure", GORGO_OPTION(journal.on_failure), parse_journal_failure,
      [](JournalFailure policy) { return name_of(policy); },
      "of the disk; or \"read-only\", \"continue\" without a journal");
}

/// What clients have time for.
void add_waits(KeyMaker& keys) {
  keys.number("soft_outbound_bytes", GORGO_OPTION(limits.soft_outbound_bytes), {1, kMostBytes},
              "that may wait for one client for long");
  keys.live();
  keys.wait("soft_outbound_ms", GORGO_OPTION(limits.soft_outbound),
            "how long more than that may wait; 0: for ever", 0);
  keys.live();
  keys.wait("stalled_ms", GORGO_OPTION(limits.stalled),
            "in which a client must take something of what waits; 0: no limit", 0);
  keys.live();
  keys.wait("block_ms", GORGO_OPTION(limits.block),
            "that publishers wait for a slow subscriber with the policy block");
  keys.live();
  keys.wait("why_ms", GORGO_OPTION(limits.why),
            "that the answer to one `gorgo why` may take; 0: however long it takes", 0);
  keys.wait("heartbeat_ms", GORGO_OPTION(limits.heartbeat),
            "the longest silence of the server, then it sends a Ping; 0: no limit", 0);
  keys.live();
  keys.wait("heartbeat_timeout_ms", GORGO_OPTION(limits.heartbeat_timeout),
            "for a client's answer to it");
  keys.live();
}

void add_limits(KeyMaker& keys) {
  const KeyMaker::Range bytes{kLeastMaxFrame, kMostBytes};
  keys.section("limits");
  keys.number("max_frame", GORGO_OPTION(limits.max_frame), {kLeastMaxFrame, kMostMaxFrame},
              "bytes of one frame; 1 MiB to 1 GiB");
  keys.number("max_rows", GORGO_OPTION(limits.max_rows), {1, kMostRows},
              "events of one publication");
  keys.number("max_sessions", GORGO_OPTION(limits.max_sessions), {1, kMostSessions},
              "connections at a time");
  keys.live();
  keys.number("reserved_sessions", GORGO_OPTION(limits.reserved_sessions), {0, kMostSessions},
              "beyond max_sessions, for clients of this machine");
  keys.live();
  keys.number("max_newcomers", GORGO_OPTION(limits.max_newcomers), {1, kMostSessions},
              "connections from one address that have not yet said who they are");
  keys.live();
  keys.number("max_subscriptions", GORGO_OPTION(limits.max_subscriptions), {1, kMostSubscriptions},
              "of one session");
  keys.number("subscription_bytes", GORGO_OPTION(limits.subscription_bytes), {1, kMostBytes},
              "of the text of one subscription");
  keys.number("all_subscription_bytes", GORGO_OPTION(limits.all_subscription_bytes),
              {1, kMostBytes}, "of the texts of all subscriptions of one session");
  keys.number("max_producers", GORGO_OPTION(limits.max_producers), {1, kMostProducers},
              "whose last sequence number is remembered");
  keys.number("queue_bytes", GORGO_OPTION(limits.queue_bytes), bytes,
              "requests waiting for the engine; full: sessions stop reading");
  keys.wait("queue_work_ms", GORGO_OPTION(limits.queue_work),
            "the same, by the time that carrying them out takes, about");
  keys.number("outbound_bytes", GORGO_OPTION(limits.outbound_bytes), bytes,
              "frames waiting for one client");
  keys.live();
  keys.number("memory_bytes", GORGO_OPTION(limits.memory_bytes), bytes,
              "of all clients together, in and out");
  keys.number("reserve_bytes", GORGO_OPTION(limits.reserve_bytes), bytes,
              "set aside, so that what has begun ends when the system has no more memory");
  keys.number("batch_events", GORGO_OPTION(limits.batch_events), {1, kMostRows},
              "evaluated at once at most");
  keys.number("batch_bytes", GORGO_OPTION(limits.batch_bytes), bytes,
              "the same in bytes, for events with much in them");
  keys.choice(
      "slow_consumer", GORGO_OPTION(limits.slow_consumer), parse_slow_consumer,
      [](SlowConsumer policy) { return name_of(policy); },
      "or \"drop\", \"block\": where a subscription says nothing");
  keys.live();
  add_waits(keys);
}

void add_engine(KeyMaker& keys) {
  keys.section("engine");
  keys.text("default", GORGO_OPTION(processor.engine),
            "or one of `gorgo engines`, for rules without @engine");
  keys.number("threads", GORGO_OPTION(processor.threads), {0, kMostThreads},
              "that evaluate rules; 0: as many as can run at once (taskset, cpuset, cpu.max)");
  keys.number("max_depth", GORGO_OPTION(processor.max_depth), {}, "of composites of composites");
  keys.number("max_composites", GORGO_OPTION(processor.max_composites), {}, "of one root event");
  keys.number("max_held_bytes", GORGO_OPTION(processor.max_held_bytes), {},
              "that composites take between evaluation and delivery");
  keys.number("max_instants", GORGO_OPTION(processor.max_instants), {},
              "of a timer, in a gap between two events: the latest fire");
  keys.duration("max_ahead_ms", GORGO_OPTION(processor.max_ahead),
                "timestamps further ahead of the server's clock are refused");
  keys.duration("lateness_ms", GORGO_OPTION(processor.lateness),
                "how long events are held back to be put in order");
  keys.duration("max_late_ms", GORGO_OPTION(processor.max_late),
                "timestamps further behind the clock are refused; above max_ahead_ms");
  keys.duration("remember_ms", GORGO_OPTION(processor.remember),
                "events are kept so much longer than rules need them, for `gorgo why`");
  keys.section("dispatch");
  keys.duration("latency_target_ms", GORGO_OPTION(processor.latency_target),
                "of a batch of events; 0: as many as are queued, however long it takes");
  keys.duration("max_rule_time_ms", GORGO_OPTION(processor.max_rule_time),
                "of one rule in a second; then it is suspended. 0: no limit");
}

void add_cluster(KeyMaker& keys) {
  constexpr std::int64_t kMostPartitions = 1024, kMostReplicas = 5, kMostHours = 1'000'000;
  keys.section("cluster");
  keys.text("name", GORGO_OPTION(cluster.name),
            "of the cluster that the server is a node of (docs/cluster.md); empty: of none");
  keys.text("node", GORGO_OPTION(cluster.node), "of this server, and of no other in the cluster");
  keys.text("brokers", GORGO_OPTION(cluster.brokers),
            "HOST:PORT of NATS servers with JetStream, with commas between");
  keys.text("user", GORGO_OPTION(cluster.user), "who the node is for them");
  keys.text("password_file", GORGO_OPTION(cluster.password_file), "file with its password");
  keys.text("ca", GORGO_OPTION(cluster.ca), "PEM file of authorities; with it, brokers speak TLS");
  keys.number("partitions", GORGO_OPTION(cluster.partitions), {1, kMostPartitions},
              "of each family of rules; the first deployment decides");
  keys.number("replicas", GORGO_OPTION(cluster.replicas), {1, kMostReplicas},
              "of each stream that a deployment makes");
  keys.number("retain_hours", GORGO_OPTION(cluster.retain_hours), {1, kMostHours},
              "that streams keep events and composites");
  keys.number("snapshot_bytes", GORGO_OPTION(cluster.snapshot_bytes), {0, kMostBytes},
              "of input that a partition takes from one snapshot to the next; 0: no snapshots");
  keys.boolean("standby", GORGO_OPTION(cluster.standby),
               "a second node evaluates each partition, and takes over at once");
}

void add_cuda(KeyMaker& keys) {
  keys.section("cuda");
  keys.cuda("devices", "or some GPUs: \"0+2\"; while no key of [cuda] is set, GORGO_CUDA holds");
  keys.cuda("memory", "of each, for columns");
  keys.cuda("page_events", "a power of two");
  keys.cuda("least_pairs", "batches with fewer pairs of events are left to the CPU");
  keys.cuda("least_terminators", "that a thread prepares of a batch at a time");
  keys.cuda("compile", "kernels for conditions; or \"at-once\", \"never\"");
  keys.cuda("negations", "how they are tested; or \"inside\", \"separate\"");
}

void add_log(KeyMaker& keys) {
  keys.section("log");
  keys.choice(
      "format", GORGO_OPTION(log_format), parse_log_format,
      [](LogFormat format) { return name_of(format); }, "or \"json\"");
  keys.choice(
      "level", GORGO_OPTION(log_level), parse_log_level,
      [](LogLevel level) { return name_of(level); }, "debug, info, warning, error, off");
  keys.live();
}

#undef GORGO_OPTION

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = [] {
    KeyMaker maker;
    add_root(maker);
    add_ports(maker);
    add_security(maker);
    add_operations(maker);
    add_journal(maker);
    add_limits(maker);
    add_engine(maker);
    add_cluster(maker);
    add_cuda(maker);
    add_log(maker);
    return maker.take();
  }();
  return keys;
}

const ConfigKey* find_config_key(std::string_view section, std::string_view name) {
  for (const ConfigKey& key : config_keys()) {
    if (key.section == section && key.name == name) return &key;
  }
  return nullptr;
}

}  // namespace gorgo::server
