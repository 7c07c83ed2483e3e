#include <charconv>
#include <chrono>
#include <string>
#include <utility>

#include "server/actions/action_targets.hpp"
#include "server/http/api.hpp"
#include "server/http/reply_json.hpp"

// Targets of actions: /v1/actions.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

/// What {"matchers":{"area":"A1"},"seconds":3600,"comment":"..."} says.
Result<ActionSilence> silence_in(const Call& call) {
  constexpr std::int64_t kYear = std::int64_t{366} * 24 * 3600, kSecond = 1'000'000'000;
  const auto read = static_cast<const TextBody&>(*call.body).json();
  if (!read) return read.error();
  const Json& json = *read;
  const Error wrong{"the body is no silence",
                    R"(send {"matchers":{"area":"A1"},"seconds":3600,"comment":"why"})"};
  if (!json.is_object() || !json.contains("seconds") || !json["seconds"].is_number_integer()) {
    return wrong;
  }
  // A silence whose matchers are misspelt would be about all events.
  for (const auto& [key, value] : json.items()) {
    if (key == "matchers" || key == "seconds" || key == "comment") continue;
    return Error{"a silence has no '" + key + "'", wrong.hint};
  }
  const auto seconds = json["seconds"].get<std::int64_t>();
  if (seconds < 1 || seconds > kYear) return Error{"seconds: expected a number, 1 to 31622400", ""};
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  ActionSilence silence{.until = now.count() + seconds * kSecond};
  const Json matchers = json.contains("matchers") ? json["matchers"] : Json::object();
  const Json comment = json.contains("comment") ? json["comment"] : Json("");
  if (!matchers.is_object() || !comment.is_string()) return wrong;
  for (const auto& [attribute, value] : matchers.items()) {
    if (!value.is_string()) return wrong;
    silence.matchers.push_back(attribute + "=" + value.get<std::string>());
  }
  silence.comment = comment.get<std::string>();
  return silence;
}

}  // namespace

asio::awaitable<Response> Api::list_actions(const Call&) {
  Json list = Json::array();
  for (const ActionTarget& target : hub_.actions->infos()) list.push_back(to_json(target));
  co_return json_response({{"actions", std::move(list)}});
}

asio::awaitable<Response> Api::test_action(const Call& call) {
  const auto done = hub_.actions->test(call.parameters[0]);
  co_return done ? json_response({{"events", 1}}) : response_of({404, done.error()});
}

asio::awaitable<Response> Api::retry_action(const Call& call) {
  const auto events = hub_.actions->retry(call.parameters[0]);
  co_return events ? json_response({{"events", *events}}) : response_of({404, events.error()});
}

asio::awaitable<Response> Api::silence_action(const Call& call) {
  auto silence = silence_in(call);
  if (!silence) {
    const Problem problem{400, silence.error()};
    co_return response_of(problem);
  }
  const std::string& name = call.parameters[0];
  const auto id = hub_.actions->silence(name, std::move(*silence));
  // A target that there is has refused what the silence says.
  co_return id ? json_response({{"id", *id}})
               : response_of({hub_.actions->has(name) ? 422u : 404u, id.error()});
}

asio::awaitable<Response> Api::end_silence(const Call& call) {
  const std::string& text = call.parameters[1];
  std::uint64_t id = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool is_number = read.ec == std::errc() && read.ptr == text.data() + text.size();
  const auto ended = hub_.actions->end_silence(call.parameters[0], is_number ? id : 0);
  co_return ended ? json_response(Json::object()) : response_of({404, ended.error()});
}

}  // namespace gorgo::server::http
