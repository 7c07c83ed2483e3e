#include "tools/test_file.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.hpp"
#include "codec/event_notation.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"
#include "tools/line_text.hpp"
#include "tools/number_text.hpp"

namespace gorgo::tools {
namespace {

class Parser {
 public:
  Parser(std::string path, ReadRules read) : path_(std::move(path)), read_(std::move(read)) {}

  Result<std::vector<TestCase>> parse(std::string_view text) {
    text = codec::without_byte_order_mark(text);
    while (!text.empty()) {
      ++line_;
      const std::size_t end = text.find('\n');
      if (const auto read = take_line(text.substr(0, end)); !read) return located(read.error());
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    if (const auto closed = close_case(); !closed) return located(closed.error());
    if (cases_.empty()) return located({"no case", "begin one with 'case: NAME'"});
    return std::move(cases_);
  }

 private:
  enum class Section : std::uint8_t { none, rules, options, events, expect, diagnostics, counts };

  Error located(const Error& error) const {
    return {path_ + ":" + std::to_string(line_) + ": " + error.message, error.hint};
  }
  TestCase& current() { return open_ ? cases_.back() : common_; }

  Result<void> take_line(std::string_view line) {
    const bool indented = line.starts_with(' ') || line.starts_with('\t');
    const std::string_view text = trimmed(line);
    // The comments of rules begin like those of test files, so that they count as lines of rules.
    if (section_ == Section::rules && (indented || is_blank(text))) {
      current().rules.append(line).append("\n");
      return {};
    }
    if ((indented || text.empty()) && line.find_first_not_of(" \t") > deployment_indent_) {
      current().steps.back().rules.append(line).append("\n");
      return {};
    }
    if (is_blank(text)) return {};
    deployment_indent_ = kNoDeployment;
    if (section_ == Section::events && indented) return step(line);
    return indented ? content(text) : heading(text);
  }

  Result<void> heading(std::string_view text) {
    const auto parts = cut(text, ":");
    if (!parts) return Error{"'" + std::string(text) + "' is no heading", "indent content"};
    const auto [name, rest] = *parts;
    if (name == "case") return open_case(rest);
    if (name == "rules" && !rest.empty()) return read_rules(rest);
    static constexpr std::pair<std::string_view, Section> kSections[] = {
        {"rules", Section::rules},
        {"options", Section::options},
        {"events", Section::events},
        {"expect", Section::expect},
        {"diagnostics", Section::diagnostics},
        {"counts", Section::counts}};
    for (const auto& [known, section] : kSections) {
      if (name == known && rest.empty()) return open_section(section);
    }
    return Error{
        "'" + std::string(text) + "' is no heading",
        "case: NAME, rules:, rules: FILE, options:, events:, expect:, diagnostics: or counts:"};
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

  Result<void> read_rules(std::string_view file) {
    if (const auto opened = open_section(Section::rules); !opened) return opened;
    section_ = Section::none;
    const auto path = (std::filesystem::path(path_).parent_path() / file).lexically_normal();
    auto text = read_ ? read_(path.string()) : read_file(path.string());
    if (!text) return text.error();
    current().rules = *std::move(text);
    current().rules_path = path.string();
    return {};
  }

  Result<void> open_section(Section section) {
    const unsigned bit = 1u << static_cast<unsigned>(section);
    if (seen_ & bit) return Error{"the section stands twice in this case", ""};
    const bool shared = section == Section::rules || section == Section::options;
    if (!open_ && !shared) return Error{"this section belongs into a case", "case: NAME"};
    seen_ |= bit;
    section_ = section;
    if (section == Section::rules) {
      current().rules.clear();
      current().rules_path.clear();
    }
    if (section == Section::expect) {
      current().expected_line = line_;
      current().expects = true;
    }
    if (section == Section::diagnostics) current().diagnostics.emplace();
    return {};
  }

  Result<void> close_case() {
    if (!open_) return {};
    const TestCase& test = cases_.back();
    const auto has = [&](Section section) {
      return seen_ & (1u << static_cast<unsigned>(section));
    };
    const bool deploys = std::ranges::any_of(
        test.steps, [](const TestStep& step) { return step.kind == TestStep::Kind::deploy; });
    if (trimmed(test.rules).empty() && !deploys && test.subscriptions.empty()) {
      return wrong_case({"the case has no rules", ""});
    }
    if (!has(Section::expect) && !has(Section::diagnostics)) {
      return wrong_case(
          {"the case expects nothing", "add 'expect:', empty when no composite may come"});
    }
    return {};
  }

  /// An error of the last case as a whole, which is known at its end.
  Error wrong_case(Error error) {
    line_ = cases_.back().line;
    return error;
  }

  Result<void> content(std::string_view text) {
    switch (section_) {
      case Section::options:
        return option(text);
      case Section::expect:
        return expectation(text);
      case Section::diagnostics:
        return diagnostic(text);
      case Section::counts:
        return count(text);
      case Section::none:
      case Section::events:  // see step
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
    if (name == "subscribe") {
      test.subscriptions.emplace_back(value);
      return {};
    }
    if (name == "max_depth" && (test.max_depth = number<std::uint32_t>(value))) return {};
    if (name == "max_composites" && (test.max_composites = number<std::uint64_t>(value))) return {};
    if (name == "max_instants" && (test.max_instants = number<std::uint64_t>(value))) return {};
    if (name == "lateness" && (test.lateness = duration(value))) return {};
    if (name == "max_late" && (test.max_late = duration(value))) return {};
    if (name == "max_ahead" && (test.max_ahead = duration(value))) return {};
    return Error{"option '" + std::string(text) + "' is unknown or has no such value",
                 "engine, subscribe, max_depth, max_composites, max_instants, lateness, max_late "
                 "and max_ahead are known"};
  }

  static std::optional<Duration> duration(std::string_view milliseconds) {
    const auto read = codec::parse_milliseconds(milliseconds);
    return read && *read >= 0 ? std::optional<Duration>(*read) : std::nullopt;
  }

  Result<void> step(std::string_view line) {
    auto step = parse_step(trimmed(line), line_);
    if (!step) return step.error();
    if (step->kind == TestStep::Kind::deploy) {
      deployment_indent_ = line.find_first_not_of(" \t");
    }
    current().steps.push_back(*std::move(step));
    return {};
  }

  Result<void> count(std::string_view text) {
    const auto parts = cut(text, "=");
    const auto value = parts ? number<std::uint64_t>(parts->second) : std::nullopt;
    if (!value) return Error{"a count is written NAME = NUMBER", ""};
    current().counts.push_back({std::string(parts->first), *value, line_});
    return {};
  }

  Result<void> expectation(std::string_view text) {
    const auto taken = codec::take_event(text);
    if (!taken) return taken.error();
    text = trimmed(text);
    if (!is_blank(text)) return Error{"'" + std::string(text) + "' behind the event", ""};
    current().expected.push_back(codec::notation_of(*taken));
    current().expected_lines.push_back(line_);
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
    current().diagnostics->push_back({*at_line, *at_column,
                                      error ? Severity::error : Severity::warning,
                                      std::string(severity->second)});
    return {};
  }

  std::string path_;
  const ReadRules read_;
  std::uint32_t line_ = 0;  // that is read, or that is wrong
  TestCase common_;         // what stands before the first case holds for all
  std::vector<TestCase> cases_;
  bool open_ = false;
  unsigned seen_ = 0;  // bits of Section
  Section section_ = Section::none;
  static constexpr std::size_t kNoDeployment = std::string_view::npos;
  /// Lines that are indented further belong to the deployment above.
  std::size_t deployment_indent_ = kNoDeployment;
};

}  // namespace

Result<std::vector<TestCase>> parse_test_file(const std::string& path, std::string_view text,
                                              ReadRules read) {
  return Parser(path, std::move(read)).parse(text);
}

}  // namespace gorgo::tools
