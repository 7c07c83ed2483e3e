#include "server/command_queue.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::server {
namespace {

/// A lane is served that much before the next one, so that lanes of small requests do not alternate
/// after each of them.
constexpr std::uint64_t kQuantum = 500'000;

/// Until a publication that was put off has its next turn. It waits for room on a disk, and nothing
/// tells when there is some.
constexpr std::chrono::milliseconds kPutOff{10};

std::uint64_t id_of(const Command& command) {
  return command.client == nullptr ? 0 : command.client->id();
}

std::size_t bytes_of(const Command& command) { return command.frame.size() + sizeof(Command); }

/// Cuts a piece off a publication that costs more than a piece; any other command is taken whole.
void cut(Command& command, std::uint64_t piece_cost) {
  Work& work = command.work;
  command.piece_rows = 0;
  command.cost = work.cost;
  if (work.rows <= 1 || work.cost <= piece_cost) return;
  const auto rows = std::max<std::uint64_t>(1, work.rows * piece_cost / work.cost);
  command.piece_rows = static_cast<std::uint32_t>(rows);
  command.cost = work.cost * rows / work.rows;
  work.rows -= command.piece_rows;
  work.cost -= command.cost;
}

/// Undoes that.
void join(Command& command) {
  if (command.piece_rows == 0) return;
  command.work.rows += command.piece_rows;
  command.work.cost += command.cost;
}

template <class T>
T free_of(T most, T used) {
  return most - std::min(most, used);
}

}  // namespace

CommandQueue::CommandQueue(const Limits& limits, MemoryBudget& memory)
    : max_bytes_(limits.queue_bytes),
      max_cost_(static_cast<std::uint64_t>(std::chrono::nanoseconds(limits.queue_work).count())),
      memory_(memory) {}

bool CommandQueue::has_room(const Lane& lane, std::size_t bytes, std::uint64_t cost) const {
  return lane.commands.empty() || (lane.bytes + bytes <= free_of(max_bytes_, bytes_) &&
                                   lane.cost + cost <= free_of(max_cost_, cost_));
}

void CommandQueue::count(Lane& lane, const Command& command) {
  lane.bytes += bytes_of(command);
  lane.cost += command.work.cost;
  bytes_ += bytes_of(command);
  cost_ += command.work.cost;
}

void CommandQueue::uncount(Lane& lane, const Command& command) {
  lane.bytes -= bytes_of(command);
  lane.cost -= command.work.cost;
  bytes_ -= bytes_of(command);
  cost_ -= command.work.cost;
}

void CommandQueue::join_turns(std::uint64_t client, Lane& lane) {
  if (lane.in_turns || lane.in_hand || lane.commands.empty()) return;
  lane.in_turns = true;
  // A lane that was silent must not be served first for long because of that.
  lane.served = std::max(lane.served, now_);
  turns_.insert({lane.served, ++turns_asked_for_, client});
}

void CommandQueue::append(Lane& lane, Command& command) {
  const auto client = id_of(command);
  lane.commands.push_back(std::move(command));
  count(lane, lane.commands.back());
  join_turns(client, lane);
  memory_.resize(bytes_);
}

CommandQueue::Push CommandQueue::push(Command& request) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return Push::closed;
    const auto client = id_of(request);
    Lane& lane = lanes_[client];
    if (!has_room(lane, bytes_of(request), request.work.cost)) {
      if (lane.refused == nullptr) refused_.push_back(client);
      lane.refused = request.client;
      return Push::full;
    }
    append(lane, request);
  }
  ready_.notify_one();
  return Push::queued;
}

void CommandQueue::push_control(Command command) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    Lane& lane = lanes_[id_of(command)];
    append(lane, command);
  }
  ready_.notify_one();
}

void CommandQueue::put_back(Command publication) {
  std::lock_guard lock(mutex_);
  Lane& lane = lanes_[id_of(publication)];
  count(lane, publication);
  lane.commands.push_front(std::move(publication));
  memory_.resize(bytes_);
}

void CommandQueue::put_off(Command publication) {
  join(publication);
  const auto client = id_of(publication);
  put_back(std::move(publication));
  std::lock_guard lock(mutex_);
  lanes_[client].put_off_until = std::chrono::steady_clock::now() + kPutOff;
}

void CommandQueue::join_in_hand() {
  if (in_hand_.empty()) return;
  const Time now = std::chrono::steady_clock::now();
  std::erase_if(in_hand_, [&](std::uint64_t client) {
    Lane& lane = lanes_.at(client);
    if (!closed_ && lane.put_off_until && now < *lane.put_off_until) return false;
    lane.put_off_until.reset();
    lane.in_hand = false;
    join_turns(client, lane);
    return true;
  });
}

std::vector<const Publication*> CommandQueue::unfinished() {
  std::vector<const Publication*> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [client, lane] : lanes_) {
    if (lane.commands.empty() || lane.commands.front().publication == nullptr) continue;
    all.push_back(lane.commands.front().publication.get());
  }
  return all;
}

std::size_t CommandQueue::drop(std::uint64_t client, Drop what) {
  std::deque<Command> dropped;  // freed behind the lock
  std::lock_guard lock(mutex_);
  const auto it = lanes_.find(client);
  if (it == lanes_.end()) return 0;
  Lane& lane = it->second;
  std::deque<Command> kept;
  for (Command& command : lane.commands) {
    const bool keep = command.kind != Command::Kind::request || command.publication != nullptr ||
                      (what == Drop::replies_only && command.work.kept);
    if (!keep) uncount(lane, command);
    (keep ? kept : dropped).push_back(std::move(command));
  }
  lane.commands.swap(kept);
  memory_.resize(bytes_);
  return dropped.size();
}

std::size_t CommandQueue::drop_closed() {
  std::vector<std::shared_ptr<Outbox>> clients;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [client, lane] : lanes_) {
      if (!lane.commands.empty()) clients.push_back(lane.commands.front().client);
    }
  }
  std::size_t dropped = 0;
  for (const auto& client : clients) {
    if (client != nullptr && client->closed()) dropped += drop(client->id(), Drop::all);
  }
  return dropped;
}

std::size_t CommandQueue::bytes() {
  std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t CommandQueue::bytes(std::uint64_t client) {
  std::lock_guard lock(mutex_);
  const auto lane = lanes_.find(client);
  return lane == lanes_.end() ? 0 : lane->second.bytes;
}

void CommandQueue::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  ready_.notify_one();
}

bool CommandQueue::is_closed() {
  std::lock_guard lock(mutex_);
  return closed_;
}

std::size_t CommandQueue::discard() {
  std::unordered_map<std::uint64_t, Lane> discarded;  // freed behind the lock
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    discarded.swap(lanes_);
    turns_.clear();
    in_hand_.clear();
    refused_.clear();
    bytes_ = 0;
    cost_ = 0;
    memory_.resize(0);
  }
  ready_.notify_one();
  std::size_t requests = 0;
  for (const auto& [client, lane] : discarded) requests += lane.commands.size();
  return requests;
}

std::uint64_t CommandQueue::serve_first(std::vector<Command>& out, std::uint64_t piece_cost) {
  const auto [served, client] = std::pair(turns_.begin()->served, turns_.begin()->client);
  turns_.erase(turns_.begin());
  now_ = served;
  Lane& lane = lanes_.at(client);
  lane.in_turns = false;
  while (!lane.commands.empty() && lane.served < served + kQuantum) {
    Command& command = out.emplace_back(std::move(lane.commands.front()));
    lane.commands.pop_front();
    uncount(lane, command);
    cut(command, piece_cost);
    lane.served += command.cost;
    if (command.kind == Command::Kind::disconnect) {
      const std::uint64_t all = lane.served - served;
      lanes_.erase(client);
      return all;
    }
    if (command.piece_rows > 0 || command.publication != nullptr) {
      lane.in_hand = true;
      in_hand_.push_back(client);
      return lane.served - served;
    }
  }
  join_turns(client, lane);
  return lane.served - served;
}

/// The clients that were refused and have plenty of room; with less they would come back for each
/// request.
std::vector<std::shared_ptr<Outbox>> CommandQueue::take_admitted() {
  std::vector<std::shared_ptr<Outbox>> admitted;
  std::erase_if(refused_, [&](std::uint64_t client) {
    const auto it = lanes_.find(client);
    if (it == lanes_.end()) return true;
    Lane& lane = it->second;
    const bool room = has_room(lane, lane.bytes, lane.cost);
    if (room) admitted.push_back(std::exchange(lane.refused, nullptr));
    return room;
  });
  return admitted;
}

bool CommandQueue::take(std::vector<Command>& out, std::optional<std::chrono::nanoseconds> patience,
                        double pace) {
  const auto turn_cost = static_cast<std::uint64_t>(kTurnCost / pace);
  const auto piece_cost = static_cast<std::uint64_t>(kPieceCost / pace);
  std::vector<std::shared_ptr<Outbox>> admitted;
  bool closed = false;
  {
    std::unique_lock lock(mutex_);
    join_in_hand();
    if (!in_hand_.empty())
      patience = std::min<std::chrono::nanoseconds>(kPutOff, patience.value_or(kPutOff));
    const auto ready = [&] { return closed_ || !turns_.empty(); };
    if (patience) {
      ready_.wait_for(lock, *patience, ready);
    } else {
      ready_.wait(lock, ready);
    }
    join_in_hand();
    for (std::uint64_t cost = 0; !turns_.empty() && cost <= turn_cost;) {
      cost += serve_first(out, piece_cost);
      // Lets producers in: a turn may be thousands of requests.
      lock.unlock();
      lock.lock();
    }
    memory_.resize(bytes_);
    admitted = take_admitted();
    closed = closed_;
  }
  for (const auto& client : admitted) client->wake();
  return !closed || !out.empty();
}

}  // namespace gorgo::server
