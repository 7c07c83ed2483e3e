#include <algorithm>
#include <bit>

#include "plan/plan.hpp"

namespace gorgo::plan {
namespace {

bool reads_event(Op op) { return op == Op::attribute || op == Op::timestamp || op == Op::present; }

std::string fingerprint_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return "s" + std::to_string(text->size()) + ":" + *text;
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return "f" + std::to_string(std::bit_cast<std::uint64_t>(*real));
  }
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  return "i" + std::to_string(std::get<std::int64_t>(value));
}

}  // namespace

bool mentions_candidate(const Expr& expr) {
  if (reads_event(expr.op) && expr.source == kCandidate) return true;
  return std::any_of(expr.args.begin(), expr.args.end(), mentions_candidate);
}

bool mentions_sequence(const Expr& expr) {
  if (expr.op == Op::aggregate) return true;
  if (reads_event(expr.op) && expr.source != kCandidate) return true;
  return std::any_of(expr.args.begin(), expr.args.end(), mentions_sequence);
}

std::uint32_t last_state(const Expr& expr) {
  std::uint32_t last = 0;
  if (reads_event(expr.op) && expr.source != kCandidate) {
    last = static_cast<std::uint32_t>(expr.source);
  }
  for (const Expr& arg : expr.args) last = std::max(last, last_state(arg));
  return last;
}

bool computes_text(const Expr& expr) {
  return expr.op == Op::call && expr.type == ValueType::string;
}

std::string fingerprint(const Expr& expr) {
  std::string text = "(" + std::to_string(static_cast<int>(expr.op));
  if (expr.op == Op::constant) text += " " + fingerprint_of(expr.constant);
  if (reads_event(expr.op)) text += " @" + std::to_string(expr.source);
  if (reads_event(expr.op) || expr.op == Op::aggregate) text += " #" + std::to_string(expr.index);
  if (expr.op == Op::call) text += " f" + std::to_string(static_cast<int>(expr.function));
  for (const Expr& arg : expr.args) text += fingerprint(arg);
  return text + ")";
}

}  // namespace gorgo::plan
