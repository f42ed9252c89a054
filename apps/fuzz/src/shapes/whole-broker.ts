import { API, type Asker, AWS, REST, sns, sqs } from "./asker.ts";

/** Name of a queue that no generated request names. */
const KEPT = "the-books";
const URL_OF = (name: string) => `http://localhost:8787/__sluice/aws/000000000000/${name}`;

/** Lists that have to answer after any request. */
const LISTS = [
  ...["/queues", "/topics", "/tokens", "/audit", "/backup"].map((path) => `${API}${path}`),
  ...["queues?per_page=100", "event_subscriptions/subscriptions"].map((path) => `${REST}/${path}`),
  "/__sluice/metrics",
  "/__sluice/health",
];

/** Creates the queue of `checkWhole`, with a first message. */
export async function openWhole(asker: Asker): Promise<void> {
  await asker.must(AWS, sqs("CreateQueue", { QueueName: KEPT }));
  await sendKept(asker, "first");
}

/** Throws unless every list answers, and the message of the last call comes out. Sends the next one. */
export async function checkWhole(asker: Asker): Promise<void> {
  for (const path of LISTS) await asker.must(path);
  const { queues } = await asker.mustJson<{ queues: { name: string }[] }>(`${API}/queues`);
  for (const { name } of queues) {
    const at = encodeURIComponent(name);
    await asker.must(`${API}/queues/${at}`);
    await asker.must(`${API}/queues/${at}/messages`);
    await asker.must(`${API}/backup/messages?queue=${at}`);
  }
  const { topics } = await asker.mustJson<{ topics: { arn: string }[] }>(`${API}/topics`);
  for (const { arn } of topics) {
    await asker.must(`${API}/topics/${encodeURIComponent(arn)}`);
    await asker.must(AWS, sns("GetTopicAttributes", { TopicArn: arn }));
    await asker.must(AWS, sns("ListSubscriptionsByTopic", { TopicArn: arn }));
  }
  await asker.must(AWS, sns("ListTopics", {}));
  await asker.must(AWS, sns("ListSubscriptions", {}));
  const { QueueUrls = [] } = await asker.mustJson<{ QueueUrls?: string[] }>(AWS, sqs("ListQueues", {}));
  for (const QueueUrl of QueueUrls) {
    await asker.must(AWS, sqs("GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] }));
    await asker.must(AWS, sqs("ListQueueTags", { QueueUrl }));
  }
  if (!QueueUrls.includes(URL_OF(KEPT))) throw new Error(`ListQueues lacks "${KEPT}"`);
  if ((await takeFrom(asker, KEPT)) === null) throw new Error(`the message in "${KEPT}" is lost`);
  await sendKept(asker, "next");
}

/** Sends a message to a queue. */
export async function sendTo(asker: Asker, queue: string, MessageBody: string): Promise<void> {
  await asker.must(AWS, sqs("SendMessage", { QueueUrl: URL_OF(queue), MessageBody }));
}

/** Receives and deletes one message of a queue. Resolves to its body; `null` if none comes. */
export async function takeFrom(asker: Asker, queue: string): Promise<string | null> {
  const QueueUrl = URL_OF(queue);
  const { Messages: [message] = [] } = await asker.mustJson<{
    Messages?: { Body: string; ReceiptHandle: string }[];
  }>(AWS, sqs("ReceiveMessage", { QueueUrl, WaitTimeSeconds: 5 }));
  if (message === undefined) return null;
  await asker.must(AWS, sqs("DeleteMessage", { QueueUrl, ReceiptHandle: message.ReceiptHandle }));
  return message.Body;
}

/** Creates queues and a topic. Resolves to the topic's ARN. */
export async function openTopic(asker: Asker, name: string, queues: readonly string[]): Promise<string> {
  for (const QueueName of queues) await asker.must(AWS, sqs("CreateQueue", { QueueName }));
  await asker.must(AWS, sns("CreateTopic", { Name: name }));
  return `arn:aws:sns:us-east-1:000000000000:${name}`;
}

async function sendKept(asker: Asker, text: string): Promise<void> {
  await sendTo(asker, KEPT, text);
}
