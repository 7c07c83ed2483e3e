#include "dispatch/rules/type_reads.hpp"

#include "plan/reads.hpp"

namespace gorgo::dispatch {
namespace {

std::uint32_t& count_of(std::uint32_t attribute, TypeReads& reads) {
  auto& counts = reads.attributes;
  if (attribute >= counts.size()) counts.resize(attribute + 1);
  return counts[attribute];
}

}  // namespace

void TypeReads::add(const TypeReads& more) {
  for (const auto& [reach, rules] : more.reaches) reaches[reach] += rules;
  for (std::uint32_t i = 0; i < more.attributes.size(); ++i) {
    count_of(i, *this) += more.attributes[i];
  }
  joint_uses += more.joint_uses;
}

void TypeReads::subtract(const TypeReads& less) {
  for (const auto& [reach, rules] : less.reaches) {
    const auto same = reaches.find(reach);
    if ((same->second -= rules) == 0) reaches.erase(same);
  }
  for (std::uint32_t i = 0; i < less.attributes.size(); ++i) attributes[i] -= less.attributes[i];
  joint_uses -= less.joint_uses;
}

void add_reads(const plan::Plan& plan, Reads& reads) {
  const auto read = plan::attributes_read(plan.rule);
  for (const auto& [type, reach] : plan.reach) ++reads[type].reaches[reach];
  for (const auto& [type, attribute] : read) ++count_of(attribute, reads[type]);
  for (const JointType& joint : plan.rule.joints) {
    for (const JointMember& member : joint.members) {
      TypeReads& of_member = reads[member.type];
      ++of_member.joint_uses;
      for (std::uint32_t i = 0; i < member.attributes.size(); ++i) {
        if (read.contains({joint.type, i})) ++count_of(member.attributes[i], of_member);
      }
    }
  }
}

}  // namespace gorgo::dispatch
