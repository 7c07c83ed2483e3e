#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../doors/peer_support.hpp"
#include "command_line.hpp"

/// The table of docs/commands.md, held against what the commands print and how they end.
namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

/// The words behind a command that make it print something, and those that make it fail.
struct Use {
  std::string works, fails;
};

/// SERVER stands for the address of a server with r.tesla, CLUSTER for the options of a cluster
/// with the node `north`.
const std::map<std::string, Use> kUses = {
    {"check", {"warned.tesla", "wrong.tesla"}},
    {"cluster deploy", {"keyed.tesla CLUSTER", "wrong.tesla CLUSTER"}},
    {"cluster rules", {"CLUSTER", "--cluster other --broker 127.0.0.1:1"}},
    {"cluster status", {"CLUSTER", "--cluster other --broker 127.0.0.1:1"}},
    {"cluster drain", {"north --end CLUSTER", "south CLUSTER"}},
    {"cluster move", {"area 0 north CLUSTER", "area 99 north CLUSTER"}},
    {"explain", {"r.tesla", "wrong.tesla"}},
    {"explain --cluster", {"r.tesla", "wrong.tesla"}},
    {"explain --live", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"why", {"r.tesla --events e --rule r.Hot", "wrong.tesla --events e"}},
    {"test", {"good.test", "bad.test"}},
    {"trace", {"'Temp(value=50.0)' --to SERVER", "'Temp(value=\"hot\")' --to SERVER"}},
    {"sub",
     {"Hot --durable all --count 1 --timeout 60s --to SERVER",
      "Hot --count 1 --timeout 1ms --to SERVER"}},
    {"rules list", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"rules show", {"r.Hot --to SERVER", "r.Cold --to SERVER"}},
    {"rules history", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"rules diff", {"r.tesla --file r.tesla --to SERVER", "none --to SERVER"}},
    {"rules deploy", {"warned.tesla --to SERVER", "wrong.tesla --to SERVER"}},
    {"types", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"ping", {"--count 10 --to SERVER", "--to 127.0.0.1:1"}},
    {"doctor", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"doctor cluster", {"CLUSTER", "--cluster other --broker 127.0.0.1:1"}},
    {"doctor journal", {"journal", "nowhere"}},
    {"journal verify", {"journal", "nowhere"}},
    {"journal dump", {"journal", "nowhere"}},
    {"journal trim", {"spare --below 1", "journal --below 1"}},
    {"journal backup", {"journal copy", "journal copy"}},
    {"connections", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"actions", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"actions show", {"log --to SERVER", "none --to SERVER"}},
    {"doors", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"doors show", {"files --to SERVER", "none --to SERVER"}},
    {"doors add", {"more door.toml --to SERVER", "more wrong.tesla --to SERVER"}},
    {"doors remove", {"less --to SERVER", "none --to SERVER"}},
    {"top", {"--interval 10ms --to SERVER", "--to 127.0.0.1:1"}},
    {"context list", {"", ""}},
    {"engines", {"", ""}},
    {"engines --to", {"SERVER", "127.0.0.1:1"}},
    {"functions", {"", ""}},
    {"rules pin", {"r.Hot column --to SERVER", "r.Cold column --to SERVER"}},
    {"rules shadow list", {"--to SERVER", "--to 127.0.0.1:1"}},
    {"rules shadow show", {"s3.tesla --to SERVER", "none --to SERVER"}},
    {"rules shadow promote", {"s2.tesla --to SERVER", "none --to SERVER"}},
    {"rules shadow drop", {"s1.tesla --to SERVER", "none --to SERVER"}},
    {"rules rollback", {"r.tesla --to SERVER", "none --to SERVER"}},
    {"rules remove", {"r --to SERVER", "r.Cold --to SERVER"}},
    {"version", {"", ""}}};

struct Shape {
  std::string form;  // "{}", "[{}]", "{} per line", or "": nothing is printed
  std::set<std::string> keys, optional;
};

/// The rows of the table by their commands.
std::map<std::string, Shape> documented() {
  std::ifstream file(GORGO_SOURCE_DIR "/docs/commands.md");
  const std::regex row(
      R"(\| `([a-z -]+)` \| (?:nothing|`(\[?)\{(.*)\}\]?`( per line)?) \| ..* \|)");
  std::map<std::string, Shape> found;
  for (std::string line; std::getline(file, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, row)) continue;
    Shape& shape = found[parts[1]];
    if (!parts[3].matched) continue;
    shape.form = parts[2].length() > 0 ? "[{}]" : parts[4].matched ? "{} per line" : "{}";
    std::stringstream keys(parts[3]);
    for (std::string key; std::getline(keys, key, ',');) {
      key.erase(0, key.find_first_not_of(' '));
      const bool optional = key.ends_with('?');
      if (optional) key.pop_back();
      (optional ? shape.optional : shape.keys).insert(key);
    }
  }
  return found;
}

/// The objects that a command has printed.
std::vector<Json> objects_in(const std::string& text, const std::string& form) {
  std::vector<Json> objects;
  if (form == "{} per line") {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      objects.push_back(Json::parse(line, nullptr, false));
    }
    return objects;
  }
  const Json all = Json::parse(text, nullptr, false);
  if (form == "{}") return {all};
  EXPECT_TRUE(all.is_array());
  for (const Json& one : all) objects.push_back(one);
  return objects;
}

class CommandTable : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    setenv("XDG_CONFIG_HOME", testing::TempDir().c_str(), 1);
    write("r.tesla",
          "event Temp(value: float);\n"
          "define Hot(v: float) from Temp(value > 45) where v = Temp.value;\n");
    std::filesystem::copy_file(GORGO_SOURCE_DIR "/tests/language/diagnostics/timer-window.tesla",
                               folder() / "warned.tesla");
    const std::string test =
        "case: a reading\nrules:\n  define Hot() from Temp();\nevents:\n  @1 Temp(value=50.0)\n";
    write("good.test", test + "expect:\n  @1 Hot()\n");
    write("bad.test", test + "expect:\n");
    write("wrong.tesla", "define Hot(");
    write("doors.toml",
          "[doors.files]\nkind = \"file\"\npath = \"none-*.log\"\n"
          "[actions.log]\nkind = \"file\"\npath = \"done.ndjson\"\n");
    write("door.toml", "kind = \"file\"\npath = \"none\"\n");
    write("e", R"({"type":"Temp","ts":1,"attrs":{"value":46.5}})");
  }
  /// The cluster `plant` over one broker, with the node `north`.
  void begin_cluster() {
    const std::string port = std::to_string(free_port());
    broker_ = "127.0.0.1:" + port;
    nats_ = std::make_unique<Peer>(Command{GORGO_NATS_SERVER, "-a", "127.0.0.1", "-p", port, "-js",
                                           "-sd", (folder() / "nats").string(), "-l",
                                           (folder() / "nats.log").string()});
    write("node.toml",
          "[journal]\npath = \"north\"\nbacklog_policy = \"refuse\"\n[cluster]\nname = "
          "\"plant\"\nnode = \"north\"\nbrokers = \"" +
              broker_ + "\"\n");
    write("keyed.tesla",
          "event Smoke(area: string);\n"
          "define Fire(area: string) from Smoke(area = $a) where area = $a;\n");
    node_.reset(new Background(start("serve --listen 127.0.0.1:0 --config node.toml")));
    const std::string node = node_->line().substr(std::string("listening on ").size());
    for (int i = 0; i < 600; ++i) {
      if (run("doors show 'cluster out' --to " + node).out.find("running") != std::string::npos)
        return;
      usleep(100'000);
    }
    ADD_FAILURE() << "the node has not reached its broker";
  }
  std::string broker_;

 private:
  std::unique_ptr<Peer> nats_;
  std::unique_ptr<Background> node_;
};

/// What is wrong with what was printed; empty: nothing.
std::string unlike(const std::string& text, const Shape& shape) {
  if (shape.form.empty()) return text;
  const auto objects = objects_in(text, shape.form);
  if (objects.empty()) return "nothing was printed";
  for (const Json& object : objects) {
    if (!object.is_object()) return "no object: " + object.dump();
    for (const std::string& key : shape.keys) {
      if (!object.contains(key)) return "without " + key + ": " + object.dump();
    }
    for (const auto& [key, value] : object.items()) {
      if (!shape.keys.contains(key) && !shape.optional.contains(key)) return "with " + key;
    }
  }
  return "";
}

std::string filled(std::string words, const std::string& name, const std::string& with) {
  for (auto at = words.find(name); at != words.npos; at = words.find(name)) {
    words.replace(at, name.size(), with);
  }
  return words;
}

TEST_F(CommandTable, SaysWhatIsPrintedAndHowCommandsEnd) {
  Background server =
      start("serve --listen 127.0.0.1:0 --rules r.tesla --journal journal --config doors.toml");
  const std::string address = server.line().substr(std::string("listening on ").size());
  ASSERT_EQ(run("journal backup journal spare").exit_code, 0);
  ASSERT_EQ(run("context add here --server " + address).exit_code, 0);
  // What a durable subscription gets later is there when it is asked for.
  ASSERT_EQ(run("sub Hot --durable all --timeout 1ms --to " + address).exit_code, 0);
  ASSERT_EQ(run("pub e --stamp server --to " + address).exit_code, 0);
  // A version to go back to.
  write("r.tesla", read("r.tesla") + "define Cool() from Temp(value < 5);\n");
  ASSERT_EQ(run("rules deploy r.tesla --replace --to " + address).exit_code, 0);
  ASSERT_EQ(run("doors add less door.toml --to " + address).exit_code, 0);
  for (const std::string name : {"s1", "s2", "s3"}) {
    write(name + ".tesla", "define " + name + "() from Temp(value > 50);\n");
    ASSERT_EQ(run("rules deploy --shadow " + name + ".tesla --to " + address).exit_code, 0);
  }
  begin_cluster();
  const auto all_filled = [&](const std::string& words) {
    return filled(filled(words, "SERVER", address), "CLUSTER",
                  "--cluster plant --broker " + broker_);
  };
  for (const auto& [command, shape] : documented()) {
    const Use use = kUses.count(command) > 0 ? kUses.at(command) : Use();
    const Outcome works = run(command + " " + all_filled(use.works) + " --format json");
    EXPECT_EQ(works.exit_code, 0) << command << '\n' << works.err;
    EXPECT_EQ(unlike(works.out, shape), "") << command;
    if (use.fails.empty()) continue;
    const Outcome fails = run(command + " " + all_filled(use.fails));
    EXPECT_EQ(fails.exit_code, 1) << command;
    EXPECT_NE(fails.err + fails.out, "") << command;
  }
}

TEST_F(CommandTable, EveryCommandWithJsonStandsInIt) {
  const auto table = documented();
  std::set<std::string> used, told;
  for (const auto& [command, use] : kUses) used.insert(command);
  for (const auto& [command, shape] : table) told.insert(command);
  EXPECT_EQ(used, told);
  std::istringstream script(run("completion bash").out);
  const std::regex branch(R"( *'([a-z -]+)'\) word='(.*)';;)");
  std::size_t seen = 0;
  for (std::string line; std::getline(script, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, branch)) continue;
    ++seen;
    const std::string command = parts[1];
    const Outcome help = run(command + " --help");
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_EQ(run(command + " --no-such-option").exit_code, 2) << command;
    if (help.out.find("{text,json") != help.out.npos) {
      EXPECT_TRUE(told.contains(command)) << command;
    }
  }
  EXPECT_GT(seen, 45U);
}

}  // namespace
}  // namespace gorgo::tools
