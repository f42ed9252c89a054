import fc from "fast-check";
import {
  around,
  aroundText,
  hostileText,
  junk,
  mostly,
  queueArn,
  queueName,
  queueUrl,
  received,
  taskHandle,
} from "./values.ts";

/** Generates records whose members may be absent, except the required ones. */
function some(members: Record<string, fc.Arbitrary<unknown>>, ...required: string[]): fc.Arbitrary<object> {
  return fc.record(members, { requiredKeys: required });
}

/** Generates records of at most three of the members: with more, one of them would nearly always be wrong. */
function fewOf(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const names = fc.uniqueArray(fc.constantFrom(...Object.keys(members)), { maxLength: 3 });
  return mostly(
    names.chain((chosen) =>
      fc.record(Object.fromEntries(chosen.map((name) => [name, members[name] ?? junk]))),
    ),
  );
}

const list = (element: fc.Arbitrary<unknown>, maxLength = 4) => mostly(fc.array(element, { maxLength }));
const text = (good: fc.Arbitrary<string>) => mostly(good);
const oneOf = (...texts: string[]) => text(fc.constantFrom(...texts));
/** Generates mostly a good value, now and then a bad one. */
const usually = (good: readonly string[], ...beyond: string[]) =>
  text(
    fc.oneof(
      { weight: 15, arbitrary: fc.constantFrom(...good) },
      { weight: 1, arbitrary: fc.constantFrom(...beyond) },
    ),
  );

// `{{x:1000}}` stands for a thousand times "x".
const body = text(
  fc.oneof(fc.string({ minLength: 1, maxLength: 60 }), fc.constantFrom("{{x:1000}}", "{{x:262145}}")),
);
const attributeValue = mostly(
  fc.oneof(
    fc.record({
      DataType: oneOf("String", "String.own", "Number"),
      StringValue: text(fc.string({ minLength: 1 })),
    }),
    fc.record({
      DataType: oneOf("Number"),
      StringValue: usually(["1", "-1.5e3", "{{digits:38}}"], "{{digits:39}}"),
    }),
    fc.record({
      DataType: oneOf("Binary", "Binary.png"),
      BinaryValue: text(fc.base64String({ minLength: 4 })),
    }),
    some({
      DataType: oneOf("String"),
      StringListValues: list(hostileText),
      BinaryListValues: list(hostileText),
    }),
  ),
);
const attributeName = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("a", "b", "Name", "é.1", "__proto__", "{{x:256}}") },
  { weight: 1, arbitrary: fc.constantFrom("AWS.a", "amazon.b", ".a", "a..b", "{{x:257}}") },
  { weight: 1, arbitrary: hostileText },
);
const message = {
  MessageBody: body,
  DelaySeconds: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, around(0, 900)),
  MessageAttributes: mostly(fc.dictionary(attributeName, attributeValue, { maxKeys: 11 })),
  MessageSystemAttributes: mostly(
    fc.dictionary(fc.constantFrom("AWSTraceHeader", "AWSTraceHeader", "Other"), attributeValue, {
      maxKeys: 1,
    }),
  ),
};
const fifoMessage = {
  ...message,
  DelaySeconds: fc.constant(0),
  MessageDeduplicationId: usually(["d1", "d2", "{{x:128}}"], "{{x:129}}", "with space"),
  MessageGroupId: usually(["g1", "g2", "g3", "{{x:128}}"], "{{x:129}}", ""),
};
const id = usually(["a", "b", "c", "d", "{{x:80}}"], "{{x:81}}", "no good");
/** Generates entries of a batch, mostly with different ids. */
const entries = (members: Record<string, fc.Arbitrary<unknown>>, ...required: string[]) =>
  mostly(
    fc
      .array(
        fc.oneof(
          { weight: 20, arbitrary: some(members, ...required) },
          { weight: 1, arbitrary: mostly(some({ Id: id, ...members }, "Id", ...required)) },
        ),
        { maxLength: 11 },
      )
      .map((each) =>
        each.map((entry, i) =>
          typeof entry === "object" && entry !== null ? { Id: `id-${i}`, ...entry } : entry,
        ),
      ),
  );
const redrivePolicy = fc
  .record(
    {
      deadLetterTargetArn: mostly(
        fc
          .constantFrom("dead", "dead.fifo", "never")
          .map((name) => `arn:aws:sqs:us-east-1:000000000000:${name}`),
      ),
      maxReceiveCount: mostly(fc.oneof(fc.integer({ min: 0, max: 1_001 }), fc.constantFrom("1", "1000"))),
      extra: junk,
    },
    { requiredKeys: ["deadLetterTargetArn", "maxReceiveCount"] },
  )
  .map((policy) => JSON.stringify(policy));
const allowPolicy = fc
  .record(
    { redrivePermission: oneOf("allowAll", "denyAll", "byQueue"), sourceQueueArns: list(queueArn, 11) },
    { requiredKeys: ["redrivePermission"] },
  )
  .map((policy) => JSON.stringify(policy));
const policy = fc
  .record({
    Version: oneOf("2008-10-17"),
    Statement: mostly(list(mostly(some({ Sid: oneOf("a", "b"), Effect: junk })))),
  })
  .map((value) => JSON.stringify(value));
const queueAttributes = fewOf({
  VisibilityTimeout: aroundText(0, 43_200),
  DelaySeconds: aroundText(0, 900),
  MaximumMessageSize: aroundText(1_024, 1_048_576),
  MessageRetentionPeriod: aroundText(60, 1_209_600),
  ReceiveMessageWaitTimeSeconds: aroundText(0, 20),
  KmsDataKeyReusePeriodSeconds: aroundText(60, 86_400),
  FifoQueue: usually(["true"], "false", "1"),
  ContentBasedDeduplication: oneOf("true", "false"),
  SqsManagedSseEnabled: oneOf("true", "false"),
  DeduplicationScope: oneOf("queue", "messageGroup"),
  FifoThroughputLimit: oneOf("perQueue", "perMessageGroupId"),
  KmsMasterKeyId: usually(["alias/aws/sqs", ""], "{{x:3000000}}"),
  RedrivePolicy: text(redrivePolicy),
  RedriveAllowPolicy: text(allowPolicy),
  Policy: text(policy),
  QueueArn: hostileText,
});
const attributeNames = list(
  usually(["All", "QueueArn", "Policy", "ApproximateNumberOfMessages"], "SentTimestamp", ""),
);
const tagKey = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("team", "env", "__proto__", "{{x:128}}") },
  hostileText,
);
const tags = mostly(
  fc.dictionary(tagKey, text(fc.oneof(fc.constantFrom("", "v", "{{x:256}}"), hostileText)), { maxKeys: 4 }),
);
const page = { MaxResults: around(1, 1_000), NextToken: usually(["", btoa("after:")], "nonsense", "!") };

/** Generates inputs that settle a received message. */
function settling(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return fc.tuple(received, fc.record(members)).map(([message, rest]) => ({ ...rest, ...message }));
}

function settlingBatch(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return received.chain(({ QueueUrl, ReceiptHandle }) =>
    some(
      {
        QueueUrl: mostly(fc.constant(QueueUrl)),
        Entries: entries({ ReceiptHandle: mostly(fc.constant(ReceiptHandle)), ...members }),
      },
      "QueueUrl",
    ),
  );
}

/** Inputs of SQS's actions: mostly well-formed, now and then with a mistake. */
export const INPUTS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  AddPermission: some(
    {
      QueueUrl: queueUrl,
      Label: usually(["one", "two", "three", "{{x:80}}"], "{{x:81}}"),
      AWSAccountIds: mostly(
        fc.oneof(
          { weight: 12, arbitrary: list(usually(["123456789012"], "{{x:300000}}")) },
          { weight: 1, arbitrary: fc.constant(Array(60).fill("123456789012")) },
        ),
      ),
      Actions: list(usually(["*", "SendMessage", "ReceiveMessage"], "CreateQueue", "Nonsense"), 8),
    },
    "QueueUrl",
    "Label",
  ),
  CancelMessageMoveTask: some({ TaskHandle: taskHandle }),
  ChangeMessageVisibility: settling({ VisibilityTimeout: around(0, 43_200) }),
  ChangeMessageVisibilityBatch: settlingBatch({ VisibilityTimeout: around(0, 43_200) }),
  CreateQueue: some({ QueueName: mostly(queueName), Attributes: queueAttributes, tags }, "QueueName"),
  DeleteMessage: settling({}),
  DeleteMessageBatch: settlingBatch({}),
  // Mostly the queue that no other request needs.
  DeleteQueue: some({ QueueUrl: fc.oneof({ weight: 6, arbitrary: fc.constant("later") }, queueUrl) }),
  GetQueueAttributes: some({ QueueUrl: queueUrl, AttributeNames: attributeNames }, "QueueUrl"),
  GetQueueUrl: some({
    QueueName: mostly(queueName),
    QueueOwnerAWSAccountId: usually(["000000000000"], "1", "../.."),
  }),
  ListDeadLetterSourceQueues: some({ QueueUrl: queueUrl, ...page }, "QueueUrl"),
  ListMessageMoveTasks: some({ SourceArn: queueArn, MaxResults: around(1, 10) }, "SourceArn"),
  ListQueues: some({ QueueNamePrefix: mostly(queueName), ...page }),
  ListQueueTags: some({ QueueUrl: queueUrl }, "QueueUrl"),
  PurgeQueue: some({ QueueUrl: queueUrl }),
  ReceiveMessage: some(
    {
      QueueUrl: queueUrl,
      AttributeNames: attributeNames,
      MessageSystemAttributeNames: list(oneOf("All", "SentTimestamp", "AWSTraceHeader", "Nonsense")),
      MessageAttributeNames: list(oneOf("All", ".*", "a", "N.*", "..")),
      MaxNumberOfMessages: around(1, 10),
      VisibilityTimeout: around(0, 43_200),
      // Long polls are few: over the network they take their time.
      WaitTimeSeconds: fc.oneof(
        { weight: 9, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: around(0, 1) },
      ),
      ReceiveRequestAttemptId: usually(["attempt", "{{x:128}}"], "{{x:129}}", "with space"),
    },
    "QueueUrl",
    "WaitTimeSeconds",
  ),
  RemovePermission: some({ QueueUrl: queueUrl, Label: oneOf("one", "two", "a") }, "QueueUrl"),
  SendMessage: fc.oneof(
    some({ QueueUrl: queueUrl, ...message }, "QueueUrl", "MessageBody"),
    some({ QueueUrl: queueUrl, ...fifoMessage }, "QueueUrl", "MessageBody", "MessageGroupId"),
  ),
  SendMessageBatch: fc.oneof(
    some({ QueueUrl: queueUrl, Entries: entries(message, "MessageBody") }, "QueueUrl"),
    some({ QueueUrl: queueUrl, Entries: entries(fifoMessage, "MessageBody", "MessageGroupId") }, "QueueUrl"),
  ),
  SetQueueAttributes: some({ QueueUrl: queueUrl, Attributes: queueAttributes }, "QueueUrl"),
  StartMessageMoveTask: some(
    {
      SourceArn: fc.oneof(fc.constant("arn:aws:sqs:us-east-1:000000000000:dead"), queueArn),
      DestinationArn: queueArn,
      MaxNumberOfMessagesPerSecond: around(1, 500),
    },
    "SourceArn",
  ),
  TagQueue: some({ QueueUrl: queueUrl, Tags: tags }, "QueueUrl"),
  UntagQueue: some(
    { QueueUrl: queueUrl, TagKeys: list(usually(["team", "env", "__proto__"], "{{x:129}}", "")) },
    "QueueUrl",
  ),
};
