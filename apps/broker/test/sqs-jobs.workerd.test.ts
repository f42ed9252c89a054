import { once } from "node:events";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { Consumer, type ConsumerOptions } from "sqs-consumer";
import { Producer } from "sqs-producer";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { awsOptions, startSharedBroker } from "./any-broker.ts";

/* A job system of sqs-producer and sqs-consumer, with nothing of ours in it. */

let sqs: SQSClient;
let endpoint: string;

beforeAll(async () => {
  const broker = await startSharedBroker({ SLUICE_ENV: "development" });
  endpoint = `${broker.origin}/__sluice/aws`;
  sqs = clientOf();
  return async () => {
    sqs.destroy();
    await broker.dispose();
  };
});

function clientOf(): SQSClient {
  return new SQSClient(awsOptions(endpoint));
}

async function created(QueueName: string, Attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
}

function producerOf(queueUrl: string): Producer {
  return Producer.create({ queueUrl, sqs });
}

/** Starts a consumer until the test ends, or until it is stopped. An error other than a job's own fails the test. */
function consumer(queueUrl: string, options: Partial<ConsumerOptions>): Consumer {
  const made = Consumer.create({
    queueUrl,
    sqs,
    waitTimeSeconds: 20,
    suppressFifoWarning: true,
    messageSystemAttributeNames: ["All"],
    messageAttributeNames: ["All"],
    ...options,
  } as ConsumerOptions);
  made.start();
  onTestFinished(() => made.stop({ abort: true }));
  return made;
}

/** A list whose length can be waited for. */
class Jobs<Job> {
  readonly done: Job[] = [];
  #waiters: (() => void)[] = [];

  add(job: Job): void {
    this.done.push(job);
    for (const wake of this.#waiters) wake();
  }

  async reach(count: number): Promise<readonly Job[]> {
    while (this.done.length < count) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
    return this.done;
  }
}

/** Whether the queue has no message in any state. */
async function isEmpty(QueueUrl: string): Promise<boolean> {
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  const { Attributes = {} } = await sqs.send(asked);
  return (
    Attributes.ApproximateNumberOfMessages === "0" &&
    Attributes.ApproximateNumberOfMessagesNotVisible === "0" &&
    Attributes.ApproximateNumberOfMessagesDelayed === "0"
  );
}

const countOf = (message: Message) => message.Attributes?.ApproximateReceiveCount;

it("the packages sqs-producer and sqs-consumer send and handle jobs one by one and in batches, each once, with attributes and delays", async () => {
  const queueUrl = await created("jobs");
  const producer = producerOf(queueUrl);
  await producer.send({
    id: "single",
    body: "single",
    messageAttributes: { kind: { DataType: "String", StringValue: "mail" } },
  });
  await producer.send(Array.from({ length: 25 }, (_, i) => ({ id: `id-${i}`, body: `job ${i}` })));
  expect(await producer.queueSize()).toBe(26);
  await producer.send({ id: "late", body: "late", delaySeconds: 1 });
  const jobs = new Jobs<Message>();
  const worker = consumer(queueUrl, {
    batchSize: 10,
    handleMessage: async (message) => {
      jobs.add(message);
      return message;
    },
  });
  const done = await jobs.reach(27);
  const bodies = done.map(({ Body }) => Body);
  expect(new Set(bodies)).toEqual(
    new Set(["single", "late", ...Array.from({ length: 25 }, (_, i) => `job ${i}`)]),
  );
  expect(done.find(({ Body }) => Body === "single")?.MessageAttributes).toEqual({
    kind: { DataType: "String", StringValue: "mail" },
  });
  const late = done.find(({ Body }) => Body === "late");
  const { SentTimestamp, ApproximateFirstReceiveTimestamp } = late?.Attributes ?? {};
  expect(Number(ApproximateFirstReceiveTimestamp) - Number(SentTimestamp)).toBeGreaterThanOrEqual(1_000);
  await once(worker, "response_processed");
  expect(await isEmpty(queueUrl)).toBe(true);
});

it("the packages sqs-producer and sqs-consumer retry a job that throws at once, and make it a dead letter after maxReceiveCount", async () => {
  const deadUrl = await created("failed-jobs");
  const deadLetterTargetArn = "arn:aws:sqs:us-east-1:000000000000:failed-jobs";
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 });
  const queueUrl = await created("failing-jobs", { RedrivePolicy, VisibilityTimeout: "600" });
  await producerOf(queueUrl).send([
    { id: "bad", body: "bad" },
    { id: "good", body: "good" },
  ]);
  const attempts = new Jobs<string>();
  const failing = consumer(queueUrl, {
    terminateVisibilityTimeout: true,
    handleMessage: async (message) => {
      attempts.add(`${message.Body} ${countOf(message)}`);
      if (message.Body === "bad") throw new Error("it cannot be done");
      return message;
    },
  });
  failing.on("processing_error", () => {});
  const dead = new Jobs<Message>();
  consumer(deadUrl, {
    handleMessage: async (message) => {
      dead.add(message);
      return message;
    },
  });
  const [message] = await dead.reach(1);
  await attempts.reach(4);
  expect(attempts.done.sort()).toEqual(["bad 1", "bad 2", "bad 3", "good 1"]);
  expect(message).toMatchObject({
    Body: "bad",
    Attributes: {
      ApproximateReceiveCount: "4",
      DeadLetterQueueSourceArn: "arn:aws:sqs:us-east-1:000000000000:failing-jobs",
    },
  });
  // The good job may still be in flight, and the queue learns later than the dead-letter queue's consumer that the
  // bad one has arrived there.
  await expect.poll(() => isEmpty(queueUrl)).toBe(true);
});

it("the packages sqs-producer and sqs-consumer handle a part of a batch: the rest comes again after its visibility timeout", async () => {
  const queueUrl = await created("batches");
  await producerOf(queueUrl).send(["a", "b", "c", "d"].map((body) => ({ id: body, body })));
  const batches = new Jobs<Message[]>();
  const worker = consumer(queueUrl, {
    batchSize: 10,
    visibilityTimeout: 1,
    handleMessageBatch: async (messages) => {
      batches.add(messages);
      return messages.filter(({ Body }) => Body !== "b" || batches.done.length > 1);
    },
  });
  const [first, second] = await batches.reach(2);
  expect(first?.map(({ Body }) => Body)).toEqual(["a", "b", "c", "d"]);
  expect(second?.map((message) => [message.Body, countOf(message)])).toEqual([["b", "2"]]);
  await once(worker, "response_processed");
  expect(await isEmpty(queueUrl)).toBe(true);
});

it("the packages sqs-producer and sqs-consumer keep a job that takes longer than its visibility timeout with a heartbeat", async () => {
  const queueUrl = await created("long-jobs");
  await producerOf(queueUrl).send("long");
  const heartbeats = new Jobs<number>();
  const client = clientOf();
  onTestFinished(() => client.destroy());
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        if (commandName === "ChangeMessageVisibilityCommand") heartbeats.add(Date.now());
        return answer;
      },
    {},
  );
  const jobs = new Jobs<Message>();
  const worker = consumer(queueUrl, {
    sqs: client,
    visibilityTimeout: 2,
    heartbeatInterval: 1,
    handleMessage: async (message) => {
      // Three seconds: without the heartbeat it would have been visible after two.
      await heartbeats.reach(3);
      jobs.add(message);
      return message;
    },
  });
  // One receiver may end before the others are answered, which wait as long as it takes.
  const processed = once(worker, "message_processed");
  await once(worker, "message_received");
  const others = await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds: 3 }));
  expect(others.Messages).toBeUndefined();
  await processed;
  expect(jobs.done.map(({ Body }) => Body)).toEqual(["long"]);
  expect(await isEmpty(queueUrl)).toBe(true);
});

it("the packages sqs-producer and sqs-consumer handle the jobs of a group in order, one at a time, several groups at once", async () => {
  const queueUrl = await created("steps.fifo", { FifoQueue: "true", ContentBasedDeduplication: "true" });
  const steps = ["a1", "b1", "a2", "b2", "a3", "b3"];
  const messages = steps.map((body) => ({ id: body, body, groupId: body.slice(0, 1) }));
  await producerOf(queueUrl).send([...messages, { id: "again", body: "a1", groupId: "a" }]);
  const jobs = new Jobs<string>();
  for (let i = 0; i < 2; i++) {
    consumer(queueUrl, {
      handleMessage: async (message) => {
        jobs.add(message.Body ?? "");
        return message;
      },
    });
  }
  const done = await jobs.reach(6);
  for (const group of ["a", "b"]) {
    expect(done.filter((step) => step.startsWith(group))).toEqual([1, 2, 3].map((step) => group + step));
  }
  await expect.poll(() => isEmpty(queueUrl)).toBe(true);
});

it("the packages sqs-producer and sqs-consumer hold no job back when they are stopped while they wait: the next consumer gets it as its first", async () => {
  const queueUrl = await created("restarts", { VisibilityTimeout: "600" });
  for (let restart = 0; restart < 8; restart++) {
    const polls = new Jobs<null>();
    const client = clientOf();
    onTestFinished(() => client.destroy());
    client.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          if (commandName === "ReceiveMessageCommand") polls.add(null);
          return next(args);
        },
      {},
    );
    const stopped = Consumer.create({
      queueUrl,
      sqs: client,
      waitTimeSeconds: 20,
      handleMessage: async (message) => message,
    });
    // The consumer's polling client is gone after a stop, which is no error here.
    stopped.on("error", () => {});
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: "first" }));
    stopped.start();
    await once(stopped, "message_processed");
    // The consumer can be stopped at any time: before the next poll, during its request, and while it waits for the
    // broker, which has answered others meanwhile.
    if (restart > 0) await polls.reach(2);
    for (let answered = 1; answered < restart; answered++) await isEmpty(queueUrl);
    stopped.stop({ abort: true });
    const waiting = sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        WaitTimeSeconds: 5,
        VisibilityTimeout: 0,
        MessageSystemAttributeNames: ["All"],
      }),
    );
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: `second ${restart}` }));
    const { Messages: [message] = [] } = await waiting;
    expect([message?.Body, message && countOf(message)]).toEqual([`second ${restart}`, "1"]);
    const rest = Consumer.create({ queueUrl, sqs, handleMessage: async (each) => each });
    rest.start();
    await once(rest, "message_processed");
    rest.stop({ abort: true });
  }
});
