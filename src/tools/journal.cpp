#include <CLI/CLI.hpp>
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "journal/records.hpp"
#include "journal/recovery.hpp"
#include "journal/snapshot.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/journal_export.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/unreached.hpp"

namespace gorgo::tools {
namespace {

using journal::Place;

struct JournalOptions {
  std::string folder;
  std::string target;
  std::string format = "text";
  Place from = 1;
  Place to = UINT64_MAX;
  Place below = 0;
  std::string around;
  std::string output;
};

Result<journal::Survey> look_at(journal::Disk& disk, const std::string& folder,
                                journal::Depth depth) {
  auto found = journal::survey_beside_writer(disk, folder, depth);
  if (found && found->segments.empty() && found->torn_bytes == 0) {
    return Error{"there is no journal in " + folder, "name the folder that a server was given"};
  }
  return found;
}

std::string text_of_places(Place low, Place end) {
  if (low == end) return "no records";
  return std::to_string(end - low) + " records, places " + std::to_string(low) + " to " +
         std::to_string(end - 1);
}

void print(const std::string& folder, const journal::Survey& found) {
  std::printf("%s: %s, in %zu files: whole\n", folder.c_str(),
              text_of_places(found.low, found.end).c_str(), found.segments.size());
  if (found.torn_bytes == 0) return;
  std::printf("%" PRIu64
              " bytes behind them, in %s, do not go on with them: a crash or a writer left them, "
              "or a file is missing\n",
              found.torn_bytes, found.torn_in.c_str());
}

void print_verified(const std::string& folder, const journal::Survey& found,
                    const std::vector<std::string>& unreached, const std::vector<Place>& snapshots,
                    const std::vector<Error>& damage) {
  auto messages = nlohmann::ordered_json::array();
  for (const Error& error : damage) messages.push_back(error.message);
  print_json({{"folder", folder},
              {"first", found.low},
              {"records", found.end - found.low},
              {"files", found.segments.size()},
              {"torn_bytes", found.torn_bytes},
              {"unreached", unreached},
              {"snapshots", snapshots},
              {"damage", messages}});
}

/// An error for each segment whose records cannot all be read. A survey ends with the first one.
std::vector<Error> damage_of_segments(journal::Disk& disk, const std::string& folder,
                                      const journal::Survey& found) {
  std::vector<Error> damage;
  for (std::size_t i = 0; i < found.segments.size(); ++i) {
    const bool is_last = i + 1 == found.segments.size();
    journal::Reader reader(disk, folder, found.segments, found.segments[i].first,
                           is_last ? found.end : found.segments[i + 1].first);
    auto record = reader.next();
    while (record && *record) record = reader.next();
    if (!record) damage.push_back(record.error());
  }
  return damage;
}

Error about_unreached(const std::vector<std::string>& files, Place end) {
  return {"whole records stand in " + files.front() +
              (files.size() == 1 ? "" : " and " + std::to_string(files.size() - 1) + " more") +
              ", and those from place " + std::to_string(end) + " on before them are missing",
          "put the missing files back before the next start, which goes on at place " +
              std::to_string(end) + " and keeps these as FILE.unreached; only where a crash came " +
              "before they were durable, nothing is missing"};
}

int verify(const JournalOptions& options) {
  const auto disk = journal::make_posix_disk();
  const auto whole = look_at(*disk, options.folder, journal::Depth::all);
  const auto found = whole ? whole : look_at(*disk, options.folder, journal::Depth::tail);
  if (!found) return fail(whole.error());
  const auto snapshots = journal::snapshots_in(*disk, options.folder);
  if (!snapshots) return fail(snapshots.error());
  Result<std::vector<std::string>> unreached(std::in_place);
  if (whole) unreached = unreached_beside_writer(*disk, options.folder);
  if (!unreached) return fail(unreached.error());
  std::vector<Error> damage;
  if (!whole) damage = damage_of_segments(*disk, options.folder, *found);
  if (!whole && damage.empty()) damage.push_back(whole.error());
  if (whole && options.format == "text") print(options.folder, *found);
  for (const Place place : *snapshots) {
    const auto read = journal::verify_snapshot(*disk, options.folder, found->journal, place);
    if (!read) damage.push_back(read.error());
    if (read && options.format == "text")
      std::printf("snapshot of place %" PRIu64 ": whole\n", place);
  }
  if (!unreached->empty()) damage.push_back(about_unreached(*unreached, found->end));
  if (options.format == "json")
    print_verified(options.folder, *found, *unreached, *snapshots, damage);
  for (const Error& error : damage) fail(error);
  return damage.empty() ? kSuccess : kFailure;
}

/// A start needs the records behind the latest snapshot, and all of them where there is none.
Result<void> check_below(journal::Disk& disk, const std::string& folder, Place below) {
  const auto snapshots = journal::snapshots_in(disk, folder);
  if (!snapshots) return snapshots.error();
  const Place needed = snapshots->empty() ? 1 : snapshots->front();
  if (below <= needed) return {};
  return Error{"a server needs the records from place " + std::to_string(needed) + " on to start",
               "name that place or a lower one; a server trims its journal itself, see "
               "journal.snapshot_bytes"};
}

Result<void> print(const journal::Record& record, bool as_json) {
  const std::string_view name = journal::name_of(record.kind);
  const std::string kind = name.empty() ? std::to_string(record.kind) : std::string(name);
  const auto content = journal::to_json(record.kind, record.payload);
  if (!content) {
    return Error{"place " + std::to_string(record.place) + ": " + content.error().message,
                 content.error().hint};
  }
  if (as_json) {
    std::printf("{\"place\": %" PRIu64 ", \"kind\": \"%s\", \"bytes\": %zu, \"durable\": %" PRIu64
                ", \"content\": %s}\n",
                record.place, kind.c_str(), record.payload.size(), record.durable,
                content->c_str());
  } else {
    std::printf("%-12" PRIu64 " %-12s %8zu  %s\n", record.place, kind.c_str(),
                record.payload.size(), *content == "null" ? "" : content->c_str());
  }
  return {};
}

int dump(const JournalOptions& options) {
  const auto disk = journal::make_posix_disk();
  const auto found = look_at(*disk, options.folder, journal::Depth::tail);
  if (!found) return fail(found.error());
  journal::Reader reader(*disk, options.folder, found->segments, std::max(options.from, found->low),
                         options.to < found->end ? options.to + 1 : found->end);
  while (true) {
    const auto record = reader.next();
    if (!record) return fail(record.error());
    if (!*record) return kSuccess;
    if (const auto printed = print(**record, options.format == "json"); !printed) {
      return fail(printed.error());
    }
    if (const auto flushed = flush_output(); !flushed) return kFailure;
  }
}

int trim(const JournalOptions& options) {
  const auto disk = journal::make_posix_disk();
  if (const auto found = look_at(*disk, options.folder, journal::Depth::tail); !found) {
    return fail(found.error());
  }
  if (const auto fine = check_below(*disk, options.folder, options.below); !fine) {
    return fail(fine.error());
  }
  const auto opened = journal::Journal::open(*disk, options.folder);
  if (!opened) return fail(opened.error());
  const Place before = (*opened)->low();
  if (const auto trimmed = (*opened)->trim(options.below); !trimmed) return fail(trimmed.error());
  const std::string cut = (*opened)->recovery().to_string();
  if (options.format == "json") {
    print_json({{"folder", options.folder},
                {"first", (*opened)->low()},
                {"first_before", before},
                {"cut", cut}});
    return kSuccess;
  }
  if (!cut.empty()) std::printf("%s\n", cut.c_str());
  std::printf("%s begins at place %" PRIu64 ", and began at %" PRIu64 "\n", options.folder.c_str(),
              (*opened)->low(), before);
  return kSuccess;
}

int backup(const JournalOptions& options) {
  const auto disk = journal::make_posix_disk();
  if (const auto found = look_at(*disk, options.folder, journal::Depth::tail); !found) {
    return fail(found.error());
  }
  const auto copied = journal::back_up(*disk, options.folder, options.target);
  if (!copied) return fail(copied.error());
  if (options.format == "json") {
    print_json({{"folder", options.target},
                {"first", copied->low},
                {"records", copied->end - copied->low}});
    return kSuccess;
  }
  std::printf("%s: %s\n", options.target.c_str(), text_of_places(copied->low, copied->end).c_str());
  return kSuccess;
}

int write_case(const JournalOptions& options) {
  return export_case({.folder = options.folder, .place = options.around, .output = options.output});
}

CLI::App* add(CLI::App& group, const std::shared_ptr<JournalOptions>& options, int& exit_code,
              const char* name, const char* about, int (*carry_out)(const JournalOptions&)) {
  auto* command = group.add_subcommand(name, about);
  command->add_option("DIR", options->folder, "The folder of the journal")
      ->required()
      ->option_text(" ");
  command->callback([options, &exit_code, carry_out] { exit_code = carry_out(*options); });
  return command;
}

}  // namespace

void add_journal(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("journal", "Look after the journal of a server");
  group->require_subcommand(1);
  group->footer("Exit codes: 0: done; 1: damaged, or it could not be done; 2: wrong usage.");
  const auto options = std::make_shared<JournalOptions>();
  as_format(add(*group, options, exit_code, "verify",
                "Read all of it and say whether it is whole; a server may be running", verify),
            options->format);
  auto* show =
      add(*group, options, exit_code, "dump", "Print the records; a server may be running", dump);
  show->add_option("--from", options->from, "The first place")->option_text("PLACE");
  show->add_option("--to", options->to, "The last place")->option_text("PLACE");
  as_format(show, options->format);
  auto* cut = add(
      *group, options, exit_code, "trim",
      "Remove the files all of whose records stand below a place; no server may be running", trim);
  cut->add_option("--below", options->below, "The first place that is needed")
      ->required()
      ->option_text("PLACE");
  as_format(cut, options->format);
  auto* copy = add(
      *group, options, exit_code, "backup",
      "Copy it into a new folder, by links where it is on the same file system; a server may be "
      "running",
      backup);
  copy->add_option("TARGET", options->target, "The folder to make")->required()->option_text(" ");
  as_format(copy, options->format);
  auto* test = add(*group, options, exit_code, "export",
                   "Write the rules of a moment and the events around it as a rule test; a server "
                   "may be running",
                   write_case);
  test->add_option(
          "--around", options->around,
          "The place of a record, as `dump` prints it, or the id of an event, ROOT-ORDINAL")
      ->required()
      ->option_text("PLACE");
  test->add_option("-o,--output", options->output, "The test to write")
      ->required()
      ->option_text("FILE.test");
}

}  // namespace gorgo::tools
