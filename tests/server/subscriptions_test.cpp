#include "server/subscriptions/subscriptions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

namespace gorgo::server {
namespace {

/// A row and the subscription that it comes through.
using Got = std::pair<std::uint64_t, std::uint32_t>;

/// Events of types T and U that nobody declared, with attributes `a` and `b` of any kind.
class Stream {
 public:
  explicit Stream(std::mt19937& random) : random_(random) {
    for (const char* type : {"T", "U"}) {
      extras_.push_back(std::make_shared<const Extras>(Extras{type, {"a", "b"}}));
    }
  }

  const OutputBatch& next() {
    batch_ = {};
    batch_.schema = &schema_;
    batch_.extras = extras_;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto first = static_cast<std::uint32_t>(batch_.cells.size());
      batch_.cells.push_back(value());
      batch_.cells.push_back(value());
      batch_.rows.push_back({{++root_, 0},
                             static_cast<Timestamp>(random_() % 4),
                             kNoType,
                             first,
                             static_cast<std::uint32_t>(random_() % 2),
                             OutputBatch::kPrimitive});
    }
    return batch_;
  }

 private:
  std::mt19937& random_;
  Schema schema_;
  std::vector<std::shared_ptr<const Extras>> extras_;
  OutputBatch batch_;
  std::uint64_t root_ = 0;

  Datum value() {
    const auto number = static_cast<std::int64_t>(random_() % 5) - 2;
    switch (random_() % 8) {
      case 0:
        return Datum::none();
      case 1:
        return Datum::of(std::string_view(number > 0 ? "x" : "y"));
      case 2:
        return Datum::of(number > 0);
      case 3:
        return Datum::of(static_cast<double>(number) / 2);
      case 4:
        return Datum::of(std::numeric_limits<double>::quiet_NaN());
      case 5:
        return Datum::of(std::numeric_limits<std::int64_t>::max() - 2 - number);
      default:
        return Datum::of(number);
    }
  }
};

std::string random_text(std::mt19937& random) {
  const auto one_of = [&](std::initializer_list<const char*> list) {
    return std::string(list.begin()[random() % list.size()]);
  };
  const auto constant = [&] {
    return one_of({"0", "1", "-1", "-0.0", "0.5", "-1.0", "'x'", "true", "9223372036854775807",
                   "9223372036854775807.0"});
  };
  const auto condition = [&] {
    const std::string attribute = one_of({"a", "b", "timestamp"});
    const std::string op = one_of({" = ", " < ", " <= ", " > ", " >= ", " != "});
    return random() % 4 == 0 ? constant() + op + attribute : attribute + op + constant();
  };
  std::string text = one_of({"T", "T", "U", "*"});
  switch (random() % 5) {
    case 0:
      return text;
    case 1:
      return text + "(" + condition() + " or " + condition() + ")";
    case 2:
      return text + "(" + condition() + " and not (" + condition() + "))";
    case 3:
      return text + "(" + condition() + ", " + condition() + ")";
    default:
      return text + "(" + condition() + ")";
  }
}

/// A client that knows what it should get.
struct Reader {
  std::shared_ptr<Outbox> outbox;
  std::vector<std::pair<std::uint32_t, Filter>> filters;  // by subscription

  std::vector<Got> wanted(const OutputBatch& batch) const {
    std::vector<Got> wanted;
    for (const auto& row : batch.rows) {
      for (const auto& [id, filter] : filters) {
        const bool is_of = filter.type() == "*" || filter.type() == batch.type_name(row);
        if (is_of && filter.matches(batch, row)) wanted.emplace_back(row.place.root, id);
      }
    }
    return wanted;
  }

  std::vector<Got> got() const {
    std::vector<Got> got;
    for (const OutFrame& frame : outbox->take()) {
      auto [bytes, rest] = frame_of(std::get<ClientDelivery>(frame));
      bytes.insert(bytes.end(), rest.begin(), rest.end());
      const auto* deliver = (*protocol::open_frame(bytes))->body_as_Deliver();
      const auto& roots = *deliver->roots();
      const auto& ids = *deliver->subscriptions();
      const auto* from = deliver->from();
      for (std::uint32_t i = 0; i < roots.size(); ++i) {
        got.emplace_back(roots.Get(i), ids.Get(from != nullptr ? from->Get(i) : 0));
      }
    }
    outbox->written();
    return got;
  }
};

TEST(Subscriptions, WhateverComesAndGoesEveryoneGetsWhatMatches) {
  std::mt19937 random(7);
  const Limits limits;
  ClientTotals totals{.memory = {limits.memory_bytes, [] {}}};
  Subscriptions subscriptions(limits, totals.memory, [](const Outbox&, std::size_t) { FAIL(); });
  Stream stream(random);
  std::vector<Reader> readers(6);
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) texts.push_back(random_text(random));
  const std::array policies = {SlowConsumer::disconnect, SlowConsumer::drop, SlowConsumer::block};
  std::uint64_t sessions = 0;
  std::uint32_t ids = 0;
  std::size_t delivered = 0;
  const auto change = [&](Reader& reader) {
    if (!reader.outbox) {
      reader.outbox = std::make_shared<Outbox>(++sessions, "test", limits, totals,
                                               std::function<void()>([] {}));
    }
    if (random() % 3 > 0) {
      const std::string& text = texts[random() % texts.size()];
      auto filter = Filter::parse(text, Schema()).filter;
      const SlowConsumer slow = policies[random() % policies.size()];
      const auto added = subscriptions.add(reader.outbox, ++ids, text, {.slow = slow}, Schema());
      EXPECT_EQ(added.diagnostics.failed(), !filter.has_value()) << text;
      if (filter) reader.filters.emplace_back(ids, std::move(*filter));
    } else if (!reader.filters.empty() && random() % 4 > 0) {
      const std::size_t gone = random() % reader.filters.size();
      EXPECT_TRUE(subscriptions.remove(*reader.outbox, reader.filters[gone].first));
      std::vector<std::pair<std::uint32_t, Filter>> left;
      for (std::size_t i = 0; i < reader.filters.size(); ++i) {
        if (i != gone) left.push_back(std::move(reader.filters[i]));
      }
      reader.filters = std::move(left);
    } else {
      subscriptions.remove_all(*reader.outbox);
      reader = {};
    }
  };
  for (int round = 0; round < 2000; ++round) {
    for (int i = 0; i < 3; ++i) change(readers[random() % readers.size()]);
    const OutputBatch& batch = stream.next();
    subscriptions.deliver(batch);
    for (const Reader& reader : readers) {
      if (!reader.outbox) continue;
      const auto got = reader.got();
      ASSERT_EQ(got, reader.wanted(batch)) << "round " << round;
      delivered += got.size();
    }
  }
  EXPECT_GT(delivered, 10'000u);
  for (Reader& reader : readers) {
    if (reader.outbox) subscriptions.remove_all(*reader.outbox);
  }
  EXPECT_EQ(subscriptions.texts(), 0u);
}

}  // namespace
}  // namespace gorgo::server
