#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gorgo/client.hpp"

namespace gorgo {

/// After `keep_busy` its one terminator's evaluation takes minutes: each A looks at each C.
inline const std::string kSlowRule =
    "event A(t: string); event B(); event C(t: string);"
    "rule r: define O(t: string) from B() and each A(t = $t) as x within 1 min from B"
    "  and not C(t contains $t) within 1 min from x where t = x.t;";

/// Gives the server there, which has `kSlowRule`, more to do than it can finish.
inline void keep_busy(const std::string& address) {
  auto client = Client::connect(address);
  ASSERT_TRUE(client) << client.error().to_string();
  const auto publish = [&](const char* type, Timestamp at, std::size_t count,
                           const std::vector<Attribute>& attributes) {
    const auto published = client->publish(std::vector<Event>(count, Event{type, at, attributes}));
    ASSERT_TRUE(published) << published.error().to_string();
  };
  publish("C", 1, 30'000, {{"t", std::string(100, 'n')}});
  publish("A", 2, 30'000, {{"t", std::string("needle")}});
  publish("B", 3, 1, {});
}

}  // namespace gorgo
