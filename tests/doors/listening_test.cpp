#include "doors/listening.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace gorgo::doors {
namespace {

using Tcp = boost::asio::ip::tcp;

TEST(Listening, AnAddressThatIsTakenIsNamed) {
  SocketLoop loop;
  const Tcp::endpoint loopback(boost::asio::ip::make_address("127.0.0.1"), 0);
  const Tcp::acceptor other(loop.io(), loopback);
  const std::string address = "127.0.0.1:" + std::to_string(other.local_endpoint().port());
  std::unique_ptr<TcpPort> port;
  const auto opened = listen_at(loop.io(), address, [&](const Tcp::endpoint& endpoint) {
    port = std::make_unique<TcpPort>(loop.io(), endpoint, [](const Tcp::socket&) {});
  });
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, testing::HasSubstr("cannot listen on " + address));
}

}  // namespace
}  // namespace gorgo::doors
