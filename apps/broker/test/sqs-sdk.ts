import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { startBroker } from "./any-broker.ts";

export let sqs: SQSClient;
export let endpoint: string;
export let dispose: () => Promise<void>;

/** Starts the broker before all tests of a file. */
export async function start(): Promise<void> {
  const disposeWith = (end: () => Promise<void>) => {
    dispose = end;
  };
  const { origin } = await startBroker({ SLUICE_ENV: "development" }, { disposeWith });
  endpoint = `${origin}/__sluice/aws`;
  sqs = clientOf();
}

/** Ends the broker after all tests. */
export async function stop(): Promise<void> {
  sqs.destroy();
  await dispose();
}

export function clientOf(region = "us-east-1"): SQSClient {
  const credentials = { accessKeyId: "anybody", secretAccessKey: "any secret" };
  return new SQSClient({ endpoint, region, credentials, maxAttempts: 1 });
}

export async function created(QueueName: string, Attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
}

export async function arnOf(QueueUrl: string): Promise<string> {
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
  return (await sqs.send(asked)).Attributes?.QueueArn ?? "";
}

export async function receive(QueueUrl: string, options: object = {}) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ["All"],
      ...options,
    }),
  );
  return Messages;
}

/** Returns the members that clients read of the error that the SDK throws for a call. */
export async function refusal(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => new Error("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SQSServiceException)) throw error;
  const { Code } = error as { Code?: string };
  return { name: error.name, status: error.$metadata.httpStatusCode, message: error.message, code: Code };
}
