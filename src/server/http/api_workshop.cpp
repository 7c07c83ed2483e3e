#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "codec/event_text.hpp"
#include "protocol/info.hpp"
#include "server/durability/journal_look.hpp"
#include "server/http/api.hpp"
#include "server/http/delivery_text.hpp"
#include "server/http/reply_json.hpp"
#include "server/sessions/awaiting.hpp"
#include "server/sessions/on_pool.hpp"

// What people who write rules ask for beside the engine: /v1/lsp, trials, tests, the journal.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

// What a coroutine holds must have a name, so that jobs are made by functions.
using Job = std::function<Response(const std::stop_token&)>;

constexpr std::size_t kMostJournalRows = 1000;

std::function<Response()> until(std::stop_token stop, Job job) {
  return [stop = std::move(stop), job = std::move(job)] { return job(stop); };
}

Response no_workshop() {
  return response_of(Problem{501,
                             {"this server has no workshop for rules",
                              "use the commands `gorgo lsp`, `gorgo run` and `gorgo test`"}});
}

/// Rules, and what they are tried with.
using RulesAndText = std::pair<std::string, std::string>;

/// `{"text":"..",KEY:".."}`
Result<RulesAndText> read_rules_and(const std::string& key, const Call& call) {
  const auto read = static_cast<const TextBody&>(*call.body).json();
  if (!read) return read.error();
  const Json& json = *read;
  const auto is_text = [&](const std::string& member) {
    return json.is_object() && json.contains(member) && json[member].is_string();
  };
  if (is_text("text") && is_text(key)) return RulesAndText(json["text"], json[key]);
  return Error{"the body is no JSON with both texts",
               R"(send {"text": "RULES", ")" + key + R"(": ".."})"};
}

Result<JournalLook> read_look(const Target& target) {
  JournalLook look;
  for (const char* key : {"place", "most"}) {
    const auto value = target.find(key);
    if (!value) continue;
    const auto number = to_number(key, *value);
    if (!number) return number.error();
    if (key == std::string_view("place")) look.place = *number;
    if (key == std::string_view("most"))
      look.most = std::min<std::size_t>(*number, kMostJournalRows);
  }
  if (const auto value = target.find("at")) {
    const auto time = to_time("at", *value);
    if (!time) return time.error();
    look.at = *time;
  }
  look.type = target.find("type").value_or("");
  return look;
}

Response journal_response(const std::string& folder, const JournalLook& look,
                          const Redaction& redaction, const std::stop_token& stop) {
  const auto writer = codec::make_line_writer();
  std::string rows;
  const auto sight = look_into_journal(
      folder, look, stop, [&](journal::Place place, Timestamp timestamp, const BatchCursor& row) {
        if (!rows.empty()) rows += ',';
        append_line(rows, *writer, row, timestamp, redaction);
        rows.pop_back();  // the brace
        rows += ",\"place\":" + std::to_string(place) + "}";
      });
  if (!sight) return response_of(Problem{500, sight.error()});
  return {.status = 200,
          .body = "{\"low\":" + std::to_string(sight->low) +
                  ",\"end\":" + std::to_string(sight->end) +
                  ",\"next\":" + std::to_string(sight->next) + ",\"events\":[" + rows + "]}\n"};
}

Job trial_job(Workshop& workshop, Workshop::Trial trial) {
  return [&workshop, trial = std::move(trial)](const std::stop_token& stop) {
    return Response{.body = workshop.try_rules(trial, stop) + "\n"};
  };
}

Job tests_job(Workshop& workshop, RulesAndText texts) {
  return [&workshop, texts = std::move(texts)](const std::stop_token& stop) {
    return Response{.body = workshop.run_tests(texts.second, texts.first, stop) + "\n"};
  };
}

Job journal_job(std::string folder, JournalLook look, Redaction redaction) {
  return [folder = std::move(folder), look = std::move(look),
          redaction = std::move(redaction)](const std::stop_token& stop) {
    return journal_response(folder, look, redaction, stop);
  };
}

}  // namespace

asio::awaitable<Response> Api::beside(std::function<Response(const std::stop_token&)> job) {
  std::stop_source source;
  asio::steady_timer limit(hub_.io, hub_.options.http.trial_timeout);
  limit.async_wait([source](const boost::system::error_code& cancelled) mutable {
    if (!cancelled) source.request_stop();
  });
  auto work = until(source.get_token(), std::move(job));
  Response response = co_await on_pool(texts_.beside, std::move(work));
  co_return response;
}

asio::awaitable<std::variant<Workshop::KnownTypes, Response>> Api::known_types() {
  Workshop::KnownTypes known;
  for (std::uint32_t first = 0, total = 1; first < total;) {
    const auto page = co_await types_from(first);
    const auto* types = page ? page->as<wire::Types>() : nullptr;
    if (types == nullptr) co_return unexpected(page);
    if (types->types() == nullptr || types->types()->size() == 0) break;
    for (const auto* type : *types->types()) {
      // A type that rules imply may have further attributes.
      if (type->attributes() == nullptr || type->inferred()) continue;
      auto& last = known.emplace_back();
      last.name = protocol::text_of(type->name());
      for (const auto* attribute : *type->attributes()) {
        last.attributes.push_back(
            {attribute->name()->str(), static_cast<ValueType>(attribute->type())});
      }
    }
    first += types->types()->size();
    total = types->total();
  }
  co_return known;
}

asio::awaitable<Response> Api::edit(const Call& call) {
  if (hub_.options.workshop == nullptr) co_return no_workshop();
  if (is_upgrade(call.head)) co_return Response{.body = {}, .then = Then::editor};
  const Problem problem{426, {"this path is for a WebSocket", "ask for the upgrade to one"}};
  Response refused = response_of(problem);
  refused.headers.emplace_back("Upgrade", "websocket");
  co_return refused;
}

asio::awaitable<Response> Api::try_rules(const Call& call) {
  Workshop* workshop = hub_.options.workshop.get();
  if (workshop == nullptr) co_return no_workshop();
  const auto read = read_rules_and("events", call);
  if (!read) co_return response_of(Problem{400, read.error()});
  auto known = co_await known_types();
  if (auto* refused = std::get_if<Response>(&known)) co_return std::move(*refused);
  auto& types = std::get<Workshop::KnownTypes>(known);
  Workshop::Trial trial{call.parameters[0], read->first, read->second, std::move(types)};
  co_return co_await beside(trial_job(*workshop, std::move(trial)));
}

asio::awaitable<Response> Api::run_tests(const Call& call) {
  Workshop* workshop = hub_.options.workshop.get();
  if (workshop == nullptr) co_return no_workshop();
  const auto read = read_rules_and("tests", call);
  if (!read) co_return response_of(Problem{400, read.error()});
  co_return co_await beside(tests_job(*workshop, *read));
}

asio::awaitable<Response> Api::look_into_journal(const Call& call) {
  const std::string& folder = hub_.options.journal.path;
  if (folder.empty()) {
    co_return response_of(
        Problem{501, {"this server keeps no events", "start it with --journal DIR"}});
  }
  auto look = read_look(call.target);
  if (!look) co_return response_of(Problem{400, look.error()});
  look->in_order = hub_.options.processor.lateness == 0;
  co_return co_await beside(journal_job(folder, *look, texts_.redaction));
}

}  // namespace gorgo::server::http
