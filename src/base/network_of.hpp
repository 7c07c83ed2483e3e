#pragma once

#include <boost/asio/ip/address.hpp>

namespace gorgo {

/// Whom limits by address take for one client: the address itself, and of IPv6 the network of 64
/// bits, for one client has all of its addresses.
boost::asio::ip::address network_of(const boost::asio::ip::address& address);

}  // namespace gorgo
