import fc from "fast-check";

/** Queues that a run begins with, and their attributes. */
export const QUEUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  dead: {},
  work: {
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:dead",
      maxReceiveCount: 2,
    }),
  },
  plain: { VisibilityTimeout: "0" },
  "ordered.fifo": { FifoQueue: "true", ContentBasedDeduplication: "true" },
  "strict.fifo": { FifoQueue: "true" },
};
/** Names of queues that requests use too, but that do not exist at the beginning of a run. */
const ABSENT = ["later", "later.fifo", "never"];

/**
 * Texts that tend to break a parser, a printer, a lookup or a column, and random ones. `placeholders.ts` replaces
 * `{{...}}`.
 */
export const hostileText = fc.oneof(
  fc.constantFrom(
    ...["", " ", "\u0000", "\u001f", "\ufffe", "\ud800", "\udc00\ud800", "\r\n", "\u2028", "é", "🦆"],
    ...["__proto__", "constructor", "toString", "hasOwnProperty", "null", "undefined", "[object Object]"],
    ...["NaN", "-0", "-1", "1e999", "0x10", "1.5", " 1", "{{digits:15}}", "{{digits:400}}", "true", "TRUE"],
    ...["../../..", "/", "//", "?", "#", "%", "%00", "%zz", "arn:aws:sqs:::", "arn:aws:sns:us-east-1:1:x"],
    ...[
      "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
      "]]>",
      "<![CDATA[",
      "&amp;",
      "&#0;",
    ],
    ...["{{x:81}}", "{{x:128}}", "{{x:129}}", "{{x:1025}}", "{{x:8193}}", "{{x:300000}}", "{{x:1048577}}"],
    ...[
      "{{quotes:1000000}}",
      "{}",
      "[]",
      '{"a":',
      '{"Statement":[null]}',
      '{"Statement":{}}',
      "{{deep:4000}}",
    ],
  ),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }),
);

/** Values of any type, to be used in the place of right ones. */
export const junk: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    1.5,
    1e300,
    2 ** 53,
    -(2 ** 31),
    [],
    {},
    [[]],
    [null],
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Generates mostly `good`, now and then `junk`. */
export function mostly<Value>(good: fc.Arbitrary<Value>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 60, arbitrary: good }, { weight: 1, arbitrary: junk });
}

/** Name of a queue, mostly of one that exists. */
export const queueName = fc.constantFrom(...Object.keys(QUEUES), ...Object.keys(QUEUES), ...ABSENT);
export const queueUrl = mostly(
  fc.oneof(
    { weight: 12, arbitrary: queueName.map((name) => `{{endpoint}}/000000000000/${name}`) },
    { weight: 1, arbitrary: queueName },
    { weight: 1, arbitrary: queueName.map((name) => `{{endpoint}}/queue/eu-west-1/000000000000/${name}`) },
    {
      weight: 1,
      arbitrary: queueName.map((name) => `https://sqs.us-east-1.amazonaws.com/000000000000/${name}/`),
    },
  ),
);
export const queueArn = mostly(queueName.map((name) => `arn:aws:sqs:us-east-1:000000000000:${name}`));
/** Receipt handle, by its distance from the latest, mostly with the URL of its own queue. */
export const received = fc
  .tuple(fc.nat({ max: 30 }), queueUrl, fc.nat({ max: 8 }))
  .map(([back, other, luck]) => ({
    QueueUrl: luck === 0 ? other : `{{receiptUrl:${back}}}`,
    ReceiptHandle: `{{receipt:${back}}}`,
  }));
export const taskHandle = mostly(fc.nat({ max: 3 }).map((back) => `{{task:${back}}}`));

/** Generates whole numbers within a range, at an end of it or just beyond, and seldom anything else. */
export function around(min: number, max: number): fc.Arbitrary<unknown> {
  return mostly(
    fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min, max }) },
      { weight: 6, arbitrary: fc.constantFrom(min, max) },
      { weight: 1, arbitrary: fc.constantFrom(min - 1, max + 1) },
    ),
  );
}

/** Generates the same numbers as texts. */
export function aroundText(min: number, max: number): fc.Arbitrary<unknown> {
  return around(min, max).map((value) => (typeof value === "number" ? String(value) : value));
}
