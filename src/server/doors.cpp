#include "server/doors.hpp"

#include <memory>
#include <utility>

#include "server/http/http_dialect.hpp"
#include "server/native_dialect.hpp"
#include "server/trex_dialect.hpp"

namespace gorgo::server {
namespace {

template <class T>
DialectMaker maker_of() {
  return [](Session& session) { return std::make_unique<T>(session); };
}

DialectMaker trex_maker(const TrexOptions& options, const TypeBoard& types) {
  return [names = std::make_shared<TrexNames>(options.types, types)](Session& session) {
    return std::make_unique<TrexDialect>(session, names);
  };
}

}  // namespace

std::vector<Listener::Door> doors_of(const ServerOptions& options, const TypeBoard& types) {
  std::vector<Listener::Door> all = {
      {"listening on", "--listen", options.listen, maker_of<NativeDialect>()},
      {"http on", "--http", options.http.listen, maker_of<http::HttpDialect>()},
      {"trex on", "--trex", options.trex.listen, trex_maker(options.trex, types)}};
  std::erase_if(all, [](const Listener::Door& door) { return door.address.empty(); });
  return all;
}

}  // namespace gorgo::server
