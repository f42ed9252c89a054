import { NUMBER_DIGITS_MAX } from "@sluice/aws";
import { beforeEach, expect, it } from "vitest";
import {
  ARN,
  attribute,
  invalid,
  type Parameters,
  publish,
  refusal,
  sns,
  startOver,
  subscribe,
} from "../../../../test/sns-publisher.ts";
import { COPY_BYTES_MAX } from "./copies.ts";

beforeEach(startOver);

it.each<[Parameters, string]>([
  [{ Message: "" }, invalid("Empty message")],
  [{ Subject: "" }, invalid("Subject")],
  [{ Subject: "x".repeat(100) }, invalid("Subject")],
  [{ Subject: "ü".repeat(100) }, invalid("Subject")],
  ...["\n", "\t", "\0", "\x1f", "\x7f", "\x85", "\x9f", "\u2028", "\u2029"].map(
    (control): [Parameters, string] => [{ Subject: `a${control}b` }, invalid("Subject")],
  ),
  [{ Message: "x".repeat(262_145) }, invalid("Message too long")],
  [{ Message: "x".repeat(262_133), ...attribute(1, "name", "String", "12") }, invalid("Message too long")],
  [{ MessageStructure: "json" }, invalid("Message Structure - JSON message body failed to parse")],
  [
    { MessageStructure: "json", Message: '{"sqs":"x","default":1}' },
    invalid("Message Structure - No default entry in JSON message body"),
  ],
  [{ MessageStructure: "xml" }, invalid("MessageStructure")],
  [
    { MessageDeduplicationId: "d" },
    invalid(
      "MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is " +
        "not valid for this topic type",
    ),
  ],
  [{ TopicArn: `${ARN}2` }, "404 NotFound Topic does not exist"],
  [{ PhoneNumber: "+1" }, invalid("PhoneNumber Reason: this broker delivers over http, https and sqs")],
  [
    attribute(1, "a", "Text"),
    "400 ParameterValueInvalid The message attribute 'a' has an invalid message attribute type, the " +
      "set of supported type prefixes is Binary, Number, and String.",
  ],
  [
    attribute(1, "a", "Binary"),
    "400 ParameterValueInvalid The message attribute 'a' with type 'Binary' must use field 'Binary'.",
  ],
  [
    attribute(1, "a", "String", ""),
    "400 ParameterValueInvalid The message attribute 'a' must contain non-empty message attribute " +
      "value for message attribute type 'String'.",
  ],
  [
    attribute(1, "a", "Number", "twelve"),
    "400 ParameterValueInvalid Could not cast message attribute 'a' value to number.",
  ],
  [
    attribute(1, "a", "Number.int", "1".repeat(NUMBER_DIGITS_MAX + 1)),
    "400 ParameterValueInvalid Could not cast message attribute 'a' value to number.",
  ],
  [
    { "MessageAttributes.entry.1.Name": "a", "MessageAttributes.entry.1.Value.StringValue": "v" },
    "400 ValidationError 1 validation error detected: Value null at " +
      "'messageAttributes.a.member.dataType' failed to satisfy constraint: Member must not be null",
  ],
  [
    attribute(1, ".a", "String"),
    "400 ParameterValueInvalid Invalid message attribute name starting with character '.' was found.",
  ],
  [
    attribute(1, "a.", "String"),
    "400 ParameterValueInvalid Invalid message attribute name ending with character '.' was found.",
  ],
  [
    attribute(1, "a..b", "String"),
    "400 ParameterValueInvalid Message attribute name can not have successive '.' character.",
  ],
  [
    attribute(1, "a b", "String"),
    "400 ParameterValueInvalid Invalid non-alphanumeric character '#x20' was found in the message " +
      "attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots.",
  ],
  [
    attribute(1, "a".repeat(257), "String"),
    "400 ParameterValueInvalid Length of message attribute name must be less than 256 bytes.",
  ],
])("Publish refuses %o", async (rest, text) => {
  expect(await refusal(rest)).toBe(text);
  expect(sns.published).toEqual([]);
});

it("Publish refuses a message that its envelope makes too large for a queue", async () => {
  await sns.createTopic("large", { MaximumMessageSize: "1048576" });
  const TopicArn = ARN.replace("news", "large");
  await subscribe("mail", {}, TopicArn);
  // A quote takes two bytes in JSON.
  const Message = '"'.repeat(COPY_BYTES_MAX / 2);
  expect(await refusal({ TopicArn, Message })).toBe(invalid("Message too long"));
});

it("Publish refuses nothing that is exactly as large as may be", async () => {
  await publish("x".repeat(262_144));
  await publish("x".repeat(262_132), attribute(1, "name", "String", "12"));
  await publish("m", { Subject: "x".repeat(99) });
  await publish("m", { Subject: "ü".repeat(99) });
  await publish("m", attribute(1, "a".repeat(256), "String"));
  await publish("m", attribute(1, "a", "Number", "1".repeat(NUMBER_DIGITS_MAX)));
});
