#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "doors/settings.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::doors::mqtt {

/// A connection to a broker, in the clear or by TLS, whose calls wait a bounded time. One thread
/// calls, but for `wake`.
class Link {
 public:
  /// `ca`: set: the broker speaks TLS, and these authorities know it.
  Link(std::string broker, std::string ca) : broker_(std::move(broker)), ca_(std::move(ca)) {}

  Result<void> open();
  bool is_open() const { return stream_ != nullptr; }
  void close() noexcept;

  Result<void> write(std::string_view bytes);
  /// Waits until bytes are there, at most `patience` or until `wake`, and puts them into `space`.
  /// 0: none came.
  Result<std::size_t> read(char* space, std::size_t size, std::chrono::milliseconds patience);
  /// Has a call that waits return without having done anything, or the next one. Any thread.
  void wake();

 private:
  using Tcp = boost::asio::ip::tcp;
  using Stream = boost::asio::ssl::stream<Tcp::socket>;

  const std::string broker_, ca_;
  boost::asio::io_context io_{1};
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_client};
  std::unique_ptr<Stream> stream_;
  std::atomic<bool> woken_ = false;

  Result<void> secure(const std::string& host);
  /// Runs the operation that was begun, not longer than `limit`. False: it did not end in time.
  bool run(const bool& done, std::chrono::milliseconds limit);
  /// Runs the operation as `run` does, but returns earlier when somebody calls `wake`.
  bool run_unless_woken(const bool& done, std::chrono::milliseconds limit);
  Error lost(const std::string& why) const;
};

}  // namespace gorgo::doors::mqtt
