// The heavy rules by hand: brute force over arrays, with vector instructions, a batch of
// terminators at a time. Types are T (0), the terminator, and S (1); for inequality C (0), B (1)
// and A (2).

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/handwritten.hpp"
#include "scan.hpp"

namespace gorgo::bench {
namespace {

constexpr std::uint64_t kComposite = hash_of("Match");

GORGO_VECTOR_CLONES
std::size_t count_band(const Pointers& columns, std::size_t count, const Parameters& p) {
  const double* v = columns[0];
  const double low = p[0], high = p[1];
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < count; ++i) found += (v[i] > low) & (v[i] < high);
  return found;
}

GORGO_VECTOR_CLONES
std::size_t count_distance(const Pointers& columns, std::size_t count, const Parameters& p) {
  const double *x = columns[0], *y = columns[1];
  const double x0 = p[0], y0 = p[1], limit = p[2];
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    found += (x[i] - x0) * (x[i] - x0) + (y[i] - y0) * (y[i] - y0) < limit;
  }
  return found;
}

GORGO_VECTOR_CLONES
std::size_t count_distance8(const Pointers& columns, std::size_t count, const Parameters& p) {
  const double *a = columns[0], *b = columns[1], *c = columns[2], *d = columns[3];
  const double *e = columns[4], *f = columns[5], *g = columns[6], *h = columns[7];
  const Parameters x = p;
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double sum = (a[i] - x[0]) * (a[i] - x[0]) + (b[i] - x[1]) * (b[i] - x[1]) +
                       (c[i] - x[2]) * (c[i] - x[2]) + (d[i] - x[3]) * (d[i] - x[3]) +
                       (e[i] - x[4]) * (e[i] - x[4]) + (f[i] - x[5]) * (f[i] - x[5]) +
                       (g[i] - x[6]) * (g[i] - x[6]) + (h[i] - x[7]) * (h[i] - x[7]);
    found += sum < x[8];
  }
  return found;
}

GORGO_VECTOR_CLONES
std::size_t count_halfspace(const Pointers& columns, std::size_t count, const Parameters& p) {
  const double *a = columns[0], *b = columns[1], *c = columns[2];
  const double a0 = p[0], b0 = p[1], c0 = p[2], limit = p[3];
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < count; ++i) found += a[i] * a0 + b[i] * b0 + c[i] * c0 < limit;
  return found;
}

GORGO_VECTOR_CLONES
std::size_t count_greater(const Pointers& columns, std::size_t count, const Parameters& p) {
  const double* v = columns[0];
  const double low = p[0];
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < count; ++i) found += v[i] > low;
  return found;
}

GORGO_VECTOR_CLONES
std::size_t count_less(const Pointers& columns, std::size_t count, const Parameters& p) {
  const double* v = columns[0];
  const double high = p[0];
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < count; ++i) found += v[i] < high;
  return found;
}

CompositeHash match(Timestamp timestamp, double first, double second) {
  CompositeHash hash(kComposite, timestamp);
  hash.add(Datum::of(first));
  hash.add(Datum::of(second));
  return hash;
}

/// from T(...) and each S(...) within W from T where a = T's first attribute, b = S's.
class HandwrittenScan : public Subject {
 public:
  HandwrittenScan(std::size_t attributes, CountPasses passes, double limit, Duration window)
      : attributes_(attributes),
        passes_(passes),
        limit_(limit),
        window_(window),
        candidates_(attributes) {}

  Result<void> feed(GeneratedBatch batch) override {
    BatchCursor event(std::move(batch.events));
    if (event.done()) return {};
    candidates_.drop_until(*event.timestamp() - window_);
    queries_.clear();
    for (; !event.done(); event.advance()) {
      if (batch.types[event.table_number()] == 1) {
        candidates_.push(event.table(), event.row());
      } else {
        ask(event.table(), event.row());
      }
    }
    scan(candidates_, attributes_, queries_, passes_, [this](const Query& query, std::size_t at) {
      tally_.add(match(query.timestamp, firsts_[static_cast<std::size_t>(&query - queries_.data())],
                       candidates_.column(0)[at]));
    });
    firsts_.clear();
    return {};
  }
  Result<void> filled() override { return {}; }
  Tally tally() const override { return tally_; }
  Memory memory() const override {
    return {.events = candidates_.size(), .bytes = candidates_.bytes()};
  }

 private:
  /// Every event up to now stands before the terminator.
  void ask(const EventTable& table, std::uint32_t row) {
    const Timestamp timestamp = table.timestamps[row];
    Query query{
        timestamp, {}, candidates_.newer(timestamp - window_), candidates_.not_before(timestamp)};
    const double first = table.columns[0].floats[row];
    if (passes_ == count_band) {
      query.parameters = {first - limit_, first + limit_};
    } else {
      for (std::size_t i = 0; i < attributes_; ++i) {
        query.parameters[i] = table.columns[i].floats[row];
      }
      query.parameters[attributes_] = limit_;
    }
    queries_.push_back(query);
    firsts_.push_back(first);
  }

  std::size_t attributes_;
  CountPasses passes_;
  double limit_;
  Duration window_;
  Columns candidates_;
  std::vector<Query> queries_;
  std::vector<double> firsts_;  // of the terminators of queries_
  Tally tally_;
};

/// from C(p = $p) and each B(p > $p) within W from C and each A(p < $p / 2) within W from B.
class HandwrittenInequality : public Subject {
 public:
  explicit HandwrittenInequality(Duration window) : window_(window), b_(1), a_(1) {}

  Result<void> feed(GeneratedBatch batch) override {
    BatchCursor event(std::move(batch.events));
    if (event.done()) return {};
    const Timestamp first = *event.timestamp();
    b_.drop_until(first - window_);
    a_.drop_until(first - 2 * window_);
    of_c_.clear();
    of_b_.clear();
    found_.clear();
    for (; !event.done(); event.advance()) {
      const std::uint32_t type = batch.types[event.table_number()];
      if (type == 1) b_.push(event.table(), event.row());
      if (type == 2) a_.push(event.table(), event.row());
      if (type == 0) ask(event.table(), event.row());
    }
    scan(b_, 1, of_c_, count_greater, [this](const Query& c, std::size_t at) {
      const Timestamp b = b_.timestamp(at);
      of_b_.push_back(
          {c.timestamp, {c.parameters[0] / 2}, a_.newer(b - window_), a_.not_before(b)});
      found_.push_back(b_.column(0)[at]);
    });
    scan(a_, 1, of_b_, count_less, [this](const Query& b, std::size_t at) {
      tally_.add(match(b.timestamp, found_[static_cast<std::size_t>(&b - of_b_.data())],
                       a_.column(0)[at]));
    });
    return {};
  }
  Result<void> filled() override { return {}; }
  Tally tally() const override { return tally_; }
  Memory memory() const override {
    return {.events = b_.size() + a_.size(), .bytes = b_.bytes() + a_.bytes()};
  }

 private:
  void ask(const EventTable& table, std::uint32_t row) {
    const Timestamp c = table.timestamps[row];
    of_c_.push_back({c, {table.columns[0].floats[row]}, b_.newer(c - window_), b_.not_before(c)});
  }

  Duration window_;
  Columns b_, a_;
  std::vector<Query> of_c_, of_b_;
  std::vector<double> found_;  // the B of each of of_b_
  Tally tally_;
};

}  // namespace

std::unique_ptr<Subject> handwritten_band(double width, Duration window) {
  return std::make_unique<HandwrittenScan>(1, count_band, width, window);
}
std::unique_ptr<Subject> handwritten_distance(double limit, Duration window) {
  return std::make_unique<HandwrittenScan>(2, count_distance, limit, window);
}
std::unique_ptr<Subject> handwritten_distance8(double limit, Duration window) {
  return std::make_unique<HandwrittenScan>(8, count_distance8, limit, window);
}
std::unique_ptr<Subject> handwritten_halfspace(double limit, Duration window) {
  return std::make_unique<HandwrittenScan>(3, count_halfspace, limit, window);
}
std::unique_ptr<Subject> handwritten_inequality(Duration window) {
  return std::make_unique<HandwrittenInequality>(window);
}

}  // namespace gorgo::bench
