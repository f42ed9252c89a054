import { SubscribeCommand } from "@aws-sdk/client-sns";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAxe, problems, problemsInTheDark } from "./axe.ts";
import { CHROMIUM, createTopic, type DashboardLab, holds, NEWS, openLab, says } from "./lab.ts";
import { PATIENCE_MS } from "./pages.ts";

let lab: DashboardLab;
/** Pages by name, with something on each of them. */
let pages: Record<string, string>;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  lab = await openLab(CHROMIUM);
  await createTopic(lab);
  const Endpoint = "arn:aws:sqs:us-east-1:000000000000:inbox";
  await lab.sns.send(new SubscribeCommand({ TopicArn: NEWS, Protocol: "sqs", Endpoint }));
  await lab.api("/queues/gifts/messages", "POST", { body: { item: "vase" } });
  await lab.api("/queues/orders/messages", "POST", { body: { item: "vase", text: "x".repeat(300) } });
  await lab.api("/queues/inbox/messages", "POST", { body: "plain text", delaySeconds: 600 });
  await holds(lab, "gifts-dead", 1);
  const { messages } = await lab.api<{ messages: { id: string }[] }>("/queues/gifts-dead/messages");
  pages = {
    overview: "#/",
    queue: "#/queues/orders",
    messages: "#/queues/orders/messages",
    history: "#/queues/gifts/history",
    settings: "#/queues/gifts-dead/settings",
    "empty queue": "#/queues/dead/messages",
    "dead letters": "#/queues/gifts-dead/messages",
    message: `#/queues/gifts-dead/messages/${messages[0]?.id}`,
    topic: `#/topics/${NEWS}`,
    "queue that there is none of": "#/queues/nothing",
  };
});
afterAll(() => lab?.close());

/** Checks that everybody can read a page as it stands now, in light and dark. */
async function readable(page: Page, what: string): Promise<void> {
  expect(await problems(page), what).toEqual([]);
  expect(await problemsInTheDark(page), `${what} in the dark`).toEqual([]);
}

/** Opens a page, and waits until its answers have come. */
async function show(page: Page, hash: string): Promise<void> {
  await page.goto(`${lab.origin}/__sluice/${hash}`);
  await says(page.getByRole("status").first(), /^(live|not live)$/);
  await expect.poll(() => page.getByText("looking for more").count()).toBe(0);
}

describe.skipIf(CHROMIUM === null)("every page", () => {
  it.each([1_280, 360])("can be read by everybody, in light and dark: %i px wide", async (width) => {
    const page = await lab.open("", { viewport: { width, height: 800 } });
    await loadAxe(page);
    for (const [name, hash] of Object.entries(pages)) {
      await show(page, hash);
      await readable(page, name);
    }
    await page.getByLabel("Look for anything in all queues").fill("or");
    await says(page.getByRole("search", { name: "All queues" }), "Queues and topics orders");
    await readable(page, "what is found");
    const dialogs = [
      ["#/", "Clock"],
      ["#/", "Help"],
      ["#/queues/orders", "Send a message"],
      ["#/queues/orders", "Faults"],
      ["#/queues/orders", "Purge"],
      ["#/queues/gifts-dead", "Redrive"],
    ] as const;
    for (const [hash, button] of dialogs) {
      await show(page, hash);
      await page.getByRole("button", { name: button, exact: true }).click();
      await says(page.getByRole("dialog"), /\w/);
      await readable(page, button);
      await page.keyboard.press("Escape");
    }
    const bulk = [
      ["gifts-dead", "Redrive"],
      ["gifts-dead", "Delete"],
      ["inbox", "Retry now"],
    ] as const;
    for (const [queue, button] of bulk) {
      await show(page, `#/queues/${queue}/messages`);
      await page.getByRole("checkbox", { name: "All that fit" }).check();
      const chosen = page.getByRole("group", { name: "Chosen messages" });
      await chosen.getByRole("button", { name: button }).click();
      await says(page.getByRole("dialog"), /would be/);
      await readable(page, button);
      await page.keyboard.press("Escape");
      await page.getByRole("checkbox", { name: "All that fit" }).uncheck();
    }
    await show(page, "#/queues/orders");
    await page.getByRole("button", { name: "Send a message" }).hover();
    await readable(page, "button under the pointer");
  });
});

describe.skipIf(CHROMIUM === null)("a user with only a keyboard", () => {
  const focused = (page: Page) => page.evaluate("document.activeElement?.textContent");

  it("moves dead letters, and keeps the focus when messages arrive", async () => {
    const page = await lab.open("#/queues/gifts-dead");
    await expect.poll(() => page.getByRole("button", { name: "Redrive" }).isVisible()).toBe(true);
    for (let tabs = 0; (await focused(page)) !== "Redrive"; tabs++) {
      expect(tabs).toBeLessThan(20);
      await page.keyboard.press("Tab");
    }
    await lab.api("/queues/gifts/messages", "POST", { body: { item: "vase" } });
    await says(page.getByRole("term").filter({ hasText: "Ready" }).locator(".."), "Ready 2");
    expect(await focused(page)).toBe("Redrive");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await says(dialog, "2 messages would be moved");
    await page.keyboard.type("vase");
    await says(dialog, "2 messages would be moved");
    await page.keyboard.press("Enter");
    await says(page.getByRole("main"), /A redrive of 2 messages .*was begun|of 2 messages moved/);
    expect(await focused(page)).toBe("Redrive");
  });

  it("goes through the page, searches, sends, and finds help", async () => {
    const page = await lab.open();
    await says(page.getByRole("status").first(), "live");
    const queues = page.getByRole("table", { name: "All queues" }).getByRole("row");
    await expect.poll(() => queues.count()).toBeGreaterThan(2);
    await page.keyboard.press("/");
    await page.keyboard.type("inb");
    await page.keyboard.press("Enter");
    await says(page.getByRole("heading", { level: 1 }), "inbox");
    const current = page.getByRole("navigation", { name: "Parts of the page" }).locator("[aria-current]");
    await says(current, "Now");
    for (const [key, name] of [
      ["3", "History"],
      ["4", "Settings"],
      ["1", "Now"],
      ["2", "Messages"],
    ] as const) {
      await page.keyboard.press(key);
      await says(current, name);
    }
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog", { name: "Send to inbox" });
    await expect.poll(() => dialog.isVisible()).toBe(true);
    // In a field a key is a letter.
    await page.keyboard.press("?");
    await says(dialog, "Line ");
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog.isVisible()).toBe(false);
    await page.keyboard.press("?");
    await says(page.getByRole("dialog", { name: "Help" }), "Looking for messages");
    await page.keyboard.press("Escape");
    await page.keyboard.press("o");
    await says(page.getByRole("heading", { level: 1 }), "Queues");
  });

  it("turns the keys off", async () => {
    const page = await lab.open();
    await says(page.getByRole("status").first(), "live");
    await page.getByRole("button", { name: "Help" }).click();
    await page.getByLabel("Keys of one letter are shortcuts").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

describe.skipIf(CHROMIUM === null)("the page in development", () => {
  it("sets the clock and faults, and shows them on every page while they are set", async () => {
    const page = await lab.open("#/queues/orders");
    const waits = { timeout: PATIENCE_MS };
    await page.getByRole("button", { name: "Faults" }).click();
    const faults = page.getByRole("dialog", { name: "Faults in deliveries of orders" });
    await faults.getByLabel("failBatch").check();
    await faults.getByLabel("failBatch: times").fill("3");
    await faults.getByRole("button", { name: "Set faults" }).click();
    const notice = page.getByRole("region", { name: "Faults" });
    await says(notice, "Faults are on in orders: failBatch in the next 3 deliveries.");
    expect(await lab.api("/queues/orders/faults")).toMatchObject({
      faults: [{ kind: "failBatch", times: 3 }],
    });

    await page.getByRole("button", { name: "Clock" }).click();
    const clock = page.getByRole("dialog", { name: "Clock of the queues" });
    await clock.getByRole("button", { name: "Stop it" }).click();
    await says(clock, "It stands.");
    await clock.getByLabel("Forward by").fill("2");
    await clock.getByLabel("Unit").selectOption("days");
    await clock.getByRole("button", { name: "Move it" }).click();
    await says(clock, "2 d forward.");
    await page.keyboard.press("Escape");
    for (const hash of ["#/", "#/queues/inbox", `#/topics/${NEWS}`]) {
      await page.goto(`${lab.origin}/__sluice/${hash}`);
      await says(
        page.getByRole("note", { name: "Clock" }),
        /stands and is (2 d|1 d 23 h) ahead of real time/,
      );
      await says(notice, "Faults are on in orders");
    }
    await notice.getByRole("button", { name: "End them" }).click();
    // An action that fails says so beside the notice.
    const below = page.locator(".below");
    await expect.poll(() => below.textContent(), waits).toContain("The faults were ended.");
    await expect.poll(() => notice.count(), waits).toBe(0);
    expect(await lab.api("/queues/orders/faults")).toMatchObject({ faults: [] });
    await page.getByRole("button", { name: "Clock" }).click();
    await clock.getByRole("button", { name: "To what comes next" }).click();
    await says(clock, /forward, to what comes next in \w+|Nothing waits for a time/);
    await clock.getByRole("button", { name: "Let it go on" }).click();
    await says(clock, "It goes on.");
  });
});
