#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>

#include "action_support.hpp"

namespace gorgo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// A port that nobody has at the moment.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(socket);
  return ntohs(address.sin_port);
}

/// aiosmtpd, which puts mails into a Maildir.
class MailServer {
 public:
  explicit MailServer(const Folder& folder) : folder_(folder), port_(std::to_string(free_port())) {
    pid_ = fork();
    if (pid_ == 0) {
      const std::string address = "127.0.0.1:" + port_;
      execl(GORGO_AIOSMTPD, GORGO_AIOSMTPD, "-n", "-l", address.c_str(), "-c",
            "aiosmtpd.handlers.Mailbox", (folder_ / "mails").c_str(), nullptr);
      _exit(127);
    }
  }
  ~MailServer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  MailServer(const MailServer&) = delete;
  MailServer& operator=(const MailServer&) = delete;

  std::string url() const { return "smtp://127.0.0.1:" + port_; }
  /// What Python's reader of mails makes of them: subjects, recipients, ids and lines of the texts.
  std::vector<std::string> read() const {
    folder_.write("read.py", R"(
import email.policy, mailbox, sys
box = mailbox.Maildir(sys.argv[1], lambda file: email.message_from_binary_file(file, policy=email.policy.default), False)
for mail in box:
    for header in ("Subject", "To", "From", "Message-ID", "Bcc", "X-RcptTo"):
        print(header + ": " + str(mail[header]).replace("\n", "\\n"))
    print(mail.get_content())
)");
    const std::string command = std::string(GORGO_PYTHON) + " '" + (folder_ / "read.py").string() +
                                "' '" + (folder_ / "mails").string() + "' > '" +
                                (folder_ / "read").string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return folder_.lines("read");
  }

 private:
  const Folder& folder_;
  const std::string port_;
  pid_t pid_ = -1;
};

TEST(MailAction, SaysWhatHasHappenedAndNoValueBecomesAHeader) {
  const Folder folder("mail");
  const MailServer mails(folder);
  ServerWithDoors server(folder,
                         "[actions.ops]\nkind = \"mail\"\nserver = \"" + mails.url() +
                             "\"\nfrom = \"gorgo@example.org\"\nrecipients = [\"a@example.org\", "
                             "\"b@example.org\"]\nsubject = \"{type} in {area}\"\n");
  auto client = server.client();
  deploy(client,
         "define Fire(area: string, v: int) from A() where area = A.area, v = A.v execute "
         "mail(\"ops\");");
  std::vector<Event> events;
  for (const std::string area : {"A1", "Küche\r\nBcc: c@example.org\r\n\r\n.\r\n"}) {
    Event event{.type = "A", .timestamp = {}, .attributes = {}};
    event.attributes.push_back({"area", area});
    event.attributes.push_back({"v", std::int64_t{7}});
    events.push_back(event);
  }
  ASSERT_TRUE(client.publish(events));
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 2; });
  const auto lines = mails.read();
  EXPECT_THAT(lines, Contains("Subject: Fire in A1"));
  EXPECT_THAT(lines, Contains(testing::StartsWith("Subject: Fire in Küche")));
  EXPECT_THAT(lines, Contains("To: a@example.org, b@example.org").Times(2));
  EXPECT_THAT(lines, Contains("X-RcptTo: a@example.org, b@example.org").Times(2));
  EXPECT_THAT(lines, Contains("From: gorgo@example.org").Times(2));
  EXPECT_THAT(lines, Contains("Bcc: None").Times(2));
  EXPECT_THAT(lines, Contains(HasSubstr("Message-ID: <1-1/ops.gorgo@example.org>")));
  EXPECT_THAT(lines, Contains("  area: A1"));
  EXPECT_THAT(lines, Contains("  v: 7").Times(2));
}

TEST(MailAction, WaitsForItsServer) {
  const Folder folder("mail_later");
  const int port = free_port();
  ServerWithDoors server(folder, "[actions.ops]\nkind = \"mail\"\nserver = \"smtp://127.0.0.1:" +
                                     std::to_string(port) +
                                     "\"\nfrom = \"gorgo@example.org\"\nrecipients = "
                                     "[\"a@example.org\"]\ndeadline_ms = 500\n");
  auto client = server.client();
  deploy(client, "define Fire(v: int) from A() where v = A.v execute mail(\"ops\");");
  publish(client, 1);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.dead == 1; });
  EXPECT_GE(target.failures, 1u);
}

}  // namespace
}  // namespace gorgo
