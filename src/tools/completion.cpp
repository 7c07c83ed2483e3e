#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "tools/command_text.hpp"

namespace gorgo::tools {
namespace {

/// In single quotes, as all three shells read it.
std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

/// A description within the brackets of zsh.
std::string for_zsh(const std::string& text) {
  std::string result;
  for (const char c : first_sentence(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// The commands below, with "" for the program itself, as words behind its name.
void collect(const CLI::App& app, const std::string& path,
             std::vector<std::pair<std::string, const CLI::App*>>& found) {
  found.emplace_back(path, &app);
  for (const CLI::App* command : app.get_subcommands({})) {
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), found);
  }
}

std::vector<std::pair<std::string, const CLI::App*>> all_commands(const CLI::App& app) {
  std::vector<std::pair<std::string, const CLI::App*>> found;
  collect(app, "", found);
  return found;
}

/// The values that an option takes, as its help lists them: {a,b} or a|b. Empty: it takes others.
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string& own = option.get_option_text();
  std::string text = own.empty() ? option.get_type_name() : own;
  const std::size_t open = text.find('{'), close = text.find('}');
  if (open < close && close != text.npos) {
    text = text.substr(open + 1, close - open - 1);
    std::ranges::replace(text, ',', '|');
  } else if (text.find('|') == text.npos) {
    return {};
  }
  std::vector<std::string> values;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    values.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const auto is_word = [](const std::string& value) {
    return !value.empty() && std::ranges::all_of(value, [](unsigned char c) {
      return std::islower(c) || std::isdigit(c) || c == '-';
    });
  };
  return std::ranges::all_of(values, is_word) ? values : std::vector<std::string>();
}

/// What may stand behind the command without an option: commands below, the values of an argument.
std::vector<std::string> arguments_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : app.get_subcommands({})) words.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const auto values =
        option->get_name() == "COMMAND" ? arguments_of(*app.get_parent()) : values_of(*option);
    words.insert(words.end(), values.begin(), values.end());
  }
  return words;
}

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const std::string& word : arguments_of(app)) words += word + " ";
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

/// The words behind which a context is named, and the command that lists the contexts. The shells
/// run it when they complete.
constexpr const char* kBeforeContexts = "' --context'|'context use use'|'context remove remove'";
constexpr const char* kListContexts = "context list --names 2>/dev/null";

/// Calls `f(PATH --NAME, VALUES)` for every option that takes a value; without values it takes any,
/// such as a file.
template <class F>
void for_each_choice(const CLI::App& app, F&& f) {
  for (const auto& [path, command] : all_commands(app)) {
    for (const CLI::Option* option : command->get_options()) {
      const auto values = values_of(*option);
      if (values.empty() && option->get_items_expected_max() == 0) continue;
      for (const std::string& name : option->get_lnames()) f(path + " --" + name, values);
    }
  }
}

/// The commands that stand on the line decide what may follow.
std::string for_bash(const CLI::App& app) {
  std::string script =
      std::string(
          "_gorgo_contexts() {\n  local name\n  COMPREPLY=()\n"
          "  while IFS= read -r name; do\n    name=$(printf %q \"$name\")\n"
          "    [[ $name != \"${COMP_WORDS[COMP_CWORD]}\"* ]] || COMPREPLY+=(\"$name\")\n"
          "  done < <(\"${COMP_WORDS[0]}\" ") +
      kListContexts +
      ")\n}\n"
      "_gorgo() {\n  local path= next= word i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    next=${path:+$path }$word\n    case $next in\n";
  std::string known, words;
  for (const auto& [path, command] : all_commands(app)) {
    if (!path.empty()) known += (known.empty() ? "" : "|") + shell_quoted(path);
    words += "    " + shell_quoted(path) + ") word=" + shell_quoted(words_of(*command)) + ";;\n";
  }
  std::string values = std::string("    ") + kBeforeContexts + ") _gorgo_contexts; return ;;\n";
  for_each_choice(app, [&](const std::string& where, const std::vector<std::string>& choices) {
    values += "    " + shell_quoted(where) + ") word=" + shell_quoted(joined(choices)) + " ;;\n";
  });
  script += "      " + known + ") path=$next;;\n    esac\n  done\n  case $path in\n" + words +
            "  esac\n  case \"$path ${COMP_WORDS[COMP_CWORD-1]}\" in\n" + values +
            "  esac\n  COMPREPLY=($(compgen -W \"$word\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
            "complete -o default -F _gorgo gorgo\n";
  return script;
}

std::string for_fish(const CLI::App& app) {
  const std::string contexts = shell_quoted(std::string("(gorgo ") + kListContexts + ")") + "\n";
  std::string script = "complete -c gorgo -n __fish_use_subcommand -f\n";
  script += "complete -c gorgo -n __fish_use_subcommand -l context -x -a " + contexts;
  script +=
      "complete -c gorgo -n '__fish_seen_subcommand_from context; and "
      "__fish_seen_subcommand_from use remove' -f -a " +
      contexts;
  for (const auto& [path, command] : all_commands(app)) {
    std::string condition = "__fish_use_subcommand";
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find(' ', at), path.size());
      condition = (at == 0 ? "" : condition + "; and ") + "__fish_seen_subcommand_from " +
                  path.substr(at, end - at);
      at = end + 1;
    }
    const std::string begin = "complete -c gorgo -n " + shell_quoted(condition);
    for (const CLI::App* below : command->get_subcommands({})) {
      script += begin + " -a " + below->get_name() + " -d " +
                shell_quoted(first_sentence(below->get_description())) + "\n";
    }
    if (command->get_subcommands({}).empty() && !arguments_of(*command).empty()) {
      script += begin + " -f -a " + shell_quoted(joined(arguments_of(*command))) + "\n";
    }
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const auto values = values_of(*option);
        const std::string takes = option->get_items_expected_max() > 0 ? " -r" : "";
        script += begin + " -l " + name +
                  (values.empty() ? takes : " -x -a " + shell_quoted(joined(values))) + " -d " +
                  shell_quoted(first_sentence(option->get_description())) + "\n";
      }
    }
  }
  return script;
}

/// No variable may be called `path`, in which zsh keeps PATH.
std::string for_zsh(const CLI::App& app) {
  std::string script =
      "#compdef gorgo\n_gorgo() {\n  local known= word\n"
      "  for word in ${words[2,CURRENT-1]}; do\n"
      "    case ${known:+$known }$word in\n";
  std::string known, cases;
  for (const auto& [path, command] : all_commands(app)) {
    if (!path.empty()) known += (known.empty() ? "" : "|") + shell_quoted(path);
    cases += "    " + shell_quoted(path) + ") choices=(";
    for (const CLI::App* below : command->get_subcommands({})) {
      cases += shell_quoted(below->get_name() + ":" + for_zsh(below->get_description())) + " ";
    }
    if (command->get_subcommands({}).empty()) {
      for (const std::string& word : arguments_of(*command)) cases += shell_quoted(word) + " ";
    }
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        cases += shell_quoted("--" + name + ":" + for_zsh(option->get_description())) + " ";
      }
    }
    cases += ");;\n";
  }
  std::string values = std::string("    ") + kBeforeContexts + ") choices=(${(f)\"$($words[1] " +
                       kListContexts + ")\"});;\n";
  for_each_choice(app, [&](const std::string& where, const std::vector<std::string>& choices) {
    values += "    " + shell_quoted(where) + ") choices=(" + joined(choices) + ");;\n";
  });
  return script + "      " + known +
         ") known=${known:+$known }$word;;\n    esac\n  done\n  local -a choices\n  case $known "
         "in\n" +
         cases + "  esac\n  case \"$known ${words[CURRENT-1]}\" in\n" + values +
         "  esac\n  _describe command choices || _files\n}\n"
         "if [[ $funcstack[1] = _gorgo ]]; then _gorgo; else compdef _gorgo gorgo; fi\n";
}

}  // namespace

std::string first_sentence(const std::string& text) {
  std::string result = text;
  std::ranges::replace(result, '\n', ' ');
  for (const char* end : {". ", ": ", "; "})
    result.resize(std::min(result.size(), result.find(end)));
  if (result.ends_with('.')) result.pop_back();
  return result;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") return for_fish(app);
  return shell == "zsh" ? for_zsh(app) : for_bash(app);
}

}  // namespace gorgo::tools
