#include "cluster/partition.hpp"

#include <algorithm>
#include <utility>

#include "base/thread_name.hpp"
#include "cluster/header.hpp"
#include "cluster/names.hpp"

namespace gorgo::cluster {
namespace {

using std::chrono::milliseconds;

/// How often a standby finds out what it need not keep any more.
constexpr milliseconds kLook{200};
/// How long input is waited for. A new role waits as long.
constexpr milliseconds kPatience{50};
/// How long a snapshot is written at a time.
constexpr milliseconds kSaving{2};
/// A snapshot is made at the latest when the stream is about to forget this part of what it keeps,
/// so that it still has all that came behind the snapshot.
constexpr int kShareOfKept = 4;
/// How long answers of the output stream are waited for where no more input has come.
constexpr milliseconds kPatienceForAnswers{10};
/// Input messages between two looks at the way out, and for how long another one is begun: those
/// of costly rules take long, and what follows from them waits.
constexpr unsigned kAtOnce = 64;
constexpr milliseconds kReading{10};
/// Output messages under way.
constexpr std::uint64_t kInFlight = 256;
/// Nothing more is read while so much waits for the output stream.
constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20;
/// For how long one that was fenced off leaves the stream alone: within this time it hears who the
/// owner is.
constexpr milliseconds kFencedOff{3000};
constexpr unsigned kMostRefusals = 5;

}  // namespace

Partition::Partition(PartitionSettings settings, Role role)
    : settings_(std::move(settings)),
      role_(role),
      connection_(settings_.broker, "gorgo-" + settings_.node),
      reader_(input_stream(settings_.cluster, settings_.family),
              input_subject(settings_.cluster, settings_.family, settings_.number)),
      evaluation_(std::make_unique<Evaluation>(settings_.options)),
      snapshots_(settings_.snapshots),
      output_(output_stream(settings_.cluster, settings_.family, settings_.number),
              output_subject(settings_.cluster, settings_.family, settings_.number), settings_.node,
              input_stream(settings_.cluster, settings_.family)),
      thread_([this] { run(); }) {}

Partition::~Partition() {
  stop();
  thread_.join();
  connection_.close();
}

void Partition::stop() {
  stops_ = true;
  woken_.notify_all();
}

void Partition::set_role(Role role) { role_ = role; }

Partition::State Partition::state() const {
  const std::lock_guard lock(mutex_);
  State state = state_;
  state.role = role_;
  return state;
}

void Partition::run() {
  name_thread(settings_.family, std::to_string(settings_.number));
  while (!stops_) {
    if (auto stepped = step(); !stepped) {
      lose_connection(stepped.error());
      std::unique_lock lock(mutex_);
      woken_.wait_for(lock, milliseconds(100), [this] { return stops_.load(); });
    }
  }
  fall_silent();
  make_last_snapshot();
  has_ended_ = true;
}

void Partition::fall_silent() {
  stop_publishing();
  const std::lock_guard lock(mutex_);
  is_silent_ = true;
  woken_.notify_all();
}

void Partition::await_silence() {
  std::unique_lock lock(mutex_);
  woken_.wait(lock, [this] { return is_silent_; });
}

void Partition::lose_connection(const Error& why) {
  connection_.close();
  free_subscriptions();
  tell(why.to_string());
}

void Partition::free_subscriptions() {
  stop_publishing();
  output_.close();
  reader_.end();
}

void Partition::tell(const std::string& problem) {
  auto counters = evaluation_->counters();
  counters.problems += output_.strays();
  const std::lock_guard lock(mutex_);
  state_ = {.is_publishing = is_publishing_,
            .has_caught_up = has_caught_up_,
            .sequence = evaluation_->sequence(),
            .lag = lag_,
            .waiting = waiting_.size(),
            .published = published_,
            .fenced = fenced_,
            .rules_version = evaluation_->rules_version(),
            .rules_at = rules_at_,
            .snapshot = snapshots_.sequence(),
            .snapshot_problem = snapshots_.problem(),
            .counters = counters,
            .problem = problem.empty() ? output_.stray() : problem,
            .stray = output_.stray(),
            .last_bad = evaluation_->problem()};
}

Result<void> Partition::step() {
  const auto opened = connection_.open();
  if (!opened) return opened.error();
  if (*opened) {
    free_subscriptions();  // of the connection before
    if (auto begun = begin_reading(); !begun) return begun;
  }
  bool has_more = false;
  if (waiting_bytes_ < kMostWaitingBytes) {
    const auto read = this->read();
    if (!read) return read.error();
    has_more = *read;
  }
  const Role role = role_;
  if (role == Role::standby) is_appointed_ = true;  // it is what comes next
  auto went = role == Role::owner ? publish(has_more ? milliseconds(0) : kPatienceForAnswers)
                                  : look_if_due();
  save_if_due();
  if (went) tell();
  return went;
}

Result<void> Partition::begin_reading() {
  const auto state = reader_.look(connection_);
  if (!state) return state.error();
  if (!has_looked_for_snapshot_) {
    if (auto looked = bring_back(*state); !looked) return looked;
    has_looked_for_snapshot_ = true;
  }
  const std::uint64_t known = evaluation_->sequence();
  const bool is_another = created_ != state->created;
  // Messages went while nobody here read them: what is left is read as a newcomer does.
  if (known > 0 && (is_another || state->first > known + 1)) forget_all();
  created_ = state->created;
  keeps_ = state->keeps;
  next_end_ = 0;
  return reader_.begin(std::max(state->first, evaluation_->sequence() + 1));
}

void Partition::forget_all() {
  snapshots_.give_up(*evaluation_);
  evaluation_ = std::make_unique<Evaluation>(settings_.options);
  rules_at_ = 0;
  waiting_.clear();
  waiting_bytes_ = 0;
  has_caught_up_ = false;
}

Result<void> Partition::bring_back(const doors::nats::StreamState& input) {
  if (!snapshots_.are_on()) return {};
  if (auto looked = output_.look(connection_.get(), evaluation_->sequence()); !looked) {
    return looked;
  }
  auto found = snapshots_.restore(
      input.created, settings_.options,
      [&](const SavedPartition& saved) { return objection_to(saved, input); },
      [this] { return stops_.load(); });
  if (!found) return found.error();
  if (!*found) return {};
  evaluation_ = std::move((*found)->evaluation);
  created_ = input.created;
  rules_at_ = (*found)->saved.rules_at;
  waiting_ = std::move((*found)->waiting);
  for (const OutputMessage& one : waiting_) waiting_bytes_ += one.payload.size();
  // All that the stream has may have expired, and with it the place of its last message. What it
  // has got since then are the first of those that waited, whoever has published them.
  std::uint64_t came = output_.last() ? 0 : output_.known_sequence() - (*found)->saved.output;
  for (; came > 0 && !waiting_.empty(); --came) drop_first();
  return {};
}

std::string Partition::objection_to(const SavedPartition& saved,
                                    const doors::nats::StreamState& input) const {
  if (input.first > saved.evaluation.sequence + 1) {
    return "the input stream has forgotten what came behind it";
  }
  if (input.last < saved.evaluation.sequence) return "the input stream has lost what it knows";
  if (output_.known_sequence() < saved.output) {
    return "the output stream has lost what followed from what it knows";
  }
  return "";
}

/// Takes what has come. Returns whether there may be more.
Result<bool> Partition::read() {
  // While something is under way, the answers are waited for rather than input.
  const bool is_busy = (is_publishing_ && !waiting_.empty()) || snapshots_.is_writing();
  auto patience = is_busy ? milliseconds(0) : kPatience;
  Clock::time_point end;  // of the turn, which begins with the first message
  for (unsigned taken = 0; taken < kAtOnce; ++taken) {
    const auto message = reader_.next(patience);
    if (!message) return message.error();
    if (!*message) {
      if (auto seen = see_whether_caught_up(taken == 0 && !is_busy); !seen) return seen.error();
      return false;
    }
    if (taken == 0) end = Clock::now() + kReading;
    take(**message);
    if (Clock::now() >= end) break;
    patience = milliseconds(0);
  }
  if (auto seen = see_whether_caught_up(false); !seen) return seen.error();
  return true;
}

/// Messages of a busy partition come all the time, so it has caught up when what is left is no more
/// than one look at the way in takes.
Result<void> Partition::see_whether_caught_up(bool is_quiet) {
  if (has_caught_up_ || (!is_quiet && reader_.delivered() < next_end_)) return {};
  const auto left = reader_.left();
  if (!left) return left.error();
  has_caught_up_ = *left <= kAtOnce;
  next_end_ = reader_.delivered() + *left;
  return {};
}

void Partition::take(const doors::nats::StreamReader::Message& message) {
  natsMsg* const content = message.content.get();
  lag_ = message.behind;
  const InputMessage input{.sequence = message.sequence,
                           .from = header_of(content, kFromHeader),
                           .places = header_of(content, kPlaceHeader),
                           .clock = header_of(content, kClockHeader),
                           .rules = header_of(content, kRulesHeader),
                           .payload = {natsMsg_GetData(content),
                                       static_cast<std::size_t>(natsMsg_GetDataLength(content))}};
  if (!input.rules.empty()) rules_at_ = message.stored;
  snapshots_.note(input.payload.size());
  for (OutputMessage& made : evaluation_->take(input)) {
    if (output_.last() && made.last <= *output_.last()) continue;
    waiting_bytes_ += made.payload.size();
    waiting_.push_back(std::move(made));
  }
}

void Partition::save_if_due() {
  if (snapshots_.is_due(keeps_ / kShareOfKept)) begin_snapshot();
  snapshots_.go_on(*evaluation_, Clock::now() + kSaving);
}

void Partition::begin_snapshot() {
  snapshots_.begin(created_,
                   {.evaluation = evaluation_->state(),
                    .output = output_.known_sequence(),
                    .rules_at = rules_at_,
                    .settings = settings_text(settings_.options)},
                   waiting_, *evaluation_);
}

/// What follows from the moment at which reading has ended.
void Partition::make_last_snapshot() {
  if (!snapshots_.are_on() || !snapshots_.is_behind()) return;
  snapshots_.give_up(*evaluation_);
  begin_snapshot();
  snapshots_.go_on(*evaluation_, Clock::time_point::max());
}

Result<void> Partition::look_if_due() {
  if (is_publishing_) stop_publishing();
  if (waiting_.empty() || Clock::now() < next_look_) return {};
  next_look_ = Clock::now() + kLook;
  return look();
}

Result<void> Partition::begin_publishing() {
  if (Clock::now() < not_before_) return {};
  if (auto looked = look(); !looked) return looked;
  if (!is_appointed_ && is_anothers()) {
    leave_to_another();
    return {};
  }
  is_appointed_ = false;
  sent_ = 0;
  auto begun = output_.begin(connection_.get());
  is_publishing_ = begun.has_value();
  return begun;
}

bool Partition::is_anothers() const {
  return output_.last() && output_.last_writer() != settings_.node;
}

void Partition::leave_to_another() {
  ++fenced_;
  not_before_ = Clock::now() + kFencedOff;
  is_appointed_ = true;  // by then, if it still has the role
}

Result<void> Partition::look() {
  auto looked = output_.look(connection_.get(), evaluation_->sequence());
  while (looked && !waiting_.empty() && output_.last() &&
         waiting_.front().last <= *output_.last()) {
    drop_first();
  }
  return looked;
}

/// `patience`: how long answers are waited for.
Result<void> Partition::publish(milliseconds patience) {
  if (!is_publishing_) {
    if (auto begun = begin_publishing(); !begun || !is_publishing_) return begun;
  }
  Result<void> went;
  while (went && sent_ < waiting_.size() && output_.published() - output_.confirmed() < kInFlight) {
    went = output_.publish(waiting_[sent_]);
    if (went) ++sent_;
  }
  if (went) went = output_.take_answers(waiting_.empty() ? milliseconds(0) : patience);
  forget_confirmed();
  return went ? went : end_publishing(went.error());
}

void Partition::forget_confirmed() {
  const std::uint64_t first_waiting = output_.published() - sent_;
  for (std::uint64_t i = first_waiting; i < output_.confirmed(); ++i) {
    drop_first();
    --sent_;
    ++published_;
  }
}

Result<void> Partition::end_publishing(const Error& why) {
  const bool has_published = output_.confirmed() > 0;
  stop_publishing();
  if (auto looked = look(); !looked) return looked;
  refusals_ = has_published ? 0 : refusals_ + 1;
  if (refusals_ >= kMostRefusals) {
    refusals_ = 0;
    return why;
  }
  // What another one had under way may come in while this one begins; then it begins again.
  if (has_published && is_anothers()) {
    leave_to_another();
  } else {
    is_appointed_ = true;
  }
  return {};
}

void Partition::stop_publishing() {
  output_.end();
  is_publishing_ = false;
  sent_ = 0;
}

void Partition::drop_first() {
  waiting_bytes_ -= waiting_.front().payload.size();
  waiting_.pop_front();
}

}  // namespace gorgo::cluster
