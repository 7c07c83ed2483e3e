#include "doors/settings.hpp"

#include <algorithm>
#include <map>

#include "base/file.hpp"
#include "doors/kind.hpp"
#include "doors/payload.hpp"
#include "language/language.hpp"

namespace gorgo::doors {
namespace {

/// The keys of doors of every kind.
const std::vector<Key>& common_keys() {
  static const std::vector<Key> all = {key("kind", Way::both, &Settings::kind),
                                       key("subscribe", Way::both, &Settings::subscribe)};
  return all;
}

/// The keys of doors whose payloads become events.
const std::vector<Key>& payload_keys() {
  using codec::TextForm;
  static const std::vector<Key> all = {key("format", Way::in, &Settings::format),
                                       form_key("type", &TextForm::type),
                                       form_key("type_column", &TextForm::type_column),
                                       form_key("time_column", &TextForm::time_column),
                                       form_key("time_format", &TextForm::time_format),
                                       form_key("zone", &TextForm::zone),
                                       form_key("separator", &TextForm::separator),
                                       form_key("rename", &TextForm::rename),
                                       key("columns", Way::in, &Settings::columns)};
  return all;
}

const Key* find_key(const std::vector<Key>& keys, std::string_view name) {
  const auto found = std::ranges::find(keys, name, &Key::name);
  return found == keys.end() ? nullptr : &*found;
}

/// The key as doors of this kind take it; null: they do not.
const Key* find_key(const Kind& kind, std::string_view name) {
  const Key* found = find_key(kind.keys, name);
  if (found == nullptr) found = find_key(common_keys(), name);
  if (found == nullptr && kind.has_payloads) found = find_key(payload_keys(), name);
  return found;
}

/// The key as doors of any kind take it.
const Key* find_key(std::string_view name) {
  for (const Kind& kind : kinds()) {
    if (const Key* const found = find_key(kind, name)) return found;
  }
  return nullptr;
}

std::string nearest_key(const std::string& name) {
  std::vector<std::string> names;
  const auto add = [&](const std::vector<Key>& keys) {
    for (const Key& one : keys) names.emplace_back(one.name);
  };
  add(common_keys());
  add(payload_keys());
  for (const Kind& kind : kinds()) add(kind.keys);
  return std::string(closest_name(name, names));
}

std::string_view type_of(const SettingValue& form) {
  constexpr std::string_view kTypes[] = {"true or false", "a number", "a string",
                                         "a list of strings", "a table of strings"};
  return kTypes[form.index()];
}

std::string names_of_kinds(const std::function<bool(const Kind&)>& is_meant) {
  std::string names;
  for (const Kind& kind : kinds()) {
    if (is_meant(kind)) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  return names;
}

/// Why the key says nothing about such a door; empty: it does.
std::string misplaced(const std::string& name, const Kind& kind, const Settings& settings) {
  const Key* const own = find_key(kind, name);
  if (own == nullptr) {
    return "is for doors of kind " +
           names_of_kinds([&](const Kind& other) { return find_key(other, name) != nullptr; });
  }
  const Way way = settings.is_sink() ? Way::out : Way::in;
  if (own->way == Way::both || own->way == way) return "";
  return own->way == Way::in ? "is for doors through which events come in"
                             : "is for doors through which events leave";
}

Result<void> check_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (!name.empty() && name.size() <= kLongest && std::ranges::all_of(name, fits)) return {};
  return Error{"the name of a door has 1 to 64 letters, digits, - and _", "[doors.plant-1]"};
}

Result<void> check_keys(const Kind& kind, const Settings& settings) {
  if (!settings.is_sink() && settings.given.contains("subscribe")) {
    return Error{"subscribe: it is empty, which says of no event that it leaves",
                 "subscribe = \"Fire\", or leave it out where events come in"};
  }
  if (settings.is_sink() && kind.make_sink == nullptr) {
    return Error{"subscribe: no events leave through doors of kind " + settings.kind,
                 "leave it out"};
  }
  if (!settings.is_sink() && kind.make_source == nullptr) {
    return Error{"subscribe: it is not said which events leave", "subscribe = \"Fire\""};
  }
  for (const auto& [name, value] : settings.given) {
    const std::string why = misplaced(name, kind, settings);
    if (!why.empty()) return Error{name + " " + why, "leave it out"};
  }
  return {};
}

Result<void> check_subscription(const std::string& text) {
  const auto parsed = language::parse_predicate(text);
  for (const Diagnostic& found : parsed.diagnostics.list) {
    if (found.severity == Severity::error) return Error{"subscribe: " + found.message, found.hint};
  }
  return {};
}

Result<void> check_settings(const std::string& name, const Settings& settings) {
  if (auto checked = check_name(name); !checked) return checked;
  const Kind* const kind = find_kind(settings.kind);
  if (kind == nullptr) {
    return Error{settings.kind.empty()
                     ? "kind: it is not said what the door leads to"
                     : "kind: this program has no doors of kind '" + settings.kind + "'",
                 "one of " + names_of_kinds([](const Kind&) { return true; })};
  }
  auto checked = check_keys(*kind, settings);
  if (checked && settings.is_sink()) checked = check_subscription(settings.subscribe);
  if (checked) checked = kind->check(settings);
  if (checked && !settings.is_sink() && kind->has_payloads) checked = check_form(settings);
  return checked;
}

}  // namespace

Result<void> set(Settings& settings, const std::string& name, const SettingValue& value) {
  const Key* const found = find_key(name);
  if (found == nullptr) {
    const std::string nearest = nearest_key(name);
    return Error{
        name + ": unknown key" + (nearest.empty() ? "" : ", did you mean '" + nearest + "'?"),
        "docs/doors.md lists the keys of doors"};
  }
  if (value.index() != found->form.index()) {
    return Error{name + ": expected " + std::string(type_of(found->form)), ""};
  }
  found->set(settings, value);
  settings.given[name] = value;
  return {};
}

Result<std::string> password_of(const Settings& settings) {
  auto password = read_file(settings.password_file);
  if (!password) return password.error();
  while (password->ends_with('\n') || password->ends_with('\r')) password->pop_back();
  return password;
}

Result<void> check(const std::string& name, const Settings& settings) {
  const auto checked = check_settings(name, settings);
  if (checked) return {};
  return Error{"doors." + name + ": " + checked.error().message, checked.error().hint};
}

Result<void> check(const Doors& doors) {
  std::map<std::string, std::string> taken;  // by which door
  for (const auto& [name, settings] : doors) {
    if (auto checked = check(name, settings); !checked) return checked;
    const auto exclusive = find_kind(settings.kind)->exclusive;
    if (exclusive == nullptr) continue;
    const std::string wanted = exclusive(settings);
    const auto [first, is_free] = taken.emplace(wanted, name);
    if (is_free) continue;
    return Error{"doors." + name + ": the door " + first->second + " has " + wanted + " already",
                 "leave it to one of them"};
  }
  return {};
}

}  // namespace gorgo::doors
