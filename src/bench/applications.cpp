#include "bench/applications.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "bench/random.hpp"
#include "bench_rules.hpp"

namespace gorgo::bench {
namespace {

constexpr std::uint64_t kApplicationsSeed = 4;
constexpr Duration kSecond = 1'000'000'000;
constexpr Duration kMinute = 60 * kSecond;

/// One event of a stream under construction: of which sender, and when.
struct Moment {
  GeneratedEvents& batch;
  Random& random;
  std::int64_t senders;  ///< how many there are
  std::int64_t sender;   ///< drawn for this event, in [0, senders)
  Timestamp now;
};

struct Application {
  const char* name;  ///< of its file in rules/
  std::vector<std::string> types;
  const char* axis;
  Duration period;  ///< between two events of a sender, on average
  Duration reach;   ///< of the rules
  void (*add)(const Moment&);
  std::vector<double> quick, full;
  std::string_view keeper = "";  ///< see Workload
};

Datum of(std::int64_t value) { return Datum::of(value); }
Datum of(double value) { return Datum::of(value); }

bool chance(Random& random, double probability) { return random.unit() < probability; }
double uniform(Random& random, double low, double high) {
  return low + (high - low) * random.unit();
}

/// An area burns for ten minutes in three hours; there is smoke without fire, too.
void add_fire(const Moment& m) {
  const Datum area = m.batch.text("area " + std::to_string(m.sender));
  const bool burns = (m.now / (10 * kMinute) + m.sender * 7) % 18 == 0;
  const double kind = m.random.unit();
  if (kind < 0.01) return m.batch.add(2, m.now, {area});
  if (kind < (burns ? 0.11 : 0.015)) return m.batch.add(0, m.now, {area});
  const double low = burns ? 40 : 15;
  m.batch.add(1, m.now, {area, of(uniform(m.random, low, low + 31))});
}

/// Levels rise for ten minutes and fall at once; the valve is opened now and then.
void add_tanks(const Moment& m) {
  if (chance(m.random, 0.04)) return m.batch.add(1, m.now, {of(m.sender)});
  const std::int64_t rise = (m.now + m.sender * 97 * kSecond) % (10 * kMinute);
  const double level = static_cast<double>(rise) / static_cast<double>(10 * kMinute) * 88;
  m.batch.add(0, m.now, {of(m.sender), of(level + uniform(m.random, 0, 3))});
}

/// Prices of a pair swing together, and each stock swings besides by some per cent.
void add_stocks(const Moment& m) {
  const std::int64_t pair = m.sender / 2;
  const double together = 50 + 5 * static_cast<double>((m.now / kMinute + pair * 7) % 10);
  const Datum symbol = m.batch.text("S" + std::to_string(m.sender));
  const Datum twin = m.batch.text("S" + std::to_string(m.sender ^ 1));
  const double price = together * uniform(m.random, 0.98, 1.02);
  m.batch.add(0, m.now, {symbol, twin, of(price), of(m.random.between(1, 1000))});
}

void add_cards(const Moment& m) {
  static constexpr std::array<std::string_view, 4> kCountries = {"IT", "FR", "DE", "ES"};
  const bool online = chance(m.random, 0.4);
  const bool away = chance(m.random, 0.03);
  const auto home = static_cast<std::size_t>(m.sender) % kCountries.size();
  const std::size_t country = away ? m.random.below(kCountries.size()) : home;
  double amount = uniform(m.random, 5, 150);
  if (online && chance(m.random, 0.3)) amount = uniform(m.random, 1, 5);
  if (online && chance(m.random, 0.05)) amount = uniform(m.random, 400, 2000);
  m.batch.add(0, m.now,
              {of(m.sender), of(amount), Datum::of(kCountries[country]), Datum::of(online)});
}

/// A house has twenty plugs.
void add_home(const Moment& m) {
  const bool on = chance(m.random, 0.05);
  const double watts = on ? uniform(m.random, 800, 3000) : uniform(m.random, 0, 60);
  m.batch.add(0, m.now, {of(m.sender / 20), of(m.sender % 20), of(watts)});
}

/// Some cells are far more popular than others.
std::int64_t cell(Random& random) {
  const double u = random.unit();
  return static_cast<std::int64_t>(300 * u * u * u);
}

void add_taxi(const Moment& m) {
  const std::int64_t from = cell(m.random), to = cell(m.random);
  const double fare = uniform(m.random, 5, 30) + static_cast<double>(from % 7);
  m.batch.add(0, m.now,
              {of(m.sender), of(from), of(to), of(fare), of(fare * m.random.unit() * 0.2)});
}

/// One person and three auctions for 46 bids, as in NEXMark. Bids go to recent auctions.
void add_auctions(const Moment& m) {
  static constexpr std::array<std::string_view, 6> kStates = {"OR", "ID", "CA", "WA", "NY", "TX"};
  constexpr std::int64_t kRecent = 50;
  const double kind = m.random.unit();
  if (kind < 0.02) {
    return m.batch.add(0, m.now,
                       {of(m.sender), Datum::of(kStates[m.random.below(kStates.size())])});
  }
  // An auction a moment, on average; their numbers follow from the time.
  const std::int64_t newest = m.now / (kMinute * 16 / m.senders);
  if (kind < 0.08) {
    return m.batch.add(
        1, m.now,
        {of(newest), of(m.sender), of(m.random.between(8, 12)), of(uniform(m.random, 1, 100))});
  }
  const std::int64_t auction = newest - m.random.between(0, kRecent);
  m.batch.add(2, m.now, {of(auction), of(m.sender), of(uniform(m.random, 1, 500))});
}

/// Cars on two motorways in two directions; on each fifth segment there is a jam.
void add_linear_road(const Moment& m) {
  const std::int64_t segment = (m.sender * 7 + m.now / kMinute) % 100;
  const bool jam = (segment + m.sender % 4) % 5 == 0;
  const double speed = jam ? uniform(m.random, 5, 70) : uniform(m.random, 40, 80);
  m.batch.add(0, m.now, {of(m.sender % 2), of(m.sender / 2 % 2), of(segment), of(speed)});
}

const std::vector<Application>& applications() {
  static const std::vector<double> kQuick = {20}, kFull = {100, 1e3, 10e3};
  static const std::vector<Application> all = {
      {"fire",
       {"Smoke", "Temp", "Rain"},
       "areas",
       10 * kSecond,
       10 * kMinute,
       add_fire,
       kQuick,
       kFull},
      {"tanks", {"Level", "Open"}, "tanks", 10 * kSecond, 10 * kMinute, add_tanks, kQuick, kFull},
      {"stocks", {"Trade"}, "stocks", 5 * kSecond, 5 * kMinute, add_stocks, kQuick, kFull},
      {"cards", {"Payment"}, "cards", 30 * kSecond, 60 * kMinute, add_cards, kQuick, kFull},
      {"home", {"Load"}, "plugs", 5 * kSecond, 5 * kMinute, add_home, kQuick, kFull},
      {"taxi", {"Ride"}, "taxis", 5 * kMinute, 30 * kMinute, add_taxi, {300}, {1e3, 10e3, 100e3}},
      {"auctions",
       {"Person", "Auction", "Bid"},
       "persons",
       kMinute,
       60 * kMinute,
       add_auctions,
       kQuick,
       kFull},
      {"linear_road",
       {"Pos"},
       "cars",
       30 * kSecond,
       5 * kMinute,
       add_linear_road,
       {200},
       {1e3, 10e3, 100e3},
       "event Pos(highway: int, direction: int, segment: int, speed: float);\n"
       "event Never();\n"
       "define Kept() from Never() and last Pos() within 5 min from Never;\n"},
  };
  return all;
}

EventSource source_of(const Application& application, std::int64_t senders, bool disordered) {
  const Duration interval = application.period / senders;
  return [&application, senders, disordered, interval, random = Random(kApplicationsSeed),
          now = Timestamp{0}](GeneratedEvents& batch) mutable {
    now += interval;
    const auto sender =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(senders)));
    // Half of the events arrive up to a second late.
    const bool late = disordered && random.below(2) == 0;
    const Timestamp timestamp = late ? now - random.between(1, kSecond) : now;
    application.add({batch, random, senders, sender, timestamp});
  };
}

std::string rules_of(std::string_view name) {
  return std::string(std::ranges::find(kExampleRules, name, &ExampleRules::name)->text);
}

Workload workload_of(const Application& application, std::int64_t senders, bool disordered) {
  Workload workload;
  workload.rules = rules_of(application.name);
  workload.keeper = application.keeper;
  workload.types = application.types;
  workload.fill = static_cast<std::uint64_t>(application.reach / (application.period / senders));
  workload.max_late = disordered ? kSecond : 0;
  workload.make_source = [&application, senders, disordered] {
    return source_of(application, senders, disordered);
  };
  return workload;
}

}  // namespace

void add_application_sweeps(std::vector<Sweep>& sweeps) {
  for (const Application& application : applications()) {
    for (const bool disordered : {false, true}) {
      sweeps.push_back(
          {.id = std::string(application.name) + (disordered ? "/disordered" : "/sorted"),
           .axis = application.axis,
           .quick = application.quick,
           .full = application.full,
           .at = [&application, disordered](double x, bool) {
             return workload_of(application, std::llround(x), disordered);
           }});
    }
  }
}

}  // namespace gorgo::bench
