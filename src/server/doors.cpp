#include "server/doors.hpp"

#include <memory>
#include <utility>

#include "server/native_dialect.hpp"

namespace gorgo::server {
namespace {

template <class T>
DialectMaker maker_of() {
  return [](Session& session) { return std::make_unique<T>(session); };
}

}  // namespace

std::vector<Listener::Door> doors_of(const ServerOptions& options) {
  std::vector<Listener::Door> all = {
      {"listening on", "--listen", options.listen, maker_of<NativeDialect>()},
      {"http on", "--http", options.http.listen, nullptr},
      {"trex on", "--trex", options.trex.listen, nullptr}};
  std::erase_if(all, [](const Listener::Door& door) { return door.address.empty(); });
  return all;
}

}  // namespace gorgo::server
