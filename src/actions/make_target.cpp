#include "actions/command.hpp"
#include "actions/mail.hpp"
#include "actions/sink_target.hpp"
#include "actions/sql.hpp"
#include "actions/target.hpp"
#include "actions/webhook.hpp"
#include "base/file.hpp"

namespace gorgo::actions {
namespace {

/// Stands in for a target whose actions are only counted.
class DryRun : public Target {
 public:
  std::vector<Outcome> attempt(std::span<const Order* const> orders) override {
    return std::vector<Outcome>(orders.size());
  }
  void wake() override {}
};

Result<std::unique_ptr<Target>> make_webhook(const Settings& settings) {
  std::optional<Signer> signer;
  if (!settings.secret_file.empty()) {
    auto secret = read_regular_file(settings.secret_file);
    if (!secret) return secret.error();
    auto made = Signer::make(*secret);
    if (!made) return Error{settings.secret_file + ": " + made.error().message, made.error().hint};
    signer = std::move(*made);
  }
  return {std::in_place, std::make_unique<Webhook>(settings, std::move(signer))};
}

Result<std::unique_ptr<Target>> make_mail(const Settings& settings) {
  std::string password;
  if (!settings.password_file.empty()) {
    auto read = read_regular_file(settings.password_file);
    if (!read) return read.error();
    password = read->substr(0, read->find_first_of("\r\n"));
  }
  return {std::in_place, std::make_unique<Mail>(settings, std::move(password))};
}

}  // namespace

Result<std::unique_ptr<Target>> make_target(const std::string& name, const Settings& settings) {
  if (settings.dry_run) return {std::in_place, std::make_unique<DryRun>()};
  if (settings.kind == "webhook") return make_webhook(settings);
  if (settings.kind == "mail") return make_mail(settings);
  if (settings.kind == "command") return {std::in_place, std::make_unique<Command>(settings)};
  if (settings.kind == "sql") return {std::in_place, std::make_unique<Sql>(settings)};
  return make_sink_target(name, settings);
}

}  // namespace gorgo::actions
