import * as sdk from "@aws-sdk/client-sqs";
import type { SqsClient } from "./sqs-client.ts";

/** AWS's SDK for JavaScript as it is today: it signs, and checks every MD5. */
export function openSdkClient(endpoint: string): SqsClient {
  const client = new sdk.SQSClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
    maxAttempts: 1,
  });
  const complete = (wanted: number, Successful: readonly unknown[] | undefined) => {
    if (Successful?.length !== wanted) throw new Error("entries of a batch failed");
  };
  return {
    createQueue: async (QueueName) => {
      const { QueueUrl } = await client.send(new sdk.CreateQueueCommand({ QueueName }));
      if (QueueUrl === undefined) throw new Error("a queue was created without a URL");
      return QueueUrl;
    },
    deleteQueue: async (QueueUrl) => void (await client.send(new sdk.DeleteQueueCommand({ QueueUrl }))),
    send: async (QueueUrl, MessageBody) =>
      void (await client.send(new sdk.SendMessageCommand({ QueueUrl, MessageBody }))),
    sendBatch: async (QueueUrl, bodies) => {
      const Entries = bodies.map((MessageBody, i) => ({ Id: `${i}`, MessageBody }));
      const { Successful } = await client.send(new sdk.SendMessageBatchCommand({ QueueUrl, Entries }));
      complete(bodies.length, Successful);
    },
    receive: async (QueueUrl, WaitTimeSeconds) => {
      const command = new sdk.ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds });
      const { Messages = [] } = await client.send(command);
      return Messages.map(({ Body = "", ReceiptHandle = "" }) => ({ body: Body, receipt: ReceiptHandle }));
    },
    deleteBatch: async (QueueUrl, receipts) => {
      const Entries = receipts.map((ReceiptHandle, i) => ({ Id: `${i}`, ReceiptHandle }));
      const { Successful } = await client.send(new sdk.DeleteMessageBatchCommand({ QueueUrl, Entries }));
      complete(receipts.length, Successful);
    },
    close: async () => client.destroy(),
  };
}
