import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, type DashboardLab, holds, openLab, says } from "./lab.ts";

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

/** Clicks that a task may take at most. */
const CLICKS_MAX = 4;

/** A user who starts on the first page, whose clicks are counted. */
async function user() {
  const page = await lab.open();
  let clicks = 0;
  const click = async (target: Locator) => {
    clicks += 1;
    await target.click();
  };
  return { page, click, clicks: () => clicks };
}

const field = (page: Page) => page.getByRole("searchbox", { name: "Look for anything in all queues" });
const found = (page: Page, name: string) =>
  page.getByRole("search", { name: "All queues" }).getByRole("region", { name });

async function send(queue: string, body: object): Promise<string> {
  return (await lab.api<{ id: string }>(`/queues/${queue}/messages`, "POST", { body })).id;
}

describe.skipIf(CHROMIUM === null)("a user who looks for a message", () => {
  it("finds it by a field of its body, in whatever queue, and all that fit in the list of the queue", async () => {
    for (let i = 0; i < 8; i++) await send("dead", { customer: { id: 42 }, orderId: 20_040 + i });
    const { page, click, clicks } = await user();
    await click(field(page));
    await page.keyboard.type("orderId:20042");
    const hits = found(page, "Messages in dead");
    await says(hits, '"orderId":20042');
    // What fits the text as far as it was typed is shown meanwhile.
    await expect.poll(() => hits.getByRole("link").count()).toBe(1);
    await click(hits.getByRole("link"));
    await says(page.getByRole("region", { name: "Body" }).first(), "20042");
    expect(clicks()).toBeLessThanOrEqual(CLICKS_MAX);
    // As it is copied from a body.
    await page.keyboard.press("/");
    await page.keyboard.type('"id": 42');
    await says(hits, "and 3 more in dead");
    await hits.getByRole("link", { name: "more" }).click();
    await expect
      .poll(() => page.getByRole("table", { name: "Messages" }).getByRole("rowheader").count())
      .toBe(8);
    await says(page.getByRole("region", { name: "Messages" }), "8 here, searched all of 8 messages");
    expect(await found(page, "Messages in dead").count()).toBe(0);
  });

  it("finds one by its id, or the first digits of it, where it has gone, and once it is gone for good", async () => {
    const id = await send("gifts", { item: "vase" });
    await holds(lab, "gifts-dead", 1);
    await holds(lab, "gifts", 0);
    const { page, click, clicks } = await user();
    const read = async (text: string, group: string) => {
      const before = clicks();
      await page.goto(`${lab.origin}/__sluice/#/`);
      await says(page.getByRole("heading", { level: 1 }), "Queues");
      await click(field(page));
      await page.keyboard.type(text);
      await click(found(page, group).getByRole("link").first());
      await says(
        page.getByRole("region", { name: "Story" }),
        /TypeError: the vase is cursed.*Arrived from gifts/,
      );
      expect(clicks() - before).toBeLessThanOrEqual(CLICKS_MAX);
    };
    for (const text of [id, id.slice(0, 8)]) await read(text, "Messages in gifts-dead");
    await lab.api("/queues/gifts-dead/purge", "POST");
    await read(id, "Messages that are gone");
    await says(page.getByRole("main"), /It is not in gifts(-dead)? now. Its story says where it went./);
  });

  it("goes by keyboard: arrows through what is found, Enter, and Escape", async () => {
    await send("inbox", { note: "keyboard" });
    const page = await lab.open("#/queues/orders/settings");
    await says(page.getByRole("heading", { level: 1 }), "orders");
    await page.keyboard.press("/");
    await page.keyboard.type("gifts");
    const names = found(page, "Queues and topics");
    await says(names, "gifts gifts-dead");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    // A page that is new takes the focus.
    await says(page.locator("h1:focus"), "gifts-dead");
    await page.keyboard.press("/");
    await page.keyboard.type("keyboard");
    // Enter may come before anything is found.
    await page.keyboard.press("Enter");
    await says(page.getByRole("region", { name: "Body" }).first(), "keyboard");
    await page.keyboard.press("/");
    await page.keyboard.type("stat:ready");
    await says(page.getByRole("search", { name: "All queues" }), "Did you mean state:ready?");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByText("Did you mean").count()).toBe(0);
    expect(await field(page).inputValue()).toBe("");
  });
});
