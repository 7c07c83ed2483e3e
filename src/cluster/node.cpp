#include "cluster/node.hpp"

#include <algorithm>
#include <utility>

#include "base/thread_name.hpp"
#include "cluster/names.hpp"

namespace gorgo::cluster {
namespace {

using std::chrono::milliseconds;

/// How long the node waits for leases of others before it looks at its partitions again.
constexpr milliseconds kTurn{50};
constexpr milliseconds kBetweenFinds{1000};

}  // namespace

Node::Node(NodeSettings settings, FindPartitions find)
    : settings_(std::move(settings)),
      find_(std::move(find)),
      connection_(settings_.broker, "gorgo-" + settings_.node + "-leases"),
      members_(settings_.cluster),
      finder_([this] { this->find(); }),
      thread_([this] { run(); }) {}

void Node::stop() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  woken_.notify_all();
}

Node::~Node() {
  stop();
  finder_.join();
  thread_.join();
}

std::map<PartitionName, Partition::State> Node::partitions() const {
  const std::lock_guard lock(mutex_);
  std::map<PartitionName, Partition::State> states;
  for (const auto& [name, one] : partitions_) states[name] = one->state();
  return states;
}

std::string Node::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

Situation Node::situation() const {
  const std::lock_guard lock(mutex_);
  return situation_;
}

std::vector<PartitionName> Node::all_partitions() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

void Node::run() {
  name_thread("leases");
  while (!stops_) {
    const auto stepped = step();
    if (!stepped) {
      connection_.close();
      members_.close();
    }
    std::unique_lock lock(mutex_);
    problem_ = stepped ? "" : stepped.error().to_string();
    if (!stepped) woken_.wait_for(lock, milliseconds(100), [this] { return stops_.load(); });
  }
  give_up();
}

Result<void> Node::step() {
  if (auto opened = open(); !opened) return opened;
  if (auto read = members_.read(kTurn); !read) return read;
  if (!has_heard_all_) {
    const auto all = members_.has_read_all();
    if (!all) return all.error();
    has_heard_all_ = *all;
  }
  if (has_heard_all_) take_duties();
  std::erase_if(ending_, [](const auto& one) { return one->has_ended(); });
  return renew_if_due();
}

Result<void> Node::open() {
  const auto opened = connection_.open();
  if (!opened) return opened.error();
  if (!*opened && members_.is_open()) return {};
  next_renewal_ = {};
  return members_.open(connection_, settings_.replicas);
}

void Node::find() {
  name_thread("partitions");
  doors::nats::Connection connection(settings_.broker, "gorgo-" + settings_.node + "-plan");
  while (!stops_) {
    Result<std::vector<PartitionName>> found;
    if (const auto opened = connection.open(); opened) {
      found = find_(connection);
      if (!found) connection.close();
    } else {
      found = opened.error();
    }
    if (found && settings_.tend) settings_.tend(connection, partitions());
    std::unique_lock lock(mutex_);
    if (found) all_ = std::move(*found);
    woken_.wait_for(lock, kBetweenFinds, [this] { return stops_.load(); });
  }
}

void Node::take_duties() {
  Situation situation{.live = members_.live(),
                      .drained = members_.drained(),
                      .appointed = members_.appointed(),
                      .has_standbys = settings_.has_standbys};
  situation.live[settings_.node] = describe();
  const auto all = [&] {
    const std::lock_guard lock(mutex_);
    situation_ = situation;
    return all_;
  }();
  for (const auto& [name, ranked] : rank(all, situation)) {
    set_duty(name, duty_of(settings_.node, name, ranked, situation));
  }
  std::vector<PartitionName> gone;
  for (const auto& [name, one] : partitions_) {
    if (std::ranges::find(all, name) == all.end()) gone.push_back(name);
  }
  for (const PartitionName& name : gone) set_duty(name, Duty::none);
}

void Node::set_duty(const PartitionName& name, Duty duty) {
  const std::lock_guard lock(mutex_);
  const auto found = partitions_.find(name);
  if (duty == Duty::none) {
    if (found == partitions_.end()) return;
    found->second->stop();
    ending_.push_back(std::move(found->second));
    partitions_.erase(found);
    return;
  }
  const Role role = duty == Duty::owner ? Role::owner : Role::standby;
  if (found != partitions_.end()) return found->second->set_role(role);
  // The one before writes its last snapshot into the folder still.
  if (std::ranges::any_of(ending_, [&](const auto& one) {
        return one->family() == name.family && one->number() == name.number;
      })) {
    return;
  }
  PartitionSettings partition{.broker = settings_.broker,
                              .cluster = settings_.cluster,
                              .family = name.family,
                              .number = name.number,
                              .node = settings_.node,
                              .options = settings_.options,
                              .snapshots = settings_.snapshots};
  std::string& folder = partition.snapshots.folder;
  if (!folder.empty()) folder += "/" + token(name.family) + "_" + std::to_string(name.number);
  partitions_[name] = std::make_unique<Partition>(std::move(partition), role);
}

Member Node::describe() const {
  Member self;
  for (const auto& [name, one] : partitions_) {
    const auto state = one->state();
    if (state.role == Role::owner) self.owns.insert(name);
    if (state.has_caught_up) self.ready.insert(name);
    if (!state.stray.empty()) self.stuck[name] = state.stray;
  }
  return self;
}

Result<void> Node::renew_if_due() {
  Member now = describe();
  if (Clock::now() < next_renewal_ && now == told_) return {};
  next_renewal_ = Clock::now() + Membership::kRenewal;
  told_ = std::move(now);
  return members_.renew(connection_.get(), settings_.node, told_);
}

void Node::give_up() {
  for (const auto& [name, one] : partitions_) one->stop();
  for (const auto& [name, one] : partitions_) one->await_silence();
  // Others go on from here, while the last snapshots are made.
  if (connection_.get() != nullptr) members_.leave(connection_.get(), settings_.node);
  connection_.close();
  {
    const std::lock_guard lock(mutex_);
    partitions_.clear();
  }
  ending_.clear();
}

}  // namespace gorgo::cluster
