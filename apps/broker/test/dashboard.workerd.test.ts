import { CreateTopicCommand, PublishCommand, SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { buildPage } from "@sluice/dashboard/build";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startBroker } from "./any-broker.ts";
import { findChromium, startBrowser } from "./browser.ts";
import { type SnsEndpoint, startSnsEndpoint } from "./sns-endpoint.ts";

const CHROMIUM = findChromium();
if (CHROMIUM === null) {
  console.warn("The dashboard is not tested: there is no Chromium. Install one, or name it in CHROMIUM.");
}

/** Longest that the page may take to show something: it asks once a second. */
const PATIENCE_MS = 15_000;
/** What reaches over the right edge of a page that has to be scrolled sideways. */
const OVERHANGING = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
  .filter((element) => element.getBoundingClientRect().right > innerWidth && !element.closest("thead"))
  .map(({ outerHTML }) => outerHTML.slice(0, 200))`;
const NEWS = "arn:aws:sns:us-east-1:000000000000:news";

let endpoint: SnsEndpoint;
let origin: string;
let browser: Browser;
let sqs: SQSClient;
let sns: SNSClient;
const endings: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (CHROMIUM === null) return;
  endpoint = await startSnsEndpoint();
  const page = await buildPage();
  const deployed = { disposeWith: later, queues: deployedQueues(), page };
  ({ origin } = await startBroker({ SLUICE_ENV: "development" }, deployed));
  browser = await startBrowser(CHROMIUM);
  const credentials = { accessKeyId: "anybody", secretAccessKey: "any secret" };
  const options = { endpoint: `${origin}/__sluice/aws`, region: "us-east-1", credentials, maxAttempts: 1 };
  sqs = new SQSClient(options);
  sns = new SNSClient(options);
});

afterAll(async () => {
  sqs?.destroy();
  sns?.destroy();
  await browser?.close();
  for (const end of endings) await end();
  await endpoint?.close();
});

function later(end: () => Promise<unknown>): void {
  endings.push(end);
}

/** Queues that lead to an endpoint that fails, to one that is away, and to one that is slow. */
function deployedQueues(): Record<string, object> {
  const common = {
    ...{ format: "sluice", contentType: null, maxConcurrency: 50, connectTimeoutSeconds: 1 },
    ...{ responseTimeoutSeconds: 60, readinessPath: null, maxRetries: 0, retryDelaySeconds: 0 },
    deadLetterQueue: null,
  };
  const queue = { deliveryDelaySeconds: 0, messageRetentionSeconds: 345_600, producers: [], consumer: null };
  const to = (url: string, more = {}, settings = {}) => ({
    ...{ ...queue, ...more },
    consumer: { type: "http_push", settings: { ...common, url, ...settings } },
  });
  return {
    failing: to(`${endpoint.url("/failing")}?key=secret`, {}, { deadLetterQueue: "dead" }),
    // A port that nobody listens on.
    away: to("http://127.0.0.1:1/"),
    slow: to(endpoint.url("/slow"), { maxReceivesPerSecond: 1 }),
    dead: queue,
    inbox: queue,
  };
}

async function open(hash = "", options: BrowserContextOptions = {}, at = origin): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  onTestFinished(async () => {
    await context.close();
    expect(errors).toEqual([]);
  });
  await page.goto(`${at}/__sluice/${hash}`);
  return page;
}

const row = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });

async function send(queue: string, MessageBody: string): Promise<void> {
  const QueueUrl = `${origin}/__sluice/aws/000000000000/${queue}`;
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}

/** Waits until an element says something, however often it is made anew. */
async function says(of: { innerText(): Promise<string> }, text: string | RegExp): Promise<void> {
  const read = () => of.innerText().then((shown) => shown.replace(/\s+/g, " "));
  const expected = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text);
  await expect.poll(read, { timeout: PATIENCE_MS }).toEqual(expected);
}

describe.skipIf(CHROMIUM === null)("the dashboard in a browser", () => {
  it("shows who is away, who fails with what, and what comes next, and keeps keys to itself", async () => {
    endpoint.answers("/failing", 503);
    await send("away", "a");
    await send("failing", "<b>not a tag</b>");
    const page = await open();
    await says(row(page, "away"), /Away asked again (in \d+ s|now)/);
    await says(row(page, "failing"), "Failing");
    await says(row(page, "failing"), "/failing?…");
    await row(page, "failing").getByRole("link", { name: "failing" }).click();
    await says(page.getByRole("main"), "it answered 503");
    expect(await page.title()).toBe("failing · Sluice");
    await page.getByRole("definition").getByRole("link", { name: "dead" }).click();
    await page.getByRole("button", { name: "Show the first ones" }).click();
    await says(page.getByRole("listitem"), "<b>not a tag</b>");
    await page.goBack();
    await says(page.getByRole("heading", { level: 1 }), "failing");
  });

  it("moves dead letters back by keyboard alone, without losing the focus to what arrives", async () => {
    endpoint.answers("/failing", 500);
    await send("failing", "again");
    const page = await open("#/queues/dead");
    await says(page.getByRole("main"), "Dead letters of failing");
    const redrive = page.getByRole("button", { name: "Redrive" });
    await expect.poll(() => redrive.isEnabled(), { timeout: PATIENCE_MS }).toBe(true);
    endpoint.answers("/failing", 200);
    const asked = page.waitForResponse(/\/redrive$/);
    const focused = () => page.evaluate("document.activeElement?.textContent");
    for (let tabs = 0; (await focused()) !== "Redrive"; tabs++) {
      expect(tabs).toBeLessThan(20);
      await page.keyboard.press("Tab");
    }
    // Three answers of the API arrive while it has the focus, all about this queue: others are left asleep.
    let othersAsked = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/api/queues")) othersAsked++;
    });
    for (let answers = 0; answers < 3; answers++) await page.waitForResponse(/\/api\/queues\/dead$/);
    expect(await focused()).toBe("Redrive");
    expect(othersAsked).toBe(0);
    const targets = page.getByLabel("Move dead letters to").locator("option");
    expect((await targets.allInnerTexts()).slice(0, 2)).toEqual(["where each came from", "failing"]);
    await page.keyboard.press("Enter");
    expect((await asked).status()).toBe(200);
    await says(page.getByRole("main"), /Last time: \d+ of \d+ messages? moved/);
    await page.getByRole("definition").getByRole("link", { name: "failing" }).click();
    await says(page.getByRole("main"), "went well");
  });

  it("pauses, resumes and purges, and asks before it deletes", async () => {
    const page = await open("#/queues/slow");
    await page.getByRole("button", { name: "Pause delivery" }).click();
    await says(page.getByRole("main"), "Nothing is delivered until you resume");
    for (const body of ["1", "2", "3"]) await send("slow", body);
    await says(page.getByRole("main"), "Paused 3 messages wait");
    await page.getByRole("button", { name: "Resume delivery" }).click();
    await says(page.getByRole("main"), /At its rate next slot|next slot in 1 s|Comes next nothing/);
    await page.getByRole("button", { name: "Pause delivery" }).click();
    await send("slow", "4");
    await page.getByRole("button", { name: "Purge" }).click();
    const dialog = page.getByRole("dialog", { name: "Purge" });
    await says(dialog, 'Delete all messages of "slow" for good?');
    await page.keyboard.press("Escape");
    expect(await dialog.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Purge" }).click();
    await dialog.getByRole("button", { name: "Purge" }).click();
    await says(page.getByRole("main"), /\d messages? deleted/);
    await says(page.getByRole("term").filter({ hasText: "Ready" }).locator(".."), "Ready 0");
  });

  it("shows a topic with its subscriptions, from pending to failing", async () => {
    await sns.send(new CreateTopicCommand({ Name: "news" }));
    const page = await open();
    await page.getByRole("row").getByRole("link", { name: "news" }).click();
    await says(page.getByRole("main"), "Nobody is subscribed");
    const subscribe = (Protocol: string, Endpoint: string, Attributes = {}) =>
      sns.send(new SubscribeCommand({ TopicArn: NEWS, Protocol, Endpoint, Attributes }));
    const FilterPolicy = '{"store":["fans"]}';
    await subscribe("sqs", "arn:aws:sqs:us-east-1:000000000000:inbox", { FilterPolicy });
    await subscribe("sqs", "arn:aws:sqs:us-east-1:000000000000:nobodys");
    await subscribe("http", endpoint.url("/hook"));
    await says(row(page, "inbox"), FilterPolicy);
    await says(row(page, "nobodys"), "No such queue");
    await says(row(page, "hook"), "Pending gets nothing until it confirms");
    const [confirmation] = await endpoint.arrived("/hook", 1);
    await fetch(JSON.parse(confirmation?.body ?? "").SubscribeURL);
    endpoint.answers("/hook", 500);
    await sns.send(new PublishCommand({ TopicArn: NEWS, Message: "hello" }));
    await says(row(page, "hook"), /Failing next delivery in \d+ s/);
    await says(row(page, "hook"), "it answered 500");
    await page.getByRole("link", { name: "All queues and topics" }).click();
    await says(row(page, "news"), "Failing 1 endpoint");
    await says(row(page, "inbox"), "news");
  });

  it.each(["light", "dark"] as const)("fits a screen of 400 px in the %s scheme", async (colorScheme) => {
    const page = await open("", { colorScheme, viewport: { width: 400, height: 800 } });
    for (const hash of ["#/", "#/queues/failing", "#/queues/dead", `#/topics/${NEWS}`]) {
      await page.goto(`${origin}/__sluice/${hash}`);
      await says(page.getByRole("status").first(), "live");
      expect(await page.evaluate(OVERHANGING), hash).toEqual([]);
    }
    await page.goto(`${origin}/__sluice/#/`);
    // What was the head of a column stands beside its value.
    const label = `getComputedStyle(document.querySelector("td"), "::before").content`;
    await expect.poll(() => page.evaluate(label)).toBe('"Ready"');
  });

  it("says what the broker says of a queue that does not exist", async () => {
    const page = await open("#/queues/nothing");
    await says(page.getByRole("main"), 'There is no queue "nothing".');
  });

  it("asks for a token where the broker does, and says when it is a wrong one", async () => {
    const bindings = { SLUICE_API_TOKENS: "right" };
    const options = { disposeWith: later, queues: deployedQueues(), page: await buildPage() };
    const broker = await startBroker(bindings, options);
    const page = await open("", {}, broker.origin);
    const field = page.getByLabel("SLUICE_API_TOKENS");
    await field.fill("wrong");
    await page.keyboard.press("Enter");
    await says(page.getByRole("alert"), "none of this broker's tokens");
    await field.fill("right");
    await page.keyboard.press("Enter");
    await says(row(page, "inbox"), "inbox");
  });
});
