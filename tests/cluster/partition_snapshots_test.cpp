#include "cluster/partition_snapshots.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "../plan/plan_support.hpp"
#include "cluster/names.hpp"
#include "cluster/parcels.hpp"
#include "columns.hpp"
#include "keyed_rules.hpp"

// Whoever goes on from a snapshot makes the output messages that he would have made without an end.
namespace gorgo::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCreated = 17;
constexpr std::uint64_t kBytes = 1000;

ProcessorOptions options_of_all() {
  ProcessorOptions options;
  options.max_late = Duration{1} << 60;
  options.max_composites = 1000;
  return options;
}

bool never() { return false; }
std::string nothing(const SavedPartition&) { return ""; }

/// A message of an input stream, whose sequence is its place in a list, from 1.
InputMessage input(const StreamMessage& message, std::uint64_t sequence) {
  InputMessage input{
      .sequence = sequence,
      .payload = {reinterpret_cast<const char*>(message.payload.data()), message.payload.size()}};
  for (const auto& [name, value] : message.headers) {
    if (name == kFromHeader) input.from = value;
    if (name == kPlaceHeader) input.places = value;
    if (name == kClockHeader) input.clock = value;
    if (name == kRulesHeader) input.rules = value;
  }
  return input;
}

/// The messages of all partitions of random rules, by subject.
std::map<std::string, std::vector<StreamMessage>> random_messages(KeyedRules& random) {
  Deployment deployment;
  deployment.version = 1;
  deployment.partitions = 2;
  deployment.texts = {{"plant.tesla", random.rules()}};
  const plan::Planned planned(deployment.texts[0].text);
  deployment.plan = plan_cluster(planned.plans, planned.schema);
  std::map<std::string, std::vector<StreamMessage>> all;
  for (const PartitionName& name : deployment.partition_names()) {
    const std::string json = deployment.rules_of(*deployment.plan.find(name.family)).to_json();
    all[input_subject("c", name.family, name.number)].push_back(
        {.subject = "", .headers = {{kRulesHeader, "1"}}, .payload = {json.begin(), json.end()}});
  }
  Parcels parcels("c", "node");
  parcels.follow(Routing(deployment));
  const doors::Departing events = random.stream();
  for (auto next = events.rows.begin(); next != events.rows.end();) {
    const auto end =
        next + std::min<std::ptrdiff_t>(random.number(1, 20), events.rows.end() - next);
    Columns some({next, end});
    next = end;
    const std::vector views{some.view()};
    for (auto& round : parcels.pack(views)) {
      for (StreamMessage& message : round) all[message.subject].push_back(std::move(message));
    }
    parcels.sent();
    parcels.confirm();
    for (StreamMessage& message : parcels.tell_clock()) {
      all[message.subject].push_back(std::move(message));
    }
    parcels.sent();
    parcels.confirm();
  }
  return all;
}

/// A message as a line, for comparisons.
std::string line_of(const OutputMessage& message) {
  return message.last.text() + " " + std::to_string(message.composites) + " " +
         std::string(message.payload.begin(), message.payload.end());
}

class SnapshotsOfAPartition : public testing::Test {
 protected:
  const fs::path folder =
      fs::path(testing::TempDir()) / ("gorgo_partition_snapshots_" + std::to_string(getpid()));

  SnapshotsOfAPartition() { fs::remove_all(folder); }
  ~SnapshotsOfAPartition() override { fs::remove_all(folder); }

  SnapshotSettings settings() const { return {.folder = folder.string(), .bytes = kBytes}; }
  std::vector<fs::path> files() const {
    if (!fs::exists(folder)) return {};
    std::vector<fs::path> all(fs::directory_iterator(folder), {});
    std::ranges::sort(all);
    return all;
  }
  /// A snapshot of what an evaluation knows now.
  void save(PartitionSnapshots& snapshots, Evaluation& evaluation,
            const std::deque<OutputMessage>& waiting = {}, std::int64_t created = kCreated) {
    snapshots.begin(created,
                    {.evaluation = evaluation.state(),
                     .output = 5,
                     .rules_at = 6,
                     .settings = settings_text(options_of_all())},
                    waiting, evaluation);
    snapshots.go_on(evaluation, std::chrono::steady_clock::time_point::max());
    ASSERT_EQ(snapshots.problem(), "");
  }
  std::optional<PartitionSnapshots::Restored> restored(
      const PartitionSnapshots::Objection& objection = nothing,
      const ProcessorOptions& options = options_of_all(), std::int64_t created = kCreated) {
    PartitionSnapshots snapshots(settings());
    auto found = snapshots.restore(created, options, objection, never);
    if (!found) {
      ADD_FAILURE() << found.error().to_string();
      return std::nullopt;
    }
    problem = snapshots.problem();
    return std::move(*found);
  }

  std::string problem;  // of the last `restored`
};

/// Takes messages, dies now and then, and goes on from the last snapshot.
class Mortal {
 public:
  Mortal(SnapshotSettings settings, KeyedRules& random)
      : settings_(std::move(settings)), random_(random) {
    begin();
  }

  std::vector<std::string> take_all(const std::vector<StreamMessage>& messages) {
    while (evaluation_->sequence() < messages.size()) {
      const std::uint64_t next = evaluation_->sequence() + 1;
      const StreamMessage& message = messages[next - 1];
      for (const OutputMessage& one : evaluation_->take(input(message, next))) {
        outputs_[one.last] = line_of(one);
      }
      snapshots_->note(message.payload.size());
      if (snapshots_->is_due({})) {
        snapshots_->begin(
            kCreated,
            {.evaluation = evaluation_->state(), .settings = settings_text(options_of_all())}, {},
            *evaluation_);
      }
      // Some at a time, so that messages come in between.
      snapshots_->go_on(*evaluation_, {});
      EXPECT_EQ(snapshots_->problem(), "");
      if (random_.one_in(15)) begin();
    }
    std::vector<std::string> lines;
    for (const auto& [place, line] : outputs_) lines.push_back(line);
    return lines;
  }
  int restored() const { return restored_; }

 private:
  const SnapshotSettings settings_;
  KeyedRules& random_;
  std::unique_ptr<PartitionSnapshots> snapshots_;
  std::unique_ptr<Evaluation> evaluation_;
  std::map<OutputPlace, std::string> outputs_;
  int restored_ = 0;

  void begin() {
    snapshots_ = nullptr;  // before another one begins in the folder
    snapshots_ = std::make_unique<PartitionSnapshots>(settings_);
    auto found = snapshots_->restore(kCreated, options_of_all(), nothing, never);
    ASSERT_TRUE(found) << found.error().to_string();
    EXPECT_EQ(snapshots_->problem(), "");
    restored_ += *found ? 1 : 0;
    evaluation_ =
        *found ? std::move((*found)->evaluation) : std::make_unique<Evaluation>(options_of_all());
  }
};

TEST_F(SnapshotsOfAPartition, GoOnAsIfNothingHadHappened) {
#ifdef GORGO_SANITIZED
  constexpr std::uint64_t kSeeds = 30;
#else
  constexpr std::uint64_t kSeeds = 150;
#endif
  std::size_t outputs = 0;
  int restored = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    KeyedRules random(seed);
    for (const auto& [subject, messages] : random_messages(random)) {
      std::vector<std::string> expected;
      Evaluation whole(options_of_all());
      for (std::uint64_t i = 1; i <= messages.size(); ++i) {
        for (const auto& one : whole.take(input(messages[i - 1], i))) {
          expected.push_back(line_of(one));
        }
      }
      fs::remove_all(folder);
      Mortal mortal(settings(), random);
      ASSERT_EQ(mortal.take_all(messages), expected) << "seed " << seed << ", " << subject;
      EXPECT_LE(files().size(), 3u);  // two, and one that never became whole
      outputs += expected.size();
      restored += mortal.restored();
    }
  }
  // Otherwise this would say little.
  EXPECT_GT(outputs, 5 * kSeeds);
  EXPECT_GT(restored, static_cast<int>(kSeeds));
  std::printf("%zu output messages, %d times from a snapshot\n", outputs, restored);
}

TEST_F(SnapshotsOfAPartition, HaveTheMessagesThatWait) {
  Evaluation evaluation(options_of_all());
  PartitionSnapshots snapshots(settings());
  const std::deque<OutputMessage> waiting = {{{12, 3, 4}, {1, 2, 3}, 7}, {{13, 0, 1}, {}, 1}};
  save(snapshots, evaluation, waiting);
  const auto found = restored();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->waiting.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(line_of(found->waiting[i]), line_of(waiting[i]));
  EXPECT_EQ(found->saved.output, 5u);
  EXPECT_EQ(found->saved.rules_at, 6);
}

/// A message that brings rules, and the state behind it.
StreamMessage rules_message(std::uint64_t version, const std::string& text) {
  const std::string json =
      RulesMessage{.version = version, .texts = {{"r.tesla", text}}, .rules = {"r"}}.to_json();
  return {.subject = "",
          .headers = {{kRulesHeader, std::to_string(version)}},
          .payload = {json.begin(), json.end()}};
}
constexpr const char* kRule = "rule r: define B(v: int) from A(v > 1) where v = A.v;";

TEST_F(SnapshotsOfAPartition, ThatAreDamagedArePassedOverForTheOneBefore) {
  Evaluation evaluation(options_of_all());
  PartitionSnapshots snapshots(settings());
  const auto rules = rules_message(1, kRule);
  evaluation.take(input(rules, 3));
  save(snapshots, evaluation);
  evaluation.take(input(rules, 4));
  save(snapshots, evaluation);
  ASSERT_EQ(files().size(), 2u);
  const fs::path last = files().back();
  {
    std::fstream file(last, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(last) / 2));
    file.put('\x55');
  }
  const auto found = restored();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evaluation->sequence(), 3u);
  EXPECT_EQ(found->evaluation->rules_version(), 1u);
  EXPECT_NE(problem.find(last.string()), std::string::npos) << problem;
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(SnapshotsOfAPartition, ThatDoNotFitAreRemoved) {
  Evaluation evaluation(options_of_all());
  PartitionSnapshots snapshots(settings());
  const auto fresh = [&] {
    save(snapshots, evaluation);
    ASSERT_EQ(files().size(), 1u);
  };
  fresh();
  EXPECT_FALSE(restored([](const SavedPartition&) { return "the stream is another"; }));
  EXPECT_NE(problem.find("the stream is another"), std::string::npos) << problem;
  EXPECT_TRUE(files().empty());
  fresh();
  auto others = options_of_all();
  others.max_late = 1;
  EXPECT_FALSE(restored(nothing, others));
  EXPECT_NE(problem.find("other settings"), std::string::npos) << problem;
  EXPECT_TRUE(files().empty());
  fresh();
  EXPECT_FALSE(restored(nothing, options_of_all(), kCreated + 1));
  EXPECT_TRUE(files().empty());
}

TEST_F(SnapshotsOfAPartition, AreGivenUpWhereRulesChange) {
  Evaluation evaluation(options_of_all());
  PartitionSnapshots snapshots(settings());
  evaluation.take(input(rules_message(1, kRule), 1));
  snapshots.begin(kCreated,
                  {.evaluation = evaluation.state(), .settings = settings_text(options_of_all())},
                  {}, evaluation);
  ASSERT_TRUE(snapshots.is_writing());
  evaluation.take(input(rules_message(2, "rule r: define B(v: int) from A() where v = A.v;"), 2));
  snapshots.go_on(evaluation, std::chrono::steady_clock::time_point::max());
  EXPECT_FALSE(snapshots.is_writing());
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(evaluation.problem(), "");
  save(snapshots, evaluation);
  const auto found = restored();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evaluation->rules_version(), 2u);
}

TEST_F(SnapshotsOfAPartition, AreDueBehindSoManyBytesOrSoMuchTime) {
  Evaluation evaluation(options_of_all());
  PartitionSnapshots snapshots(settings());
  using namespace std::chrono_literals;
  EXPECT_FALSE(snapshots.is_due(1ns));  // nothing was taken
  snapshots.note(0);                    // a clock message
  EXPECT_TRUE(snapshots.is_due(1ns));
  EXPECT_FALSE(snapshots.is_due(1h));
  EXPECT_FALSE(snapshots.is_due(0ns));
  snapshots.note(kBytes);
  EXPECT_TRUE(snapshots.is_due(1h));
  save(snapshots, evaluation);
  EXPECT_FALSE(snapshots.is_due(0ns));
  EXPECT_FALSE(PartitionSnapshots({}).is_due(1ns));
}

}  // namespace
}  // namespace gorgo::cluster
