#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/gorgo_generated.h"
#include "server/http/reply_json.hpp"
#include "server/server_counters.hpp"
#include "server/sessions/closed_connections.hpp"
#include "server/sessions/recent_rate.hpp"

namespace gorgo::server::http {

/// What the workbench shows of the server, as rows of JSON that are gathered once for all browsers
/// (docs/workbench.md). It holds nothing while no browser looks. Belongs to the I/O thread.
class Workbench {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The time between two gatherings.
  static constexpr std::chrono::milliseconds kTick{500};

  /// A gathering under way. It ends when this is destroyed; rows that it has not put are gone.
  class Gathering {
   public:
    Gathering(Workbench& workbench, Time now);
    ~Gathering();
    Gathering(const Gathering&) = delete;
    Gathering& operator=(const Gathering&) = delete;

    void put(const wire::Statistics& statistics, const ServerCounters& server);
    void put_connections(std::size_t open, const ClosedConnections& closed);
    void put(const wire::RuleInfo& rule);
    void put(const wire::TypeInfo& type);
    void put(const wire::DeviceInfo& device);
    /// Everything has been put.
    void complete() { complete_ = true; }

   private:
    Workbench& workbench_;
    const Time now_;
    bool complete_ = false;

    void put(Json row);
    void put_latency(const wire::Histogram& histogram);
    double rate(const std::string& of, std::uint64_t total);
  };

  /// Whether somebody should gather now.
  bool is_due(Time now) const { return !gathering_ && now >= next_; }

 private:
  friend class WorkbenchView;

  struct Row {
    std::string text;
    std::uint64_t version = 0;    ///< that of the workbench when the text changed last
    std::uint64_t gathering = 0;  ///< that has put it last
    bool gone = false;
  };
  struct Rate {
    RecentRate recent;
    std::uint64_t total;      ///< at the last gathering
    std::uint64_t gathering;  ///< that has asked last
  };

  bool gathering_ = false;
  Time next_;
  std::uint64_t version_ = 0, gatherings_ = 0;
  std::vector<Row> rows_;
  std::map<std::string, std::size_t> places_;  // in `rows_`, by kind and name
  std::map<std::string, Rate> rates_;
  std::map<std::uint64_t, std::uint64_t> latencies_;  // counts of the histogram by their bounds
  std::size_t views_ = 0;

  void set(Row& row, std::string text);
  void drop_missing();
  void forget();
};

/// What one browser has got of the workbench.
class WorkbenchView {
 public:
  /// So many bytes a browser gets in a second at most.
  static constexpr std::size_t kBytesPerSecond = std::size_t{50} << 10;

  explicit WorkbenchView(std::shared_ptr<Workbench> workbench);
  ~WorkbenchView();
  WorkbenchView(const WorkbenchView&) = delete;
  WorkbenchView& operator=(const WorkbenchView&) = delete;

  Workbench& workbench() { return *workbench_; }
  /// `{"at":MILLISECONDS,"more":false,"rows":[..]}`: rows that have changed since the browser got
  /// them, as many as it may get in a tick. `more`: others must wait for the next one.
  std::string next(std::chrono::system_clock::time_point now);

 private:
  const std::shared_ptr<Workbench> workbench_;
  std::vector<std::uint64_t> versions_;  // that the browser has, as the rows stand
  std::size_t turn_ = 0;                 // the row whose turn comes next

  /// Whether the browser lacks the row as it is.
  bool lacks(std::size_t row) const;
};

}  // namespace gorgo::server::http
