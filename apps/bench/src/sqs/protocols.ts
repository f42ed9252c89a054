import * as sdk from "@aws-sdk/client-sqs";
import { Pool } from "undici";
import type { OpenProtocol } from "./sqs-client.ts";

/** Most connections of a client; no workload has more requests under way. */
const CONNECTIONS = 64;
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** Client of AWS JSON 1.0 without an SDK. */
export const openJson: OpenProtocol = (endpoint) => {
  const { post, close } = openPool(endpoint);
  return {
    async call(action, input) {
      const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
      const text = await post(headers, JSON.stringify(input));
      return text === "" ? {} : JSON.parse(text);
    },
    close,
  };
};

/** Client of the older Query protocol without an SDK: forms to a queue's own URL, XML back. */
export const openQuery: OpenProtocol = (endpoint) => {
  const { post, close } = openPool(endpoint);
  return {
    async call(action, { QueueUrl, Entries = [], ...parameters }) {
      const form = new URLSearchParams({ Action: action, ...parameters, Version: "2012-11-05" });
      for (const [i, entry] of (Entries as readonly object[]).entries()) {
        for (const [name, value] of Object.entries(entry)) {
          form.set(`${action}RequestEntry.${i + 1}.${name}`, value);
        }
      }
      const path = QueueUrl === undefined ? undefined : new URL(String(QueueUrl)).pathname;
      const answer = await post(FORM, form.toString(), path);
      return {
        get QueueUrl() {
          return textsOf(answer, "QueueUrl")[0];
        },
        get Successful() {
          return answer.includes("<BatchResultErrorEntry>") ? [] : textsOf(answer, "Id");
        },
        get Messages() {
          const receipts = textsOf(answer, "ReceiptHandle");
          return textsOf(answer, "Body").map((Body, i) => ({ Body, ReceiptHandle: receipts[i] }));
        },
      };
    },
    close,
  };
};

/** Client by AWS's SDK for JavaScript, which signs requests and checks every MD5. */
export const openSdk: OpenProtocol = (endpoint) => {
  const client = new sdk.SQSClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
    maxAttempts: 1,
  });
  const commands = sdk as unknown as Readonly<
    Record<string, new (input: object) => sdk.ReceiveMessageCommand>
  >;
  return {
    call(action, input) {
      const Command = commands[`${action}Command`];
      if (Command === undefined) throw new Error(`AWS's SDK has no ${action}`);
      return client.send(new Command(input));
    },
    close: async () => client.destroy(),
  };
};

/** Opens a pool of connections that stay open, with one request at a time on each. */
function openPool(endpoint: string) {
  const { origin, pathname } = new URL(endpoint);
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  return {
    /** Rejects with the answer unless its status is 200. */
    async post(headers: Record<string, string>, body: string, path = pathname): Promise<string> {
      const response = await pool.request({ method: "POST", path, headers, body });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
      return text;
    },
    close: () => pool.close(),
  };
}

/** Finds the texts of all elements of a name. Enough for the servers' answers; it is no XML parser. */
export function textsOf(xml: string, element: string): string[] {
  return [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, "g"))].map(([, text = ""]) =>
    text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (all, hex, decimal, name) => {
      if (name !== undefined) return ENTITIES[name] ?? all;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    }),
  );
}
