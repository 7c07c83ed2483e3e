// Strings that a device compares by order or part.

#include "cuda/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "cuda/host_device.hpp"
#include "engine/cuda/cuda.hpp"
#include "engine/cuda/text_words.hpp"
#include "engine/reference/reference.hpp"
#include "evaluation_of.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::engine {
namespace {

using Batches = std::vector<std::vector<TestEvent>>;

/// A string in words, none of which may be asked for behind the end.
struct Words {
  std::string_view text;

  std::uint64_t length() const { return text.size(); }
  std::uint64_t word(std::uint64_t i) const {
    EXPECT_TRUE(i == 0 || i < gpu::words_of(text.size())) << text;
    return word_of_text(text, i);
  }
};

/// A string that mostly equals others up to about the end of a word.
std::string random_string(std::mt19937& random) {
  constexpr std::size_t kLengths[] = {0, 1, 6, 7, 8, 9, 15, 16, 17, 30};
  constexpr char kBytes[] = {'a', 'b', '\0', '\x7f', '\x80', '\xff'};
  std::string text(kLengths[random() % std::size(kLengths)], 'a');
  for (std::size_t i = random() % 3; i > 0 && !text.empty(); --i) {
    text[text.size() - 1 - random() % std::min<std::size_t>(3, text.size())] =
        kBytes[random() % std::size(kBytes)];
  }
  return text;
}

arithmetic::Ordering order(std::string_view a, std::string_view b) {
  const int order = a.compare(b);
  return order < 0   ? arithmetic::Ordering::less
         : order > 0 ? arithmetic::Ordering::greater
                     : arithmetic::Ordering::equal;
}

TEST(Text, HasTheOrderOfItsBytes) {
  std::mt19937 random(1);
  int equal = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string a = random_string(random), b = random_string(random);
    ASSERT_EQ(gpu::order_of_texts(Words{a}, Words{b}), order(a, b))
        << testing::PrintToString(a) << " " << testing::PrintToString(b);
    equal += a == b;
  }
  EXPECT_GT(equal, 1000);
  using namespace std::string_view_literals;
  EXPECT_EQ(gpu::order_of_texts(Words{"a"}, Words{"a\0"sv}), arithmetic::Ordering::less);
  EXPECT_EQ(gpu::order_of_texts(Words{"\0\0"sv}, Words{""}), arithmetic::Ordering::greater);
  EXPECT_EQ(gpu::order_of_texts(Words{"\xff"}, Words{"a"}), arithmetic::Ordering::greater);
}

TEST(Text, ContainsItsParts) {
  std::mt19937 random(2);
  int contained = 0, not_contained = 0;
  const auto check = [&](const std::string& text, const std::string& part) {
    const bool expected = text.find(part) != text.npos;
    ASSERT_EQ(gpu::contains(Words{text}, Words{part}), expected)
        << testing::PrintToString(text) << " " << testing::PrintToString(part);
    ++(expected ? contained : not_contained);
  };
  for (int i = 0; i < 30'000; ++i) {
    const std::string text = random_string(random), other = random_string(random);
    check(text, other);
    const std::string both = other + text + other;
    const std::size_t at = random() % (both.size() + 1);
    check(both, both.substr(at, random() % 20));
    check(both, both.substr(at) + "a");
  }
  EXPECT_GT(contained, 20'000);
  EXPECT_GT(not_contained, 20'000);
}

/// Every kind of search, in states, negations of both kinds and aggregates.
const std::vector<std::string> kRulesOfTexts = {
    "define O1(k: int) from A() and last B(s < A.s) within 400 from A where k = B.k;",
    "define O2(k: int) from A() and first B(s > A.s, k > 1) within 400 from A where k = B.k;",
    "define O3(k: int) from A() and each B(A.s contains s, k != A.k) within 400 from A "
    "where k = B.k;",
    "define O4(k: int) from A() and 3-last B(s contains A.s or s >= A.s and k < 2) within 400 from "
    "A "
    "where k = B.k;",
    "define O5(k: int) from A() and last B(s <= A.s) within 400 from A "
    "and not C(s > B.s) between B and A where k = B.k;",
    "define O6(k: int) from A() and each B(s != A.s) within 90 from A "
    "and not C(not (B.s contains s), s < A.s) within 20 from B where k = B.k;",
    "define O7(k: int) from A() and first B() within 300 from A "
    "and not C(not (A.s <= B.s), k > 2) between B and A where k = B.k;",
    "define O8(k: int) from A() and not C(s contains A.s, s != A.s) within 40 from A and "
    "each B() within 30 from A where k = B.k;",
    "define O9(n: int, x: float, m: int) from A() where n = Count(B(s < A.s) within 300 from A), "
    "x = Sum(B(s contains A.s).v within 300 from A), m = Max(C(s <= A.s).k within 300 from A);",
    "define O10(k: int) from A() and last B(s < A.s) within 400 from A where k = B.k consuming B;",
};

/// Events of the types that the rules read. Strings get longer from batch to batch.
Batches random_batches(const std::string& rules, unsigned seed) {
  const bool with_c = rules.find("C(s") != rules.npos || rules.find("C(not") != rules.npos;
  std::mt19937 random(seed);
  Batches batches(5);
  Timestamp now = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    for (int i = 0; i < 120; ++i) {
      now += 1'000'000;
      std::string text = random_string(random).substr(0, 2 + 8 * b);
      if (random() % 3 == 0) text += "aab";
      const char* type = i % 12 == 11 ? "A" : with_c && random() % 3 == 0 ? "C" : "B";
      batches[b].push_back({.type = type,
                            .timestamp = now,
                            .k = static_cast<std::int64_t>(random() % 5),
                            .v = static_cast<double>(random() % 64) / 8,
                            .s = std::move(text)});
    }
  }
  return batches;
}

struct EmulatedTexts {
  explicit EmulatedTexts(std::uint64_t pages, std::uint64_t longest_inside = 4096)
      : engine(
            "emulated",
            [=] {
              CudaEngine::Devices devices;
              devices.push_back(std::make_unique<gpu::HostDevice>(
                  gpu::DeviceOptions{.bytes = pages * 32 * 8, .page_shift = 5}));
              return devices;
            },
            [] { return std::vector<std::string>(); }, {.longest_inside = longest_inside}) {}

  const PageCounters& counters() const { return engine.contexts().at(0)->pages().counters(); }

  CudaEngine engine;
};

TEST(TextColumns, DecideLikeTheReference) {
  for (std::size_t i = 0; i < kRulesOfTexts.size(); ++i) {
    const std::string rule = kTypes + kRulesOfTexts[i];
    const Batches batches = random_batches(kRulesOfTexts[i], static_cast<unsigned>(i));
    const auto expected = evaluation_of(ReferenceEngine(), rule, batches);
    EXPECT_FALSE(expected.empty()) << rule;
    for (const std::uint64_t longest_inside : {0, 1 << 20}) {
      EmulatedTexts emulated(1000, longest_inside);
      EXPECT_EQ(evaluation_of(emulated.engine, rule, batches), expected) << rule;
      EXPECT_GT(emulated.engine.contexts().at(0)->device().counters().rounds, 4u) << rule;
      EXPECT_EQ(emulated.engine.contexts().at(0)->last_failure().count, 0u);
    }
  }
}

TEST(TextColumns, ComeBackInPages) {
  std::string rules = kTypes;
  for (const std::string& rule : kRulesOfTexts) rules += rule + "\n";
  const Batches batches = random_batches(rules, 7);
  const auto expected = evaluation_of(ReferenceEngine(), rules, batches);
  ASSERT_GT(expected.size(), 100u);
  for (const std::uint64_t pages : {60, 90, 120}) {
    EmulatedTexts emulated(pages);
    EXPECT_EQ(evaluation_of(emulated.engine, rules, batches), expected) << pages;
    EXPECT_GT(emulated.counters().swapped_in, 0u) << pages;
    EXPECT_EQ(emulated.engine.contexts().at(0)->last_failure().count, 0u) << pages;
  }
}

TEST(TextColumns, TakeRoomForALongStringInItsPageOnly) {
  const std::string rule =
      "event A(k: int, v: float, s: string); event B(k: int, v: float, s: string);"
      "define O(k: int) from A() and last B(s < A.s) within 1000 from A where k = B.k;";
  Batches batches(1);
  for (int i = 0; i < 4 * 32; ++i) {
    batches[0].push_back({"B", i, i, 0, i == 40 ? std::string(100, 'b') : "b"});
  }
  batches[0].push_back({"A", 1000, 0, 0, std::string(100, 'b') + "a"});
  EmulatedTexts emulated(100);
  EXPECT_THAT(evaluation_of(emulated.engine, rule, batches), testing::ElementsAre("test.O 127"));
  // A word and the length for each page, and for one of them 12 words more.
  EXPECT_EQ(emulated.counters().uploaded, 4u * 2 + 12);
}

TEST(TextColumns, LeaveTerminatorsToTheCpuThatReachAStringWhichIsTooLong) {
  Processor processor({.engine = "cuda-host"});
  ASSERT_FALSE(processor
                   .deploy("test.tesla",
                           "event A(s: string); event B(s: string);"
                           "define O(s: string) from A() and last B(s < A.s) within 100 from A "
                           "where s = B.s;")
                   .failed());
  Timestamp now = 0;
  std::vector<std::string> found;
  const auto add = [&](const char* type, const std::string& text) {
    const auto accepted = processor.append({type, now += 10'000'000, {{"s", text}}});
    EXPECT_FALSE(accepted.has_error());
  };
  const auto process = [&] {
    processor.process([&](const OutputBatch& batch) {
      for (const auto& row : batch.rows) {
        if (row.rule == OutputBatch::kPrimitive) continue;
        batch.for_each_attribute(row, [&](std::string_view, const Datum& value) {
          found.push_back(std::string(value.text()));
        });
      }
    });
    return processor.rules().at(0).declined;
  };
  const std::string longest(256, 'b'), too_long(257, 'b');
  add("B", longest);
  add("A", too_long);
  EXPECT_EQ(process(), 0u);
  add("B", too_long);
  add("A", too_long + "b");
  EXPECT_EQ(process(), 1u);
  EXPECT_EQ(processor.rules().at(0).declined_because,
            "a string of more than 256 bytes is compared by order or part");
  now += 100'000'000;
  add("B", "a");
  add("A", too_long);
  EXPECT_EQ(process(), 1u);
  EXPECT_THAT(found, testing::ElementsAre(longest, too_long, "a"));
}

}  // namespace
}  // namespace gorgo::engine
