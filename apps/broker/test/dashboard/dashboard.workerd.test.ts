import { PublishCommand, SubscribeCommand } from "@aws-sdk/client-sns";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, createTopic, type DashboardLab, NEWS, openLab, row, says, shownBy } from "./lab.ts";

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

/** Gives a page a function that hides it or shows it again. */
const TURN = `globalThis.turn = (isHidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}; null;`;

describe.skipIf(CHROMIUM === null)("the dashboard in a browser", () => {
  it("shows absent consumers and those that failed, their errors and the next event, and hides keys", async () => {
    lab.endpoint.answers("/failing", 503);
    await lab.send("away", "a");
    await lab.send("failing", "<b>not a tag</b>");
    const page = await lab.open();
    await says(row(page, "away"), /Away asked again (in d+ s|now)/);
    // Its message is a dead letter at once, so nothing is left that could fail.
    await says(row(page, "failing"), /Idle the last delivery failed .*: it answered 503/);
    await says(page.getByRole("main"), /Failing queues 1 /);
    await says(row(page, "failing"), "/failing?…");
    await row(page, "failing").getByRole("link", { name: "failing" }).click();
    await says(page.getByRole("main"), "it answered 503");
    expect(await page.title()).toBe("failing · Sluice");
    await page.getByRole("definition").getByRole("link", { name: "dead" }).click();
    await page.getByRole("link", { name: "Messages" }).click();
    await says(row(page, ""), "<b>not a tag</b>");
    await page.goBack();
    await page.goBack();
    await says(page.getByRole("heading", { level: 1 }), "failing");
  });

  it("shows sent messages live by one stream", async () => {
    const page = await lab.open("#/queues/inbox");
    await says(page.getByRole("status").first(), "live");
    const streams: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/api/events")) streams.push(request.url());
    });
    await page.reload();
    const ready = page.getByRole("term").filter({ hasText: "Ready" }).locator("..");
    await says(ready, "Ready 0");
    await says(page.getByRole("status").first(), "live");
    await lab.send("inbox", "one");
    await says(ready, "Ready 1");
    await says(page.getByRole("region", { name: "In the queue" }), "messages 1");
    await lab.api("/queues/inbox/purge", "POST");
    await says(ready, "Ready 0");
    await says(page.getByRole("region", { name: "In the queue" }), "messages 0");
    expect(streams).toHaveLength(1);
  });

  it("closes the stream while the page is hidden, and opens it again", async () => {
    const page = await lab.open("#/queues/inbox");
    const isStream = (request: { url(): string }) => request.url().includes("/api/events");
    await says(page.getByRole("status").first(), "live");
    await page.evaluate(TURN);
    const turn = (isHidden: boolean) => page.evaluate(`turn(${isHidden})`);
    const closed = page.waitForEvent("requestfailed", isStream);
    await turn(true);
    await closed;
    const opened = page.waitForResponse((response) => isStream(response) && response.ok());
    await turn(false);
    await opened;
  });

  it("goes on when it is seen again, also if it was hidden when it was about to ask", async () => {
    const page = await lab.open("#/queues/inbox");
    await says(page.getByRole("status").first(), "live");
    await page.evaluate(TURN);
    await page.evaluate(`
      globalThis.isHiddenInTime = new Promise((resolve) => {
        const { setTimeout } = globalThis;
        globalThis.setTimeout = (run, ms) => {
          const timer = setTimeout(run, ms);
          if (!String(run).includes("document.hidden")) return timer;
          globalThis.setTimeout = setTimeout;
          turn(true);
          setTimeout(resolve, ms);
          return timer;
        };
      });
      null;`);
    let isSeenAgain = false;
    const seenAgain = page.evaluate("isHiddenInTime.then(() => turn(false))").then(() => {
      isSeenAgain = true;
    });
    // A request that the page was about to make covers what comes before it: then another message has it ask.
    await expect
      .poll(async () => {
        if (!isSeenAgain) await lab.send("inbox", "one");
        return isSeenAgain;
      })
      .toBe(true);
    await seenAgain;
    await lab.api("/queues/inbox/pause", "POST");
    await page.getByRole("button", { name: "Resume delivery" }).waitFor();
    for (const action of ["resume", "purge"]) await lab.api(`/queues/inbox/${action}`, "POST");
  });

  it("polls a broker without a stream", { tags: "slow" }, async () => {
    const page = await lab.open();
    const error = { code: "no_route", message: "There is no such path." };
    await page.route("**/api/events*", (route) => route.fulfill({ status: 404, json: { error } }));
    await page.goto(`${lab.origin}/__sluice/#/queues/inbox`);
    await page.reload();
    const ready = page.getByRole("term").filter({ hasText: "Ready" }).locator("..");
    await says(ready, "Ready 0");
    await lab.send("inbox", "one");
    await says(ready, "Ready 1");
    await lab.api("/queues/inbox/purge", "POST");
    await says(ready, "Ready 0");
  });

  it("pauses, resumes and purges, and asks before it deletes", async () => {
    const page = await lab.open("#/queues/slow");
    await page.getByRole("button", { name: "Pause delivery" }).click();
    await says(page.getByRole("main"), "Delivery was paused");
    for (const body of ["1", "2", "3"]) await lab.send("slow", body);
    await says(page.getByRole("main"), "Paused 3 messages wait");
    await says(page.getByRole("region", { name: "Why nothing more is delivered" }), "paused");
    await page.getByRole("button", { name: "Resume delivery" }).click();
    await says(page.getByRole("main"), /At its rate next slot|next slot in 1 s|Comes next nothing/);
    await page.getByRole("button", { name: "Pause delivery" }).click();
    await says(page.getByRole("main"), "Delivery was paused");
    await lab.send("slow", "4");
    await page.getByRole("button", { name: "Purge" }).click();
    const dialog = page.getByRole("dialog", { name: "Purge" });
    await says(dialog, 'Delete all messages of "slow" for good?');
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Purge" }).click();
    await dialog.getByRole("button", { name: "Purge" }).click();
    await says(page.getByRole("main"), /\d messages? deleted/);
    await says(page.getByRole("term").filter({ hasText: "Ready" }).locator(".."), "Ready 0");

    // What happens to the queue itself has no messages.
    await page.getByRole("link", { name: "History", exact: true }).click();
    const events = page.getByRole("table", { name: "Events" });
    await says(events, /Purged, with all messages of the queue \d messages? –/);
    await says(events, "Delivery resumed – –");
    await says(events, "Delivery paused – –");
  });

  it("shows a topic with its subscriptions, from pending to failing", async () => {
    await createTopic(lab);
    const page = await lab.open();
    await page.getByRole("row").getByRole("link", { name: "news" }).click();
    await says(page.getByRole("main"), "Nobody is subscribed");
    const subscribe = (Protocol: string, Endpoint: string, Attributes = {}) =>
      lab.sns.send(new SubscribeCommand({ TopicArn: NEWS, Protocol, Endpoint, Attributes }));
    const FilterPolicy = '{"store":["fans"]}';
    await subscribe("sqs", "arn:aws:sqs:us-east-1:000000000000:inbox", { FilterPolicy });
    await subscribe("sqs", "arn:aws:sqs:us-east-1:000000000000:nobodys");
    await subscribe("http", lab.endpoint.url("/hook"));
    await says(row(page, "inbox"), FilterPolicy);
    await says(row(page, "nobodys"), "No such queue");
    await says(row(page, "hook"), "Pending gets nothing until it confirms");
    const [confirmation] = await lab.endpoint.arrived("/hook", 1);
    await fetch(JSON.parse(confirmation?.body ?? "").SubscribeURL);
    lab.endpoint.answers("/hook", 500);
    await lab.sns.send(new PublishCommand({ TopicArn: NEWS, Message: "hello" }));
    await says(row(page, "hook"), /Failing next delivery in \d+ s/);
    await says(row(page, "hook"), "it answered 500");
    await page.getByRole("link", { name: "Sluice", exact: true }).click();
    await says(row(page, "news"), "Failing 1 endpoint");
    await says(row(page, "inbox"), "news");
  });

  it("shows the broker's answer for a queue that does not exist", async () => {
    const page = await lab.open("#/queues/nothing");
    await says(page.getByRole("alert"), 'There is no queue "nothing".');
  });

  it("asks for a token where the broker does, and says that it is wrong", async () => {
    const page = await lab.open("", {}, await lab.another({ SLUICE_API_TOKENS: "right" }));
    const field = page.getByLabel("SLUICE_API_TOKENS");
    await field.fill("wrong");
    await page.keyboard.press("Enter");
    await says(page.getByRole("alert"), "none of this broker's tokens");
    await field.fill("right");
    const stream = page.waitForResponse(
      (response) => response.url().includes("/api/events") && response.ok(),
    );
    await page.keyboard.press("Enter");
    await stream;
    await says(row(page, "inbox"), "inbox");
  });

  it("has on a phone all that the map has in the list, and says so", async () => {
    const page = await lab.open("", { viewport: { width: 360, height: 800 } });
    const map = page.getByRole("region", { name: "Map", exact: true });
    await says(map, /It needs a wider screen. The list has all of it/);
    expect(await map.getByText("shop").isVisible()).toBe(false);
    const list = page.getByRole("table", { name: "All queues" });
    const orders = list.getByRole("row").filter({ hasText: "shop" });
    const of = (label: string) => orders.locator(`[data-label="${label}"]`);
    await says(of("Consumer"), "packer");
    await says(of("Senders"), "shop");
    await says(of("Dead letters to"), "orders-dead");
    // A rate is there for as long as messages come.
    const rate = async () => {
      await lab.api("/queues/orders/messages", "POST", { body: { item: "lamp" } });
      return shownBy(of("Messages a second"));
    };
    await expect.poll(rate).toMatch(/^[\d.]+\/s in/);
    await page.setViewportSize({ width: 1_280, height: 800 });
    expect(await map.getByText("shop").isVisible()).toBe(true);
    expect(await of("Messages a second").isVisible()).toBe(false);
  });
});
