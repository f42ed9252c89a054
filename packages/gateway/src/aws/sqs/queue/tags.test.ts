import { TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, TAGS_MAX } from "@sluice/aws";
import { beforeEach, expect, it } from "vitest";
import { SqsClient } from "../../../../test/sqs-client.ts";

let sqs: SqsClient;
let QueueUrl: string;

beforeEach(async () => {
  sqs = new SqsClient();
  QueueUrl = await sqs.create("q");
});

const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, "value"]));
const tag = (Tags: object) => ({ QueueUrl, Tags });
const tags = async () => (await sqs.call("ListQueueTags", { QueueUrl })).Tags;

it("tags are merged: the same key gets the new value, another case is another key", async () => {
  expect(await tags()).toBeUndefined();
  await sqs.call("TagQueue", tag({ a: "1", b: "2" }));
  await sqs.call("TagQueue", tag({ b: "", B: "3" }));
  expect(await tags()).toEqual({ a: "1", b: "", B: "3" });
  await sqs.call("UntagQueue", { QueueUrl, TagKeys: ["a", "B", "unknown"] });
  expect(await tags()).toEqual({ b: "" });
});

it.each([
  [TAGS_MAX - 1, true],
  [TAGS_MAX, true],
  [TAGS_MAX + 1, false],
])("tags are 50 at most, with those that there are: %i are taken: %s", async (count, isTaken) => {
  await sqs.call("TagQueue", tag(numbered(10)));
  if (isTaken) await sqs.call("TagQueue", tag(numbered(count)));
  else {
    expect(await sqs.refusal("TagQueue", tag(numbered(count)))).toEqual({
      status: 400,
      code: "InvalidParameterValue",
      message: "Too many tags added for queue q.",
    });
    expect(await tags()).toEqual(numbered(10));
    expect(await sqs.refusalText("CreateQueue", { QueueName: "other", tags: numbered(count) })).toBe(
      "Too many tags added for queue other.",
    );
  }
});

it.each([
  [TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, null],
  [1, 0, null],
  [TAG_KEY_LENGTH_MAX + 1, 1, "Tag keys must be between 1 and 128 characters in length."],
  [0, 1, "Tag keys must be between 1 and 128 characters in length."],
  [1, TAG_VALUE_LENGTH_MAX + 1, "Tag values must be between 0 and 256 characters in length."],
])("tags with a key of %i and a value of %i characters are refused with %j", async (key, value, text) => {
  const Tags = { ["k".repeat(key)]: "v".repeat(value) };
  if (text === null) await sqs.call("TagQueue", tag(Tags));
  else expect(await sqs.refusalText("TagQueue", tag(Tags))).toBe(text);
});

it.each(["aws:", "aws:cloudformation:stack-name", "AWS:x"])(
  "tags with the reserved key %j are refused",
  async (key) => {
    const refusal = {
      status: 400,
      code: "InvalidParameterValue",
      message: "aws: prefixed tag key names are not allowed for external use.",
    };
    expect(await sqs.refusal("TagQueue", tag({ mine: "1", [key]: "2" }))).toEqual(refusal);
    expect(await tags()).toBeUndefined();
    expect(await sqs.refusal("CreateQueue", { QueueName: "other", tags: { [key]: "1" } })).toEqual(refusal);
    expect(await sqs.refusalText("GetQueueUrl", { QueueName: "other" })).toMatch("does not exist");
    await sqs.call("TagQueue", tag({ aws: "1", "my:aws:x": "2" }));
  },
);

it("tags with a key that an object loses are refused", async () => {
  const text = "A tag cannot have the key __proto__.";
  const Tags = JSON.parse('{"mine": "1", "__proto__": "2"}');
  expect(await sqs.refusalText("TagQueue", tag(Tags))).toBe(text);
  expect(await sqs.refusalText("CreateQueue", { QueueName: "other", tags: Tags })).toBe(text);
  expect(await tags()).toBeUndefined();
});

it("tags a request without tags is a mistake", async () => {
  expect(await sqs.refusal("TagQueue", tag({}))).toEqual({
    status: 400,
    code: "MissingParameter",
    message: "The request must contain the parameter Tags.",
  });
  expect(await sqs.refusalText("UntagQueue", { QueueUrl, TagKeys: [] })).toBe(
    "Tag keys must be between 1 and 128 characters in length.",
  );
});
