import { sqs } from "./client.ts";

/** A queue of the runs. */
interface SoakQueue {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Receives after which a message moves to the dead-letter queue; `null` if it never does. */
  readonly receivesMax: number | null;
}

/** Visibility timeout of the queues, in ms: longer than a start takes, so that leases outlast kills. */
export const VISIBILITY_MS = 4_000;
export const DEAD_QUEUE = "dead";
const RECEIVES_MAX = 3;
const Visible = { VisibilityTimeout: `${VISIBILITY_MS / 1000}` };

/** The queues, the dead-letter queue first: the others name it. */
export const QUEUES = [
  { name: DEAD_QUEUE, attributes: Visible, receivesMax: null },
  { name: "plain", attributes: Visible, receivesMax: null },
  {
    name: "few-receives",
    attributes: {
      ...Visible,
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: `arn:aws:sqs:us-east-1:000000000000:${DEAD_QUEUE}`,
        maxReceiveCount: RECEIVES_MAX,
      }),
    },
    receivesMax: RECEIVES_MAX,
  },
  { name: "ordered.fifo", attributes: { ...Visible, FifoQueue: "true" }, receivesMax: null },
] as const satisfies readonly SoakQueue[];

export type QueueName = (typeof QUEUES)[number]["name"];

/** Standard queues that producers send to. */
export const UNORDERED_QUEUES = ["plain", "few-receives"] as const satisfies readonly QueueName[];
export const ORDERED_QUEUE = "ordered.fifo" satisfies QueueName;

/** The URL of a queue, as `CreateQueue` answers with it. */
export function queueUrl(endpoint: string, name: string): string {
  return `${endpoint}000000000000/${name}`;
}

export async function createQueues(endpoint: string): Promise<void> {
  for (const { name, attributes } of QUEUES) {
    await sqs(endpoint, "CreateQueue", { QueueName: name, Attributes: attributes });
  }
}

export function queueNamed(name: string): SoakQueue {
  const queue = QUEUES.find((each) => each.name === name);
  if (queue === undefined) throw new Error(`there is no queue "${name}"`);
  return queue;
}
