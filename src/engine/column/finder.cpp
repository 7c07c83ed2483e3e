#include "engine/column/finder.hpp"

#include "engine/aggregation.hpp"

namespace gorgo::engine {
namespace {

/// The attribute whose running sums answer the aggregate, if they can.
std::optional<std::uint32_t> summed_attribute(const Aggregate* aggregate,
                                              const history::EventStore& store) {
  if (aggregate == nullptr || !aggregate->attribute || store.is_nullable()) return std::nullopt;
  const bool sums = aggregate->function == AggregateFunction::sum ||
                    aggregate->function == AggregateFunction::avg;
  if (!sums || store.attribute_type(*aggregate->attribute) != ValueType::integer) {
    return std::nullopt;
  }
  return aggregate->attribute;
}

}  // namespace

Finder::Finder(const plan::Scan& scan, history::History& history, bool use_indexes,
               const Aggregate* aggregate)
    : column_(history.column(scan.column)),
      store_(column_->store()),
      way_(way_to(scan, *column_, use_indexes, aggregate)) {}

Finder::Way Finder::way_to(const plan::Scan& scan, history::Column& column, bool use_indexes,
                           const Aggregate* aggregate) {
  if (!use_indexes || scan.key.empty()) {
    return Scanner(scan, column.store(), column.timeline(scan.column.attributes));
  }
  std::vector<Expr> subjects;
  for (const std::uint32_t i : scan.key) subjects.push_back(scan.comparisons[i].subject);
  const auto summed = summed_attribute(aggregate, column.store());
  return Prober(scan, column.store(), column.index(std::move(subjects), summed));
}

Datum Finder::aggregate(const Aggregate& aggregate, history::Range range) const {
  if (const auto value = aggregate_by_sums(aggregate, range)) return *value;
  const Datum one = Datum::of(std::int64_t{1});
  const ValueType input =
      aggregate.attribute ? store_.attribute_type(*aggregate.attribute) : one.type();
  Aggregation aggregation(aggregate.function, input);
  ascending(range, [&](std::uint64_t position) {
    aggregation.add(
        aggregate.attribute ? store_.attribute(event(position).slot, *aggregate.attribute) : one);
    return true;
  });
  return aggregation.result();
}

std::optional<Datum> Finder::aggregate_by_sums(const Aggregate& aggregate,
                                               history::Range range) const {
  const auto* prober = std::get_if<Prober>(&way_);
  if (prober == nullptr || !prober->is_exact()) return std::nullopt;
  const std::uint64_t count = range.size();
  if (aggregate.function == AggregateFunction::count) {
    if (aggregate.attribute && store_.is_nullable()) return std::nullopt;
    return Datum::of(static_cast<std::int64_t>(count));
  }
  const auto summed = summed_attribute(&aggregate, store_);
  if (!summed) return std::nullopt;
  const history::HashIndex& index = *prober->index();
  const auto sums = index.find_sum(*summed);
  if (!sums || !index.is_exact(*sums, count)) return std::nullopt;
  const auto sum = static_cast<std::int64_t>(prober->posting().sum(*sums, range));
  if (aggregate.function == AggregateFunction::sum) return Datum::of(sum);
  if (count == 0) return Datum::none();
  return Datum::of(static_cast<double>(sum) / static_cast<double>(count));
}

std::size_t Finder::bytes() const {
  if (const auto* prober = std::get_if<Prober>(&way_)) return share_of(prober->index());
  return share_of(std::get<Scanner>(way_).timeline());
}

}  // namespace gorgo::engine
