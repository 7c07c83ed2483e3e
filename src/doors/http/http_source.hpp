#pragma once

#include <curl/curl.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "doors/door.hpp"
#include "doors/lines/line_reader.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::http {

/// The events in what a URL has, which is asked for again and again. The position is which body it
/// was, and how much of it was taken, so that no body is taken twice in a row.
class HttpSource : public Source {
 public:
  HttpSource(const Settings& settings, const Types& types, const Position& position);

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  /// The position tells all, and the server keeps it.
  void committed(const Position&) override {}
  void wake() override;
  std::string describe(const Position& position) const override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Body {
    std::string tag, modified;  // by which the server knows it
    std::uint64_t hash = 0;
    std::uint64_t taken = 0;  // lines or objects
    bool whole = false;       // all of them were
  };
  struct Cleanup {
    void operator()(CURL* one) const { curl_easy_cleanup(one); }
  };

  const Settings settings_;
  const Types types_;
  const std::unique_ptr<CURL, Cleanup> curl_;
  Body body_;
  std::deque<std::string> lines_;  // of the body that were not taken
  std::unique_ptr<LineReader> reader_;
  Clock::time_point next_request_ = {};
  // The text and the head of the response that is coming.
  std::string text_;
  Body coming_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable woken_;
  bool is_woken_ = false;

  static Body body_in(const Position& position);
  Position position() const;
  void wait(Clock::time_point until);
  Result<void> request();
  Result<long> perform();
  void begin_body();
  void take(Arrived& arrived);
  static std::size_t on_text(char* bytes, std::size_t one, std::size_t size, void* self);
  static std::size_t on_header(char* bytes, std::size_t one, std::size_t size, void* self);
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
};

}  // namespace gorgo::doors::http
