#include "server/subscriptions.hpp"

#include <algorithm>
#include <set>

namespace gorgo::server {

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
  std::shared_ptr<Entry> entry;
  if (const auto shared = by_text_.find(text); shared != by_text_.end()) {
    entry = shared->second.lock();
  } else {
    entry = std::make_shared<Entry>(Entry{text, std::move(*parsed.filter), {}});
    by_text_.emplace(entry->text, entry);
  }
  Subscriber& subscriber = subscribers_[client->id()];
  subscriber.outbox = client;
  subscriber.ids.push_back(id);
  subscriber.entries.push_back(std::move(entry));
  stale_ = true;
  return {{}, std::move(parsed.diagnostics)};
}

void Subscriptions::release(std::shared_ptr<Entry> entry) {
  stale_ = true;
  if (entry.use_count() == 1) by_text_.erase(entry->text);
}

bool Subscriptions::remove(const Outbox& client, std::uint32_t id) {
  const auto it = subscribers_.find(client.id());
  if (it == subscribers_.end()) return false;
  Subscriber& subscriber = it->second;
  const auto at = std::ranges::find(subscriber.ids, id);
  if (at == subscriber.ids.end()) return false;
  const auto index = at - subscriber.ids.begin();
  auto entry = std::move(subscriber.entries[static_cast<std::size_t>(index)]);
  subscriber.ids.erase(at);
  subscriber.entries.erase(subscriber.entries.begin() + index);
  if (subscriber.ids.empty()) subscribers_.erase(it);
  release(std::move(entry));
  return true;
}

void Subscriptions::remove_all(const Outbox& client) {
  const auto left = subscribers_.extract(client.id());
  if (left.empty()) return;
  for (auto& entry : left.mapped().entries) release(std::move(entry));
}

void Subscriptions::rebuild() {
  stale_ = false;
  by_type_.clear();
  groups_.clear();
  std::set<Entry*> seen;
  for (const auto& [id, subscriber] : subscribers_) {
    std::vector<Entry*> entries;
    for (const auto& entry : subscriber.entries) {
      entries.push_back(entry.get());
      if (seen.insert(entry.get()).second) by_type_[entry->filter.type()].push_back(entry.get());
    }
    groups_[std::move(entries)].push_back(&subscriber);
  }
}

void Subscriptions::match(const OutputBatch& batch) {
  const auto any = by_type_.find("*");
  std::string type;
  for (std::uint32_t i = 0; i < batch.rows.size(); ++i) {
    const auto& row = batch.rows[i];
    const auto offer = [&](const std::vector<Entry*>& entries) {
      for (Entry* entry : entries) {
        if (entry->filter.matches(batch, row)) entry->rows.push_back(i);
      }
    };
    type = batch.type_name(row);
    if (const auto own = by_type_.find(type); own != by_type_.end()) offer(own->second);
    if (any != by_type_.end()) offer(any->second);
  }
}

std::uint64_t Subscriptions::deliver(const OutputBatch& batch) {
  if (stale_) rebuild();
  if (by_type_.empty()) return 0;
  match(batch);
  std::uint64_t queued = 0;
  for (const auto& [entries, group] : groups_) queued += send(batch, entries, group);
  for (const auto& [type, entries] : by_type_) {
    for (Entry* entry : entries) entry->rows.clear();
  }
  return queued;
}

std::uint64_t Subscriptions::send(const OutputBatch& batch, const std::vector<Entry*>& entries,
                                  const Group& group) {
  std::vector<DeliveredRow> rows;
  for (std::size_t from = 0; from < entries.size(); ++from) {
    for (const std::uint32_t row : entries[from]->rows) {
      rows.push_back({row, static_cast<std::uint16_t>(from)});
    }
  }
  if (rows.empty()) return 0;
  if (entries.size() > 1) std::ranges::sort(rows);
  std::uint64_t queued = 0;
  encode_delivery(batch, rows, entries.size(), limits_.max_frame, [&](const DeliveryFrame& frame) {
    for (const Subscriber* subscriber : group) queued += send(frame, *subscriber);
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
