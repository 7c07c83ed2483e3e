#include "server/durability/durable_subscriptions.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "protocol/framing.hpp"

namespace gorgo::server {

namespace stored = journal::stored;

namespace {

/// A connection is sent more while less than this waits for it.
std::size_t ahead_of(const Outbox& client) {
  return std::min(client.limits().ahead_bytes, client.limits().outbound_bytes / 2);
}

stored::Gap stored_gap(const Gap& gap) {
  return {gap.rows, gap.first.root, gap.last.root, gap.first.ordinal, gap.last.ordinal};
}

Gap gap_of(const stored::Gap& gap) {
  return {
      gap.rows(), {gap.first_root(), gap.first_ordinal()}, {gap.last_root(), gap.last_ordinal()}};
}

Error no_such(const std::string& name) {
  return {"there is no durable subscription '" + name + "'", "subscribe with this name first"};
}

Error taken_over(const std::string& name) {
  return {"another connection has taken over the durable subscription '" + name + "'",
          "use a name of its own for each subscriber"};
}

}  // namespace

DurableSubscriptions::DurableSubscriptions(const Limits& limits, const JournalOptions& options,
                                           std::function<std::uint64_t()> next_number)
    : limits_(limits),
      backlog_bytes_(options.backlog_bytes),
      policy_(options.backlog_policy),
      next_number_(std::move(next_number)),
      memory_(backlog_bytes_, [] {}) {}

Result<void> DurableSubscriptions::check_room() const {
  if (policy_ == BacklogPolicy::drop) return {};
  for (const auto& [name, durable] : durables_) {
    if (durable.bytes < backlog_bytes_) continue;
    return Error{std::to_string(durable.bytes) + " bytes wait for the durable subscription '" +
                     name + "', and journal.backlog_bytes allows no more",
                 "have it acknowledge them, or end it, then send this again"};
  }
  return {};
}

DurableSubscriptions::Durable* DurableSubscriptions::find(const std::string& name) {
  const auto found = durables_.find(name);
  return found == durables_.end() ? nullptr : &found->second;
}

DurableSubscriptions::Begun DurableSubscriptions::begin(const std::string& name,
                                                        const std::string& text,
                                                        const std::string& who,
                                                        const Schema& schema,
                                                        Filter::Patterns patterns) {
  if (const Durable* known = find(name)) {
    if (known->text == text) return {false, {}};
    return {Error{"the durable subscription '" + name + "' has another text: " + known->text,
                  "subscribe with that text, end the subscription, or take another name"},
            {}};
  }
  auto parsed = Filter::parse(text, schema, patterns);
  if (!parsed.filter) return {false, std::move(parsed.diagnostics)};
  durables_.emplace(name, Durable{name, text, who, std::move(*parsed.filter)});
  return {true, std::move(parsed.diagnostics)};
}

Result<void> DurableSubscriptions::attach(const std::string& name,
                                          const std::shared_ptr<Outbox>& client, std::uint32_t id) {
  Durable& durable = *find(name);
  if (durable.client == client) {
    return Error{"this connection has the durable subscription '" + name + "' already", ""};
  }
  if (durable.client != nullptr) {
    durable.client->withdraw(taken_over(name));
  }
  durable.client = client;
  durable.ids = std::make_shared<const std::vector<std::uint32_t>>(1, id);
  durable.sent = 0;
  return {};
}

void DurableSubscriptions::let_go(Durable& durable) {
  durable.client = nullptr;
  durable.sent = 0;
}

void DurableSubscriptions::detach_all(const Outbox& client) {
  for (auto& [name, durable] : durables_) {
    if (durable.client.get() == &client) let_go(durable);
  }
}

bool DurableSubscriptions::detach(const Outbox& client, std::uint32_t id) {
  for (auto& [name, durable] : durables_) {
    if (durable.client.get() != &client || durable.ids->front() != id) continue;
    let_go(durable);
    return true;
  }
  return false;
}

Result<void> DurableSubscriptions::acknowledge(const std::string& name, const Place& place) {
  Durable* const durable = find(name);
  if (durable == nullptr) return no_such(name);
  if (durable->last < place) {
    return Error{"nothing as late as " + std::to_string(place.root) + "-" +
                     std::to_string(place.ordinal) + " was delivered to '" + name + "'",
                 "acknowledge the id of an event that has come"};
  }
  durable->acknowledged = std::max(durable->acknowledged, place);
  auto& backlog = durable->backlog;
  while (!backlog.empty() && !(durable->acknowledged < backlog.front().last())) {
    durable->bytes -= backlog.front().bytes();
    backlog.pop_front();
    if (durable->sent > 0) --durable->sent;
  }
  return {};
}

Result<void> DurableSubscriptions::end(const std::string& name) {
  const auto found = durables_.find(name);
  if (found == durables_.end()) return no_such(name);
  if (found->second.client != nullptr) {
    found->second.client->withdraw({"the durable subscription '" + name + "' was ended", ""});
  }
  durables_.erase(found);
  return {};
}

Result<std::string> DurableSubscriptions::owner_of(const std::string& name) const {
  const auto found = durables_.find(name);
  if (found == durables_.end()) return no_such(name);
  return {std::in_place, found->second.who};
}

std::size_t DurableSubscriptions::count_of(const std::string& who) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(durables_, [&](const auto& each) { return each.second.who == who; }));
}

bool DurableSubscriptions::is_attached(const std::string& name) const {
  const auto found = durables_.find(name);
  return found != durables_.end() && found->second.client != nullptr;
}

bool DurableSubscriptions::names(std::string_view type) const {
  return std::ranges::any_of(durables_,
                             [&](const auto& named) { return named.second.filter.type() == type; });
}

void DurableSubscriptions::take(const OutputBatch& batch, journal::Place end) {
  for (auto& [name, durable] : durables_) {
    const std::uint64_t before = durable.all_lost;
    take(batch, end, durable);
    if (durable.all_lost == before) continue;
    dropped_ += durable.all_lost - before;
    last_dropped_ = name;
  }
}

void DurableSubscriptions::take(const OutputBatch& batch, journal::Place end, Durable& durable) {
  rows_.clear();
  const Filter& filter = durable.filter;
  for (std::uint32_t row = 0; row < batch.rows.size(); ++row) {
    const OutputBatch::Row& one = batch.rows[row];
    if (filter.is_about(batch, one) && filter.matches(batch, one)) rows_.push_back({row, 0});
  }
  encode_delivery(batch, rows_, 1, limits_.max_frame,
                  [&](EncodedDelivery encoded) { keep(durable, std::move(encoded), end); });
}

void DurableSubscriptions::keep(Durable& durable, EncodedDelivery encoded, journal::Place end) {
  durable.last = encoded.rows.last;
  if (encoded.bytes.empty()) {
    durable.all_lost += encoded.rows.rows;
    durable.lost.add(encoded.rows);
    return;
  }
  auto shared = std::make_shared<const SharedDelivery>(std::move(encoded), next_number_(), memory_);
  durable.bytes += shared->bytes();
  durable.backlog.push_back({std::move(shared), end, std::exchange(durable.lost, {})});
  if (policy_ == BacklogPolicy::drop) drop_beyond_bound(durable);
}

/// As many of the oldest events go as must, however deliveries were cut, and the next ones that are
/// left tell of the loss. The newest event stays.
void DurableSubscriptions::drop_beyond_bound(Durable& durable) {
  auto& backlog = durable.backlog;
  while (durable.bytes > backlog_bytes_) {
    Chunk& oldest = backlog.front();
    // Rounded up, so that no event goes which need not.
    const std::size_t each = oldest.shared->bytes() / oldest.shared->rows() + 1;
    const std::size_t needed = (durable.bytes - backlog_bytes_ + each - 1) / each;
    const bool is_last = backlog.size() == 1;
    const std::uint32_t most = oldest.left() - (is_last ? 1 : 0);
    if (most == 0) return;
    drop(durable, oldest, static_cast<std::uint32_t>(std::min<std::size_t>(needed, most)));
    if (oldest.left() > 0) continue;
    Gap lost = oldest.lost;
    backlog.pop_front();
    if (durable.sent > 0) --durable.sent;
    lost.add(backlog.front().lost);
    backlog.front().lost = lost;
  }
}

void DurableSubscriptions::drop(Durable& durable, Chunk& chunk, std::uint32_t rows) {
  ClientDelivery dropped = delivery_of(durable, chunk);
  durable.bytes -= chunk.bytes();
  chunk.gone += rows;
  durable.bytes += chunk.bytes();
  // What is acknowledged is not lost.
  dropped.rows = chunk.gone - std::min(chunk.gone, dropped.first);
  if (dropped.rows == 0) return;
  const Gap gap = dropped.as_gap();
  durable.all_lost += gap.rows;
  chunk.lost.add(gap);
}

/// The events of the chunk that are not acknowledged.
ClientDelivery DurableSubscriptions::delivery_of(const Durable& durable, const Chunk& chunk) {
  auto delivery = ClientDelivery::of(chunk.shared, durable.ids, SlowConsumer::disconnect);
  delivery.first = chunk.gone;
  delivery.rows = chunk.left();
  while (delivery.rows > 0 && !(durable.acknowledged < chunk.shared->place(delivery.first))) {
    ++delivery.first;
    --delivery.rows;
  }
  delivery.lost = chunk.lost;
  return delivery;
}

bool DurableSubscriptions::feed(journal::Place durable_end) {
  bool waits = false;
  for (auto& [name, durable] : durables_) {
    if (durable.client == nullptr) continue;
    Outbox& client = *durable.client;
    while (durable.sent < durable.backlog.size()) {
      const Chunk& next = durable.backlog[durable.sent];
      if (next.end > durable_end) {
        waits = true;
        break;
      }
      // Asked for before the look at what waits, so that no moment of an empty outbox is missed.
      client.want_more();
      if (client.bytes() >= ahead_of(client)) break;
      auto delivery = delivery_of(durable, next);
      delivery.durable = true;
      if (client.deliver(delivery) != Outbox::Outcome::queued) break;
      ++durable.sent;
    }
  }
  return waits;
}

std::vector<std::unique_ptr<stored::DurableStateT>> DurableSubscriptions::save() const {
  std::vector<std::unique_ptr<stored::DurableStateT>> all;
  for (const auto& [name, durable] : durables_) {
    auto& added = all.emplace_back(std::make_unique<stored::DurableStateT>());
    added->name = name;
    added->text = durable.text;
    added->who = durable.who;
    added->acknowledged_root = durable.acknowledged.root;
    added->acknowledged_ordinal = durable.acknowledged.ordinal;
    added->last_root = durable.last.root;
    added->last_ordinal = durable.last.ordinal;
    added->lost = std::make_unique<stored::Gap>(stored_gap(durable.lost));
    added->all_lost = durable.all_lost;
  }
  return all;
}

std::deque<SnapshotRecord> DurableSubscriptions::chunks() const {
  std::deque<SnapshotRecord> records;
  std::uint64_t number = 0;
  for (const auto& [name, durable] : durables_) {
    for (const Chunk& chunk : durable.backlog) {
      const Gap rows{chunk.shared->rows(), chunk.shared->place(0), chunk.last()};
      const stored::ChunkHead head(number, chunk.end, stored_gap(rows), stored_gap(chunk.lost));
      const auto first = chunk.shared->head();
      SnapshotRecord& record = records.emplace_back();
      record.kind = static_cast<std::uint16_t>(stored::SnapshotKind::Chunk);
      const auto head_bytes = std::as_bytes(std::span(&head, 1));
      record.bytes.assign(head_bytes.begin(), head_bytes.end());
      const auto first_bytes = std::as_bytes(first);
      record.bytes.insert(record.bytes.end(), first_bytes.begin(), first_bytes.end());
      record.shared = std::as_bytes(chunk.shared->rest());
      record.owner = chunk.shared;
    }
    ++number;
  }
  return records;
}

Result<void> DurableSubscriptions::restore(
    const std::vector<std::unique_ptr<stored::DurableStateT>>& durables, const Schema& schema) {
  for (const auto& saved : durables) {
    const Begun begun = begin(saved->name, saved->text, saved->who, schema);
    if (!begun.fresh) return begun.fresh.error();
    if (begun.diagnostics.failed()) {
      return Error{"the durable subscription '" + saved->name +
                       "' is refused now: " + begun.diagnostics.render(),
                   "start the program that wrote it"};
    }
    Durable& durable = *find(saved->name);
    durable.acknowledged = {saved->acknowledged_root, saved->acknowledged_ordinal};
    durable.last = {saved->last_root, saved->last_ordinal};
    if (saved->lost) durable.lost = gap_of(*saved->lost);
    durable.all_lost = saved->all_lost;
  }
  return {};
}

Result<void> DurableSubscriptions::restore_chunk(journal::Bytes record) {
  const Error damaged{"what waits for a durable subscription is damaged", ""};
  stored::ChunkHead head;
  if (record.size() < sizeof(head)) return damaged;
  std::memcpy(&head, record.data(), sizeof(head));
  if (head.subscription() >= durables_.size() || head.rows().rows() == 0) return damaged;
  Durable& durable =
      std::next(durables_.begin(), static_cast<std::ptrdiff_t>(head.subscription()))->second;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(record.data());
  EncodedDelivery encoded{.bytes = {begin + sizeof(head), begin + record.size()},
                          .rows = gap_of(head.rows())};
  const auto message = protocol::open_frame(encoded.bytes);
  if (!message || (*message)->body_as_Deliver() == nullptr) return damaged;
  auto shared = std::make_shared<const SharedDelivery>(std::move(encoded), next_number_(), memory_);
  Chunk chunk{std::move(shared), head.end(), gap_of(head.lost())};
  while (chunk.lost.rows > 0 && chunk.left() > 0 &&
         !(chunk.lost.last < chunk.shared->place(chunk.gone))) {
    ++chunk.gone;
  }
  durable.bytes += chunk.bytes();
  durable.backlog.push_back(std::move(chunk));
  return {};
}

std::vector<wire::DurableInfoT> DurableSubscriptions::list() const {
  std::vector<wire::DurableInfoT> list;
  for (const auto& [name, durable] : durables_) {
    wire::DurableInfoT info;
    info.name = name;
    info.text = durable.text;
    info.root = durable.acknowledged.root;
    info.ordinal = durable.acknowledged.ordinal;
    for (const Chunk& chunk : durable.backlog) info.rows += delivery_of(durable, chunk).rows;
    info.bytes = durable.bytes;
    info.lost = durable.all_lost;
    info.who = durable.who;
    if (durable.client != nullptr) info.peer = durable.client->peer();
    list.push_back(std::move(info));
  }
  return list;
}

std::uint64_t DurableSubscriptions::rows() const {
  std::uint64_t rows = 0;
  for (const auto& [name, durable] : durables_) {
    for (const Chunk& chunk : durable.backlog) rows += chunk.left();
  }
  return rows;
}

std::size_t DurableSubscriptions::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, durable] : durables_) bytes += durable.bytes;
  return bytes;
}

}  // namespace gorgo::server
