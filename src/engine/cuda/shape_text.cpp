#include "engine/cuda/shape_text.hpp"

#include <algorithm>
#include <concepts>
#include <vector>

#include "cuda/shape.hpp"

namespace gorgo::engine {
namespace {

using gpu::Code;
using gpu::Instruction;
using gpu::Source;

/// Bounds for what a group's searches take in shared memory and an event in registers.
constexpr std::size_t kMostAttributes = 12, kMostTests = 8, kMostCells = 24, kMostCode = 256;

template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) std::string text(T number) { return std::to_string(number); }
std::string text(std::same_as<bool> auto value) { return value ? "true" : "false"; }

std::string text(const Instruction& i) {
  return "Instruction{Code(" + text(static_cast<std::uint64_t>(i.code)) + "), Op(" +
         text(static_cast<std::uint64_t>(i.op)) + "), Kind(" +
         text(static_cast<std::uint64_t>(i.kind)) + "), 0}";
}

/// Calls f(source, operand) for the texts that an instruction compares.
template <class F>
void for_each_text(const Instruction& i, F f) {
  if (i.code != Code::compare_texts) return;
  f(i.left, i.operand);
  f(i.right, i.other);
}

/// How many of the attributes, from the first on, are tested.
std::size_t tested_attributes(const Program& program) {
  std::size_t count = 0;
  for (const Program::Test& test : program.tests) {
    count = std::max<std::size_t>(count, test.on_device.attribute + 1u);
  }
  for (const Instruction& i : program.code) {
    for_each_text(i, [&](Source source, std::uint16_t operand) {
      if (source == Source::candidate) count = std::max<std::size_t>(count, operand + 1u);
    });
    if (i.code != Code::attribute && i.code != Code::present) continue;
    count = std::max<std::size_t>(count, i.operand + 1u);
  }
  return count;
}

/// The attributes that a negation reads of what it is tested on, in the order of their first use.
std::vector<std::uint16_t> chosen_attributes(const Program& program) {
  std::vector<std::uint16_t> all;
  const auto add = [&](std::uint16_t attribute) {
    if (std::ranges::find(all, attribute) == all.end()) all.push_back(attribute);
  };
  for (const Instruction& i : program.code) {
    if (i.code == Code::chosen) add(i.operand);
    for_each_text(i, [&](Source source, std::uint16_t operand) {
      if (source == Source::chosen) add(operand);
    });
  }
  return all;
}

bool compares_texts(const Program& program) {
  return std::ranges::find(program.code, Code::compare_texts, &Instruction::code) !=
         program.code.end();
}

/// The stack machine's instructions as statements, with a name for each value that it would push.
/// They are the statements of `passes`, which goes by the first words of texts, or of `confirms`,
/// which decides what these leave open.
class Unrolled {
 public:
  Unrolled(const Program& program, bool confirms)
      : program_(program), chosen_(chosen_attributes(program)), confirms_(confirms) {}

  std::string statements() {
    for (const Instruction& i : program_.code) add(i);
    return text_;
  }

 private:
  std::uint64_t number_of_chosen(std::uint16_t attribute) const {
    return static_cast<std::uint64_t>(std::ranges::find(chosen_, attribute) - chosen_.begin());
  }

  void add(const Instruction& i) {
    switch (i.code) {
      case Code::attribute:
        return push("values.cell(" + text(i.operand) + ")");
      case Code::present:
        return push("boolean(values.cell(" + text(i.operand) + ").exists != 0)");
      case Code::cell:
        return push("parameters.cell(" + text(i.operand) + ")");
      case Code::chosen:
        return push("parameters.chosen[" + text(number_of_chosen(i.operand)) + "]");
      case Code::compare_texts:
        return push((confirms_ ? "compare(view, Op(" : "compare_first(Op(") +
                        text(static_cast<std::uint64_t>(i.op)) + "), " + string(i.left, i.operand) +
                        ", " + string(i.right, i.other) + ")",
                    Known::that_false);
      case Code::require:
        return require(pop());
      case Code::negate_integer:
      case Code::negate_float:
      case Code::to_float:
      case Code::to_integer:
      case Code::logical_not: {
        const Value value = pop();
        return push("apply(" + text(i) + ", " + value.name + ")",
                    value.known == Known::all ? Known::all : Known::nothing);
      }
      default: {
        const Value right = pop();
        const Value left = pop();
        Known known = std::max(left.known, right.known);
        const bool grows = i.code == Code::logical_and || i.code == Code::logical_or;
        if (known == Known::that_false && !grows) known = Known::nothing;
        return push("apply(" + text(i) + ", " + left.name + ", " + right.name + ")", known);
      }
    }
  }

  /// What the first words of texts tell of a value.
  enum class Known { all, that_false, nothing };
  struct Value {
    std::string name;
    Known known;
  };

  void require(const Value& value) {
    if (confirms_) {
      if (value.known != Known::all) text_ += "    if (!holds(" + value.name + ")) return false;\n";
    } else if (value.known != Known::nothing) {
      text_ += "    ok = ok & holds(" + value.name + ");\n";
    }
  }

  /// The expression for a string as text.
  std::string string(Source source, std::uint16_t operand) const {
    switch (source) {
      case Source::candidate:
        return "values.text(view, scan, " + text(operand) + ")";
      case Source::search:
        return "parameters.text(" + text(operand) + ")";
      case Source::chosen:
        break;
    }
    return "parameters.chosen_text(" + text(number_of_chosen(operand)) + ", " + text(operand) + ")";
  }

  void push(const std::string& value, Known known = Known::all) {
    const std::string name = "v" + text(values_++);
    text_ += "    const Cell " + name + " = " + value + ";\n";
    stack_.push_back({name, known});
  }
  Value pop() {
    Value value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }

  const Program& program_;
  const std::vector<std::uint16_t> chosen_;
  const bool confirms_;
  std::string text_;
  std::vector<Value> stack_;
  std::uint64_t values_ = 0;
};

std::string tests_text(const Program& program) {
  std::string text_of_tests;
  for (std::size_t i = 0; i < program.tests.size(); ++i) {
    const gpu::Test& test = program.tests[i].on_device;
    const std::string cell = "values.cell(" + text(test.attribute) + ")";
    text_of_tests += "    ok = ok & " + cell + ".exists != 0 & gpu::passes(Test{0, " +
                     text(test.floats) + ", " + text(test.negated) + "}, parameters.bounds[" +
                     text(i) + "], " + cell + ".bits);\n";
  }
  return text_of_tests;
}

bool is_one_test(const ShapedProgram& shaped) {
  const Program& program = *shaped.program;
  return program.tests.size() == 1 && program.code.empty() && !shaped.nullable &&
         !program.tests[0].on_device.negated && program.tests[0].on_device.attribute == 0;
}

bool is_too_large(const ShapedProgram& shaped) {
  const Program& program = *shaped.program;
  return tested_attributes(program) > kMostAttributes || program.tests.size() > kMostTests ||
         program.parameters.size() > kMostCells || program.code.size() > kMostCode;
}

std::string base_text(const ShapedProgram& shaped) {
  const Program& program = *shaped.program;
  return "ShapeOf<" + text(tested_attributes(program)) + ", " + text(program.tests.size()) + ", " +
         text(program.parameters.size()) + ", " + text(shaped.nullable) + ">";
}

std::string negation_base_text(const ShapedProgram& shaped) {
  std::string base = "NegationOf<" + base_text(shaped);
  for (const std::uint16_t attribute : chosen_attributes(*shaped.program)) {
    base += ", " + text(attribute);
  }
  return base + ">";
}

std::string type_text(const std::string& name, const std::string& base, const std::string& members,
                      const Program& program) {
  const auto function = [](const std::string& function_name, const std::string& statements) {
    return "  GORGO_HD static bool " + function_name +
           "(const View& view, const Scan& scan, const Parameters& parameters,\n"
           "                              const Values& values) {\n" +
           statements + "  }\n";
  };
  std::string text_of_type =
      "struct " + name + " : " + base + " {\n" + members +
      function("passes", "    bool ok = true;\n" + tests_text(program) +
                             Unrolled(program, false).statements() + "    return ok;\n");
  if (compares_texts(program)) {
    text_of_type +=
        "  static constexpr bool kConfirms = true;\n" +
        function("confirms", Unrolled(program, true).statements() + "    return true;\n");
  }
  return text_of_type + "};\n";
}

}  // namespace

std::string shape_text(const ShapedProgram& shaped, std::span<const ShapedProgram> negations) {
  if (is_too_large(shaped) || std::ranges::any_of(negations, is_too_large)) return "";
  if (tested_attributes(*shaped.program) == 0 && negations.empty()) return "";
  std::string types, names;
  for (std::size_t i = 0; i < negations.size(); ++i) {
    const std::string name = "Negation" + text(i);
    types += type_text(name, negation_base_text(negations[i]), "", *negations[i].program);
    names += (i == 0 ? "" : ", ") + name;
  }
  const std::string members =
      negations.empty() ? "" : "  using Negations = NegationsOf<" + names + ">;\n";
  return types + type_text("Shape", base_text(shaped), members, *shaped.program);
}

std::uint32_t shape_of(const ShapedProgram& shaped, std::span<const ShapedProgram> negations,
                       gpu::Device& device) {
  const bool passes_all = shaped.program->tests.empty() && shaped.program->code.empty();
  if (passes_all && negations.empty()) return gpu::kNoTest;
  if (is_one_test(shaped) && negations.empty()) {
    return shaped.program->tests[0].on_device.floats ? gpu::kOneTestOfFloats : gpu::kOneTestOfInts;
  }
  const std::uint32_t any = negations.empty() ? gpu::kAnyShape : gpu::kAnyShapeWithNegations;
  const std::string text = shape_text(shaped, negations);
  return text.empty() ? any : device.add_shape(text, any);
}

}  // namespace gorgo::engine
