#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "actions/settings.hpp"
#include "actions/target.hpp"

namespace gorgo::actions {

/// Sends a mail for each order through a server that speaks SMTP, one after the other.
class Mail : public Target {
 public:
  /// `password`: of the user, where there is one.
  Mail(const Settings& settings, std::string password);

  std::vector<Outcome> attempt(std::span<const Order* const> orders) override;
  void wake() override { is_woken_ = true; }

 private:
  const Settings settings_;
  const std::string password_;
  std::atomic<bool> is_woken_ = false;

  Outcome send(const Order& order);
};

/// The mail with its headers. Its Message-ID is made of the order's key, and its text has the
/// attributes of each event. `date`: as the header has it.
std::string mail_of(const Order& order, const Settings& settings, const std::string& date);

}  // namespace gorgo::actions
