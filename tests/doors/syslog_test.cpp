#include "doors/syslog/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio.hpp>
#include <thread>

#include "codec/event_notation.hpp"
#include "codec/names.hpp"
#include "doors/syslog/syslog_source.hpp"

namespace gorgo::doors::syslog {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// What the message says, as `name=value`; or why it says nothing.
std::vector<std::string> said(std::string_view text) {
  const auto event = read_message(text);
  if (!event) return {event.error().message};
  std::vector<std::string> all;
  for (const Attribute& one : event->attributes) {
    const auto* integer = std::get_if<std::int64_t>(&one.value);
    all.push_back(
        one.name + "=" +
        (integer == nullptr ? std::get<std::string>(one.value) : std::to_string(*integer)));
  }
  return all;
}

TEST(Syslog, TheExamplesOfItsStandard) {
  EXPECT_THAT(
      said("<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \xEF\xBB\xBF'su "
           "root' failed for lonvick on /dev/pts/8"),
      ElementsAre("facility=4", "severity=2", "host=mymachine.example.com", "app=su",
                  "message_id=ID47", "message='su root' failed for lonvick on /dev/pts/8"));
  EXPECT_THAT(
      said("<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time."),
      ElementsAre("facility=20", "severity=5", "host=192.0.2.1", "app=myproc", "process=8710",
                  "message=%% It's time."));
  EXPECT_THAT(
      said("<165>1 2003-10-11T22:14:15.003Z h evntslog - ID47 [exampleSDID@32473 iut=\"3\" "
           "eventSource=\"Application\" eventID=\"1011\"][examplePriority@32473 class=\"high\"]"),
      ElementsAre("facility=20", "severity=5", "host=h", "app=evntslog", "message_id=ID47",
                  "exampleSDID_iut=3", "exampleSDID_eventSource=Application",
                  "exampleSDID_eventID=1011", "examplePriority_class=high"));
  EXPECT_EQ(read_message("<34>1 2003-10-11T22:14:15.003Z h a - - -")->timestamp,
            1'065'910'455'003 * 1'000'000);
  EXPECT_EQ(read_message("<34>1 - h a - - -")->timestamp, std::nullopt);
}

TEST(Syslog, EscapesOfValuesAreUndone) {
  EXPECT_THAT(said(R"(<0>1 - - - - - [a b="x\"y\\z\]w\n" b="again" 9c="1"])"),
              ElementsAre("facility=0", "severity=0", "a_b=x\"y\\z]w\\n", "a_b_2=again", "a_9c=1"));
}

TEST(Syslog, ParametersOfOneNameAreNumbered) {
  EXPECT_THAT(said(R"(<0>1 - - - - - [origin ip="192.0.2.1" ip="192.0.2.129" ip="192.0.2.7"])"),
              ElementsAre("facility=0", "severity=0", "origin_ip=192.0.2.1",
                          "origin_ip_2=192.0.2.129", "origin_ip_3=192.0.2.7"));
  EXPECT_THAT(
      said(R"(<0>1 - - - - - [ex@1 v="1" v_2="2"][ex@2 v="3"][ex@3 v="4"])"),
      ElementsAre("facility=0", "severity=0", "ex_v=1", "ex_v_2=2", "ex_v_3=3", "ex_v_4=4"));
  EXPECT_THAT(said(R"(<0>1 - - - - ID47 [message id="5"])"),
              ElementsAre("facility=0", "severity=0", "message_id=ID47", "message_id_2=5"));
  EXPECT_THAT(said(R"(<0>1 - - - - - [message id="5"])"),
              ElementsAre("facility=0", "severity=0", "message_id_2=5"));
}

TEST(Syslog, WhatNoEventCanHoldIsSaid) {
  std::string many = "<0>1 - - - - - [a";
  for (std::size_t i = 0; i < codec::kMostAttributes; ++i) many += " b=\"1\"";
  EXPECT_THAT(said(many + "]"), ElementsAre(HasSubstr("more than 4096 attributes")));
  const std::string long_name(codec::kLongestName, 'x');
  EXPECT_THAT(said("<0>1 - - - - - [a " + long_name + "=\"1\"]"),
              ElementsAre(HasSubstr("longer than 1024 bytes")));
}

TEST(Syslog, WhatIsNoneSaysWhy) {
  for (const char* wrong :
       {"", "hello", "<1", "<192>1 - - - - - -", "<1>2 - - - - - -", "<1>1 - - - -",
        "<1>1 soon - - - - -", "<1>1 - - - - - [a", "<1>1 - - - - - [a b=\"c]",
        "<1>1 - - - - - [a b]", "<1>1 - - - - - -x",
        "<34>Oct 11 22:14:15 mymachine su: of RFC 3164", "<1>1 - - - - - - \xff"}) {
    EXPECT_THAT(said(wrong), ElementsAre(HasSubstr("no message of syslog"))) << wrong;
  }
}

std::vector<std::string> cut(std::string_view text, std::size_t step) {
  MessageCutter cutter;
  std::vector<std::string> messages;
  while (!text.empty()) {
    cutter.fill(text.substr(0, step));
    text.remove_prefix(std::min(step, text.size()));
    while (true) {
      const auto message = cutter.next();
      if (!message) {
        messages.push_back(message.error().message);
        return messages;
      }
      if (!*message) break;
      messages.emplace_back(**message);
    }
  }
  if (cutter.rest().starts_with('<')) messages.emplace_back(cutter.rest());
  return messages;
}

/// A source by TCP, and who sends to it.
class SyslogSenders : public testing::Test {
 protected:
  using Tcp = boost::asio::ip::tcp;
  boost::asio::io_context io;
  const Tcp::endpoint address = [this] {
    return Tcp::acceptor(io, {boost::asio::ip::make_address("127.0.0.1"), 0}).local_endpoint();
  }();
  std::unique_ptr<SyslogSource> source;
  std::uint32_t events = 0;
  std::vector<DeadLetter> dead;

  void open(std::size_t most_senders) {
    Settings settings;
    settings.listen = "127.0.0.1:" + std::to_string(address.port());
    settings.transport = "tcp";
    source = std::make_unique<SyslogSource>(settings, most_senders);
    poll();
  }
  void poll() {
    const auto arrived = source->poll(std::chrono::milliseconds(10));
    ASSERT_TRUE(arrived) << arrived.error().to_string();
    events += arrived->events.events();
    dead.insert(dead.end(), arrived->dead.begin(), arrived->dead.end());
  }
  void poll_until(std::uint32_t count) {
    while (events < count) ASSERT_NO_FATAL_FAILURE(poll());
  }
  Tcp::socket sender() {
    Tcp::socket socket(io);
    socket.connect(address);
    return socket;
  }
  static void send(Tcp::socket& socket, const std::string& text) {
    boost::asio::write(socket, boost::asio::buffer(text));
  }
};

TEST_F(SyslogSenders, AMessageWithoutEndCountsOnlyWhereTheStreamEndsInOrder) {
  open(2);
  {
    auto one = sender();
    send(one, "<13>1 - - - - - - a");
  }
  poll_until(1);
  {
    auto lost = sender();
    send(lost, "<13>1 - - - - - - b\n<13>1 - - - - - - amount=12");
    poll_until(2);  // so that the reset does not take that along
    lost.set_option(boost::asio::socket_base::linger(true, 0));
    lost.close();  // the destructor would end the stream in order
  }
  while (dead.empty()) ASSERT_NO_FATAL_FAILURE(poll());
  EXPECT_EQ(events, 2u);
}

TEST_F(SyslogSenders, OfWhatIsTooLongTheBeginningIsKept) {
  open(2);
  const std::string line = "<13>1 - - - - - - " + std::string(kMostMessage, 'x');
  for (const std::string& wrong :
       {line + "\n", "65537 " + line, std::string("12x <13>1 - - - - - - a")}) {
    auto one = sender();
    send(one, wrong);
    dead.clear();
    while (dead.empty()) ASSERT_NO_FATAL_FAILURE(poll());
    EXPECT_THAT(dead[0].reason, HasSubstr("the connection is closed"));
    EXPECT_THAT(dead[0].payload, Not(IsEmpty()));
    EXPECT_THAT(wrong, StartsWith(dead[0].payload));
  }
}

TEST_F(SyslogSenders, TheOneThatIsSilentForLongestGoesForOneMore) {
  open(2);
  auto silent = sender(), other = sender();
  send(silent, "<13>1 - - - - - - a\n");
  poll_until(1);
  send(other, "<13>1 - - - - - - b\n");
  poll_until(2);
  auto third = sender();
  send(third, "<13>1 - - - - - - c\n");
  poll_until(3);
  send(other, "<13>1 - - - - - - d\n");
  poll_until(4);
  char byte = 0;
  boost::system::error_code ended;
  silent.read_some(boost::asio::buffer(&byte, 1), ended);
  EXPECT_TRUE(ended);
}

TEST_F(SyslogSenders, WhoSendsNothingWithoutAPauseHoldsUpNobody) {
  open(10);
  auto honest = sender();
  std::atomic<int> writes = 0;
  std::vector<std::jthread> floods;
  for (int i = 0; i < 4; ++i) {
    floods.emplace_back([&](const std::stop_token& end) {
      auto greedy = sender();
      const std::string nothing(1'000'000, '\n');
      boost::system::error_code ended;
      for (; !end.stop_requested() && !ended; ++writes) {
        boost::asio::write(greedy, boost::asio::buffer(nothing), ended);
      }
    });
  }
  while (writes < 8) poll();
  for (std::uint32_t i = 1; i <= 20; ++i) {
    send(honest, "<13>1 - - - - - - a\n");
    poll_until(i);
  }
  for (std::jthread& flood : floods) flood.request_stop();
  source.reset();  // which ends writes that wait
}

TEST(Syslog, StreamsAreCutByLengthsAndLines) {
  const std::string stream = "7 <1>1 a\n<2>1 b\n<3>1 c\r\n8 <4>1 d\n\n<5>1 e";
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    EXPECT_THAT(cut(stream, step),
                ElementsAre("<1>1 a\n", "<2>1 b", "<3>1 c\r", "<4>1 d\n\n", "<5>1 e"));
  }
  EXPECT_THAT(cut("99999999 x", 3), ElementsAre(HasSubstr("the length")));
  EXPECT_THAT(cut("1x x", 3), ElementsAre(HasSubstr("the length")));
  EXPECT_THAT(cut("<" + std::string(kMostMessage + 10, 'x'), 1000),
              ElementsAre(HasSubstr("64 KiB")));
}

}  // namespace
}  // namespace gorgo::doors::syslog
