import fc from "fast-check";
import { INPUTS } from "../inputs.ts";
import { Asker, AWS, type JudgedAnswer, json, sns, sqs } from "./asker.ts";
import { routesWithBodies } from "./bodies.ts";
import type { Shape } from "./shape.ts";
import { checkWhole, openTopic, openWhole } from "./whole-broker.ts";

/*
 * JSON that is nested so deep that a recursive parser, check or printer runs out of stack: on each route, and in each
 * attribute that takes JSON. It must be refused in the form of its dialect, or taken as a text like any other.
 */

/** Most levels that are taken (docs/configuration.md). */
const LEVELS_MAX = 1_000;

interface Nested {
  readonly levels: number;
  readonly opening: "[" | '{"a":';
  readonly isClosed: boolean;
}

type Place =
  /** The body of a request to a route, or a member of the body. */
  | { readonly kind: "route"; readonly route: string; readonly member: string | null }
  /** The input of an action of SQS, or a member of the input. */
  | { readonly kind: "input"; readonly action: string; readonly member: string | null }
  /** An attribute of a queue. */
  | { readonly kind: "queueAttribute"; readonly action: string; readonly name: string }
  /** A parameter of SNS. */
  | { readonly kind: "topicParameter"; readonly action: string; readonly name: string };

/** Members of bodies, each of some route. */
const MEMBERS = [
  ...["body", "messages", "attributes", "contentType", "filter", "ids", "to", "faults", "name", "scopes"],
  ...[
    "queues",
    "queue_name",
    "settings",
    "type",
    "acks",
    "destination",
    "events",
    "source",
    "consumer",
    "dialects",
  ],
  ...["retries", "batch_size", "purge", "tags", "isFifo", "arn", "advanceMs"],
];
const INPUT_MEMBERS = [
  ...["QueueUrl", "QueueName", "Attributes", "tags", "Tags", "Entries", "MessageBody", "MessageAttributes"],
  ...["MessageSystemAttributes", "AttributeNames", "ReceiptHandle", "Actions", "AWSAccountIds", "SourceArn"],
];
const TOPIC_ARN = "arn:aws:sns:us-east-1:000000000000:news";
const QUEUE_ARN = "arn:aws:sqs:us-east-1:000000000000:orders";
const POLICIES = ["Policy", "RedrivePolicy", "RedriveAllowPolicy"];
const TOPIC_ACTIONS = {
  CreateTopic: ["Policy", "DeliveryPolicy"],
  SetTopicAttributes: ["Policy", "DeliveryPolicy"],
  Subscribe: ["FilterPolicy", "DeliveryPolicy", "RedrivePolicy"],
  SetSubscriptionAttributes: ["FilterPolicy", "DeliveryPolicy", "RedrivePolicy"],
  Publish: ["Message", "structure"],
} as const;

const nested: fc.Arbitrary<Nested> = fc.record({
  levels: fc.constantFrom(LEVELS_MAX, LEVELS_MAX + 1, 60_000, 500_000),
  opening: fc.constantFrom("[" as const, '{"a":' as const),
  isClosed: fc.oneof(
    { weight: 4, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
});
const member = (names: readonly string[]) =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 2, arbitrary: fc.constantFrom(...names) });

function placeOf(routes: readonly string[]): fc.Arbitrary<Place> {
  const actions = Object.keys(INPUTS);
  const topicParameters = Object.entries(TOPIC_ACTIONS).flatMap(([action, names]) =>
    names.map((name) => ({ kind: "topicParameter" as const, action, name })),
  );
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("route" as const),
        route: fc.constantFrom(...routes),
        member: member(MEMBERS),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("input" as const),
        action: fc.constantFrom(...actions),
        member: member(INPUT_MEMBERS),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("queueAttribute" as const),
        action: fc.constantFrom("SetQueueAttributes", "CreateQueue"),
        name: fc.constantFrom(...POLICIES),
      }),
    },
    { weight: 3, arbitrary: fc.constantFrom(...topicParameters) },
  );
}

export const nesting: Shape = {
  cases: 300,
  async run(open, { seed, requests }) {
    const target = await open();
    const asker = new Asker(target);
    try {
      await openWhole(asker);
      const topic = await openTopic(asker, "news", ["orders"]);
      const parameters = { TopicArn: topic, Protocol: "sqs", Endpoint: QUEUE_ARN };
      const answer = await asker.must(AWS, sns("Subscribe", parameters));
      const [, subscription = ""] = /<SubscriptionArn>(.*)<\/SubscriptionArn>/.exec(answer) ?? [];
      const { queues } = await asker.mustJson<{ queues: { name: string; id: string }[] }>(
        "/__sluice/api/queues",
      );
      const id = queues.find(({ name }) => name === "orders")?.id ?? "none";
      const routes = routesWithBodies(target)
        .filter((route) => !route.startsWith("DELETE "))
        .map((route) =>
          route.replace("/api/queues/any", "/api/queues/orders").replace("/queues/any", `/queues/${id}`),
        );
      const property = fc.asyncProperty(placeOf(routes), nested, async (place, deep) => {
        const { status } = await askNested(asker, place, deep, subscription);
        const isPolicy = place.kind === "queueAttribute" || place.kind === "topicParameter";
        const isText = place.kind === "topicParameter" && place.name === "Message";
        if (isPolicy && !isText && deep.levels > LEVELS_MAX && status !== 400 && status !== 413) {
          throw new Error(`${deep.levels} levels are answered with ${status}`);
        }
      });
      await fc.assert(property, { seed, numRuns: requests });
      await checkWhole(asker);
    } finally {
      await target.close();
    }
    return asker;
  },
};

function askNested(asker: Asker, place: Place, deep: Nested, subscription: string): Promise<JudgedAnswer> {
  const text = textOf(deep);
  switch (place.kind) {
    case "route": {
      const [method = "", path = ""] = place.route.split(" ");
      return asker.ask(path, { method, body: bodyOf(place.member, text) });
    }
    case "input":
      return asker.ask(AWS, sqs(place.action, bodyOf(place.member, text)));
    case "queueAttribute": {
      const input = { QueueUrl: "orders", QueueName: "orders", Attributes: { [place.name]: text } };
      return asker.ask(AWS, sqs(place.action, input));
    }
    case "topicParameter":
      return asker.ask(AWS, sns(place.action, topicParameters(place, text, subscription)));
  }
}

function bodyOf(member: string | null, text: string): string {
  return member === null ? text : String(json(`{"QueueUrl":"orders","${member}":${text}}`).body);
}

function topicParameters(
  { action, name }: Extract<Place, { kind: "topicParameter" }>,
  text: string,
  SubscriptionArn: string,
): Record<string, string> {
  const entry = { "Attributes.entry.1.key": name, "Attributes.entry.1.value": text };
  switch (action) {
    case "CreateTopic":
      return { Name: "another", ...entry };
    case "Subscribe":
      return { TopicArn: TOPIC_ARN, Protocol: "sqs", Endpoint: `${QUEUE_ARN}-2`, ...entry };
    case "Publish":
      return name === "Message"
        ? { TopicArn: TOPIC_ARN, Message: text.slice(0, 100_000) }
        : { TopicArn: TOPIC_ARN, MessageStructure: "json", Message: `{"default":${text.slice(0, 200_000)}}` };
    default:
      return { TopicArn: TOPIC_ARN, SubscriptionArn, AttributeName: name, AttributeValue: text };
  }
}

function textOf({ levels, opening, isClosed }: Nested): string {
  const closing = opening === "[" ? "]" : "}";
  return `${opening.repeat(levels)}1${isClosed ? closing.repeat(levels) : ""}`;
}
