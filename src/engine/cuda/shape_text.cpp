#include "engine/cuda/shape_text.hpp"

#include <algorithm>
#include <concepts>
#include <vector>

#include "cuda/shape.hpp"

namespace gorgo::engine {
namespace {

using cuda::Code;
using cuda::Instruction;

/// What a group's searches have in shared memory, and an event in registers, is bounded.
constexpr std::size_t kMostAttributes = 12, kMostTests = 8, kMostCells = 24, kMostCode = 256;

template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) std::string text(T number) { return std::to_string(number); }
std::string text(std::same_as<bool> auto value) { return value ? "true" : "false"; }

std::string text(const Instruction& i) {
  return "Instruction{Code(" + text(static_cast<std::uint64_t>(i.code)) + "), Op(" +
         text(static_cast<std::uint64_t>(i.op)) + "), Kind(" +
         text(static_cast<std::uint64_t>(i.kind)) + "), 0}";
}

/// How many of the attributes, from the first on, are tested.
std::size_t tested_attributes(const Program& program) {
  std::size_t count = 0;
  for (const Program::Test& test : program.tests) {
    count = std::max<std::size_t>(count, test.on_device.attribute + 1u);
  }
  for (const Instruction& i : program.code) {
    if (i.code != Code::attribute && i.code != Code::present) continue;
    count = std::max<std::size_t>(count, i.operand + 1u);
  }
  return count;
}

/// The stack machine's instructions as statements: a name for each value that it would push.
class Unrolled {
 public:
  std::string statements(const std::vector<Instruction>& code) {
    for (const Instruction& i : code) add(i);
    return text_;
  }

 private:
  void add(const Instruction& i) {
    switch (i.code) {
      case Code::attribute:
        return push("values.cell(" + text(i.operand) + ")");
      case Code::present:
        return push("boolean(values.cell(" + text(i.operand) + ").exists != 0)");
      case Code::cell:
        return push("own.cell(" + text(i.operand) + ")");
      case Code::require:
        text_ += "    ok = ok & holds(" + pop() + ");\n";
        return;
      case Code::negate_integer:
      case Code::negate_float:
      case Code::to_float:
      case Code::to_integer:
      case Code::logical_not:
        return push("apply(" + text(i) + ", " + pop() + ")");
      default: {
        const std::string right = pop();
        const std::string left = pop();
        return push("apply(" + text(i) + ", " + left + ", " + right + ")");
      }
    }
  }

  void push(const std::string& value) {
    const std::string name = "v" + text(values_++);
    text_ += "    const Cell " + name + " = " + value + ";\n";
    stack_.push_back(name);
  }
  std::string pop() {
    std::string name = std::move(stack_.back());
    stack_.pop_back();
    return name;
  }
  std::string text_;
  std::vector<std::string> stack_;
  std::uint64_t values_ = 0;
};

std::string tests_text(const Program& program) {
  std::string text_of_tests;
  for (std::size_t i = 0; i < program.tests.size(); ++i) {
    const cuda::Test& test = program.tests[i].on_device;
    const std::string cell = "values.cell(" + text(test.attribute) + ")";
    text_of_tests += "    ok = ok & " + cell + ".exists != 0 & cuda::passes(Test{0, " +
                     text(test.floats) + ", " + text(test.negated) + "}, own.bounds[" + text(i) +
                     "], " + cell + ".bits);\n";
  }
  return text_of_tests;
}

bool is_one_test(const Program& program, bool nullable) {
  return program.tests.size() == 1 && program.code.empty() && !nullable &&
         !program.tests[0].on_device.negated && program.tests[0].on_device.attribute == 0;
}

}  // namespace

std::string shape_text(const Program& program, bool nullable) {
  const std::size_t attributes = tested_attributes(program);
  const std::size_t tests = program.tests.size(), cells = program.parameters.size();
  if (attributes == 0 || attributes > kMostAttributes || tests > kMostTests || cells > kMostCells ||
      program.code.size() > kMostCode) {
    return "";
  }
  return "struct Shape : ShapeOf<" + text(attributes) + ", " + text(tests) + ", " + text(cells) +
         ", " + text(nullable) +
         "> {\n"
         "  GORGO_HD static bool passes(const View&, const Scan&, const Own& own,\n"
         "                              const Values& values) {\n"
         "    bool ok = true;\n" +
         tests_text(program) + Unrolled().statements(program.code) +
         "    return ok;\n"
         "  }\n"
         "};\n";
}

std::uint32_t shape_of(const Program& program, bool nullable, cuda::Device& device) {
  if (is_one_test(program, nullable)) {
    return program.tests[0].on_device.floats ? cuda::kOneTestOfFloats : cuda::kOneTestOfInts;
  }
  const std::string text = shape_text(program, nullable);
  return text.empty() ? cuda::kAnyShape : device.add_shape(text);
}

}  // namespace gorgo::engine
