#pragma once

#include <memory>
#include <string>

#include "gorgo/processor.hpp"
#include "protocol/framing.hpp"

/// What a server says of rules and types, to the wire and from it. A rule's `serial` and `events`
/// do not travel.
namespace gorgo::protocol {

/// The text; empty where there is none.
std::string text_of(const flatbuffers::String* text);

std::unique_ptr<wire::RuleInfoT> to_wire(const RuleInfo& rule, bool with_text);
RuleInfo to_rule(const wire::RuleInfo& rule);

/// Without the attributes, which a page may have no room for.
std::vector<std::string> texts_of(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* texts);
std::unique_ptr<wire::TypeInfoT> to_wire(const TypeInfo& type);
TypeInfo to_type(const wire::TypeInfo& type);

}  // namespace gorgo::protocol
