#include "doors/listening.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "protocol/address.hpp"

namespace gorgo::doors {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// Else who sends without a pause, and no messages, would keep what others have sent, and all
/// answers, in memory.
constexpr int kMostReads = 1024;

}  // namespace

void SocketLoop::run(Clock::time_point until, const std::function<bool()>& has_news,
                     const std::function<bool()>& is_full) {
  io_.restart();
  for (int reads = 0; reads < kMostReads && !is_full();) {
    const bool is_news = has_news();
    const std::size_t ran = is_news ? io_.poll_one() : io_.run_one_until(until);
    if (is_news) ++reads;
    if (ran == 0 || woken_.exchange(false)) return;
  }
}

void SocketLoop::wake() {
  woken_ = true;
  asio::post(io_, [] {});
}

TcpPort::TcpPort(asio::io_context& io, const Tcp::endpoint& endpoint,
                 std::function<void(Tcp::socket)> welcome)
    : acceptor_(io, endpoint), next_accept_(io), welcome_(std::move(welcome)) {
  accept();
}

void TcpPort::accept() {
  acceptor_.async_accept([this](error_code failure, Tcp::socket socket) {
    if (failure == asio::error::operation_aborted) return;
    if (!failure) {
      welcome_(std::move(socket));
      return accept();
    }
    // The process may have too many files open; it will not have fewer at once.
    next_accept_.expires_after(std::chrono::seconds(1));
    next_accept_.async_wait([this](error_code cancelled) {
      if (!cancelled) accept();
    });
  });
}

Result<void> listen_at(asio::io_context& io, const std::string& address,
                       const std::function<void(const asio::ip::tcp::endpoint&)>& open) {
  const auto parsed = protocol::parse_address(address);
  if (!parsed) return parsed.error();
  error_code failure;
  asio::ip::tcp::resolver resolver(io);
  const auto found = resolver.resolve(parsed->host, parsed->port, failure);
  if (failure) return Error{"listen: " + failure.message(), ""};
  try {
    open(found.begin()->endpoint());
  } catch (const boost::system::system_error& refused) {
    return Error{"cannot listen on " + address + ": " + refused.code().message(), ""};
  }
  return {};
}

}  // namespace gorgo::doors
