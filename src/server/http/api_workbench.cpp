#include <algorithm>
#include <chrono>
#include <cstdint>

#include "server/http/api.hpp"
#include "server/http/workbench.hpp"

// What the workbench shows of the server: /v1/workbench/stream.
namespace gorgo::server::http {

namespace asio = boost::asio;

asio::awaitable<Response> Api::watch(const Call& call) {
  const bool head = call.head.method() == Verb::head;
  co_return Response{.status = 200,
                     .content_type = "text/event-stream",
                     .body = {},
                     .headers = {{"Cache-Control", "no-store"}},
                     .then = head ? Then::next_request : Then::workbench};
}

asio::awaitable<void> Api::gather(Workbench& workbench) {
  Workbench::Gathering gathering(workbench, std::chrono::steady_clock::now());
  const wire::AskStatisticsT question;
  const auto reply = co_await ask(question);
  const auto* statistics = reply ? reply->as<wire::Statistics>() : nullptr;
  if (statistics == nullptr) co_return;
  gathering.put(*statistics, hub_.counters());
  gathering.put_connections(hub_.connections().size(), hub_.closed);
  const wire::ListDevicesT list_devices;
  const auto devices = co_await ask(list_devices);
  const auto* list = devices ? devices->as<wire::Devices>() : nullptr;
  if (list == nullptr) co_return;
  if (list->devices() != nullptr) {
    for (const auto* device : *list->devices()) gathering.put(*device);
  }
  const bool all_rules = co_await gather_rules(gathering);
  if (!all_rules) co_return;
  const bool all_types = co_await gather_types(gathering);
  if (all_types) gathering.complete();
}

asio::awaitable<bool> Api::gather_rules(Workbench::Gathering& gathering) {
  for (std::uint32_t first = 0, total = 1; first < total;) {
    const auto page = co_await rules_from(first);
    const auto* rules = page ? page->as<wire::Rules>() : nullptr;
    if (rules == nullptr) co_return false;
    if (rules->rules() == nullptr || rules->rules()->size() == 0) break;
    for (const auto* rule : *rules->rules()) gathering.put(*rule);
    first += rules->rules()->size();
    total = rules->total();
  }
  co_return true;
}

asio::awaitable<bool> Api::gather_types(Workbench::Gathering& gathering) {
  for (std::uint32_t first = 0, total = 1; first < total;) {
    const auto page = co_await types_from(first);
    const auto* types = page ? page->as<wire::Types>() : nullptr;
    if (types == nullptr) co_return false;
    if (types->types() == nullptr || types->types()->size() == 0) break;
    for (const auto* type : *types->types()) gathering.put(*type);
    first += types->types()->size();
    total = types->total();
  }
  co_return true;
}

}  // namespace gorgo::server::http
