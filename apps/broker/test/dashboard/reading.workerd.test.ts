// @module-tag slow
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAxe, problems } from "./axe.ts";
import { CHROMIUM, type DashboardLab, holds, openLab, row, says } from "./lab.ts";

const PHONE = { viewport: { width: 360, height: 800 } };
const DESKTOP = { viewport: { width: 1_280, height: 800 } };
/** Height of a line of a list's text. */
const LINE_PX = 20.3;
const WITH_CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };
const STACK = `PaymentError: declined
    at charge (src/payment.ts:15:36)
    at async Object.queue (src/index.ts:14:7)
    at async runDelivery (sluice:consumer/src/run-delivery.ts:47:1)
    at async QueueConsumer.deliver (sluice:consumer/src/queue-consumer.ts:64:1)`;

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

const clipboard = (page: Page) => page.evaluate("navigator.clipboard.readText()");

/** Checks that everybody can read a page as it stands now. */
async function readable(page: Page): Promise<void> {
  await loadAxe(page);
  expect(await problems(page)).toEqual([]);
}

describe.skipIf(CHROMIUM === null)("a stack trace", () => {
  it("leads to a place that can be copied, and folds the frames that are not the user's", async () => {
    await lab.api("/queues/gifts/messages", "POST", { body: { item: "vase" } });
    await holds(lab, "gifts-dead", 1);
    const page = await lab.open("#/queues/gifts-dead/messages", { ...WITH_CLIPBOARD, ...PHONE });
    // The queues of this lab have no source maps.
    await page.route("**/story", async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const story = JSON.parse(text, (key, value) =>
        key === "error" && String(value).includes("\n") ? STACK : value,
      );
      await route.fulfill({ response, json: story });
    });
    await row(page, "").getByRole("link").first().click();
    const story = page.getByRole("region", { name: "Story" });
    await says(story, "PaymentError: declined src/payment.ts:15:36");
    await story.getByRole("button", { name: "Copy place" }).click();
    await says(story, "Copied");
    expect(await clipboard(page)).toBe("src/payment.ts:15:36");
    await story.getByText("Stack", { exact: true }).click();
    const thrown = page.getByRole("region", { name: "What was thrown" });
    await says(thrown, "at charge (src/payment.ts:15:36)");
    const own = thrown.getByText("run-delivery.ts");
    expect(await own.isVisible()).toBe(false);
    await readable(page);
    await thrown.getByText("2 frames of Sluice and the runtime").click();
    await expect.poll(() => own.isVisible()).toBe(true);
    await readable(page);
  });
});

describe.skipIf(CHROMIUM === null)("a list of messages", () => {
  it("never says that a queue is empty which is not, and says how many came since it was read", async () => {
    const page = await lab.open("#/queues/inbox/messages", PHONE);
    await says(page.getByRole("main"), "The queue is empty.");
    const rows = page.getByRole("table", { name: "Messages" }).getByRole("rowheader");
    await lab.send("inbox", "one");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await page.getByText("The queue is empty.").count()).toBe(0);
    await lab.send("inbox", "two");
    await says(page.getByRole("main"), "1 new: look again");
    await lab.send("inbox", "three");
    await says(page.getByRole("main"), "2 new: look again");
    expect(await rows.count()).toBe(1);
    await readable(page);
    await page.getByRole("button", { name: "2 new: look again" }).click();
    await expect.poll(() => rows.count()).toBe(3);
    await says(page.getByRole("button", { name: "Look again" }), /^Look again$/);
  });

  it("shows a long error in few lines on a phone, and the first page does not grow wider for it", async () => {
    const before = await lab.api<{ messages: { ready: number } }>("/queues/gifts-dead");
    await lab.api("/queues/gifts/messages", "POST", { body: { item: "card", i: "x".repeat(300) } });
    await holds(lab, "gifts-dead", before.messages.ready + 1);
    const page = await lab.open("#/queues/gifts-dead/messages", PHONE);
    const error = row(page, "").locator(".error").filter({ hasText: "xxx" });
    await says(error, "Error: card declined for gift xxx");
    expect((await error.boundingBox())?.height).toBeLessThan(5.5 * LINE_PX);
    await page.goto(page.url().replace(/#.*/, "#/"));
    const gifts = page.getByRole("rowheader", { name: "gifts", exact: true });
    await says(page.getByRole("row").filter({ has: gifts }), "Error: card declined for gift xxx");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.viewport.width);
    await readable(page);
  });

  it("is gone through by keys, message by message, and each can be copied and sent again", async () => {
    const bodies = ["first", "second", "third"];
    for (const body of bodies) await lab.api("/queues/dead/messages", "POST", { body: { [body]: 1 } });
    const page = await lab.open("#/queues/dead/messages", { ...WITH_CLIPBOARD, ...PHONE });
    await row(page, "").getByRole("link").first().click();
    const list = page.getByRole("navigation", { name: "Messages of the list" });
    const body = page.getByRole("region", { name: "Body" }).first();
    await says(list, "1 of 3");
    await page.keyboard.press("p");
    for (const [key, text] of [
      ["n", "second"],
      ["n", "third"],
      ["n", "third"],
      ["p", "second"],
    ] as const) {
      await page.keyboard.press(key);
      await says(body, `"${text}": 1`);
    }
    await list.getByRole("link", { name: "Previous" }).click();
    await says(body, '"first": 1');
    await readable(page);

    const copied = async (name: string) => {
      await page.getByRole("button", { name }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      const text = await clipboard(page);
      await page.getByRole("button", { name }).waitFor();
      return text;
    };
    const id = (await copied("Copy id")) as string;
    expect(new URL(page.url()).hash).toContain(id);
    expect(await copied("Copy body")).toBe('{"first":1}');
    expect(await copied("Copy command")).toBe(
      `npx sluice messages resend dead ${id} --url ${lab.origin}/__sluice/`,
    );
    const [, url = ""] = /^curl -X POST '(.*)'$/.exec((await copied("Copy curl")) as string) ?? [];
    expect((await fetch(url, { method: "POST" })).ok).toBe(true);
    await holds(lab, "dead", 4);
  });

  it("offers no other messages for one that was opened by its link", async () => {
    const { id } = await lab.api<{ id: string }>("/queues/orders-dead/messages", "POST", { body: 1 });
    const page = await lab.open(`#/queues/orders-dead/messages/${id}`);
    await says(page.getByRole("region", { name: "Body" }).first(), "1");
    expect(await page.getByRole("navigation", { name: "Messages of the list" }).count()).toBe(0);
  });
});

describe.skipIf(CHROMIUM === null)("a text of any length", () => {
  it.each([PHONE, DESKTOP])("that a handler printed is wrapped, and no line is cut: %j", async (context) => {
    const item = { item: "sofa", text: "leather ".repeat(500), size: "x".repeat(500) };
    const { id } = await lab.api<{ id: string }>("/queues/orders/messages", "POST", { body: item });
    const page = await lab.open(`#/queues/orders/messages/${id}`, context);
    const printed = page.getByRole("region", { name: "What was printed" }).first();
    await says(printed, "leather leather");
    const [isScrolled, tooWide, lines] = await page.evaluate<[boolean, number, number]>(
      `(() => {
        const box = document.querySelector(".printed");
        const line = parseFloat(getComputedStyle(box.querySelector("pre")).lineHeight);
        return [box.scrollHeight > box.clientHeight, box.scrollWidth - box.clientWidth, box.clientHeight / line];
      })()`,
    );
    expect([isScrolled, tooWide]).toEqual([true, 0]);
    expect(Math.abs(lines - Math.round(lines))).toBeLessThan(0.1);
    await readable(page);
  });

  it("is three lines where it is the last error of a queue, and whole in its title", async () => {
    await lab.api("/queues/gifts/messages", "POST", { body: { item: "card", i: "x y".repeat(150) } });
    const page = await lab.open("#/queues/gifts", DESKTOP);
    const last = page.getByRole("region", { name: "Consumer" }).getByTitle("x yx yx y");
    await says(last, "Error: card declined for gift x yx y");
    expect((await last.boundingBox())?.height).toBeLessThan(3.5 * LINE_PX);
    await page.goto(page.url().replace(/#.*/, "#/"));
    const name = row(page, "gifts-dead").getByRole("rowheader").getByRole("link");
    expect((await name.boundingBox())?.height).toBeLessThan(1.5 * LINE_PX);
  });
});
