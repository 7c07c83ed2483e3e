#pragma once

#include <cstdint>
#include <functional>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/evaluate/expected_records.hpp"
#include "dispatch/evaluate/terminator_queues.hpp"
#include "dispatch/evaluate/wave.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::dispatch {

/// Takes records that are finished or dropped out of the wave's batch, so that their memory is free
/// for what comes next. Owns nothing but scratch memory.
///
/// Invariant: records keep their order, and everything that refers to a record by its number gets
/// its new number: the other records, the queues of terminators, and what is to be stored.
class BatchReducer {
 public:
  using IsKept = std::function<bool(std::uint32_t number, const Record&)>;

  BatchReducer(const Schema& schema, Wave& wave, ExpectedRecords& expected,
               TerminatorQueues& queues)
      : schema_(schema), wave_(wave), expected_(expected), queues_(queues) {}

  /// Takes the records that are not kept out of the batch. Precondition: where a record goes, all
  /// that it brought about goes, too. Returns the new number of each record, kNoRecord for those
  /// that are gone; valid until the next call.
  const Records& reduce(const IsKept& is_kept);

 private:
  std::size_t width_of(const Record& record) const;
  void keep(Record record, std::size_t width, Wave::Contents& contents);

  const Schema& schema_;
  Wave& wave_;
  ExpectedRecords& expected_;
  TerminatorQueues& queues_;
  Batch rest_;
  Records numbers_;
};

}  // namespace gorgo::dispatch
