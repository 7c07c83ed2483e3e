#include "server/ports.hpp"

#include <memory>
#include <utility>

#include "server/http/http_dialect.hpp"
#include "server/sessions/native_dialect.hpp"
#include "server/trex/trex_dialect.hpp"

namespace gorgo::server {
namespace {

DialectMaker native_maker() {
  return [](Session& session) { return std::make_unique<NativeDialect>(session); };
}

DialectMaker http_maker(const HttpOptions& options, MemoryBudget& memory) {
  const http::Redaction redaction(options.redact);
  return [texts = std::make_shared<http::Texts>(memory, redaction)](Session& session) {
    return std::make_unique<http::HttpDialect>(session, texts);
  };
}

DialectMaker trex_maker(const TrexOptions& options, const TypeBoard& types) {
  return [names = std::make_shared<TrexNames>(options.types, types)](Session& session) {
    return std::make_unique<TrexDialect>(session, names);
  };
}

}  // namespace

std::vector<Listener::Port> ports_of(const ServerOptions& options, const TypeBoard& types,
                                     MemoryBudget& memory) {
  std::vector<Listener::Port> all = {
      {"listening on", "--listen", options.listen, native_maker()},
      {"http on", "--http", options.http.listen, http_maker(options.http, memory)},
      {"trex on", "--trex", options.trex.listen, trex_maker(options.trex, types)}};
  std::erase_if(all, [](const Listener::Port& port) { return port.address.empty(); });
  return all;
}

}  // namespace gorgo::server
