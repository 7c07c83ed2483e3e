#include "doors/mqtt/link.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>

#include "protocol/address.hpp"

namespace gorgo::doors::mqtt {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::chrono::milliseconds kPatience{5000};  // for a broker that should answer

}  // namespace

Error Link::lost(const std::string& why) const {
  return {"the broker " + broker_ + ": " + why, ""};
}

bool Link::run(const bool& done, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!done && std::chrono::steady_clock::now() < until) {
    io_.restart();
    io_.run_one_until(until);
  }
  return done;
}

bool Link::run_unless_woken(const bool& done, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!done && !woken_.exchange(false) && std::chrono::steady_clock::now() < until) {
    io_.restart();
    io_.run_one_until(until);
  }
  return done;
}

void Link::wake() {
  woken_ = true;
  asio::post(io_, [] {});
}

Result<void> Link::open() {
  close();
  const auto address = protocol::parse_address(broker_);
  if (!address) return address.error();
  error_code failure;
  Tcp::resolver resolver(io_);
  const auto endpoints = resolver.resolve(address->host, address->port, failure);
  if (failure) return lost(failure.message());
  if (!ca_.empty()) {
    tls_.set_verify_mode(asio::ssl::verify_peer, failure);
    tls_.load_verify_file(ca_, failure);
    if (failure) return Error{"cannot read " + ca_ + ": " + failure.message(), ""};
  }
  stream_ = std::make_unique<Stream>(io_, tls_);
  bool done = false;
  asio::async_connect(stream_->next_layer(), endpoints,
                      [&](error_code outcome, const Tcp::endpoint&) {
                        failure = outcome;
                        done = true;
                      });
  const bool in_time = run_unless_woken(done, kPatience);
  if (!in_time || failure) {
    close();
    return lost(in_time ? failure.message() : "it does not answer");
  }
  stream_->next_layer().set_option(Tcp::no_delay(true), failure);
  return ca_.empty() ? Result<void>() : secure(address->host);
}

Result<void> Link::secure(const std::string& host) {
  error_code failure;
  SSL_set_tlsext_host_name(stream_->native_handle(), host.c_str());
  stream_->set_verify_callback(asio::ssl::host_name_verification(host), failure);
  bool done = false;
  stream_->async_handshake(asio::ssl::stream_base::client, [&](error_code outcome) {
    failure = outcome;
    done = true;
  });
  const bool in_time = run_unless_woken(done, kPatience);
  if (in_time && !failure) return {};
  close();
  return lost(in_time ? failure.message() : "it does not answer");
}

void Link::close() noexcept {
  if (stream_ == nullptr) return;
  error_code ignored;
  stream_->next_layer().close(ignored);
  // What was begun ends now, before what it refers to is gone.
  io_.restart();
  io_.poll(ignored);
  stream_.reset();
}

Result<void> Link::write(std::string_view bytes) {
  bool done = false;
  error_code failure;
  const auto end = [&](error_code outcome, std::size_t) {
    failure = outcome;
    done = true;
  };
  const auto buffer = asio::buffer(bytes.data(), bytes.size());
  if (ca_.empty()) {
    asio::async_write(stream_->next_layer(), buffer, end);
  } else {
    asio::async_write(*stream_, buffer, end);
  }
  run(done, kPatience);
  if (done && !failure) return {};
  close();
  return lost(done ? failure.message() : "it takes nothing");
}

Result<std::size_t> Link::read(char* space, std::size_t size, std::chrono::milliseconds patience) {
  bool done = false;
  error_code failure;
  std::size_t got = 0;
  const auto end = [&](error_code outcome, std::size_t bytes) {
    failure = outcome;
    got = bytes;
    done = true;
  };
  const auto buffer = asio::buffer(space, size);
  if (ca_.empty()) {
    stream_->next_layer().async_read_some(buffer, end);
  } else {
    stream_->async_read_some(buffer, end);
  }
  if (!run_unless_woken(done, patience)) {
    // Bytes may have come at the last moment; they are kept.
    stream_->next_layer().cancel();
    while (!done) run(done, kPatience);
  }
  if (!failure || failure == asio::error::operation_aborted) return got;
  close();
  return lost(failure == asio::error::eof ? "it has closed the connection" : failure.message());
}

}  // namespace gorgo::doors::mqtt
