#pragma once

#include <vector>

#include "protocol/trex/body_reader.hpp"
#include "protocol/trex/packets.hpp"

namespace gorgo::protocol::trex {

/// Lists that several kinds of packets have. After a failure of the reader they mean nothing.
std::vector<Constraint> read_constraints(BodyReader& reader);
/// Overwrites `attributes`.
void read_attributes(BodyReader& reader, std::vector<Attribute>& attributes);

}  // namespace gorgo::protocol::trex
