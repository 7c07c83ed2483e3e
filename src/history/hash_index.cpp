#include "history/hash_index.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::history {
namespace {

constexpr std::size_t kManyKeys = 256;  // worth several tables
constexpr std::uint64_t kMaxExact = std::uint64_t{1} << 63;

std::optional<std::uint32_t> position_of(std::uint32_t attribute,
                                         std::span<const std::uint32_t> attributes) {
  const auto found = std::find(attributes.begin(), attributes.end(), attribute);
  if (found == attributes.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - attributes.begin());
}

}  // namespace

HashIndex::HashIndex(std::vector<Expr> subjects, const EventStore& store, BlockPool& pool,
                     bool shared)
    : layout_{.subjects = std::move(subjects),
              .exact = false,
              .attribute = {},
              .sums = {},
              .values = {}},
      store_(store),
      pool_(pool),
      shared_(shared) {
  if (layout_.subjects.size() == 1) {
    const Expr& subject = layout_.subjects[0];
    layout_.exact = subject.type != ValueType::string;
    if (subject.op == Op::attribute && has_words_of_keys(subject.type)) {
      layout_.attribute = subject.index;
    }
  }
  clear();
}

void HashIndex::clear() {
  tables_.clear();
  pools_.clear();
  tables_.emplace_back(layout_, store_, pool_);
}

void HashIndex::add_sum(std::uint32_t attribute) {
  tables_.clear();
  layout_.sums.push_back(attribute);
  clear();
}

std::optional<std::uint32_t> HashIndex::find_sum(std::uint32_t attribute) const {
  return position_of(attribute, layout_.sums);
}

void HashIndex::add_values(std::uint32_t attribute) {
  tables_.clear();
  layout_.values.push_back(attribute);
  clear();
}

std::optional<std::uint32_t> HashIndex::find_values(std::uint32_t attribute) const {
  return position_of(attribute, layout_.values);
}

bool HashIndex::set(Key& key, Slot slot, std::vector<Datum>& operands) const {
  if (layout_.attribute) return key.set_from(store_.attribute_vector(*layout_.attribute), slot);
  operands.resize(layout_.subjects.size());
  for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = layout_.subject(i, store_, slot);
  return key.set(layout_, operands);
}

void HashIndex::add(std::span<const Slot> slots) {
  if (layout_.subjects.empty()) return add_to_one(slots);
  for (const Slot slot : slots) {
    if (set(group_.next(), slot, operands_) && group_.take(slot)) insert(group_);
  }
  insert(group_);
  for (KeyTable& table : tables_) table.put_in_order();
}

/// Without subjects all events have one key.
void HashIndex::add_to_one(std::span<const Slot> slots) {
  Key& key = group_.next();
  key.set(layout_, {});
  tables_.front().insert(key, slots);
  tables_.front().put_in_order();
}

void HashIndex::insert(Group& group) {
  const auto keys = std::span(group.keys).first(group.count);
  for (const Key& key : keys) prefetch_entry(key);
  for (const Key& key : keys) prefetch_posting(key);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tables_[share_of(keys[i].hash())].insert(keys[i], group.slots[i]);
  }
  group.count = 0;
  if (shared_ && !is_divided() && tables_.front().keys() >= kManyKeys) divide();
}

void HashIndex::prepare(std::span<const Slot> slots) {
  fresh_.clear();
  for (const Slot slot : slots) {
    Key& key = group_.next();
    if (set(key, slot, operands_)) fresh_.push_back({key.hash(), key.tag(), slot});
  }
}

void HashIndex::add_part(std::size_t part, std::size_t parts) {
  Group group;
  std::vector<Datum> operands;
  for (const Fresh& fresh : fresh_) {
    if (share_of(fresh.hash) % parts != part) continue;
    if (layout_.exact) {
      group.next().set_word(fresh.tag);
    } else {
      set(group.next(), fresh.slot, operands);
    }
    if (group.take(fresh.slot)) insert(group);
  }
  insert(group);
  for (std::size_t i = part; i < tables_.size(); i += parts) tables_[i].put_in_order();
}

void HashIndex::divide() {
  std::vector<KeyTable> tables;
  tables.reserve(kTables);
  for (std::size_t i = 0; i < kTables; ++i) {
    pools_.push_back(std::make_unique<BlockPool>());
    tables.emplace_back(layout_, store_, *pools_.back());
  }
  tables_.front().divide(tables, kShift);
  tables_.swap(tables);
}

void HashIndex::drop_gone(std::size_t steps) {
  for (KeyTable& table : tables_) table.drop_gone(steps / tables_.size() + 1);
}

bool HashIndex::is_exact(std::uint32_t sum, std::uint64_t count) const {
  std::uint64_t magnitude = 1;
  for (const KeyTable& table : tables_) magnitude = std::max(magnitude, table.magnitude(sum));
  return count < kMaxExact / magnitude;
}

std::size_t HashIndex::bytes() const {
  std::size_t spare = 0;
  for (const auto& pool : pools_) spare += pool->spare_bytes();
  return spare + total([](const KeyTable& table) { return table.bytes(); });
}

std::size_t HashIndex::keys() const {
  return total([](const KeyTable& table) { return table.keys(); });
}

std::size_t HashIndex::events() const {
  return total([](const KeyTable& table) { return table.events(); });
}

}  // namespace gorgo::history
