#pragma once

#include "gorgo/processor.hpp"
#include "journal/reader.hpp"

namespace gorgo::server {

/// Tells the processor where rules found no memory, by the records from this place on. It has to
/// know before a replay begins, because these records stand behind the events that they are about.
/// An error: the journal cannot be read.
Result<void> expect_starvations(const journal::View& journal, journal::Place first,
                                Processor& processor);

}  // namespace gorgo::server
