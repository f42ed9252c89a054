import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, countClicks, type DashboardLab, holds, openLab, row, says } from "./lab.ts";

/** Most clicks from the first page to an answer, or to the end of a task. */
const CLICKS_MAX = 4;

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

/** Sends values as JSON by the admin API. */
async function sendAll(queue: string, bodies: readonly object[], more: object = {}): Promise<void> {
  for (const body of bodies) await lab.api(`/queues/${queue}/messages`, "POST", { body, ...more });
}

/** Sends values as JSON in one request. */
async function sendBatch(queue: string, bodies: readonly object[]): Promise<void> {
  const messages = bodies.map((body) => ({ contentType: "json", text: JSON.stringify(body) }));
  await lab.api(`/queues/${queue}/messages/batch`, "POST", { messages });
}

/** Goes from the first page to a queue, as a user without a guide does, and counts the clicks from there on. */
async function openQueue(queue: string): Promise<{ page: Page; clicks: () => Promise<number> }> {
  const page = await lab.open();
  const clicks = await countClicks(page);
  await page.getByRole("link", { name: queue, exact: true }).first().click();
  return { page, clicks };
}

/** Goes on to the messages of the queue. */
async function messagesOf(queue: string): ReturnType<typeof openQueue> {
  const opened = await openQueue(queue);
  await opened.page.getByRole("link", { name: "Messages", exact: true }).click();
  return opened;
}

/** The rows of the list of messages. */
const rowsOf = (page: Page) => page.getByRole("table", { name: "Messages" }).getByRole("rowheader");

describe.skipIf(CHROMIUM === null)("a user who starts on the first page finds out", () => {
  it("why a message waits", async () => {
    await sendAll("inbox", [{ item: "lamp" }], { delaySeconds: 3_600 });
    const { page, clicks } = await messagesOf("inbox");
    await says(row(page, ""), /delayed 0 in (59 min|1 h) It is due at .*[\d:]+, in (59 min|1 h): its send/);
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
    await row(page, "").getByRole("link").first().click();
    await says(page.getByRole("region", { name: "Why it is not delivered" }), /delayed It is due at/);
    await says(page.getByRole("region", { name: "Story" }), /Sent .*due after 1 h/);
    await page.getByRole("button", { name: "Retry now" }).click();
    await says(page.getByRole("main"), "It is due now.");
    await says(page.getByRole("region", { name: "Why it is not delivered" }), "ready");
  });

  it("which error a dead letter had, and sends it again with changes", async () => {
    await sendAll("gifts", [{ item: "vase", to: "ada" }]);
    await holds(lab, "gifts-dead", 1);
    const { page, clicks } = await messagesOf("gifts-dead");
    await says(row(page, ""), "TypeError: the vase is cursed");
    await row(page, "").getByRole("link").first().click();
    const story = page.getByRole("region", { name: "Story" });
    await says(story, /Sent .* in gifts .*Delivered to packer attempt 1.*TypeError: the vase is cursed/);
    await says(story, /Moved to dead-letter queue gifts-dead after 1 attempt.*Arrived from gifts/);
    await story.getByText("Stack", { exact: true }).first().click();
    await says(page.getByRole("region", { name: "What was thrown" }).first(), /at pack .*consumer/);
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
    await says(page.getByRole("region", { name: "Body" }).first(), '"item": "vase"');
    await page.getByRole("button", { name: "Edit and resend" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit and resend" });
    const body = dialog.getByLabel("Body");
    await body.fill('{"item": lamp}');
    await says(dialog, "Line 1, column 10");
    expect(await dialog.getByRole("button", { name: "Send as a new message" }).isEnabled()).toBe(false);
    await body.fill('{"item": "lamp"}');
    expect(await dialog.getByLabel("Send to").inputValue()).toBe("gifts");
    await dialog.getByRole("button", { name: "Send as a new message" }).click();
    await says(page.getByRole("main"), /Sent to gifts as message [0-9a-f]{8}. This one stays./);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete" }).getByRole("button", { name: "Delete" }).click();
    await says(page.getByRole("region", { name: "How it ended" }), "finished It was deleted by hand.");
    await says(story, "Deleted by hand");
    await holds(lab, "gifts", 0);
  });

  it("what a handler printed that asked for a retry, and why the message is dead", async () => {
    await sendAll("gifts", [{ item: "sofa" }]);
    await holds(lab, "gifts-dead", 1);
    const { page } = await messagesOf("gifts-dead");
    await row(page, "").getByRole("link").first().click();
    const story = page.getByRole("region", { name: "Story" });
    await says(story, /Delivered to packer.* Its Worker printed 2 lines .*Moved to dead-letter queue/);
    await says(story, "RangeError: the sofa is too long (printed; its handler asked for the retry)");
    await says(
      page.getByRole("region", { name: "What was printed" }),
      /^[\d:.]+ packing { item: 'sofa' } [\d:.]+ RangeError: the sofa is too long at /,
    );
    await lab.api("/queues/gifts-dead/purge", "POST");
  });

  it("what a message said that was handled, by its id, and sends it again: in four clicks", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const sent = await fetch(`${lab.origin}/__sluice/api/queues/gifts/messages`, {
      method: "POST",
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
      body: JSON.stringify({ body: { item: "lamp 77" } }),
    });
    const { id } = (await sent.json()) as { id: string };
    await holds(lab, "gifts", 0);
    const { page } = await openQueue("gifts");
    await page.getByRole("link", { name: "Messages", exact: true }).click();
    await page.getByRole("searchbox", { name: "Look for messages" }).fill(`state:finished id:${id}`);
    await says(row(page, ""), /finished 1 .* It was handled: packer acknowledged it. .*lamp 77/);
    await row(page, "").getByRole("link").first().click();
    await says(page.getByRole("region", { name: "How it ended" }), "finished It was handled");
    await says(page.getByRole("region", { name: "Body" }).first(), '"item": "lamp 77"');
    await says(page.getByRole("region", { name: "Story" }), /Sent .*Acknowledged/);
    const about = page.getByRole("region", { name: "About it" });
    await says(about, "Finished");
    await says(about, `Trace ${traceId}`);
    expect(await page.getByRole("button", { name: /Delete|Retry/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Send again" }).click();
    await says(page.getByRole("main"), /Sent to gifts as message [0-9a-f]{8}. This one stays./);
    const link = page.getByRole("status").getByRole("link");
    const again = await link.textContent();
    await link.click();
    await says(page.getByRole("heading", { level: 1 }), `Message ${again}`);
    expect(again).not.toBe(id.slice(0, 8));
    await holds(lab, "gifts", 0);
    await page.goto(`${lab.origin}/__sluice/#/queues/gifts/messages`);
    await page.getByRole("link", { name: /Finished, last \d+/ }).click();
    await expect.poll(() => row(page, "").filter({ hasText: "lamp 77" }).count()).toBe(2);
  });

  it("when the next retry comes", async () => {
    await sendAll("orders", [{ item: "vase" }]);
    // A list stays as it was read, also one of a message that is being delivered.
    await expect.poll(() => lab.api("/queues/orders")).toMatchObject({ messages: { delayed: 1 } });
    const { page, clicks } = await messagesOf("orders");
    await says(
      row(page, ""),
      /TypeError: the vase is cursed delayed 1 in (9|10) min It is due at [\d:]+, in (9|10) min: delivery 1 has failed/,
    );
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
    await row(page, "").getByRole("link").first().click();
    const story = page.getByRole("region", { name: "Story" });
    await says(story, /To be retried due after 10 min: the queue's retry_delay/);
    await says(story, /waits for .*: It is due at [\d:]+, in (9|10) min/);
  });

  it("how to move three of fifty dead letters, and sees them before", { tags: "slow" }, async () => {
    await lab.api("/queues/gifts-dead/purge", "POST");
    await lab.api("/queues/inbox/purge", "POST");
    const letters = Array.from({ length: 50 }, (_, i) => ({
      item: "vase",
      with: i % 20 === 7 ? "roses" : "air",
      i,
    }));
    await sendAll("gifts", letters);
    await holds(lab, "gifts-dead", 50);
    const page = await lab.open();
    await row(page, "gifts-dead").getByRole("link", { name: "gifts-dead" }).click();
    await page.getByRole("button", { name: "Redrive" }).click();
    const dialog = page.getByRole("dialog", { name: "Redrive messages of gifts-dead" });
    await says(dialog, "50 messages would be moved. Nothing is moved yet.");
    await dialog.getByLabel("Only messages that fit").fill("attempt:1");
    await says(dialog, /Column 1 /);
    expect(await dialog.getByRole("button", { name: "Redrive" }).isEnabled()).toBe(false);
    await dialog.getByLabel("Only messages that fit").fill("roses");
    await says(dialog, "3 messages would be moved");
    expect(await dialog.getByRole("listitem").count()).toBe(3);
    await dialog.getByLabel("Move them to").selectOption("inbox");
    await dialog.getByRole("button", { name: "Redrive 3 messages" }).click();
    await says(page.getByRole("main"), "A redrive of 3 messages to inbox was begun.");
    await says(page.getByRole("main"), "Last redrive: 3 of 3 messages moved.");
    await holds(lab, "inbox", 3);
    await holds(lab, "gifts-dead", 47);
    await page.getByRole("link", { name: "History", exact: true }).click();
    await says(page.getByRole("table", { name: "Events" }), /Redriven to inbox \d message/);
  });
});

describe.skipIf(CHROMIUM === null)("a user who starts on the first page", () => {
  it("redrives the three of fifty dead letters that have one error, with six clicks", {
    tags: "slow",
  }, async () => {
    await lab.api("/queues/gifts-dead/purge", "POST");
    await lab.api("/queues/orders-dead/purge", "POST");
    await sendBatch(
      "gifts",
      Array.from({ length: 50 }, (_, i) => ({ item: i % 20 === 7 ? "card" : "vase", i })),
    );
    await holds(lab, "gifts-dead", 50);
    const { page, clicks } = await messagesOf("gifts-dead");
    const errors = page.getByRole("region", { name: "Last errors" });
    await says(errors, "47 TypeError: the vase is cursed 3 Error: card declined for gift #");
    await errors.getByRole("link", { name: "card declined" }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(3);
    expect(await page.getByLabel("Look for messages").inputValue()).toBe(
      'errorGroup:"Error: card declined for gift #"',
    );
    await page.getByLabel("All that fit: 3 messages").click();
    const chosen = page.getByRole("group", { name: "Chosen messages" });
    await chosen.getByRole("button", { name: "Redrive" }).click();
    const dialog = page.getByRole("dialog", { name: "Redrive messages of gifts-dead" });
    await says(dialog, "3 messages would be moved. Nothing is moved yet.");
    await holds(lab, "gifts-dead", 50);
    await dialog.getByRole("button", { name: "Redrive 3 messages" }).click();
    expect(await clicks()).toBeLessThanOrEqual(6);
    await says(page.getByRole("main"), "A redrive of 3 messages was begun.");
    // They fail again, with the same error.
    const moves = () => lab.api<{ lastMove: object | null }>("/queues/gifts-dead");
    await expect.poll(async () => (await moves()).lastMove).toMatchObject({ status: "completed", moved: 3 });
    await holds(lab, "gifts-dead", 50);
    await page.getByRole("region", { name: "Actions" }).getByRole("button", { name: "Redrive" }).click();
    await says(dialog, "3 messages would be moved");
  });

  it("sends a message with a delay", async () => {
    await lab.api("/queues/inbox/purge", "POST");
    const { page, clicks } = await openQueue("inbox");
    await page.getByRole("button", { name: "Send a message" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to inbox" });
    await dialog.getByLabel("Body").fill('{"item": "lamp"}');
    await dialog.getByLabel("Delay").fill("600");
    await dialog.getByRole("button", { name: "Send" }).click();
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
    await expect
      .poll(async () => (await lab.api<{ messages: object[] }>("/queues/inbox/messages")).messages)
      .toMatchObject([{ state: "delayed", text: '{"item":"lamp"}' }]);
  });
});

describe.skipIf(CHROMIUM === null)("the form that sends a message", () => {
  it("fills in a sample of an event, which can be changed", async () => {
    await lab.api("/queues/inbox/purge", "POST");
    const { page } = await openQueue("inbox");
    await page.getByRole("button", { name: "Send a message" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to inbox" });
    await dialog.getByLabel("Sample event").selectOption("r2:object-delete");
    const body = dialog.getByLabel("Body");
    await expect.poll(() => body.inputValue()).toContain('"action": "DeleteObject"');
    await body.fill((await body.inputValue()).replace("images/lamp.png", "images/vase.png"));
    await dialog.getByRole("button", { name: "Send" }).click();
    await expect
      .poll(async () => (await lab.api<{ messages: object[] }>("/queues/inbox/messages")).messages)
      .toMatchObject([{ text: expect.stringContaining('{"key":"images/vase.png"}') }]);
  });
});

describe.skipIf(CHROMIUM === null)("many messages on the page", { tags: "slow" }, () => {
  it("are chosen by the keyboard, made due and deleted, after a look at how many", async () => {
    await lab.api("/queues/inbox/purge", "POST");
    await sendAll("inbox", [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }], { delaySeconds: 3_600 });
    const { page } = await messagesOf("inbox");
    await expect.poll(() => rowsOf(page).count()).toBe(4);
    const chosen = page.getByRole("group", { name: "Chosen messages" });
    const choose = async (i: number) => {
      await rowsOf(page).nth(i).getByRole("checkbox").focus();
      await page.keyboard.press("Space");
    };
    await choose(0);
    await choose(2);
    await choose(3);
    await choose(3);
    await says(chosen, "2 chosen");
    expect(await chosen.getByRole("button", { name: "Redrive" }).count()).toBe(0);
    await chosen.getByRole("button", { name: "Retry now" }).press("Enter");
    const retry = page.getByRole("dialog", { name: "Retry now: messages of inbox" });
    await says(retry, "2 messages would be due now.");
    await retry.getByRole("button", { name: "Retry now: 2 messages" }).press("Enter");
    await says(page.getByRole("main"), "2 messages due now.");
    await expect.poll(() => row(page, "").getByText("ready", { exact: true }).count()).toBe(2);
    expect(await chosen.count()).toBe(0);
    await page.getByLabel("Look for messages").fill("state:delayed");
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    await page.getByLabel("All that fit: 2 messages").press("Space");
    await chosen.getByRole("button", { name: "Delete" }).click();
    const remove = page.getByRole("dialog", { name: "Delete: messages of inbox" });
    await says(
      remove,
      "2 messages would be deleted. The queue keeps its last finished messages, 1,000 at most",
    );
    await remove.getByRole("button", { name: "Delete: 2 messages" }).click();
    await says(page.getByRole("main"), "No message fits state:delayed.");
    await holds(lab, "inbox", 2);
  });

  it("a dead letter goes back to where it came from by one click on its page", async () => {
    await lab.api("/queues/gifts-dead/purge", "POST");
    await sendAll("gifts", [{ item: "card" }]);
    await holds(lab, "gifts-dead", 1);
    const { page } = await messagesOf("gifts-dead");
    await row(page, "").getByRole("link").first().click();
    await says(
      page.getByRole("region", { name: "Why it is not delivered" }),
      "Last error: Error: card declined",
    );
    await page.getByRole("button", { name: "Redrive" }).click();
    await says(page.getByRole("main"), /On its way back to gifts\.|It is not in gifts-dead now\./);
    await says(
      page.getByRole("region", { name: "Story" }),
      /Redriven to gifts.*card declined.*card declined/,
    );
  });
});

describe.skipIf(CHROMIUM === null)("messages on the page", () => {
  it("are found by a filter, page by page, and an invalid filter is marked at its error", async () => {
    await lab.api("/queues/dead/purge", "POST");
    await sendBatch(
      "dead",
      Array.from({ length: 70 }, (_, i) => ({ n: i, kind: i % 10 === 0 ? "tenth" : "other" })),
    );
    const { page } = await messagesOf("dead");
    const rows = rowsOf(page);
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole("button", { name: "Next" }).click();
    await expect.poll(() => rows.count()).toBe(20);
    await page.getByRole("button", { name: "Previous" }).click();
    await expect.poll(() => rows.count()).toBe(50);
    await page.keyboard.press("f");
    await page.keyboard.type("tenth state:ready");
    await expect.poll(() => rows.count()).toBe(7);
    expect(new URL(page.url()).hash).toBe("#/queues/dead/messages?filter=tenth+state%3Aready");
    await page.keyboard.type(" stat:ready");
    await says(page.getByRole("main").getByRole("search"), "Column 19 ");
    await page.goBack();
    await page.goto(`${lab.origin}/__sluice/#/queues/dead/messages?filter=nothing`);
    await says(page.getByRole("main"), "No message fits nothing.");
    await page.getByRole("link", { name: "Show all messages" }).click();
    await expect.poll(() => rows.count()).toBe(50);
  });
});
