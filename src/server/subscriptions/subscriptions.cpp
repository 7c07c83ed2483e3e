#include "server/subscriptions/subscriptions.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

namespace gorgo::server {
namespace {

const Error kNoMemory{"the server found no memory for the events of its subscriptions",
                      "connect and subscribe again; what came meanwhile is lost"};

/// About what an entry takes.
std::size_t bytes_of(const std::string& text) {
  constexpr std::size_t kBesideText = 512;
  return text.size() + kBesideText;
}

template <class T>
void make_room(std::vector<T>& list) {
  if (list.size() == list.capacity()) list.reserve(2 * list.size() + 1);
}

Gap gap_of(const OutputBatch& batch, std::span<const DeliveredRow> rows) {
  Gap gap;
  for (const DeliveredRow& row : rows) {
    const Place place = batch.rows[row.row].place;
    gap.add({1, place, place});
  }
  return gap;
}

}  // namespace

Subscriptions::Subscriptions(const Limits& limits, MemoryBudget& memory, OnOversize on_oversize)
    : limits_(limits), memory_(memory), on_oversize_(std::move(on_oversize)) {}

Result<void> Subscriptions::check(const Outbox& client, std::uint32_t id,
                                  const std::string& text) const {
  const auto known = clients_.find(client.id());
  if (known == clients_.end()) return {};
  std::size_t bytes = text.size(), subscriptions = 0;
  for (const auto& subscriber : known->second) {
    if (std::ranges::find(subscriber->ids, id) != subscriber->ids.end()) {
      return Error{"subscription " + std::to_string(id) + " exists", "choose another id"};
    }
    subscriptions += subscriber->ids.size();
    for (const Wanted& wanted : subscriber->wanted) bytes += wanted.entry->text.size();
  }
  if (subscriptions >= limits_.max_subscriptions) {
    return Error{"more than " + std::to_string(limits_.max_subscriptions) + " subscriptions",
                 "unsubscribe some, or use another connection"};
  }
  if (bytes <= limits_.all_subscription_bytes) return {};
  return Error{"the texts of all subscriptions of this connection would have " +
                   std::to_string(bytes) + " bytes, the limit is " +
                   std::to_string(limits_.all_subscription_bytes),
               "unsubscribe some, or raise limits.all_subscription_bytes"};
}

Subscriptions::Added Subscriptions::add(const std::shared_ptr<Outbox>& client, std::uint32_t id,
                                        const std::string& text, const Manner& manner,
                                        const Schema& schema) {
  if (auto checked = check(*client, id, text); !checked) return {checked.error(), {}};
  // Parsed anew for each subscriber: the schema may have learnt the type meanwhile.
  auto parsed = Filter::parse(text, schema, manner.patterns);
  if (!parsed.filter) return {{}, std::move(parsed.diagnostics)};
  Subscriber& subscriber = subscriber_for(client, manner.credit);
  leave_group(subscriber);
  // Nothing may fail between the two lists.
  make_room(subscriber.ids);
  make_room(subscriber.wanted);
  if (subscriber.credited) client->open_credit(id, manner.credit);
  subscriber.wanted.push_back({&entry_of(text, std::move(*parsed.filter)), manner.slow});
  subscriber.ids.push_back(id);
  return {{}, std::move(parsed.diagnostics)};
}

Subscriptions::Subscriber& Subscriptions::subscriber_for(const std::shared_ptr<Outbox>& client,
                                                         const Credit& credit) {
  Client& subscribers = clients_[client->id()];
  if (!credit.is_set()) {
    for (const auto& subscriber : subscribers) {
      if (!subscriber->credited) return *subscriber;
    }
  }
  return *subscribers.emplace_back(
      std::make_unique<Subscriber>(Subscriber{client, credit.is_set()}));
}

Subscriptions::Entry& Subscriptions::entry_of(const std::string& text, Filter filter) {
  if (const auto known = by_text_.find(text); known != by_text_.end()) {
    ++known->second->uses;
    return *known->second;
  }
  SubjectEntries& about = by_subject_[filter.subject()];
  // Should memory fail on the way, the entry stays without a use.
  Entry& entry = *about.entries.emplace_back(
      std::make_unique<Entry>(Entry{text, std::move(filter), 0, {}, {}}));
  about.bytes += bytes_of(text);
  about.index.add(entry);
  by_text_.emplace(entry.text, &entry);
  entry.uses = 1;
  return entry;
}

void Subscriptions::release(Entry& entry) {
  if (--entry.uses > 0) return;
  by_text_.erase(entry.text);
  const auto subject = by_subject_.find(entry.filter.subject());
  SubjectEntries& about = subject->second;
  about.unused_bytes += bytes_of(entry.text);
  // Clients may subscribe to any number of types, one after the other.
  if (about.unused_bytes == about.bytes) {
    by_subject_.erase(subject);
    return;
  }
  constexpr std::size_t kMuch = std::size_t{64} << 10;
  if (about.unused_bytes > kMuch + about.bytes / 2) drop_unused(about);
}

/// Makes the index anew, because it forgets nothing.
void Subscriptions::drop_unused(SubjectEntries& about) {
  std::erase_if(about.entries, [](const auto& entry) { return entry->uses == 0; });
  about.index = {};
  about.bytes = about.unused_bytes = 0;
  for (const auto& entry : about.entries) {
    about.index.add(*entry);
    about.bytes += bytes_of(entry->text);
  }
}

bool Subscriptions::remove(const Outbox& client, std::uint32_t id) {
  const auto known = clients_.find(client.id());
  if (known == clients_.end()) return false;
  Client& subscribers = known->second;
  for (auto it = subscribers.begin(); it != subscribers.end(); ++it) {
    Subscriber& subscriber = **it;
    const auto at = std::ranges::find(subscriber.ids, id);
    if (at == subscriber.ids.end()) continue;
    if (subscriber.ids.size() == 1) {
      erase(subscribers, it);
      if (subscribers.empty()) clients_.erase(known);
      return true;
    }
    leave_group(subscriber);
    const auto wanted = subscriber.wanted.begin() + (at - subscriber.ids.begin());
    Entry& released = *wanted->entry;
    subscriber.wanted.erase(wanted);
    subscriber.ids.erase(at);
    release(released);
    return true;
  }
  return false;
}

void Subscriptions::erase(Client& client, Client::iterator subscriber) {
  Subscriber& gone = **subscriber;
  leave_group(gone);
  ungrouped_.erase(&gone);
  for (const std::uint32_t id : gone.ids) {
    if (gone.credited) gone.outbox->close_credit(id);
  }
  for (const Wanted& wanted : gone.wanted) release(*wanted.entry);
  client.erase(subscriber);
}

void Subscriptions::remove_all(const Outbox& client) {
  const auto known = clients_.find(client.id());
  if (known == clients_.end()) return;
  while (!known->second.empty()) erase(known->second, known->second.end() - 1);
  clients_.erase(known);
}

void Subscriptions::leave_group(Subscriber& subscriber) {
  ungrouped_.insert(&subscriber);
  Group* const group = std::exchange(subscriber.group, nullptr);
  if (group == nullptr) return;
  group->members.erase(&subscriber);
  if (!group->members.empty()) return;
  for (const Wanted& wanted : group->wanted) wanted.entry->groups.erase(group);
  groups_.erase(subscriber.wanted);
}

void Subscriptions::join_groups() {
  for (Subscriber* const subscriber : ungrouped_) {
    Group& group = groups_[subscriber->wanted];
    if (group.members.empty()) group.wanted = subscriber->wanted;
    for (const Wanted& wanted : group.wanted) wanted.entry->groups.insert(&group);
    group.members.insert(subscriber);
    subscriber->shared_ids = std::make_shared<const std::vector<std::uint32_t>>(subscriber->ids);
    subscriber->group = &group;
  }
  ungrouped_.clear();
}

Subscriptions::SubjectEntries* Subscriptions::entries_about(const std::string& subject) {
  const auto found = by_subject_.find(subject);
  return found == by_subject_.end() ? nullptr : &found->second;
}

void Subscriptions::match(const OutputBatch& batch, std::uint32_t row, SubjectEntries* about) {
  if (about == nullptr) return;
  about->index.for_each_match(batch, batch.rows[row], [&](Entry& entry) {
    if (entry.uses == 0) return;
    if (entry.rows.empty()) matched_.push_back(&entry);
    entry.rows.push_back(row);
  });
}

void Subscriptions::match(const OutputBatch& batch) {
  SubjectEntries* const any = entries_about("*");
  SubjectEntries* own = nullptr;
  bool is_internal = false;
  const OutputBatch::Row* last = nullptr;  // whose type `own` is about
  for (std::uint32_t i = 0; i < batch.rows.size(); ++i) {
    const OutputBatch::Row& row = batch.rows[i];
    // Types that nobody knows are told apart by their names.
    const bool is_same = last != nullptr && row.type == last->type &&
                         (row.type != kNoType || batch.type_name(row) == batch.type_name(*last));
    if (!is_same) {
      own = entries_about(std::string(batch.type_name(row)));
      is_internal = batch.is_internal(row);
      last = &row;
    }
    match(batch, i, own);
    if (!is_internal) match(batch, i, any);
    for (const std::string& action : batch.actions(row)) match(batch, i, entries_about(action));
  }
}

bool Subscriptions::wants(const std::string& type) const { return names(type) || names("*"); }

bool Subscriptions::names(const std::string& type) const {
  const auto known = by_subject_.find(type);
  return known != by_subject_.end() &&
         std::ranges::any_of(known->second.entries,
                             [](const auto& entry) { return entry->uses > 0; });
}

void Subscriptions::find_due(const OutputBatch& batch) {
  join_groups();
  match(batch);
  for (const Entry* entry : matched_) {
    for (Group* group : entry->groups) {
      if (group->is_due) continue;
      due_.push_back(group);
      group->is_due = true;
    }
  }
}

std::uint64_t Subscriptions::deliver(const OutputBatch& batch) {
  if (by_text_.empty()) return 0;
  std::uint64_t queued = 0;
  try {
    find_due(batch);
    for (Group* group : due_) queued += send(batch, *group);
  } catch (const std::bad_alloc&) {  // nobody knows any more who was to get what
    end_all();
  }
  for (Group* group : due_) group->is_due = false;
  for (Entry* entry : matched_) entry->rows.clear();
  matched_.clear();
  due_.clear();
  return queued;
}

void Subscriptions::end_all() noexcept {
  for (const auto& [id, client] : clients_) {
    for (const auto& subscriber : client) subscriber->outbox->overload(kNoMemory);
  }
}

/// What there is no memory for is lost, as what is too large for a frame is.
std::uint64_t Subscriptions::send(const OutputBatch& batch, const Group& group) {
  const auto& wanted = group.wanted;
  rows_.clear();
  for (std::size_t from = 0; from < wanted.size(); ++from) {
    for (const std::uint32_t row : wanted[from].entry->rows) {
      rows_.push_back({row, static_cast<std::uint16_t>(from)});
    }
  }
  if (wanted.size() > 1) std::ranges::sort(rows_);
  std::uint64_t queued = 0;
  std::span<const DeliveredRow> left = rows_;
  try {
    // A frame is dropped as a whole, so it holds rows that have the same policy.
    while (!left.empty()) {
      const SlowConsumer slow = wanted[left.front().from].slow;
      const auto differs = [&](const DeliveredRow& row) { return wanted[row.from].slow != slow; };
      const auto alike =
          left.first(static_cast<std::size_t>(std::ranges::find_if(left, differs) - left.begin()));
      encode_delivery(batch, alike, wanted.size(), limits_.max_frame, [&](EncodedDelivery encoded) {
        const std::size_t rows = encoded.rows.rows;
        queued += send(std::move(encoded), slow, group);
        left = left.subspan(rows);
      });
    }
  } catch (const std::bad_alloc&) {
    const Gap lost = gap_of(batch, left);
    for (const Subscriber* subscriber : group.members) subscriber->outbox->lose(lost);
  }
  return queued;
}

/// Throws bad_alloc before anybody has got anything.
std::uint64_t Subscriptions::send(EncodedDelivery encoded, SlowConsumer slow, const Group& group) {
  if (encoded.bytes.empty()) {
    lose(encoded.rows, group);
    return 0;
  }
  full_.clear();
  full_.reserve(group.members.size());
  const auto shared =
      std::make_shared<const SharedDelivery>(std::move(encoded), ++deliveries_, memory_);
  std::uint64_t queued = 0;
  const auto delivery_for = [&](const Subscriber& subscriber) {
    auto delivery = ClientDelivery::of(shared, subscriber.shared_ids, slow);
    delivery.credited = subscriber.credited;
    return delivery;
  };
  for (const Subscriber* subscriber : group.members) {
    const auto outcome = subscriber->outbox->deliver(delivery_for(*subscriber));
    if (outcome == Outbox::Outcome::queued) queued += shared->rows();
    if (outcome == Outbox::Outcome::full) full_.push_back(subscriber);
  }
  if (full_.empty()) return queued;
  const auto now = std::chrono::steady_clock::now();
  for (const Subscriber* subscriber : full_) {
    Outbox& outbox = *subscriber->outbox;
    const auto outcome = outbox.await_room(delivery_for(*subscriber), now + outbox.limits().block);
    if (outcome == Outbox::Outcome::queued) queued += shared->rows();
  }
  return queued;
}

void Subscriptions::lose(const Gap& rows, const Group& group) {
  for (const Subscriber* subscriber : group.members) {
    oversize_ += rows.rows;
    on_oversize_(*subscriber->outbox, rows.rows);
    subscriber->outbox->lose(rows);
  }
}

}  // namespace gorgo::server
