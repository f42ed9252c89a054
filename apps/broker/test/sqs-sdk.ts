import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { awsOptions, startSharedBroker } from "./any-broker.ts";

export let sqs: SQSClient;
export let endpoint: string;

/** Starts the broker before all tests of a file. @returns the function that ends it after them. */
export async function start(): Promise<() => Promise<void>> {
  const { origin, dispose } = await startSharedBroker({ SLUICE_ENV: "development" });
  endpoint = `${origin}/__sluice/aws`;
  sqs = clientOf();
  return async () => {
    sqs.destroy();
    await dispose();
  };
}

export function clientOf(region?: string): SQSClient {
  return new SQSClient(awsOptions(endpoint, region));
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
