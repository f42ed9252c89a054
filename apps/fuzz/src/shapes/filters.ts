import fc from "fast-check";
import { fillText, type Known } from "../placeholders.ts";
import { hostileText, junk } from "../values.ts";
import { API, Asker, AWS, sns } from "./asker.ts";
import type { Shape } from "./shape.ts";
import { checkWhole, openTopic, openWhole, takeFrom } from "./whole-broker.ts";

/*
 * Filter policies of SNS that are deep, wide, of odd types or hard to evaluate, and messages that are hard for them. A
 * policy may be taken or refused. Each publish must succeed, and another subscriber must get the message.
 */

/** Description of a policy, short enough for a counterexample. */
type Policy =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "text"; readonly text: string }
  /** One name with dots: `a.a.a`. */
  | { readonly kind: "dots"; readonly levels: number }
  /** Objects in objects; with the key `$or`, choices in choices. */
  | { readonly kind: "levels"; readonly levels: number; readonly key: string }
  | { readonly kind: "names"; readonly count: number; readonly below: boolean }
  | { readonly kind: "choices"; readonly count: number; readonly condition: unknown }
  /** Several conditions of one property. */
  | { readonly kind: "conditions"; readonly count: number; readonly condition: unknown };

/** Description of a message, whose member `a` is the one that most policies look at. */
type Published =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "levels"; readonly levels: number; readonly open: string; readonly close: string }
  /** The member `a` is an array that repeats an element. */
  | { readonly kind: "elements"; readonly count: number; readonly element: string }
  | { readonly kind: "dots"; readonly levels: number };

interface Case {
  readonly isSubscribe: boolean;
  readonly scope: string;
  readonly policy: Policy;
  readonly message: Published;
}

/** Longest text of a message, with room for an attribute: a longer one is refused before any policy is evaluated. */
const BODY_LENGTH_MAX = 260_000;
const HALF = "{{x:100000}}";
const KEYWORDS = [
  "prefix",
  "suffix",
  "equals-ignore-case",
  "wildcard",
  "cidr",
  "exists",
  "numeric",
  "anything-but",
];

const operand = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      "",
      "a",
      "*",
      "**",
      "*x*x*x*y",
      `*y${HALF}*`,
      `${HALF}*y`,
      "10.0.0.0/8",
      "::/0",
      "1.2.3.4/99",
      "/",
      "é",
    ],
    ...[true, false, null, 0, -1, 1e300, [], {}, [[]], ["a", null], ["<", 5], [">", 0, "<=", 1], ["<", "5"]],
    ...[[">", null], ["=", 1, "=", 1], { prefix: "a" }, { prefix: 7 }, { "anything-but": { prefix: "a" } }],
  ),
  junk,
);
const condition: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>("a", "x", "", 1, 0, true, null, {}, []),
  fc.tuple(fc.constantFrom(...KEYWORDS), operand).map(([key, value]) => ({ [key]: value })),
  fc
    .tuple(fc.constantFrom(...KEYWORDS), operand)
    .map(([key, value]) => ({ "anything-but": { [key]: value } })),
  operand,
);
const key = fc.oneof(
  fc.constantFrom("a", "a", "b", "a.a", "a.b", ".", "..", "$or", "__proto__", "exists", "a.", "{{x:300}}"),
  hostileText,
);
const { policy: nested } = fc.letrec<{ policy: unknown; value: unknown }>((tie) => ({
  policy: fc
    .array(fc.tuple(key, tie("value")), { maxLength: 4 })
    .map((members) => Object.fromEntries(members)),
  value: fc.oneof(
    { depthSize: "small" },
    fc.array(condition, { maxLength: 4 }),
    fc.array(tie("policy"), { maxLength: 3 }),
    tie("policy"),
    operand,
  ),
}));
const levels = fc.constantFrom(2, 100, 150, 151, 2_000, 10_000, 50_000);
const count = fc.constantFrom(1, 5, 150, 151, 750, 2_000);
const policy: fc.Arbitrary<Policy> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("json" as const), value: nested }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("text" as const), text: hostileText }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("dots" as const), levels }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("levels" as const),
      levels,
      key: fc.constantFrom("a", "$or", "a.a"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("names" as const), count, below: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("choices" as const), count, condition }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("conditions" as const), count, condition }) },
);
const message: fc.Arbitrary<Published> = fc.oneof(
  fc.record({ kind: fc.constant("json" as const), value: fc.oneof(nested, junk) }),
  fc.record({ kind: fc.constant("text" as const), text: fc.constantFrom("m", HALF, "{", '"a"') }),
  fc.record({
    kind: fc.constant("levels" as const),
    levels: fc.constantFrom(2, 150, 5_000, 40_000),
    open: fc.constant('{"a":'),
    close: fc.constant("}"),
  }),
  fc.record({
    kind: fc.constant("levels" as const),
    levels: fc.constantFrom(150, 60_000),
    open: fc.constant('{"a":['),
    close: fc.constant("]}"),
  }),
  fc.record({
    kind: fc.constant("elements" as const),
    count: fc.constantFrom(3, 250_000),
    element: fc.constantFrom(
      "{}",
      '{"a":1}',
      '{"a":{}}',
      "1",
      '"a"',
      '"1.2.3.4"',
      '"::1"',
      "null",
      "[]",
      '{"a.a":1}',
    ),
  }),
  fc.record({ kind: fc.constant("dots" as const), levels: fc.constantFrom(2, 150, 20_000, 120_000) }),
);
/** Policies with the largest allowed number of costly conditions. */
const heavyPolicy: fc.Arbitrary<Policy> = fc.record({
  kind: fc.constantFrom("conditions" as const, "conditions" as const, "choices" as const),
  count: fc.constant(150),
  condition: fc.constantFrom<unknown>(
    ...[
      { cidr: "10.0.0.0/8" },
      { cidr: "4000::/2" },
      { numeric: [">", 5, "<", 6] },
      { "equals-ignore-case": "YES" },
    ],
    ...[{ wildcard: "*y*y*" }, { wildcard: "*{{x:700}}y{{x:700}}*" }, { suffix: "y{{x:700}}" }],
    { "anything-but": { wildcard: "*{{x:700}}y{{x:700}}*" } },
  ),
});
const heavyMessage: fc.Arbitrary<Published> = fc.oneof(
  fc.constant<Published>({ kind: "json", value: "{{x:250000}}" }),
  fc.record({
    kind: fc.constant("elements" as const),
    count: fc.constant(250_000),
    element: fc.constantFrom('"1.2.3.4"', '"::1"', '"x"', "1", '{"a":1}', '{"a":"::1"}'),
  }),
);
const aCase: fc.Arbitrary<Case> = fc.record({
  isSubscribe: fc.boolean(),
  scope: fc.constantFrom("MessageBody", "MessageBody", "MessageAttributes"),
  policy: fc.oneof({ weight: 2, arbitrary: policy }, { weight: 1, arbitrary: heavyPolicy }),
  message: fc.oneof({ weight: 2, arbitrary: message }, { weight: 1, arbitrary: heavyMessage }),
});

export const filters: Shape = {
  cases: 150,
  async run(open, { seed, requests }) {
    const target = await open();
    const asker = new Asker(target);
    try {
      await openWhole(asker);
      const topic = await openTopic(asker, "news", ["others", "fussy"]);
      await asker.must(AWS, subscription(topic, "others", { RawMessageDelivery: "true" }));
      const known: Known = { endpoint: target.endpoint, receipts: [], tasks: [] };
      const property = fc.asyncProperty(aCase, async (given) => {
        await tryPolicy(asker, topic, given, known);
      });
      await fc.assert(property, { seed, numRuns: requests });
      await checkWhole(asker);
    } finally {
      await target.close();
    }
    return asker;
  },
};

async function tryPolicy(asker: Asker, topic: string, given: Case, known: Known): Promise<void> {
  const { isSubscribe, scope } = given;
  const text = policyText(given.policy, known);
  const attributes = isSubscribe ? { FilterPolicyScope: scope, FilterPolicy: text } : {};
  const { text: answer } = await asker.ask(AWS, subscription(topic, "fussy", attributes));
  const [, arn] = /<SubscriptionArn>(.*)<\/SubscriptionArn>/.exec(answer) ?? [];
  if (arn !== undefined && !isSubscribe) {
    for (const [AttributeName, AttributeValue] of [
      ["FilterPolicyScope", scope],
      ["FilterPolicy", text],
    ] as const) {
      const change = { SubscriptionArn: arn, AttributeName, AttributeValue };
      await asker.ask(AWS, sns("SetSubscriptionAttributes", change));
    }
  }
  const body = messageText(given.message, known);
  await asker.must(AWS, sns("Publish", { TopicArn: topic, Message: body, ...attributesOf(body) }));
  const taken = await takeFrom(asker, "others");
  if (taken !== body)
    throw new Error(`the other subscriber gets ${taken === null ? "nothing" : "something else"}`);
  await asker.must(`${API}/topics/${encodeURIComponent(topic)}`);
  if (arn !== undefined) await asker.must(AWS, sns("Unsubscribe", { SubscriptionArn: arn }));
}

function subscription(
  TopicArn: string,
  queue: string,
  attributes: Readonly<Record<string, string>>,
): RequestInit {
  const Endpoint = `arn:aws:sqs:us-east-1:000000000000:${queue}`;
  const entries = Object.entries(attributes).flatMap(([key, value], i) => [
    [`Attributes.entry.${i + 1}.key`, key],
    [`Attributes.entry.${i + 1}.value`, value],
  ]);
  return sns("Subscribe", {
    TopicArn,
    Protocol: "sqs",
    Endpoint,
    ReturnSubscriptionArn: "true",
    ...Object.fromEntries(entries),
  });
}

/** Makes an attribute of the body's member `a`, if an attribute can have that value. */
function attributesOf(body: string): Record<string, string> {
  const isArray = body.startsWith('{"a":[') && body.endsWith("]}") && body.length < BODY_LENGTH_MAX / 2;
  const [type, value] = isArray ? ["String.Array", body.slice('{"a":'.length, -1)] : ["String", "a"];
  const named = { Name: "a", "Value.DataType": type, "Value.StringValue": value };
  const entries = Object.entries(named).map(([key, each]) => [`MessageAttributes.entry.1.${key}`, each]);
  return isArray && !isJsonOfScalars(value) ? {} : Object.fromEntries(entries);
}

/** Whether an array's text can be the value of a `String.Array`: its elements are scalars. */
function isJsonOfScalars(text: string): boolean {
  return !/[{[]/.test(text.slice(1));
}

function policyText(policy: Policy, known: Known): string {
  const value = '["x"]';
  switch (policy.kind) {
    case "json":
      return fillText(JSON.stringify(policy.value), known);
    case "text":
      return fillText(policy.text, known);
    case "dots":
      return `{"${Array(policy.levels).fill("a").join(".")}":${value}}`;
    case "levels": {
      const isOr = policy.key === "$or";
      const begin = isOr ? '{"$or":[{"b":["x"]},' : `{"${policy.key}":`;
      const end = isOr ? "]}" : "}";
      return `${begin.repeat(policy.levels)}${isOr ? `{"a":${value}}` : value}${end.repeat(policy.levels)}`;
    }
    case "names": {
      const names = Array.from({ length: policy.count }, (_, i) => `"n${i}":${value}`).join(",");
      return policy.below ? `{"a":{${names}}}` : `{${names}}`;
    }
    case "choices": {
      const choice = `{"a":[${JSON.stringify(policy.condition)}]}`;
      return fillText(`{"$or":[${Array(policy.count).fill(choice).join(",")}]}`, known);
    }
    case "conditions":
      return fillText(
        `{"a":[${Array(policy.count).fill(JSON.stringify(policy.condition)).join(",")}]}`,
        known,
      );
  }
}

function messageText(message: Published, known: Known): string {
  const text = textOf(message, known);
  return text === "" || /[^\t\n\r -\ud7ff\ue000-\ufffd]/u.test(text) ? "{}" : text;
}

function textOf(message: Published, known: Known): string {
  switch (message.kind) {
    case "json": {
      const text = fillText(JSON.stringify({ a: message.value }), known);
      return text.length > BODY_LENGTH_MAX ? '{"a":1}' : text;
    }
    case "text":
      return fillText(message.text, known);
    case "levels": {
      const most = Math.floor(BODY_LENGTH_MAX / (message.open.length + message.close.length));
      const levels = Math.min(message.levels, most);
      return `${message.open.repeat(levels)}1${message.close.repeat(levels)}`;
    }
    case "elements": {
      const most = Math.floor(BODY_LENGTH_MAX / (message.element.length + 1));
      return `{"a":[${Array(Math.min(message.count, most)).fill(message.element).join(",")}]}`;
    }
    case "dots":
      return `{"${Array(message.levels).fill("a").join(".")}":"x"}`;
  }
}
