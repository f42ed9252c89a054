import { HttpPool } from "./http-pool.ts";
import type { SqsClient } from "./sqs-client.ts";

interface BatchAnswer {
  readonly Successful?: readonly unknown[];
}

/** SQS in AWS JSON 1.0, with nothing of an SDK around it. */
export function openJsonClient(endpoint: string): SqsClient {
  const pool = new HttpPool(endpoint);
  const call = async (action: string, input: object): Promise<unknown> => {
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `AmazonSQS.${action}`,
    };
    const text = await pool.post(headers, JSON.stringify(input));
    return text === "" ? {} : JSON.parse(text);
  };
  const batch = async (action: string, QueueUrl: string, Entries: readonly object[]) => {
    const { Successful } = (await call(action, { QueueUrl, Entries })) as BatchAnswer;
    if (Successful?.length !== Entries.length) throw new Error(`${action}: entries failed`);
  };
  return {
    createQueue: async (QueueName) =>
      ((await call("CreateQueue", { QueueName })) as { readonly QueueUrl: string }).QueueUrl,
    deleteQueue: async (QueueUrl) => void (await call("DeleteQueue", { QueueUrl })),
    send: async (QueueUrl, MessageBody) => void (await call("SendMessage", { QueueUrl, MessageBody })),
    sendBatch: (queueUrl, bodies) =>
      batch(
        "SendMessageBatch",
        queueUrl,
        bodies.map((MessageBody, i) => ({ Id: `${i}`, MessageBody })),
      ),
    receive: async (QueueUrl, WaitTimeSeconds) => {
      const answer = await call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds });
      const { Messages = [] } = answer as {
        readonly Messages?: readonly { readonly Body: string; readonly ReceiptHandle: string }[];
      };
      return Messages.map(({ Body, ReceiptHandle }) => ({ body: Body, receipt: ReceiptHandle }));
    },
    deleteBatch: (queueUrl, receipts) =>
      batch(
        "DeleteMessageBatch",
        queueUrl,
        receipts.map((ReceiptHandle, i) => ({ Id: `${i}`, ReceiptHandle })),
      ),
    close: () => pool.close(),
  };
}
