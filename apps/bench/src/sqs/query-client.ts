import { HttpPool } from "./http-pool.ts";
import type { SqsClient } from "./sqs-client.ts";

const HEADERS = { "content-type": "application/x-www-form-urlencoded" };
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** SQS in the older Query protocol, with nothing of an SDK around it: forms out, XML back. */
export function openQueryClient(endpoint: string): SqsClient {
  const pool = new HttpPool(endpoint);
  const call = (parameters: Readonly<Record<string, string>>, queueUrl?: string): Promise<string> => {
    const form = new URLSearchParams({ ...parameters, Version: "2012-11-05" }).toString();
    return pool.post(HEADERS, form, queueUrl === undefined ? undefined : new URL(queueUrl).pathname);
  };
  const batch = async (
    action: string,
    queueUrl: string,
    entries: readonly Readonly<Record<string, string>>[],
  ) => {
    const parameters: Record<string, string> = { Action: action };
    for (const [i, entry] of entries.entries()) {
      for (const [name, value] of Object.entries({ Id: `${i}`, ...entry })) {
        parameters[`${action}RequestEntry.${i + 1}.${name}`] = value;
      }
    }
    const answer = await call(parameters, queueUrl);
    if (textsOf(answer, "Id").length !== entries.length || answer.includes("<BatchResultErrorEntry>")) {
      throw new Error(`${action}: entries failed: ${answer}`);
    }
  };
  return {
    createQueue: async (QueueName) => {
      const [queueUrl] = textsOf(await call({ Action: "CreateQueue", QueueName }), "QueueUrl");
      if (queueUrl === undefined) throw new Error("a queue was created without a URL");
      return queueUrl;
    },
    deleteQueue: async (queueUrl) => void (await call({ Action: "DeleteQueue" }, queueUrl)),
    send: async (queueUrl, MessageBody) =>
      void (await call({ Action: "SendMessage", MessageBody }, queueUrl)),
    sendBatch: (queueUrl, bodies) =>
      batch(
        "SendMessageBatch",
        queueUrl,
        bodies.map((MessageBody) => ({ MessageBody })),
      ),
    receive: async (queueUrl, waitSeconds) => {
      const wanted = { MaxNumberOfMessages: "10", WaitTimeSeconds: `${waitSeconds}` };
      const answer = await call({ Action: "ReceiveMessage", ...wanted }, queueUrl);
      const receipts = textsOf(answer, "ReceiptHandle");
      return textsOf(answer, "Body").map((body, i) => ({ body, receipt: receipts[i] ?? "" }));
    },
    deleteBatch: (queueUrl, receipts) =>
      batch(
        "DeleteMessageBatch",
        queueUrl,
        receipts.map((ReceiptHandle) => ({ ReceiptHandle })),
      ),
    close: () => pool.close(),
  };
}

/** The texts of all elements of a name. Enough for answers whose shape is known; no parser of XML. */
export function textsOf(xml: string, element: string): string[] {
  return [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, "g"))].map(([, text = ""]) =>
    text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (all, hex, decimal, name) => {
      if (name !== undefined) return ENTITIES[name] ?? all;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    }),
  );
}
