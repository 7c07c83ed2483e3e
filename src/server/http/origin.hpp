#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server::http {

/// Whether a browser's page of this origin may change things: it is the server's own, at the
/// address where it was reached (`secure`: over TLS), or among `allowed`. The Host header says
/// nothing about that, because whoever owns a name can have it mean this machine.
bool is_allowed(std::string_view origin, const std::vector<std::string>& allowed,
                const boost::asio::ip::tcp::endpoint& local, bool secure);

/// Whether browsers may send each of these: others would match no page. An error names one that
/// they cannot.
Result<void> check_origins(const std::vector<std::string>& origins);

}  // namespace gorgo::server::http
