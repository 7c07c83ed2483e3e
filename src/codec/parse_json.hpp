#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/nesting.hpp"

/// Reads JSON that others wrote. `Json` is a `nlohmann::basic_json`.
namespace gorgo::codec {

/// A name that two members of one object have: which of them was meant nobody knows.
struct RepeatedMember {
  std::string name;
  std::size_t depth = 0;  ///< of the object; 1: the outermost value
};

template <class Json>
struct ReadJson {
  Json value;  ///< discarded: the text is no JSON, or is deep
  /// One of those that are least deep. In `value` is the last member of the name, and all of them
  /// where objects keep the order of their members.
  std::optional<RepeatedMember> repeated;
};

/// Makes values of what the library's parser meets in a text, which it goes through once.
template <class Json>
class JsonBuilder {
 public:
  ReadJson<Json> take() { return std::move(read_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(typename Json::number_integer_t value) { return put(value); }
  bool number_unsigned(typename Json::number_unsigned_t value) { return put(value); }
  bool number_float(typename Json::number_float_t value, const typename Json::string_t&) {
    return put(value);
  }
  bool string(typename Json::string_t& value) { return put(std::move(value)); }
  bool binary(typename Json::binary_t&) { return false; }  // which JSON has none of
  bool start_object(std::size_t) { return begin(Json::value_t::object); }
  bool start_array(std::size_t) { return begin(Json::value_t::array); }
  bool end_object() {
    if constexpr (kKeepsOrder) look_for_repeated(object());
    return end();
  }
  bool end_array() { return end(); }

  bool key(typename Json::string_t& name) {
    if constexpr (kKeepsOrder) {
      member_ = &object().emplace_back(std::move(name), nullptr).second;
    } else {
      const auto [member, is_new] = object().emplace(name, nullptr);
      member_ = &member->second;
      if (!is_new) tell_repeated(name);
    }
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const typename Json::exception&) {
    return false;
  }

 private:
  using Object = typename Json::object_t;
  // Such an object is a list of members. To look a name up takes as long as it has members, so they
  // are compared when all of them are there.
  static constexpr bool kKeepsOrder = requires(Object & members) { members.reserve(1); };

  ReadJson<Json> read_;
  std::vector<Json*> open_;  // objects and arrays, which grow only while they are the last one
  Json* member_ = nullptr;   // of the last one, whose value comes next
  std::vector<std::string_view> names_;  // of the object that has just ended

  Object& object() { return open_.back()->template get_ref<Object&>(); }

  void look_for_repeated(const Object& members) {
    names_.clear();
    for (const auto& [name, value] : members) names_.push_back(name);
    std::ranges::sort(names_);
    const auto twice = std::ranges::adjacent_find(names_);
    if (twice != names_.end()) tell_repeated(*twice);
  }
  void tell_repeated(std::string_view name) {
    const std::size_t depth = open_.size();
    if (read_.repeated && read_.repeated->depth <= depth) return;
    read_.repeated = RepeatedMember{std::string(name), depth};
  }

  /// Where the value that comes next belongs.
  Json& place() {
    if (open_.empty()) return read_.value;
    return open_.back()->is_array() ? open_.back()->emplace_back(nullptr) : *member_;
  }
  template <class Value>
  bool put(Value&& value) {
    place() = std::forward<Value>(value);
    return true;
  }
  bool begin(typename Json::value_t kind) {
    if (open_.size() == kDeepest) return false;
    Json& begun = place();
    begun = kind;
    open_.push_back(&begun);
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }
};

template <class Json>
ReadJson<Json> read_json(std::string_view text) {
  JsonBuilder<Json> builder;
  if (!Json::sax_parse(text, &builder)) return {Json(Json::value_t::discarded), std::nullopt};
  return builder.take();
}

/// For texts of which nobody asks whether a member stands twice (see `ReadJson`).
template <class Json>
Json parse_json(std::string_view text) {
  return read_json<Json>(text).value;
}

}  // namespace gorgo::codec
