#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

/// What a cluster is called in JetStream. Pure functions, for any thread.
namespace gorgo::cluster {

/// The family of the rules that no key divides. It has one partition, number 0.
inline constexpr std::string_view kWhole = "whole";

/// Whether a cluster or a node can be called so: letters, digits, `-` and `_`, 32 of them at most.
Result<void> check_name(std::string_view name);

/// A text as a part of the name of a stream or a subject, which take no dots, spaces and wildcards.
/// What has to be changed or cut off is told apart by a hash at the end, so that different texts
/// have different tokens.
std::string token(std::string_view text);

/// The stream into which events of a family go, a subject for each partition.
std::string input_stream(std::string_view cluster, std::string_view family);
std::string input_subject(std::string_view cluster, std::string_view family,
                          std::uint32_t partition);
/// The subjects of all partitions of a family.
std::string input_subjects(std::string_view cluster, std::string_view family);

/// The stream of the composites of one partition, and its only subject.
std::string output_stream(std::string_view cluster, std::string_view family,
                          std::uint32_t partition);
std::string output_subject(std::string_view cluster, std::string_view family,
                           std::uint32_t partition);

/// The bucket of keys and values that has the plan in force and who has confirmed it. What is in
/// it stays.
std::string plan_bucket(std::string_view cluster);
/// The bucket of who lives and has which partition, and of what people want. Who does not renew
/// what he says in it counts as dead.
std::string lease_bucket(std::string_view cluster);

}  // namespace gorgo::cluster
