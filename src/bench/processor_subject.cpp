#include <utility>
#include <vector>

#include "bench/subject.hpp"
#include "bench/workload.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::bench {
namespace {

class ProcessorSubject : public Subject {
 public:
  ProcessorSubject(const Workload& workload, const std::string& engine)
      : workload_(workload),
        processor_({.engine = engine,
                    .threads = workload.threads,
                    .max_late = workload.max_late,
                    .hands_out = [](std::string_view) { return false; }}) {}

  Result<void> start() {
    const bool kept = !workload_.keeper.empty();
    if (const auto done = kept ? deploy("keeper", workload_.keeper, {}) : deploy_rules(); !done) {
      return done;
    }
    for (const auto& name : workload_.types) types_.push_back(*processor_.schema().find(name));
    return {};
  }

  Result<void> feed(GeneratedBatch batch) override {
    name(batch);
    IncomingBatch incoming(std::move(batch.events));
    Result<void> taken;
    const auto refused = [&](const BatchCursor&, const Error& why) { taken = why; };
    processor_.append(incoming, refused);
    if (!taken) return taken;
    processor_.process([this](const OutputBatch& output) { count(output); });
    return {};
  }

  Result<void> filled() override {
    if (workload_.keeper.empty()) return {};
    if (const auto done = deploy_rules(); !done) return done;
    for (const auto& rule : processor_.rules()) {
      if (!rule.name.starts_with("keeper.")) continue;
      if (const auto removed = processor_.remove(rule.name); !removed) return removed;
    }
    return {};
  }

  Tally tally() const override { return tally_; }

  std::uint64_t terminators() const override {
    std::uint64_t sum = 0;
    for (const auto& rule : processor_.rules()) sum += rule.terminators;
    return sum;
  }
  std::vector<RuleInfo> rules() const override { return processor_.rules(); }

  Memory memory() const override {
    Memory memory;
    for (const auto& type : processor_.types()) {
      memory.events += type.events;
      memory.bytes += type.bytes;
    }
    for (const auto& rule : processor_.rules()) memory.rule_bytes += rule.bytes;
    return memory;
  }

 private:
  Result<void> deploy_rules() { return deploy("bench", workload_.rules, {.with_history = true}); }

  Result<void> deploy(const std::string& name, const std::string& text,
                      const DeployOptions& options) {
    const Diagnostics diagnostics = processor_.deploy(name, text, options);
    if (diagnostics.failed()) return Error{diagnostics.render(), ""};
    return {};
  }

  void name(GeneratedBatch& batch) const {
    for (std::size_t i = 0; i < batch.types.size(); ++i) {
      const EventType& type = types_[batch.types[i]];
      EventTable& table = batch.events.tables[i];
      table.type = type.name;
      for (std::size_t j = 0; j < table.columns.size(); ++j) {
        table.columns[j].name = type.attributes[j].name;
      }
    }
  }

  void count(const OutputBatch& output) {
    for (const auto& row : output.rows) {
      if (row.rule == OutputBatch::kPrimitive) continue;
      const TypeHash& type = type_hash(output, row);
      CompositeHash hash(type.name, row.timestamp);
      for (std::uint32_t i = 0; i < type.attributes; ++i)
        hash.add(output.cells[row.first_cell + i]);
      tally_.add(hash);
    }
  }

  struct TypeHash {
    std::uint64_t name = 0;
    std::uint32_t attributes = 0;
    bool known = false;
  };

  const TypeHash& type_hash(const OutputBatch& output, const OutputBatch::Row& row) {
    if (row.type >= type_hashes_.size()) type_hashes_.resize(row.type + 1);
    TypeHash& hash = type_hashes_[row.type];
    if (!hash.known) {
      const EventType& type = output.schema->at(row.type);
      hash = {hash_of(type.name), static_cast<std::uint32_t>(type.attributes.size()), true};
    }
    return hash;
  }

  const Workload& workload_;
  Processor processor_;
  std::vector<EventType> types_;       // of the workload
  std::vector<TypeHash> type_hashes_;  // by TypeId
  Tally tally_;
};

}  // namespace

Result<std::unique_ptr<Subject>> make_processor_subject(const Workload& workload,
                                                        const std::string& engine) {
  auto subject = std::make_unique<ProcessorSubject>(workload, engine);
  if (const auto started = subject->start(); !started) return started.error();
  return std::unique_ptr<Subject>(std::move(subject));
}

}  // namespace gorgo::bench
