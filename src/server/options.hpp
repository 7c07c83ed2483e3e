#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actions/settings.hpp"
#include "cluster/settings.hpp"
#include "doors/settings.hpp"
#include "engine/cuda/options.hpp"
#include "gorgo/processor.hpp"
#include "journal/disk.hpp"
#include "protocol/framing.hpp"
#include "server/log.hpp"
#include "server/workshop.hpp"

namespace gorgo::server {

inline constexpr unsigned kMostThreads = 1024;  ///< that evaluate rules

/// What happens to a subscriber whose outbound queue is full.
enum class SlowConsumer : std::uint8_t {
  disconnect,  ///< it is told why and its session ends
  drop,        ///< its oldest deliveries are dropped, and it is told which rows it lost
  block,       ///< publishers wait for it, `Limits::block` at most; then it is disconnected
};

struct Limits {
  std::size_t max_frame = protocol::kDefaultMaxFrame;  ///< bytes, prefix included
  std::uint32_t max_rows = protocol::kDefaultMaxRows;  ///< of one Publish
  std::size_t max_sessions = 1000;                     ///< at the same time
  std::size_t reserved_sessions = 10;                  ///< besides, for clients of this machine
  /// From one address, that have not yet said who they are.
  std::size_t max_newcomers = 250;
  std::size_t max_subscriptions = 1000;                       ///< of one session
  std::size_t subscription_bytes = std::size_t{64} << 10;     ///< of the text of a subscription
  std::size_t all_subscription_bytes = std::size_t{1} << 20;  ///< of all texts of one session
  std::size_t max_producers = 1'000'000;               ///< whose last sequence number is kept
  std::size_t queue_bytes = std::size_t{64} << 20;     ///< requests that wait for the engine
  std::chrono::milliseconds queue_work{2000};          ///< about what carrying them out may take
  std::size_t outbound_bytes = std::size_t{64} << 20;  ///< frames that wait for one client
  std::size_t ahead_bytes = std::size_t{1} << 20;   ///< that a durable subscription is ahead of it
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< of all clients, in and out
  /// Set aside for what has begun when the system has no more memory.
  std::size_t reserve_bytes = std::size_t{32} << 20;
  std::size_t batch_events = 16384;                        ///< evaluated at once at most
  std::size_t batch_bytes = std::size_t{16} << 20;         ///< at once at most, by `pending_bytes`
  SlowConsumer slow_consumer = SlowConsumer::disconnect;   ///< where a subscription says nothing
  std::size_t soft_outbound_bytes = std::size_t{8} << 20;  ///< that may wait for a client for long
  std::chrono::milliseconds soft_outbound{60'000};         ///< how long more may wait; 0: for ever
  std::chrono::milliseconds stalled{30'000};  ///< in which a client must take something; 0: never
  std::chrono::milliseconds block{5'000};     ///< that publishers wait for a slow subscriber
  /// That the answer to one question why may take, and changes of rules wait for it; 0: however
  /// long it takes.
  std::chrono::milliseconds why{2000};
  std::chrono::milliseconds heartbeat{15'000};  ///< the longest silence of the server; 0: no bound
  std::chrono::milliseconds heartbeat_timeout{15'000};  ///< for the answer of a client
};

struct HttpOptions {
  std::string listen;  ///< HOST:PORT; empty: no port for HTTP
  /// Beside the server's own: whose pages may change things, such as "https://console.example".
  std::vector<std::string> origins;
  std::size_t max_header_bytes = std::size_t{16} << 10;  ///< of the request line and the headers
  std::size_t max_body_bytes = std::size_t{16} << 20;    ///< of one request, inflated
  std::size_t max_message_bytes = std::size_t{1} << 20;  ///< from a WebSocket
  std::chrono::milliseconds keep_alive{60'000};          ///< for the next request of a connection
  /// For what runs beside the server for one request: a trial of rules, a run of rule tests, a look
  /// into the journal.
  std::chrono::milliseconds trial_timeout{10'000};
  bool open_metrics = false;        ///< whoever connects may read /metrics
  std::vector<std::string> redact;  ///< "Type.attribute": whose values HTTP does not show
};

/// The protocol of T-Rex.
struct TrexOptions {
  std::string listen;                         ///< HOST:PORT; empty: no port for T-Rex
  std::map<std::int32_t, std::string> types;  ///< names of event types, by their numbers there
  std::string user;  ///< who all of its clients are that show no certificate; empty: nobody
};

/// TLS 1.3 on every port. The files are PEM.
struct TlsOptions {
  std::string
      certificate;        ///< the server's, with those between it and its authority; empty: no TLS
  std::string key;        ///< the certificate's private key
  std::string client_ca;  ///< authorities of clients' certificates; empty: they show none
  bool require_client_certificate = false;  ///< who has none is turned away
};

struct SecurityOptions {
  std::string users;  ///< file of users; empty: whoever connects may do everything
  /// Addresses that others can reach may be listened on; counts only with
  /// `ServerOptions::insecure`.
  bool insecure = false;
};

/// When a publication is acknowledged that asks for nothing more, and what leaves the server.
enum class Durability : std::uint8_t {
  none,      ///< records are written, and the system makes them durable when it likes
  buffered,  ///< they are made durable now and then
  durable,   ///< whatever leaves the server waits until what it follows from is durable
};

/// What happens when the journal's disk has failed.
enum class JournalFailure : std::uint8_t {
  stop,       ///< the server ends; the next start recovers what is durable
  read_only,  ///< nothing that changes anything is taken, and nothing more is delivered
  go_on,      ///< without a journal
};

/// What happens when too much waits for a durable subscription.
enum class BacklogPolicy : std::uint8_t {
  drop,    ///< its oldest events are dropped, and it is told
  refuse,  ///< publications are refused until it has acknowledged more
};

struct JournalOptions {
  std::string path;  ///< folder; empty: nothing is kept
  Durability durability = Durability::buffered;
  std::chrono::milliseconds sync{1000};                ///< between two syncs with `buffered`
  std::size_t backlog_bytes = std::size_t{256} << 20;  ///< that wait for one durable subscription
  BacklogPolicy backlog_policy = BacklogPolicy::drop;
  JournalFailure on_failure = JournalFailure::stop;
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;   ///< of one of its files
  std::uint64_t snapshot_bytes = std::uint64_t{64} << 20;  ///< of records between two; 0: none
  std::uint64_t retain_hours = 0;            ///< records stay so long, beyond what a start needs
  std::shared_ptr<journal::Disk> disk = {};  ///< null: that of this machine; for tests
};

/// How the server is watched, and how it ends.
struct OperationsOptions {
  /// From the first signal that asks for the end until nothing more is read: clients look for
  /// another server meanwhile. 0: nothing more is read at once.
  std::chrono::milliseconds grace{0};
  /// From there until what is left is given up; 0: never.
  std::chrono::milliseconds stop_timeout{60'000};
  /// Between two events of the server's own about the same thing, while somebody reads them.
  std::chrono::milliseconds statistics{1000};
  /// A rule is reported as slow when it takes this part of the time of one thread.
  std::uint32_t slow_rule_percent = 10;
};

struct ServerOptions {
  std::string listen = "127.0.0.1:7450";  ///< HOST:PORT; port 0: a free one
  HttpOptions http;
  TrexOptions trex;
  TlsOptions tls;
  SecurityOptions security;
  OperationsOptions operations;
  JournalOptions journal;
  bool insecure = false;           ///< the command line says what `SecurityOptions::insecure` says
  doors::Doors doors;              ///< by which the server itself goes out
  actions::Targets actions;        ///< what rules may have it do
  cluster::Settings cluster;       ///< that the server is a node of
  std::vector<std::string> rules;  ///< rule files, and directories of *.tesla files
  std::string reports = ".";       ///< folder for what should be sent with a bug report
  ProcessorOptions processor = {
      .threads = 0, .latency_target = 2'000'000, .max_ahead = Duration{5'000'000'000}};
  std::optional<engine::CudaOptions> cuda;  ///< for the process; else the environment's
  Limits limits;
  std::chrono::milliseconds greeting_timeout{10'000};  ///< for the Hello of a new connection
  std::chrono::milliseconds frame_timeout{30'000};     ///< for the rest of a frame that has begun
  std::chrono::milliseconds idle_timeout{
      0};  ///< without a byte in or out; 0: a session may be idle
  std::chrono::milliseconds drain_timeout{10'000};  ///< for flushing outbound queues at the end
  std::chrono::milliseconds linger{2'000};  ///< for a client to close its side behind the last byte
  LogFormat log_format = LogFormat::text;
  LogLevel log_level = LogLevel::info;
  std::shared_ptr<Workshop> workshop = {};  ///< null: the server has none
  /// Called before a rule text is checked, on the thread that checks it; for tests.
  std::function<void()> on_check;
};

/// An error where one client whose clock is fast could make everybody else's events too late:
/// `max_ahead` must be below `max_late`, or 0.
Result<void> check_times(const ProcessorOptions& options);

/// Overrides `options` by a configuration file (TOML, docs/server.md). Unknown keys are errors:
/// a misspelt limit must not go unnoticed.
Result<void> read_config(const std::string& path, ServerOptions& options);

/// Overrides `options` by environment variables such as GORGO__LIMITS__MAX_ROWS. Unknown ones that
/// begin with GORGO__ are errors, too.
Result<void> read_environment(ServerOptions& options);

/// The options as a configuration file, which says what each key means.
std::string print_config(const ServerOptions& options);

/// Whether a server can run with these options. Checks what no single key of the configuration
/// shows, such as limits that contradict each other. Call it after the file and the flags were
/// read.
Result<void> check(const ServerOptions& options);

}  // namespace gorgo::server
