#include "actions/signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo::actions {
namespace {

// The example of the specification.
TEST(Signature, IsThatOfStandardWebhooks) {
  const auto signer = Signer::make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
  ASSERT_TRUE(signer);
  EXPECT_EQ(signer->sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(Signature, TakesNoSecretThatIsNone) {
  for (const char* text : {"", " \n", "whsec_", "secret", "whsec_c2hvcnQ=",
                           "whsec_!!!!!!!!!!!!!!!!!!!!!!!!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}) {
    const auto signer = Signer::make(text);
    ASSERT_FALSE(signer) << text;
    EXPECT_THAT(signer.error().hint, testing::HasSubstr("whsec_"));
  }
}

}  // namespace
}  // namespace gorgo::actions
