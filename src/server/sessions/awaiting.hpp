#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace gorgo::server {

/// Has an awaited operation of Asio return its error beside its result, instead of throwing it.
inline constexpr auto kTuple = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace gorgo::server
