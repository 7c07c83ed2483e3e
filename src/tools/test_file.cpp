#include "tools/test_file.hpp"

#include <charconv>
#include <utility>

#include "codec/timestamp.hpp"
#include "tools/event_notation.hpp"

namespace gorgo::tools {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// A length of time in milliseconds, not negative.
std::optional<Duration> milliseconds(std::string_view text) {
  const auto duration = codec::parse_milliseconds(text);
  return duration && *duration >= 0 ? std::optional(*duration) : std::nullopt;
}

/// Cuts `text` at the first `separator`; nothing when there is none.
std::optional<std::pair<std::string_view, std::string_view>> cut(std::string_view text,
                                                                 std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == text.npos) return std::nullopt;
  return std::pair(trimmed(text.substr(0, at)), trimmed(text.substr(at + separator.size())));
}

/// Nothing but spaces and a comment.
bool is_blank(std::string_view text) { return text.empty() || text.starts_with('#'); }

class Parser {
 public:
  explicit Parser(std::string path) : path_(std::move(path)) {}

  Result<std::vector<TestCase>> parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = text.find('\n');
      if (const auto read = take_line(text.substr(0, end)); !read) return located(read.error());
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    if (const auto closed = close_case(); !closed) return closed.error();
    if (cases_.empty()) return located({"no case", "begin one with 'case: NAME'"});
    return std::move(cases_);
  }

 private:
  enum class Section : std::uint8_t { none, rules, options, events, expect, diagnostics };

  Error located(const Error& error) const { return located(line_, error); }
  Error located(std::uint32_t line, const Error& error) const {
    return {path_ + ":" + std::to_string(line) + ": " + error.message, error.hint};
  }
  TestCase& current() { return open_ ? cases_.back() : common_; }

  Result<void> take_line(std::string_view line) {
    const bool indented = line.starts_with(' ') || line.starts_with('\t');
    const std::string_view text = trimmed(line);
    if (section_ == Section::rules && (indented || text.empty())) {
      current().rules.append(line).append("\n");
      return {};
    }
    if (is_blank(text)) return {};
    return indented ? content(text) : heading(text);
  }

  Result<void> heading(std::string_view text) {
    const auto parts = cut(text, ":");
    if (!parts) return Error{"'" + std::string(text) + "' is no heading", "indent content"};
    const auto [name, rest] = *parts;
    if (name == "case") return open_case(rest);
    static constexpr std::pair<std::string_view, Section> kSections[] = {
        {"rules", Section::rules},
        {"options", Section::options},
        {"events", Section::events},
        {"expect", Section::expect},
        {"diagnostics", Section::diagnostics}};
    for (const auto& [known, section] : kSections) {
      if (name == known && rest.empty()) return open_section(section);
    }
    return Error{"'" + std::string(text) + "' is no heading",
                 "case: NAME, rules:, options:, events:, expect: or diagnostics:"};
  }

  Result<void> open_case(std::string_view name) {
    if (name.empty()) return Error{"a case needs a name", "case: NAME"};
    if (const auto closed = close_case(); !closed) return closed.error();
    open_ = true;
    seen_ = 0;
    section_ = Section::none;
    cases_.push_back(common_);
    current().name = name;
    current().line = current().expected_line = line_;
    return {};
  }

  Result<void> open_section(Section section) {
    const unsigned bit = 1u << static_cast<unsigned>(section);
    if (seen_ & bit) return Error{"the section stands twice in this case", ""};
    const bool shared = section == Section::rules || section == Section::options;
    if (!open_ && !shared) return Error{"this section belongs into a case", "case: NAME"};
    seen_ |= bit;
    section_ = section;
    if (section == Section::rules) current().rules.clear();
    if (section == Section::expect) current().expected_line = line_;
    return {};
  }

  Result<void> close_case() {
    if (!open_) return {};
    const TestCase& test = cases_.back();
    const auto has = [&](Section section) {
      return seen_ & (1u << static_cast<unsigned>(section));
    };
    if (trimmed(test.rules).empty()) return located(test.line, {"the case has no rules", ""});
    if (!has(Section::expect) && !has(Section::diagnostics)) {
      return located(test.line, {"the case expects nothing",
                                 "add 'expect:', empty when no composite may come"});
    }
    return {};
  }

  Result<void> content(std::string_view text) {
    switch (section_) {
      case Section::options:
        return option(text);
      case Section::events:
        return event(text);
      case Section::expect:
        return expectation(text);
      case Section::diagnostics:
        return diagnostic(text);
      case Section::none:
      case Section::rules:
        break;
    }
    return Error{"content without a section", "begin one, such as 'events:'"};
  }

  Result<void> option(std::string_view text) {
    const auto parts = cut(text, "=");
    if (!parts) return Error{"an option is written NAME = VALUE", ""};
    const auto [name, value] = *parts;
    TestCase& test = current();
    if (name == "engine") {
      test.engines.emplace_back(value);
      return {};
    }
    if (name == "max_depth" && (test.max_depth = number<std::uint32_t>(value))) return {};
    if (name == "max_composites" && (test.max_composites = number<std::uint64_t>(value))) return {};
    if (name == "lateness" && (test.lateness = milliseconds(value))) return {};
    if (name == "max_late" && (test.max_late = milliseconds(value))) return {};
    if (name == "flush" && (test.flush = value == "true")) return {};
    return Error{"option '" + std::string(text) + "' is unknown or has no such value",
                 "engine, max_depth, max_composites, lateness, max_late and flush are known"};
  }

  /// `@31 tick`: a timestamp without an event.
  bool tick(std::string_view text) {
    const auto time = take_time(text);
    if (!time || !text.starts_with("tick") || !is_blank(trimmed(text.substr(4)))) return false;
    current().events.push_back({.event = {.timestamp = *time}, .tick = true, .line = line_});
    return true;
  }

  Result<void> event(std::string_view text) {
    if (tick(text)) return {};
    auto taken = take_event(text);
    if (!taken) return taken.error();
    TestEvent test{.event = *std::move(taken), .line = line_};
    text = trimmed(text);
    if (text.starts_with("refused")) {
      const std::string_view part = trimmed(text.substr(7));
      if (part.size() < 2 || !part.starts_with('"') || !part.ends_with('"')) {
        return Error{"expected part of the message in quotes behind 'refused'", ""};
      }
      test.refusal = part.substr(1, part.size() - 2);
      text = {};
    }
    if (!is_blank(text)) return Error{"'" + std::string(text) + "' behind the event", ""};
    current().events.push_back(std::move(test));
    return {};
  }

  Result<void> expectation(std::string_view text) {
    const auto taken = take_event(text);
    if (!taken) return taken.error();
    text = trimmed(text);
    if (!is_blank(text)) return Error{"'" + std::string(text) + "' behind the event", ""};
    current().expected.push_back(notation_of(*taken));
    return {};
  }

  Result<void> diagnostic(std::string_view text) {
    const Error shape{"a diagnostic is written LINE:COLUMN: error: PART OF THE MESSAGE",
                      "or 'warning'; lines count from the first one of 'rules:'"};
    const auto line = cut(text, ":");
    const auto column = line ? cut(line->second, ":") : std::nullopt;
    const auto severity = column ? cut(column->second, ":") : std::nullopt;
    if (!severity) return shape;
    const auto at_line = number<std::uint32_t>(line->first);
    const auto at_column = number<std::uint32_t>(column->first);
    const bool error = severity->first == "error";
    if (!at_line || !at_column || (!error && severity->first != "warning")) return shape;
    current().diagnostics.push_back({*at_line, *at_column,
                                     error ? Severity::error : Severity::warning,
                                     std::string(severity->second)});
    return {};
  }

  std::string path_;
  std::uint32_t line_ = 0;
  TestCase common_;  // what stands before the first case holds for all
  std::vector<TestCase> cases_;
  bool open_ = false;
  unsigned seen_ = 0;  // bits of Section
  Section section_ = Section::none;
};

}  // namespace

Result<std::vector<TestCase>> parse_test_file(const std::string& path, std::string_view text) {
  return Parser(path).parse(text);
}

}  // namespace gorgo::tools
