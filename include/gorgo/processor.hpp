#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/output_batch.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/value.hpp"
#include "gorgo/why.hpp"

namespace gorgo {

/// Stands in the place of an engine's name and leaves the choice to the processor.
inline constexpr std::string_view kAutomatic = "auto";

/// Two engines gave different composites of a rule, which is a defect of one of them.
struct EngineAlarm {
  std::string rule;        ///< its full name
  std::string difference;  ///< between which engines, and what differs
  std::string report;      ///< for a bug report: a rule test (docs/rule-tests.md) that shows it
};

/// There was no memory to evaluate a terminator of a rule. Root and number are the same however
/// events are cut into batches.
struct Starvation {
  std::string rule;               ///< its full name
  std::uint64_t root = 0;         ///< of the terminator
  std::uint64_t terminators = 0;  ///< that the rule had before, those that it passed over included
};

struct ProcessorOptions {
  /// For rules without `@engine`; `kAutomatic`: each where it costs least, as measured.
  std::string engine = "auto";
  std::uint32_t max_depth = 16;              ///< language.md §7
  std::uint64_t max_composites = 1'000'000;  ///< per root event
  /// How many instants of a timer fire at most in a gap between two events: the latest ones.
  std::uint64_t max_instants = 1000;
  /// Bytes that composites may take between their evaluation and their delivery. When they take
  /// more, evaluation pauses until they are delivered. Only the composites that one event brings
  /// about may exceed the bound, because they are delivered together: `max_composites` bounds
  /// those.
  std::size_t max_held_bytes = std::size_t{64} << 20;
  /// How many threads evaluate rules, the caller's included, at most 1024; 0: as many as the
  /// machine runs at once. The results are the same for any number.
  unsigned threads = 1;
  /// How many terminators, or events to store, a thread takes at a time; 0: as many as their cost
  /// suggests, where few cheap ones are not shared out at all.
  std::size_t job_terminators = 0;
  /// A table lets go of rows that were replaced when it has twice as many as stayed the last time,
  /// and so many more.
  std::size_t replaced_rows = 1024;
  /// How long a batch of events may take, roughly; 0: without a bound. Larger batches are more
  /// efficient when events come fast, but each event waits for its batch.
  Duration latency_target = 0;
  /// How long the evaluation of one rule may take in any second, on all threads together. When the
  /// time is used up, the terminators of the rule are passed over until the second is over, so that
  /// the other rules go on. Rules are suspended and taken up again between two calls of `process`.
  /// 0: without a bound.
  Duration max_rule_time = 0;
  /// Called by `append`, `tick` and `process`, while nothing is pending, before a rule is suspended
  /// or taken up again; false: it stays as it is for now. Unset: true.
  std::function<bool(const std::string& rule, bool suspended)> on_suspension;
  /// Called by `process` when there is no memory to evaluate a rule, before the rule is suspended
  /// for ten seconds, from that terminator on; false: `process` throws. Unset: false.
  std::function<bool(const Starvation&)> on_starvation;
  Duration lateness = 0;               ///< how long events are held to be put in order
  Duration max_late = 10'000'000'000;  ///< refuse events that are further behind the clock
  std::optional<Duration> max_ahead;   ///< refuse timestamps further ahead of the clock; unset: off
  Duration remember = 0;  ///< keep events so much longer than the rules need them, for `why`
  std::function<Timestamp()> clock;  ///< for events without a timestamp; unset: the system's
  /// Whether somebody wants the published events of a type, so that `process` hands them out; asked
  /// when they are appended and when they are processed. Events that no rule reads, either, are
  /// only checked and counted, a column at a time. Unset: all types are wanted. Composites are
  /// always handed out.
  std::function<bool(std::string_view type)> hands_out;
  /// Not 0: `auto` takes engines at random, for every batch and rule; for tests.
  std::uint64_t shuffle_engines = 0;
  /// Called by `process` when two engines gave different composites of a rule. The rule stays with
  /// `column` from then on.
  std::function<void(const EngineAlarm&)> on_alarm;
};

struct DeployOptions {
  bool replace = false;       ///< rules of the same full names are replaced
  bool with_history = false;  ///< see what is still remembered of the types that the rules read
  /// What rules may execute, as `webhook("ops")`; null: anything.
  std::shared_ptr<const std::vector<std::string>> actions = nullptr;
};

namespace dispatch {
struct RuleBase;
struct CheckedText;
class Inquiry;
}  // namespace dispatch

/// The types and rules in force at one moment, as far as checking a text needs them. It never
/// changes, costs next to nothing to take, and any thread may read it and let go of it.
using RuleSnapshot = std::shared_ptr<const dispatch::RuleBase>;
/// A rule text that was parsed, bound, checked and planned. What is left to do is to put its rules
/// in force, by `Processor::deploy`, once.
using PreparedRules = std::shared_ptr<dispatch::CheckedText>;

/// Does all of a deployment that needs no processor, which is by far the most of it. Pure, so that
/// it may run on any thread.
PreparedRules prepare_rules(const RuleSnapshot& snapshot, std::string name, std::string text,
                            const DeployOptions& options = {});

/// A question why a rule fired or not, with copies of what the answer needs.
using WhyInquiry = std::shared_ptr<dispatch::Inquiry>;

/// Answers a question for which everything was gathered. Any thread may do that, while the
/// processor goes on. Gives up soon when `stop` is set. An error: the options allow too little
/// memory.
Result<Why> answer(const WhyInquiry& inquiry, const std::atomic<bool>& stop);

/// The names of the engines this build has, after `kAutomatic`, which is the default.
std::vector<std::string> engine_names();

/// What an engine costs a rule, in nanoseconds for each terminator.
struct EngineCost {
  std::string engine;
  std::optional<double> estimate;  ///< evaluation by one thread, as the last trial found it
  std::optional<double> measured;  ///< evaluation by one thread, of late
  /// The rule's part of keeping indexes up to date, of late, by the clock on the wall.
  std::optional<double> upkeep;
};

/// What a rule has had to do so far. The difference of two readings gives rates.
struct RuleCounters {
  std::uint64_t serial = 0;       ///< of the rule, see RuleInfo
  std::uint64_t events = 0;       ///< of the types that it reads, since it was deployed
  std::uint64_t terminators = 0;  ///< evaluated since then
  std::uint64_t composites = 0;   ///< produced since then
};

/// What a rule has to do in a second.
struct RuleRates {
  double seconds = 0;  ///< over which they are averages
  double events = 0, terminators = 0, composites = 0;
};

/// How long it takes from reading the publication that completes a composite until the composite is
/// in the queues of subscribers, in seconds.
struct RuleLatency {
  double mean = 0, longest = 0;
};

/// A deployed rule, as `rules list` shows it.
struct RuleInfo {
  std::uint64_t serial = 0;  ///< counts deployed rules; a rule that replaces another has its own
  std::string name;
  std::string type;    ///< of its composites
  std::string engine;  ///< "cuda and column" where a device and the threads share its terminators
  std::string text;
  std::vector<std::string> reads;  ///< the types of its states, negations, aggregates
  std::uint64_t events = 0;        ///< of the types that it reads, since it was deployed
  std::uint64_t terminators = 0;   ///< events evaluated
  std::uint64_t composites = 0;    ///< produced
  std::uint64_t overflows =
      0;  ///< terminators, and composites to wait, given up at `max_sequences`
  /// The bound of `@limit`, or the one without it; only a processor sets it, no client.
  std::uint64_t max_sequences = 0;
  std::uint64_t pending = 0;       ///< composites that wait for a deadline
  std::uint64_t skipped = 0;       ///< instants of its timer, in gaps that were too long
  std::size_t bytes = 0;           ///< its own memory, and its share of shared columns
  std::uint64_t declined = 0;      ///< terminators that its engine left to `column-scan`
  std::string declined_because;    ///< why, the last time; empty: never
  bool automatic = false;          ///< whether the engine follows what it costs
  std::string placed_because;      ///< why it has this engine; empty: nothing was compared yet
  std::uint64_t moves = 0;         ///< from one engine to another
  std::vector<EngineCost> costs;   ///< of the engines that were considered
  std::string alarm;               ///< how engines disagreed; empty: they never did
  bool suspended = false;          ///< it has used up its time (`max_rule_time`) or has no memory
  std::uint64_t passed_over = 0;   ///< terminators that came while it was suspended: not evaluated
  std::optional<RuleRates> rates;  ///< of late; only a server sets them
  /// How long its latest composites took; unset where it has produced none. Only a server sets it.
  std::optional<RuleLatency> latency;
  std::vector<AttributeType> attributes;  ///< of its composites; only a server sets them
  std::vector<std::string> actions;       ///< what it executes, as `webhook("ops")`
  std::string plan;  ///< how it is evaluated, in words; empty in lists of rules
};

/// What is remembered of an event type, what has come of it, and how many of its events have come
/// late since the type became known.
struct TypeInfo {
  std::string name;    ///< empty: the types that no rule reads, with `late` and `too_late` alone
  Duration reach = 0;  ///< how far behind the clock its events are kept
  /// How far behind the clock its events still matter as sums, to rules with `@panes`; 0: to none.
  /// Only a processor sets it.
  Duration reach_of_panes = 0;
  std::uint64_t events = 0;    ///< that are kept
  std::size_t bytes = 0;       ///< events and all columns over them, as allocated
  std::uint64_t late = 0;      ///< accepted behind the clock
  std::uint64_t too_late = 0;  ///< refused: further behind the clock than `max_late`
  std::uint64_t seen = 0;      ///< that have come since a rule reads the type, composites included
  std::vector<AttributeType> attributes;  ///< of an inferred type, those that rules name
  std::uint64_t accepted = 0;             ///< published events that were accepted
  /// How often accepted events lacked an attribute that rules name.
  std::uint64_t no_value = 0;
  bool is_unread = false;      ///< no rule reads the type
  bool is_subscribed = false;  ///< somebody subscribes to the type; only a server sets it
  std::vector<std::string> unread_attributes;   ///< that events have and no rule reads
  std::vector<std::string> missing_attributes;  ///< that rules read and no event has had
  /// From the rules: events may lack attributes and have others. Only a server sets it.
  bool is_inferred = false;
};

struct ProcessorCounters {
  std::uint64_t accepted = 0;  ///< primitive events released
  std::uint64_t refused = 0;   ///< events that `append` returned an error for
  std::uint64_t composites = 0;
  std::uint64_t late = 0;                ///< accepted behind the clock
  std::uint64_t too_late = 0;            ///< refused: further behind the clock than `max_late`
  std::uint64_t too_ahead = 0;           ///< refused: further ahead than `max_ahead`
  std::uint64_t dropped_depth = 0;       ///< composites at max_depth, stored but not evaluated
  std::uint64_t dropped_composites = 0;  ///< beyond max_composites, neither processed nor delivered
  std::uint64_t passed_over = 0;         ///< terminators of suspended rules, never evaluated
  /// The most bytes that composites took between evaluation and delivery, see `max_held_bytes`.
  std::size_t peak_held_bytes = 0;
};

/// A composite that was dropped, see `ProcessorCounters::dropped_depth` and `dropped_composites`.
struct DroppedComposite {
  std::string rule;   ///< the rule that produced it; empty: nothing was dropped yet
  std::string event;  ///< the type of the event that brought it about
};

namespace dispatch {
class Header;
}

/// A batch on its way into a processor, which may take it in pieces, see `Processor::append`. What
/// its views refer to must outlive it. For one processor and its thread.
class IncomingBatch {
 public:
  explicit IncomingBatch(EventBatch batch) : next_(std::move(batch)) {}

  /// Whether each event was accepted, refused or left out.
  bool done() const { return next_.done(); }
  /// The first event that is neither accepted, refused nor left out. Precondition: not `done()`.
  const BatchCursor& next() const { return next_; }
  /// Leaves it out. Precondition: not `done()`.
  void leave_out() { next_.advance(); }
  std::uint32_t accepted() const { return accepted_; }

 private:
  friend class Processor;
  BatchCursor next_;
  std::uint32_t accepted_ = 0;
  /// By table: its type and columns, so that names are looked up once. An entry is made when an
  /// event of its table comes.
  std::vector<std::shared_ptr<dispatch::Header>> headers_;
};

/// How much of a batch is taken.
struct Intake {
  static constexpr std::size_t kAll = ~std::size_t{0};

  std::size_t events = kAll;         ///< at most so many
  std::size_t pending = kAll;        ///< no more once so many are pending
  std::size_t pending_bytes = kAll;  ///< no more once the pending ones take so many
  /// No more once it says so; may be unset. Asked before every event, and once for events that are
  /// taken together, at most 4096.
  std::function<bool()> pause;
  /// Refuses events for reasons of the caller's own; may be unset.
  std::function<Result<void>(const BatchCursor& event)> check;
};

/// Rules, history and engines behind one door: what a program embeds, `gorgo run` drives offline
/// and the server owns on its engine thread.
///
/// Thread-safety: one thread at a time, except `request_stop` and `is_stopped`.
class Processor {
 public:
  explicit Processor(ProcessorOptions options = {});
  ~Processor();
  Processor(Processor&&) noexcept;
  Processor& operator=(Processor&&) noexcept;

  /// Deploys a rule text as a whole or not at all. `name` is the path or deployment name: it stands
  /// in the diagnostics and its stem names unnamed rules. A rule whose full name is deployed
  /// already is an error unless it is to be replaced. The rules see events later than the clock,
  /// see DeployOptions. Precondition of this, `remove`, `pin` and `declare`: `pending() == 0`,
  /// process first.
  Diagnostics deploy(const std::string& name, const std::string& text,
                     const DeployOptions& options = {});
  /// What `prepare_rules` checks texts against.
  RuleSnapshot snapshot() const;
  /// The rest of a deployment that `prepare_rules` began. Where rules or types have changed since
  /// the snapshot was taken, the text is prepared again here.
  Diagnostics deploy(PreparedRules prepared);
  /// Does some of that deployment, while no rule of the text is in force yet, so that `deploy`
  /// takes less time at once. Returns whether `deploy` should come next; else the time is over, and
  /// the rest may be done by further calls. Events may come in between. A change of rules or types
  /// gives up what was done. Precondition as above.
  bool get_ready(const PreparedRules& prepared, std::chrono::steady_clock::time_point until);
  /// Whether something was done and no deployment has followed.
  bool is_getting_ready() const;
  /// Gives that up.
  void give_up();
  Result<void> remove(std::string_view rule);
  /// Has the rule evaluated by this engine, or, with `kAutomatic`, where it costs least. What it
  /// remembers stays. An error: there is no such rule or engine, or the engine cannot evaluate it.
  Result<void> pin(std::string_view rule, std::string_view engine);
  /// Suspends the rule, or takes it up again, as `on_suspension` was told: for a program that does
  /// again what it has done before. An error: there is no such rule. Precondition as above.
  Result<void> suspend(std::string_view rule, bool suspended);
  /// Tells where a rule is going to be suspended again, as `on_starvation` was told. Those of one
  /// rule come in their order, and before the events that they are about are processed.
  void expect(Starvation starvation);
  std::vector<RuleInfo> rules() const { return rules(0, rule_count()); }
  /// At most `count` of them, from number `first` on.
  std::vector<RuleInfo> rules(std::size_t first, std::size_t count) const;
  std::size_t rule_count() const;
  /// Full names, in the order of `rules()`, for a small part of its cost.
  std::vector<std::string> rule_names() const;
  /// Whether there is a rule of this full name, for a small part of the cost of `rule`.
  bool has_rule(std::string_view name) const;
  /// The rule of this full name, or an error that names a close one.
  Result<RuleInfo> rule(std::string_view name) const;
  /// In the order of `rules()`, for a small part of its cost.
  std::vector<RuleCounters> rule_counters() const;
  /// The types that rules read, by name, and behind them those that have come and that no rule
  /// reads. Bytes of columns count both here and, shared out, at the rules. The last entry may
  /// stand for the late events of all types that no rule reads, see TypeInfo.
  std::vector<TypeInfo> types() const { return types(0, type_count()); }
  /// At most `count` of them, from number `first` on.
  std::vector<TypeInfo> types(std::size_t first, std::size_t count) const;
  std::size_t type_count() const;
  /// Whether a rule reads events of the type.
  bool reads(std::string_view type) const;

  /// Tells what became of terminators of a rule: evaluates them again, step by step, over the
  /// events that are remembered, as the rule did when they came. Changes nothing. The cost is that
  /// of the reference engine, in proportion to all events in the windows. Instants of a timer that
  /// were skipped in a gap may be shown as if they had come; `max_composites` is not considered. An
  /// error: there is no such rule. Precondition: `pending() == 0`.
  Result<Why> why(std::string_view rule, const WhyOptions& options = {}) const;
  /// Begins to do that in steps. `gather` finds the terminators and copies what the rule could see
  /// for them, events that come meanwhile excepted. It returns whether everything is there for
  /// `answer`; else the time is over. What is forgotten while it lasts counts as forgotten.
  /// Preconditions: as above; of `gather`: no rule has come or gone since.
  Result<WhyInquiry> inquire(std::string_view rule, const WhyOptions& options = {}) const;
  bool gather(const WhyInquiry& inquiry, std::chrono::steady_clock::time_point until) const;

  /// Declares a type as `event ...` in a rule text does.
  Result<void> declare(const std::string& name, std::vector<AttributeType> attributes);
  /// Knows these types from the start. Precondition: nothing was deployed, declared or appended.
  void adopt(Schema types);
  /// Adds the rows that tables have, the newest event of each key, in ascending time: those of the
  /// tables of whose names `wanted` is true. Copies each row. Precondition: `pending() == 0`.
  void copy_rows(const std::function<bool(std::string_view table)>& wanted,
                 BatchBuilder& into) const;
  const Schema& schema() const;

  /// Takes the next events of a batch, or refuses them by name: wrong attributes or types, a
  /// timestamp too far behind or ahead. Where a float is due, an int and the strings "NaN",
  /// "Infinity" and "-Infinity" stand for one. An accepted event is released by the time `lateness`
  /// demands and then evaluated by the next `process`.
  ///
  /// `refused` is told of each refusal, while the event is `batch.next()`; it does not throw. When
  /// memory fails, `append` throws bad_alloc and has decided nothing about `batch.next()`.
  using Refused = std::function<void(const BatchCursor& event, const Error& why)>;
  void append(IncomingBatch& batch, const Refused& refused, const Intake& intake = {});
  /// A batch of one event, for programs that have no more at hand. A refusal is an error.
  Result<void> append(const Event& event);
  /// A timestamp without an event: releases the events held up to it and moves the clock there,
  /// so that timers and deadlines fire. Refused when too far ahead.
  Result<void> tick(Timestamp timestamp);

  /// How long until the processor's own clock should `tick_now`, in nanoseconds; 0 or less: it is
  /// due. Unset: nothing waits for the clock, or publishers say what time it is, because the newest
  /// accepted event had a timestamp. Precondition: `pending() == 0`.
  std::optional<Duration> due_in() const;
  /// Whether the newest accepted event had no timestamp of its own.
  bool stamps() const;
  /// A tick by the processor's own clock, `lateness` behind it.
  void tick_now();

  /// Evaluates what was released and hands out its events, if any, in place order. `deliver` is
  /// called behind every part of the work, also without events.
  void process(const std::function<void(const OutputBatch&)>& deliver);
  /// Processes what is held, too, without waiting for `lateness` to pass: before a server stops.
  void flush(const std::function<void(const OutputBatch&)>& deliver);
  /// The end of the input: processes what is held, then lets the clock reach every deadline that
  /// is pending, and those that begin meanwhile; timers fire up to there. Deadlines that such
  /// timers bring about may stay pending, for there would be no end to them.
  void finish(const std::function<void(const OutputBatch&)>& deliver);

  const ProcessorCounters& counters() const;
  /// The last composite that was dropped.
  const DroppedComposite& last_dropped() const;
  /// The full name of the rule whose terminators were passed over last; empty: there was none.
  const std::string& last_passed_over() const;
  /// Number of events and ticks released since the last `process`.
  std::size_t pending() const;
  /// The memory that the pending events take: 16 bytes for each attribute of their types and each
  /// column of their headers, the bytes of strings, the names of a header once, and 32 bytes for
  /// the event itself.
  std::size_t pending_bytes() const;
  /// Number of accepted events that `lateness` holds back.
  std::size_t held() const;
  /// Number of roots that have got a place so far: the last one's `Place::root`.
  std::uint64_t roots() const;
  /// The largest released timestamp; unset before any event or tick.
  std::optional<Timestamp> clock() const;

  /// Some of what is saved. Copies share the bytes, which stay as long as one of them.
  struct SavedPart {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
  };
  /// Begins to save all that later results depend on: the rules in force and what they remember, as
  /// of now. Returns the first part; `save_more` gives the others, about so many bytes at a time,
  /// while events are appended and processed. It gives nothing when all is saved. Refusals that
  /// were counted are not saved. An error: what is in force cannot be brought back by a saved text.
  /// Preconditions: `pending() == 0`, `!is_getting_ready()`; of `deploy`, `get_ready` and `remove`
  /// while it lasts: `!is_saving()`.
  Result<SavedPart> begin_save();
  std::optional<SavedPart> save_more(std::size_t bytes);
  bool is_saving() const;
  /// Ends it, in the middle or behind the last part.
  void end_save();
  /// Brings back what was saved, by this or another program: later events get the places and
  /// composites that they would have got there. `next` gives the parts in order, then an empty one.
  /// An error leaves a processor that is of no use. Preconditions: nothing was deployed, declared
  /// or appended yet, and options that decide results are the same.
  using NextSaved = std::function<Result<std::span<const std::byte>>()>;
  Result<void> restore(const NextSaved& next);

  /// Makes a running `process` give up the evaluation in hand soon; later calls evaluate nothing.
  /// For shutdown; callable from any thread and from signal handlers.
  void request_stop() noexcept;
  /// Whether `request_stop` was called. Callable from any thread.
  bool is_stopped() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gorgo
