#include "engine/column/scanner.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/arithmetic.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {
namespace {

using history::AttributeVector;

std::uint64_t low_bits(std::uint64_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Bit i: `holds(values[i])`.
template <class T, class Holds>
std::uint64_t mask_of(const T* values, std::uint64_t count, Holds holds) {
  std::uint64_t mask = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    mask |= static_cast<std::uint64_t>(holds(values[i])) << i;
  }
  return mask;
}

template <class Value, class T, class Operand>
std::uint64_t compare_as(Op op, const T* values, std::uint64_t count, const Operand& operand) {
  const auto by = [&](auto relation) {
    return mask_of(values, count,
                   [&](const T& v) { return relation(std::bit_cast<Value>(v), operand); });
  };
  switch (op) {
    case Op::equal:
      return by(std::equal_to<>());
    case Op::not_equal:
      return by(std::not_equal_to<>());
    case Op::less:
      return by(std::less<>());
    case Op::less_equal:
      return by(std::less_equal<>());
    case Op::greater:
      return by(std::greater<>());
    case Op::greater_equal:
      return by(std::greater_equal<>());
    default:
      return 0;
  }
}

/// Compares an int with a float exactly, without converting.
template <class Value, class Operand>
std::uint64_t compare_mixed(Op op, const std::uint64_t* values, std::uint64_t count,
                            Operand operand) {
  return mask_of(values, count, [&](std::uint64_t v) {
    return arithmetic::satisfies(arithmetic::order(std::bit_cast<Value>(v), operand), op);
  });
}

std::uint64_t compare_strings(Op op, const std::string_view* values, std::uint64_t count,
                              std::string_view operand) {
  if (op != Op::contains) return compare_as<std::string_view>(op, values, count, operand);
  return mask_of(values, count,
                 [&](std::string_view v) { return arithmetic::contains(v, operand); });
}

/// Precondition: attribute and operand are not both ints or both floats, which are compared block
/// by block.
std::uint64_t compare(Op op, const AttributeVector& attribute, std::uint64_t first,
                      std::uint64_t count, const Datum& operand) {
  switch (attribute.type()) {
    case ValueType::string:
      return compare_strings(op, attribute.strings(first), count, operand.text());
    case ValueType::boolean:
      return compare_as<std::uint64_t>(op, attribute.words(first), count,
                                       std::uint64_t{operand.boolean});
    case ValueType::integer:
      return compare_mixed<std::int64_t>(op, attribute.words(first), count, operand.floating);
    case ValueType::floating:
      return compare_mixed<double>(op, attribute.words(first), count, operand.integer);
  }
  return 0;
}

}  // namespace

Scanner::Scanner(const plan::Scan& scan, const history::EventStore& store,
                 std::shared_ptr<const history::Timeline> timeline,
                 std::shared_ptr<const history::RangeIndex> ranges, Selectivity worth)
    : scan_(scan),
      store_(store),
      timeline_(std::move(timeline)),
      ranges_(std::move(ranges)),
      worth_(worth),
      operands_(scan.comparisons.size()) {
  for (std::uint32_t i = 0; i < scan.comparisons.size(); ++i) {
    const plan::Comparison& comparison = scan.comparisons[i];
    if (auto block = BlockCondition::compile(comparison)) {
      operations_ += block->operations();
      blocks_.push_back(std::move(*block));
    } else {
      (comparison.attribute() ? attribute_tests_ : event_tests_).push_back(i);
    }
  }
  for (const Expr& condition : scan.residual) {
    auto implied = ranges_ ? ImpliedBounds::of(condition) : std::nullopt;
    if (implied && implied->attribute() == ranges_->attribute()) {
      implied_.push_back(std::move(*implied));
    }
    if (auto block = BlockCondition::compile(condition)) {
      operations_ += block->operations();
      blocks_.push_back(std::move(*block));
    } else {
      residual_.push_back(&condition);
    }
  }
}

bool Scanner::wants_announcements() const {
  // What is compared one by one would have to be kept for each search.
  return attribute_tests_.empty() && !blocks_.empty() && (ranges_ == nullptr || scans_);
}

history::Range Scanner::start(const Search& search) {
  search_ = search;
  found_.clear();
  gathered_ = false;
  member_.reset();
  const history::Scope scope{.candidate = {}, .states = search.sequence, .aggregates = {}};
  if (!history::all_hold(scan_.guards, scope)) return {};
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    operands_[i] = history::evaluate(scan_.comparisons[i].operand, scope);
    if (!operands_[i].exists()) return {};
  }
  window_ = timeline_->window(search.interval.after, search.interval.before, window_);
  const auto member = group_.find(search);
  if (member && group_.is_scanned(*member)) return start_in_group(*member);
  scans_ = !gather(window_, scope);
  if (!scans_) return {0, found_.size()};
  if (member && group_.scan(*member, *timeline_, blocks_)) return start_in_group(*member);
  return bind(scope) ? window_ : history::Range{};
}

history::Range Scanner::start_in_group(std::size_t member) {
  if (!group_.is_possible(member)) return {};
  member_ = member;
  return window_;
}

/// Returns false when no event can pass.
bool Scanner::bind(const history::Scope& scope) {
  bindings_.resize(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].bind(scope, bindings_[i]);
    if (!bindings_[i].possible) return false;
  }
  return true;
}

/// Finds the matches by value. Returns false where they are not few enough for that.
bool Scanner::gather(history::Range range, const history::Scope& scope) {
  constexpr std::uint64_t kFew = 4096;  // events that are scanned at once
  if (!ranges_ || range.size() < kFew) return false;
  const std::uint64_t worth = range.size() / scans_in_the_time_of_one();
  history::RangeIndex::Bounds bounds;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const plan::Comparison& comparison = scan_.comparisons[i];
    if (comparison.attribute() == ranges_->attribute()) {
      bounds.restrict_to(comparison.op, operands_[i]);
    }
  }
  for (ImpliedBounds& implied : implied_) implied.restrict(bounds, scope);
  // A search that stops at a match scans fewer events the more matches there are.
  const auto most = worth_ == Selectivity::all
                        ? worth
                        : static_cast<std::uint64_t>(std::sqrt(static_cast<double>(worth)));
  if (!ranges_->find(bounds, most, found_)) return false;
  gathered_ = true;
  sift_found(scope);
  std::erase_if(found_, [&](history::Slot slot) { return !is_match(slot); });
  std::sort(found_.begin(), found_.end(), [&](history::Slot a, history::Slot b) {
    return std::pair(store_.timestamp(a), a) < std::pair(store_.timestamp(b), b);
  });
  return true;
}

/// Drops what does not pass, a block at a time, if that is faster than one by one.
void Scanner::sift_found(const history::Scope& scope) {
  constexpr std::size_t kWorthBinding = 16;
  if (found_.size() < kWorthBinding) return;
  if (!bind(scope)) return found_.clear();
  auto kept = found_.begin();
  for (std::size_t first = 0; first < found_.size(); first += kBlock) {
    const auto slots = std::span(found_).subspan(first, std::min(kBlock, found_.size() - first));
    BlockMask mask;
    mask.fill(~std::uint64_t{0});
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].enter(store_, slots);
      blocks_[i].test(bindings_[i], mask);
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if ((mask[i / 64] >> i % 64 & 1) != 0) *kept++ = slots[i];
    }
  }
  found_.erase(kept, found_.end());
}

bool Scanner::is_match(history::Slot slot) const {
  const Timestamp timestamp = store_.timestamp(slot);
  if (timestamp <= search_.interval.after || timestamp >= search_.interval.before) return false;
  const history::EventRef candidate{&store_, slot};
  if (!search_.sees(candidate, timestamp)) return false;
  const history::Scope scope{.candidate = candidate, .states = search_.sequence, .aggregates = {}};
  for (std::uint32_t i = 0; i < operands_.size(); ++i) {
    if (!passes(i, scope)) return false;
  }
  return history::all_hold(scan_.residual, scope);
}

bool Scanner::passes(std::uint32_t comparison, const history::Scope& scope) const {
  const plan::Comparison& test = scan_.comparisons[comparison];
  return arithmetic::compare(test.op, history::evaluate(test.subject, scope),
                             operands_[comparison]);
}

BlockMask Scanner::matches(std::uint64_t first, std::uint64_t count) {
  return member_ ? group_.mask(*member_, first, count) : tested(first, count);
}

BlockMask Scanner::tested(std::uint64_t first, std::uint64_t count) {
  BlockMask masks{};
  for (std::uint64_t word = 0; word * 64 < count; ++word) masks[word] = low_bits(count - word * 64);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].enter(*timeline_, first, count);
    blocks_[i].test(bindings_[i], masks);
  }
  for (const std::uint32_t i : attribute_tests_) {
    for (std::uint64_t word = 0; word * 64 < count; ++word) {
      if (masks[word] == 0) continue;
      masks[word] &=
          test_attribute(i, first + word * 64, std::min<std::uint64_t>(64, count - word * 64));
    }
  }
  return masks;
}

/// Bit i: the event at `first + i` passes, for i < count <= 64.
std::uint64_t Scanner::test_attribute(std::uint32_t index, std::uint64_t first,
                                      std::uint64_t count) const {
  const plan::Comparison& comparison = scan_.comparisons[index];
  const AttributeVector& attribute = timeline_->attribute(*comparison.attribute());
  std::uint64_t mask = compare(comparison.op, attribute, first, count, operands_[index]);
  if (const std::uint8_t* present = attribute.present(first)) {
    mask &= mask_of(present, count, [](std::uint8_t p) { return p != 0; });
  }
  return mask;
}

bool Scanner::passes_tests(std::uint64_t position) const {
  const history::EventRef candidate = event(position);
  if (!search_.sees(candidate, timeline_->timestamp(position))) return false;
  const history::Scope scope{.candidate = candidate, .states = search_.sequence, .aggregates = {}};
  return std::all_of(event_tests_.begin(), event_tests_.end(),
                     [&](std::uint32_t i) { return passes(i, scope); }) &&
         std::all_of(residual_.begin(), residual_.end(),
                     [&](const Expr* condition) { return history::holds(*condition, scope); });
}

}  // namespace gorgo::engine
