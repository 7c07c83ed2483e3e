#include "server/durability/starvations.hpp"

#include "journal/records.hpp"

namespace gorgo::server {

namespace stored = journal::stored;

Result<void> expect_starvations(const journal::View& journal, journal::Place first,
                                Processor& processor) {
  auto reader = journal.read(first);
  while (true) {
    const auto record = reader.next();
    if (!record) return record.error();
    if (!*record) return {};
    if ((*record)->kind != static_cast<std::uint16_t>(stored::Kind::Starvation)) continue;
    const auto starvation = journal::decode<stored::Starvation>((*record)->payload);
    if (!starvation) return starvation.error();
    processor.expect({.rule = starvation->rule,
                      .root = starvation->root,
                      .terminators = starvation->terminators});
  }
}

}  // namespace gorgo::server
