#include "dispatch/order/handed_out.hpp"

namespace gorgo::dispatch {

bool HandedOut::ask(TypeId type, const Schema& schema) {
  if (type >= known_.size()) known_.resize(schema.size(), Answer::unknown);
  asked_about_.push_back(type);
  known_[type] = has(schema.at(type).name) ? Answer::yes : Answer::no;
  return known_[type] == Answer::yes;
}

}  // namespace gorgo::dispatch
