#include "engine/column/prober.hpp"

#include "base/arithmetic.hpp"

namespace gorgo::engine {

Prober::Prober(const plan::Scan& scan, const history::EventStore& store,
               std::shared_ptr<const history::HashIndex> index)
    : scan_(scan), store_(store), index_(std::move(index)), operands_(scan.key.size()) {
  for (const std::uint32_t i : scan.key) key_operands_.push_back(&scan.comparisons[i].operand);
  for (std::uint32_t i = 0; i < scan.comparisons.size(); ++i) {
    if (scan.comparisons[i].op != Op::equal) tests_.push_back(i);
  }
  limits_.resize(tests_.size());
  const history::KeyLayout& layout = index_->layout();
  has_word_ = layout.attribute && key_operands_.front()->op == Op::attribute &&
              key_operands_.front()->type == layout.subjects.front().type;
}

bool Prober::set_key(std::span<const history::EventRef> sequence, history::HashIndex::Key& key) {
  if (has_word_) {
    const Expr& operand = *key_operands_.front();
    const history::EventRef event = sequence[static_cast<std::size_t>(operand.source)];
    return key.set_from(event.store->attribute_vector(operand.index), event.slot);
  }
  const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = {}};
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    operands_[i] = history::evaluate(*key_operands_[i], scope);
  }
  return key.set(index_->layout(), operands_);
}

void Prober::prefetch(std::span<const history::EventRef> terminators) {
  announced_ = terminators.size();
  next_ = 0;
  if (group_.size() < announced_) group_.resize(announced_);
  for (std::size_t i = 0; i < announced_; ++i) {
    group_[i].terminator = terminators[i].slot;
    group_[i].possible = set_key(terminators.subspan(i, 1), group_[i].key);
    if (group_[i].possible) index_->prefetch_entry(group_[i].key);
  }
  for (std::size_t i = 0; i < announced_; ++i) {
    if (group_[i].possible) index_->prefetch_posting(group_[i].key);
  }
}

const history::HashIndex::Key* Prober::key_of(std::span<const history::EventRef> sequence) {
  while (next_ < announced_ && group_[next_].terminator < sequence[0].slot) ++next_;
  if (next_ < announced_ && group_[next_].terminator == sequence[0].slot) {
    return group_[next_].possible ? &group_[next_].key : nullptr;
  }
  return set_key(sequence, key_) ? &key_ : nullptr;
}

history::Range Prober::start(const Search& search) {
  search_ = search;
  posting_ = {};  // the posting of an earlier search may be gone
  const history::Scope scope{.candidate = {}, .states = search.sequence, .aggregates = {}};
  if (!history::all_hold(scan_.guards, scope)) return {};
  const history::HashIndex::Key* const key = key_of(search.sequence);
  if (key == nullptr) return {};
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    limits_[i] = history::evaluate(scan_.comparisons[tests_[i]].operand, scope);
    if (!limits_[i].exists()) return {};
  }
  posting_ = index_->find(*key);
  return posting_.window(search.interval.after, search.interval.before);
}

bool Prober::passes_tests(std::uint64_t position) const {
  const history::Scope scope{
      .candidate = event(position), .states = search_.sequence, .aggregates = {}};
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    const plan::Comparison& test = scan_.comparisons[tests_[i]];
    const Datum value = history::evaluate(test.subject, scope);
    if (!arithmetic::compare(test.op, value, limits_[i])) return false;
  }
  return history::all_hold(scan_.residual, scope);
}

}  // namespace gorgo::engine
