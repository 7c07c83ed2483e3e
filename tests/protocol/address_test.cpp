#include "protocol/address.hpp"

#include <gmock/gmock.h>

namespace gorgo::protocol {
namespace {

using testing::HasSubstr;

TEST(Address, SplitsHostAndPort) {
  for (const std::string text : {"localhost:7450", "127.0.0.1:1", "[::1]:65535"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << address.error().to_string();
    const bool v6 = address->host == "::1";
    EXPECT_EQ((v6 ? "[" + address->host + "]" : address->host) + ":" + address->port, text);
  }
}

TEST(Address, APortIsANumberThatSixteenBitsHold) {
  for (const std::string port : {"65536", "99999", "-1", "+80", " 80", "80 ", "0x50", "http",
                                 "7450a", "99999999999999999999"}) {
    const std::string text = "127.0.0.1:" + port;
    EXPECT_FALSE(parse_address(text)) << text;
    const auto address = parse_listen_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_THAT(address.error().to_string(),
                HasSubstr("'" + port + "' is no port (a port is a number from 0 to 65535)"));
  }
}

TEST(Address, PortZeroIsOnlyForListening) {
  EXPECT_TRUE(parse_listen_address("[::1]:0"));
  const auto address = parse_address("127.0.0.1:0");
  ASSERT_FALSE(address);
  EXPECT_THAT(address.error().to_string(), HasSubstr("a port is a number from 1 to 65535"));
}

TEST(Address, WhatHasNoHostOrNoPortIsNoAddress) {
  for (const std::string text : {"", ":", ":7450", "localhost", "localhost:", "[]:7450", "::1",
                                 "::1:7450", "[::1]", "[::1:7450", "::1]:7450"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_THAT(address.error().to_string(), HasSubstr("HOST:PORT")) << text;
  }
}

}  // namespace
}  // namespace gorgo::protocol
