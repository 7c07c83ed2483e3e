#include "server/subscriptions.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::server {
namespace {

/// About what an entry takes.
std::size_t bytes_of(const std::string& text) {
  constexpr std::size_t kBesideText = 512;
  return text.size() + kBesideText;
}

template <class T>
void make_room(std::vector<T>& list) {
  if (list.size() == list.capacity()) list.reserve(2 * list.size() + 1);
}

}  // namespace

Subscriptions::Subscriptions(const Limits& limits, OnOversize on_oversize)
    : limits_(limits), on_oversize_(std::move(on_oversize)) {}

Result<void> Subscriptions::check(const Outbox& client, std::uint32_t id,
                                  const std::string& text) const {
  if (text.size() > limits_.subscription_bytes) {
    return Error{"the text of the subscription has " + std::to_string(text.size()) +
                     " bytes, the limit is " + std::to_string(limits_.subscription_bytes),
                 "write a shorter one, or raise limits.subscription_bytes"};
  }
  const auto known = subscribers_.find(client.id());
  if (known == subscribers_.end()) return {};
  const Subscriber& subscriber = known->second;
  if (std::ranges::find(subscriber.ids, id) != subscriber.ids.end()) {
    return Error{"subscription " + std::to_string(id) + " exists", "choose another id"};
  }
  if (subscriber.ids.size() >= limits_.max_subscriptions) {
    return Error{"more than " + std::to_string(limits_.max_subscriptions) + " subscriptions",
                 "unsubscribe some, or use another connection"};
  }
  std::size_t bytes = text.size();
  for (const auto& entry : subscriber.entries) bytes += entry->text.size();
  if (bytes <= limits_.all_subscription_bytes) return {};
  return Error{"the texts of all subscriptions of this connection would have " +
                   std::to_string(bytes) + " bytes, the limit is " +
                   std::to_string(limits_.all_subscription_bytes),
               "unsubscribe some, or raise limits.all_subscription_bytes"};
}

Subscriptions::Added Subscriptions::add(const std::shared_ptr<Outbox>& client, std::uint32_t id,
                                        const std::string& text, const Schema& schema) {
  if (auto checked = check(*client, id, text); !checked) return {checked.error(), {}};
  // Parsed anew for each subscriber: the schema may have learnt the type meanwhile.
  auto parsed = Filter::parse(text, schema);
  if (!parsed.filter) return {{}, std::move(parsed.diagnostics)};
  Subscriber& subscriber = subscribers_[client->id()];
  subscriber.outbox = client;
  leave_group(subscriber);
  // Nothing may fail between the two lists.
  make_room(subscriber.ids);
  make_room(subscriber.entries);
  subscriber.entries.push_back(&entry_of(text, std::move(*parsed.filter)));
  subscriber.ids.push_back(id);
  return {{}, std::move(parsed.diagnostics)};
}

Subscriptions::Entry& Subscriptions::entry_of(const std::string& text, Filter filter) {
  if (const auto known = by_text_.find(text); known != by_text_.end()) {
    ++known->second->uses;
    return *known->second;
  }
  TypeEntries& of_type = by_type_[filter.type()];
  // Should memory fail on the way, the entry stays without a use.
  Entry& entry = *of_type.entries.emplace_back(
      std::make_unique<Entry>(Entry{text, std::move(filter), 0, {}, {}}));
  of_type.bytes += bytes_of(text);
  of_type.index.add(entry);
  by_text_.emplace(entry.text, &entry);
  entry.uses = 1;
  return entry;
}

void Subscriptions::release(Entry& entry) {
  if (--entry.uses > 0) return;
  by_text_.erase(entry.text);
  const auto type = by_type_.find(entry.filter.type());
  TypeEntries& of_type = type->second;
  of_type.unused_bytes += bytes_of(entry.text);
  // Clients may subscribe to any number of types, one after the other.
  if (of_type.unused_bytes == of_type.bytes) {
    by_type_.erase(type);
    return;
  }
  constexpr std::size_t kMuch = std::size_t{64} << 10;
  if (of_type.unused_bytes > kMuch + of_type.bytes / 2) drop_unused(of_type);
}

/// Makes the index anew, because it forgets nothing.
void Subscriptions::drop_unused(TypeEntries& of_type) {
  std::erase_if(of_type.entries, [](const auto& entry) { return entry->uses == 0; });
  of_type.index = {};
  of_type.bytes = of_type.unused_bytes = 0;
  for (const auto& entry : of_type.entries) {
    of_type.index.add(*entry);
    of_type.bytes += bytes_of(entry->text);
  }
}

bool Subscriptions::remove(const Outbox& client, std::uint32_t id) {
  const auto it = subscribers_.find(client.id());
  if (it == subscribers_.end()) return false;
  Subscriber& subscriber = it->second;
  const auto at = std::ranges::find(subscriber.ids, id);
  if (at == subscriber.ids.end()) return false;
  leave_group(subscriber);
  const auto entry = subscriber.entries.begin() + (at - subscriber.ids.begin());
  Entry& released = **entry;
  subscriber.entries.erase(entry);
  subscriber.ids.erase(at);
  if (subscriber.ids.empty()) {
    ungrouped_.erase(&subscriber);
    subscribers_.erase(it);
  }
  release(released);
  return true;
}

void Subscriptions::remove_all(const Outbox& client) {
  const auto it = subscribers_.find(client.id());
  if (it == subscribers_.end()) return;
  leave_group(it->second);
  ungrouped_.erase(&it->second);
  for (Entry* entry : it->second.entries) release(*entry);
  subscribers_.erase(it);
}

void Subscriptions::leave_group(Subscriber& subscriber) {
  ungrouped_.insert(&subscriber);
  Group* const group = std::exchange(subscriber.group, nullptr);
  if (group == nullptr) return;
  group->members.erase(&subscriber);
  if (!group->members.empty()) return;
  for (Entry* entry : group->entries) entry->groups.erase(group);
  groups_.erase(subscriber.entries);
}

void Subscriptions::join_groups() {
  for (Subscriber* const subscriber : ungrouped_) {
    const auto [it, is_new] = groups_.try_emplace(subscriber->entries);
    Group& group = it->second;
    if (is_new) group.entries = subscriber->entries;
    for (Entry* entry : group.entries) entry->groups.insert(&group);
    group.members.insert(subscriber);
    subscriber->group = &group;
  }
  ungrouped_.clear();
}

Subscriptions::TypeEntries* Subscriptions::entries_for(const std::string& type) {
  const auto found = by_type_.find(type);
  return found == by_type_.end() ? nullptr : &found->second;
}

void Subscriptions::match(const OutputBatch& batch, std::uint32_t row, TypeEntries* of_type) {
  if (of_type == nullptr) return;
  of_type->index.for_each_match(batch, batch.rows[row], [&](Entry& entry) {
    if (entry.uses == 0) return;
    if (entry.rows.empty()) matched_.push_back(&entry);
    entry.rows.push_back(row);
  });
}

void Subscriptions::match(const OutputBatch& batch) {
  TypeEntries* const any = entries_for("*");
  TypeEntries* own = nullptr;
  std::string type;  // which `own` is of
  for (std::uint32_t i = 0; i < batch.rows.size(); ++i) {
    const std::string_view name = batch.type_name(batch.rows[i]);
    if (i == 0 || name != type) {
      type = name;
      own = entries_for(type);
    }
    match(batch, i, own);
    match(batch, i, any);
  }
}

std::uint64_t Subscriptions::deliver(const OutputBatch& batch) {
  if (by_text_.empty()) return 0;
  join_groups();
  match(batch);
  for (const Entry* entry : matched_) {
    for (Group* group : entry->groups) {
      if (!std::exchange(group->is_due, true)) due_.push_back(group);
    }
  }
  std::uint64_t queued = 0;
  for (Group* group : due_) {
    group->is_due = false;
    queued += send(batch, *group);
  }
  for (Entry* entry : matched_) entry->rows.clear();
  matched_.clear();
  due_.clear();
  return queued;
}

std::uint64_t Subscriptions::send(const OutputBatch& batch, const Group& group) {
  std::vector<DeliveredRow> rows;
  const auto& entries = group.entries;
  for (std::size_t from = 0; from < entries.size(); ++from) {
    for (const std::uint32_t row : entries[from]->rows) {
      rows.push_back({row, static_cast<std::uint16_t>(from)});
    }
  }
  if (entries.size() > 1) std::ranges::sort(rows);
  std::uint64_t queued = 0;
  encode_delivery(batch, rows, entries.size(), limits_.max_frame, [&](const DeliveryFrame& frame) {
    for (const Subscriber* subscriber : group.members) queued += send(frame, *subscriber);
  });
  return queued;
}

std::uint64_t Subscriptions::send(const DeliveryFrame& frame, const Subscriber& subscriber) {
  Outbox& outbox = *subscriber.outbox;
  if (frame.bytes.empty()) {
    oversize_ += frame.rows;
    on_oversize_(outbox, frame.rows);
    outbox.lose(frame.rows);
    return 0;
  }
  protocol::Bytes copy = frame.bytes;
  address_to(copy, subscriber.ids);
  const auto outcome = outbox.deliver(std::move(copy), frame.rows);
  return outcome == Outbox::Outcome::queued ? frame.rows : 0;
}

}  // namespace gorgo::server
