import { beforeEach, describe, expect, it } from "vitest";
import { arnOf, SqsClient } from "../../../../test/sqs-client.ts";
import { STATEMENTS_MAX } from "./attributes.ts";
import { ACTIONS_MAX, PRINCIPALS_MAX } from "./permissions.ts";

let sqs: SqsClient;
let QueueUrl: string;

beforeEach(async () => {
  sqs = new SqsClient();
  QueueUrl = await sqs.create("q");
});

const ACCOUNT = "111122223333";
const grant = (changes: object = {}) => ({
  QueueUrl,
  Label: "one",
  AWSAccountIds: [ACCOUNT],
  Actions: ["ReceiveMessage"],
  ...changes,
});

describe("AddPermission", () => {
  it("writes one account and one action as texts, several as lists", async () => {
    await sqs.call("AddPermission", grant());
    await sqs.call(
      "AddPermission",
      grant({ Label: "two", AWSAccountIds: [ACCOUNT, "444455556666"], Actions: ["*", "SendMessage"] }),
    );
    const { Policy = "" } = await sqs.attributes(QueueUrl, "Policy");
    expect(JSON.parse(Policy)).toEqual({
      Version: "2008-10-17",
      Id: `${arnOf("q")}/SQSDefaultPolicy`,
      Statement: [
        {
          Sid: "one",
          Effect: "Allow",
          Principal: { AWS: "arn:aws:iam::111122223333:root" },
          Action: "SQS:ReceiveMessage",
          Resource: arnOf("q"),
        },
        {
          Sid: "two",
          Effect: "Allow",
          Principal: { AWS: ["arn:aws:iam::111122223333:root", "arn:aws:iam::444455556666:root"] },
          Action: ["SQS:*", "SQS:SendMessage"],
          Resource: arnOf("q"),
        },
      ],
    });
  });

  it.each([
    [
      { Actions: ["CreateQueue"] },
      "Value SQS:CreateQueue for parameter ActionName is invalid. Reason: Only the queue owner is " +
        "allowed to invoke this action.",
    ],
    [
      { Actions: ["SendMessageBatch"] },
      "Value SQS:SendMessageBatch for parameter ActionName is invalid. Reason: Please refer to the " +
        "appropriate WSDL for a list of valid actions.",
    ],
    [{ AWSAccountIds: [] }, "Value [] for parameter PrincipalId is invalid. Reason: Unable to verify."],
    [
      { Label: "a b" },
      "Value a b for parameter Label is invalid. Reason: Can only include alphanumeric characters, " +
        "hyphens, or underscores. 1 to 80 in length.",
    ],
    [
      { Label: "l".repeat(81) },
      `Value ${"l".repeat(81)} for parameter Label is invalid. Reason: Can only include alphanumeric ` +
        "characters, hyphens, or underscores. 1 to 80 in length.",
    ],
  ])("refuses %j", async (changes, text) => {
    expect(await sqs.refusal("AddPermission", grant(changes))).toEqual({
      status: 400,
      code: "InvalidParameterValue",
      message: text,
    });
  });

  it("takes a label of 80 characters, once", async () => {
    const Label = "l".repeat(80);
    await sqs.call("AddPermission", grant({ Label }));
    expect(await sqs.refusalText("AddPermission", grant({ Label }))).toBe(
      `Value ${Label} for parameter Label is invalid. Reason: Already exists.`,
    );
  });

  it("takes 7 actions, 50 accounts and 20 statements, and is over its limit with one more", async () => {
    const overLimit = (message: string) => ({ status: 403, code: "OverLimit", message });
    const actions = (count: number) => Array.from({ length: count }, () => "SendMessage");
    const accounts = (count: number) => Array.from({ length: count }, () => ACCOUNT);
    expect(await sqs.refusal("AddPermission", grant({ Actions: actions(ACTIONS_MAX + 1) }))).toEqual(
      overLimit("8 Actions were found, maximum allowed is 7."),
    );
    expect(
      await sqs.refusal("AddPermission", grant({ AWSAccountIds: accounts(PRINCIPALS_MAX + 1) })),
    ).toEqual(overLimit("51 Principals were found, maximum allowed is 50."));
    await sqs.call(
      "AddPermission",
      grant({ Actions: actions(ACTIONS_MAX), AWSAccountIds: accounts(PRINCIPALS_MAX) }),
    );
    for (let i = 2; i <= STATEMENTS_MAX; i++) await sqs.call("AddPermission", grant({ Label: `label-${i}` }));
    expect(await sqs.refusal("AddPermission", grant({ Label: "too-many" }))).toEqual(
      overLimit("21 Statements were found, maximum allowed is 20."),
    );
  });
});

it("RemovePermission takes a statement away, and the policy with the last one", async () => {
  await sqs.call("AddPermission", grant());
  await sqs.call("AddPermission", grant({ Label: "two" }));
  await sqs.call("RemovePermission", { QueueUrl, Label: "one" });
  const { Policy = "" } = await sqs.attributes(QueueUrl, "Policy");
  expect(JSON.parse(Policy).Statement).toMatchObject([{ Sid: "two" }]);
  await sqs.call("RemovePermission", { QueueUrl, Label: "two" });
  expect(await sqs.attributes(QueueUrl)).not.toHaveProperty("Policy");
  expect(await sqs.refusal("RemovePermission", { QueueUrl, Label: "two" })).toEqual({
    status: 400,
    code: "InvalidParameterValue",
    message: "Value two for parameter Label is invalid. Reason: can't find label.",
  });
});
