#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>

#include "codec/event_text.hpp"
#include "gorgo/processor.hpp"
#include "server/workshop.hpp"
#include "tools/event_stream.hpp"

namespace gorgo::tools {

/// Runs rules over a sample of events, for people who write the rules. One thread; `stop` may be
/// asked for on any.
class TrialRun {
 public:
  /// `trial` must outlive it.
  TrialRun(const server::Workshop::Trial& trial, const std::stop_token& stop);

  /// Runs them, and says what is wrong with the rules and the events, and what came of them, as
  /// JSON (docs/http.md).
  std::string report();

 private:
  using Json = nlohmann::ordered_json;
  struct Stop {
    Processor* processor;
    void operator()() const noexcept { processor->request_stop(); }
  };

  static constexpr std::size_t kMostComposites = 500;  ///< that the report shows
  static constexpr std::size_t kMostBadLines = 20;

  const server::Workshop::Trial& trial_;
  Processor processor_;
  const std::stop_callback<Stop> stop_;
  ReadEvents read_;
  std::uint64_t accepted_ = 0, bad_lines_ = 0, composites_ = 0;
  Json shown_ = Json::array(), bad_ = Json::array();

  /// Returns the diagnostics.
  void declare_types();
  void run();
  void take_line(codec::EventReader& reader, std::string_view line);
  void append();
  void process();
  void note(const OutputBatch& batch);
  void bad_line(const Error& error);
  Json rules() const;
};

}  // namespace gorgo::tools
