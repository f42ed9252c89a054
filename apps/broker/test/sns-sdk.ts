import { CreateTopicCommand, SNSClient, SNSServiceException, SubscribeCommand } from "@aws-sdk/client-sns";
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { awsOptions, startSharedBroker } from "./any-broker.ts";

const HOUR_S = 3_600;

export let sns: SNSClient;
export let sqs: SQSClient;
export let endpoint: string;

/** Starts the broker before all tests of a file. @returns the function that ends it after them. */
export async function start(): Promise<() => Promise<void>> {
  const { origin, dispose } = await startSharedBroker({ SLUICE_ENV: "development" });
  endpoint = `${origin}/__sluice/aws`;
  sns = new SNSClient(awsOptions(endpoint));
  sqs = new SQSClient(awsOptions(endpoint));
  return async () => {
    sns.destroy();
    sqs.destroy();
    await dispose();
  };
}

export async function topic(Name: string, Attributes: Record<string, string> = {}): Promise<string> {
  return (await sns.send(new CreateTopicCommand({ Name, Attributes }))).TopicArn ?? "";
}

/** Creates a queue, and returns its URL and its ARN. */
export async function queue(QueueName: string, Attributes: Record<string, string> = {}) {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return { url: QueueUrl, arn: `arn:aws:sqs:us-east-1:000000000000:${QueueName}` };
}

export async function subscribed(
  TopicArn: string,
  Endpoint: string,
  Attributes: Record<string, string> = {},
): Promise<string> {
  const { SubscriptionArn = "" } = await sns.send(
    new SubscribeCommand({ TopicArn, Protocol: "sqs", Endpoint, Attributes }),
  );
  return SubscriptionArn;
}

/** Receives at least `count` messages of a queue, however long that takes. */
export async function received(QueueUrl: string, count: number) {
  const all = [];
  while (all.length < count) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 20,
        VisibilityTimeout: HOUR_S,
        MessageAttributeNames: ["All"],
        MessageSystemAttributeNames: ["All"],
      }),
    );
    all.push(...Messages);
  }
  return all;
}

export interface Notification {
  readonly Message: string;
  readonly [member: string]: unknown;
}

export function envelopeIn(body: string | undefined): Notification {
  return JSON.parse(body ?? "") as Notification;
}

/** Returns the members that clients read of the error that the SDK throws for a call. */
export async function refusal(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => new Error("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SNSServiceException)) throw error;
  return { name: error.name, status: error.$metadata.httpStatusCode, message: error.message };
}
