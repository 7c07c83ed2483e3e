#include "actions/silences.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "actions/matcher.hpp"

namespace gorgo::actions {
namespace {

using Json = nlohmann::json;

bool is_over(const ActionSilence& silence, Timestamp now) { return silence.until <= now; }

Result<void> check_length(const ActionSilence& silence) {
  constexpr std::size_t kMost = 2000;
  std::size_t bytes = silence.comment.size();
  for (const std::string& matcher : silence.matchers) bytes += matcher.size();
  if (bytes <= kMost) return {};
  return Error{"the silence is longer than 2000 bytes", "shorten its comment or its matchers"};
}

}  // namespace

Silences::Silences(const std::string& saved) {
  try {
    const Json json = Json::parse(saved);
    for (const Json& one : json.at("silences")) {
      all_.push_back({.id = one.at("id"),
                      .matchers = one.at("matchers"),
                      .until = one.at("until"),
                      .comment = one.at("comment")});
    }
    last_id_ = json.at("last_id");
  } catch (const Json::exception&) {
    all_.clear();
  }
}

std::string Silences::saved() const {
  Json silences = Json::array();
  for (const ActionSilence& silence : all_) {
    silences.push_back({{"id", silence.id},
                        {"matchers", silence.matchers},
                        {"until", silence.until},
                        {"comment", silence.comment}});
  }
  return Json{{"last_id", last_id_}, {"silences", std::move(silences)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

void Silences::forget_past(Timestamp now) {
  std::erase_if(all_, [now](const ActionSilence& silence) { return is_over(silence, now); });
}

Result<std::uint64_t> Silences::add(ActionSilence silence, Timestamp now) {
  constexpr std::size_t kMost = 1000;
  forget_past(now);
  if (const auto checked = check(silence.matchers); !checked) return checked.error();
  if (const auto checked = check_length(silence); !checked) return checked.error();
  if (is_over(silence, now)) return Error{"the silence would be over already", ""};
  if (all_.size() >= kMost) return Error{"the target has 1000 silences", "end some of them"};
  silence.id = ++last_id_;
  all_.push_back(std::move(silence));
  return last_id_;
}

bool Silences::end(std::uint64_t id) {
  return std::erase_if(all_, [id](const ActionSilence& silence) { return silence.id == id; }) > 0;
}

bool Silences::takes(const doors::Departing::Row& row, Timestamp now) {
  forget_past(now);
  return std::ranges::any_of(
      all_, [&](const ActionSilence& silence) { return hold(silence.matchers, row); });
}

std::vector<ActionSilence> Silences::all(Timestamp now) const {
  std::vector<ActionSilence> all = all_;
  std::erase_if(all, [now](const ActionSilence& silence) { return is_over(silence, now); });
  return all;
}

}  // namespace gorgo::actions
