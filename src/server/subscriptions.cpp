#include "server/subscriptions.hpp"

#include <algorithm>
#include <set>

namespace gorgo::server {

Subscriptions::Subscriptions(const Limits& limits, OnLoss on_loss)
    : limits_(limits), on_loss_(std::move(on_loss)) {}

Subscriptions::Added Subscriptions::add(const std::shared_ptr<Outbox>& client, std::uint32_t id,
                                        const std::string& text, const Schema& schema) {
  const auto known = subscribers_.find(client->id());
  if (known != subscribers_.end()) {
    const auto& ids = known->second.ids;
    if (std::ranges::find(ids, id) != ids.end()) {
      return {Error{"subscription " + std::to_string(id) + " exists", "choose another id"}, {}};
    }
    if (ids.size() >= limits_.max_subscriptions) {
      return {Error{"more than " + std::to_string(limits_.max_subscriptions) + " subscriptions",
                    "unsubscribe some, or use another connection"},
              {}};
    }
  }
  // Parsed anew for each subscriber: the schema may have learnt the type meanwhile.
  auto parsed = Filter::parse(text, schema);
  if (!parsed.filter) return {{}, std::move(parsed.diagnostics)};
  auto& shared = by_text_[text];
  auto entry = shared.lock();
  if (entry == nullptr) {
    shared = entry = std::make_shared<Entry>(Entry{std::move(*parsed.filter), {}});
  }
  Subscriber& subscriber = subscribers_[client->id()];
  subscriber.outbox = client;
  subscriber.ids.push_back(id);
  subscriber.entries.push_back(std::move(entry));
  stale_ = true;
  return {{}, std::move(parsed.diagnostics)};
}

bool Subscriptions::remove(const Outbox& client, std::uint32_t id) {
  const auto it = subscribers_.find(client.id());
  if (it == subscribers_.end()) return false;
  Subscriber& subscriber = it->second;
  const auto at = std::ranges::find(subscriber.ids, id);
  if (at == subscriber.ids.end()) return false;
  const auto index = at - subscriber.ids.begin();
  subscriber.ids.erase(at);
  subscriber.entries.erase(subscriber.entries.begin() + index);
  if (subscriber.ids.empty()) subscribers_.erase(it);
  stale_ = true;
  return true;
}

void Subscriptions::remove_all(const Outbox& client) {
  if (subscribers_.erase(client.id()) > 0) stale_ = true;
}

void Subscriptions::rebuild() {
  stale_ = false;
  by_type_.clear();
  groups_.clear();
  std::erase_if(by_text_, [](const auto& known) { return known.second.expired(); });
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
  const auto frames = encode_delivery(batch, rows, entries.size(), limits_.max_frame, oversize_);
  std::uint64_t queued = 0;
  for (const Subscriber* subscriber : group) {
    for (const DeliveryFrame& frame : frames) {
      protocol::Bytes copy = frame.bytes;
      address_to(copy, subscriber->ids);
      const auto outcome = subscriber->outbox->deliver(std::move(copy), frame.rows);
      if (outcome == Outbox::Outcome::queued) {
        queued += frame.rows;
      } else {
        on_loss_(*subscriber->outbox, outcome, frame.rows);
      }
    }
  }
  return queued;
}

}  // namespace gorgo::server
