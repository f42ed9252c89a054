import { CreateTopicCommand, SNSClient } from "@aws-sdk/client-sns";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { definition, endpoint as endpointConsumer } from "@sluice/broker/testing/messages";
import { buildPage } from "@sluice/dashboard/build";
import type { Page } from "playwright-core";
import { expect, vi } from "vitest";
import { awsOptions, startBroker } from "../any-broker.ts";
import { findChromium, startBrowser } from "../browser.ts";
import { type SnsEndpoint, startSnsEndpoint } from "../sns-endpoint.ts";
import { openPages, PATIENCE_MS, type View } from "./pages.ts";

export const CHROMIUM = findChromium();
if (CHROMIUM === null) {
  console.warn("The dashboard is not tested: there is no Chromium. Install one, or name it in CHROMIUM.");
}

export const NEWS = "arn:aws:sns:us-east-1:000000000000:news";

/** A Worker whose failures depend on the message. */
const CONSUMER = `
import { createQueueConsumer } from "@sluice/consumer";
export const SluiceQueueConsumer = createQueueConsumer({
  queue(batch) {
    for (const message of batch.messages) {
      if (message.body.item !== "sofa") {
        pack(message.body);
        continue;
      }
      console.log("packing", message.body);
      console.error(new RangeError("the sofa is too long"));
      message.retry();
    }
  },
}, { waitForWaitUntil: true });
function pack({ item, i }) {
  if (item === "vase") throw new TypeError("the vase is cursed");
  if (item === "card") throw new Error("card declined" + (i === undefined ? "" : " for gift " + i));
}
export default { fetch: () => new Response("consumer") };
`;

/** A broker with the page, a browser, and an endpoint for deliveries. */
export interface DashboardLab {
  readonly origin: string;
  readonly endpoint: SnsEndpoint;
  readonly sqs: SQSClient;
  readonly sns: SNSClient;
  /** Opens the page. Errors in its console, and violations of its policy, fail the test at its end. */
  open(hash?: string, view?: View, at?: string): Promise<Page>;
  /** Sends a text by SQS. */
  send(queue: string, body: string): Promise<void>;
  /** Calls the admin API; throws where it refuses. */
  api<Body>(path: string, method?: string, body?: object): Promise<Body>;
  /** Starts another broker with the same queues; returns its origin. */
  another(vars: Record<string, string>): Promise<string>;
  close(): Promise<void>;
}

/** Starts a broker, a browser and an endpoint. @param more queues besides those of `deployedQueues`. */
export async function openLab(
  executable: string,
  more: Readonly<Record<string, object>> = {},
): Promise<DashboardLab> {
  const endings: (() => Promise<unknown>)[] = [];
  const later = (end: () => Promise<unknown>) => void endings.push(end);
  const endpoint = await startSnsEndpoint();
  const page = await buildPage();
  const start = async (vars: Record<string, string>) => {
    const queues = { ...deployedQueues(endpoint), ...more };
    const options = {
      disposeWith: later,
      queues,
      page,
      consumer: CONSUMER,
      consumers: { packer: "CONSUMER" },
    };
    return (await startBroker(vars, options)).origin;
  };
  const origin = await start({ SLUICE_ENV: "development" });
  const browser = await startBrowser(executable);
  const pages = openPages(browser);
  const options = awsOptions(`${origin}/__sluice/aws`);
  const sqs = new SQSClient(options);
  const sns = new SNSClient(options);
  return {
    origin,
    endpoint,
    sqs,
    sns,
    open: (hash = "", view = {}, at = origin) => pages.open(`${at}/__sluice/${hash}`, view),
    send: async (queue, MessageBody) => {
      const QueueUrl = `${origin}/__sluice/aws/000000000000/${queue}`;
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
    },
    api: async (path, method = "GET", body) => {
      const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await fetch(`${origin}/__sluice/api${path}`, init);
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return JSON.parse(text);
    },
    another: start,
    close: async () => {
      sqs.destroy();
      sns.destroy();
      await browser.close();
      for (const end of endings) await end();
      await endpoint.close();
    },
  };
}

/** Counts the clicks on a page from now on. @returns a function that reads the count. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  // Counts `pointerdown`, of which a click on a label has one: it has two `click` events. Listens at the document:
  // Playwright stops a click at the window if it would miss, because the page moved, and makes it anew.
  await page.evaluate(
    `window.clicks = 0; document.addEventListener("pointerdown", () => window.clicks++, true)`,
  );
  return () => page.evaluate<number>("window.clicks");
}

/** Creates a topic without subscriptions. */
export async function createTopic({ sns }: DashboardLab): Promise<void> {
  await sns.send(new CreateTopicCommand({ Name: "news" }));
}

/** Defines queues with a Worker, and with endpoints that fail, are away, or are slow. */
function deployedQueues(endpoint: SnsEndpoint): Record<string, object> {
  const queue = definition();
  const to = (url: string, more = {}, settings = {}) => ({
    ...queue,
    ...more,
    consumer: endpointConsumer({ connectTimeoutSeconds: 1, maxRetries: 0, url, ...settings }),
  });
  const packer = {
    maxBatchSize: 10,
    maxBatchTimeoutSeconds: 0,
    maxRetries: 2,
    maxConcurrency: null,
    retryDelaySeconds: 600,
    deadLetterQueue: "orders-dead",
  };
  return {
    orders: {
      ...queue,
      producers: [{ worker: "shop", binding: "ORDERS" }],
      consumer: { type: "worker", worker: "packer", settings: packer },
    },
    "orders-dead": queue,
    gifts: {
      ...queue,
      consumer: {
        type: "worker",
        worker: "packer",
        // One by one, so that each message fails with its own error.
        settings: { ...packer, maxBatchSize: 1, maxRetries: 0, deadLetterQueue: "gifts-dead" },
      },
    },
    "gifts-dead": queue,
    failing: to(`${endpoint.url("/failing")}?key=secret`, {}, { deadLetterQueue: "dead" }),
    // A port without a server.
    away: to("http://127.0.0.1:1/"),
    slow: to(endpoint.url("/slow"), { maxReceivesPerSecond: 1 }),
    dead: queue,
    inbox: queue,
  };
}

export const row = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });

/** Waits until a queue has a number of messages. */
export async function holds(lab: DashboardLab, queue: string, count: number): Promise<void> {
  const look = async () => {
    const { messages } = await lab.api<{ messages: Record<string, number> }>(`/queues/${queue}`);
    expect(Object.values(messages).reduce((sum, messagesInState) => sum + messagesInState, 0)).toBe(count);
  };
  await vi.waitFor(look, { timeout: PATIENCE_MS });
}

/** Reads the text of a part of the page as one line. */
export async function shownBy(of: { innerText(): Promise<string> }): Promise<string> {
  return (await of.innerText()).replace(/\s+/g, " ");
}

/** Waits until an element shows a text, even if it is replaced meanwhile. */
export async function says(of: { innerText(): Promise<string> }, text: string | RegExp): Promise<void> {
  const read = () => shownBy(of);
  const expected = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text);
  await expect.poll(read).toEqual(expected);
}
