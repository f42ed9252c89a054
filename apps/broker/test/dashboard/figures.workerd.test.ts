// @module-tag slow
import { definition } from "@sluice/broker/testing/messages";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, countClicks, type DashboardLab, holds, openLab, row, says } from "./lab.ts";

const QUEUES = 500;
const HELD = 20_000;
const BATCH = 100;
const MANY: readonly string[] = Array.from({ length: QUEUES }, (_, i) => `q${String(i).padStart(3, "0")}`);
const FULL = "q377";

let lab: DashboardLab;

/** Opens a lab for the tests of a group. @param more queues besides its own. */
function withLab(more: readonly string[]): void {
  beforeAll(async () => {
    lab = await openLab(CHROMIUM ?? "", Object.fromEntries(more.map((name) => [name, definition()])));
  });
  afterAll(() => lab?.close());
}

/** Stores messages that hold a text. */
async function store(queue: string, text: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += BATCH) {
    const messages = Array.from({ length: Math.min(BATCH, count - sent) }, () => ({
      contentType: "json",
      text,
    }));
    await lab.api(`/queues/${queue}/messages/batch`, "POST", { messages });
  }
}

const chart = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });

describe.skipIf(CHROMIUM === null)("a user who starts on the first page", () => {
  withLab([]);

  it("finds the throughput and the p99 of a queue that nobody looked at", async () => {
    await store("gifts", '{"item":"lamp"}', 1_600);
    await holds(lab, "gifts", 0);
    const page = await lab.open();
    const clicks = await countClicks(page);
    await row(page, "gifts").first().getByRole("link", { name: "gifts", exact: true }).first().click();
    const rates = chart(page, "Messages a second");
    const handler = chart(page, "Handler");
    for (const window of ["5 min", "1 h", "24 h"]) {
      await page.getByRole("button", { name: window, exact: true }).click();
      await says(rates, /in 1,600 in all out 1,600 in all retried, dead 0 in all/);
      await says(handler, /p50 ≤ [\d.]+ (ms|s).* p99 ≤ [\d.]+ (ms|s)/);
    }
    expect(await clicks()).toBeLessThanOrEqual(4);

    // Values by keyboard, and those of the whole window afterwards.
    await rates.getByRole("slider").focus();
    await page.keyboard.press("End");
    await says(rates, /in [\d.]+ out [\d.]+ retried, dead 0 \d\d:\d\d/);
    const text = await rates.getByRole("slider").getAttribute("aria-valuetext");
    expect(text).toMatch(/^\d\d:\d\d, in [\d.]+, out [\d.]+, retried, dead 0/);
    await page.keyboard.press("Escape");
    await says(rates, "in 1,600 in all");
    await chart(page, "In the queue").getByRole("slider").hover();
    await says(handler, /\d\d:\d\d/);

    // They are there again after another page, and after a move of the clock.
    await page.mouse.move(0, 0);
    await page.getByRole("link", { name: "Sluice", exact: true }).click();
    await row(page, "gifts").first().getByRole("link", { name: "gifts", exact: true }).first().click();
    await page.getByRole("button", { name: "5 min", exact: true }).click();
    await says(rates, "in 1,600 in all");
    await lab.api("/clock", "POST", { advanceMs: 3_600_000 });
    await says(page.getByRole("list", { name: "Marks" }), "clock moved by 1 h");
    await says(rates, "in 1,600 in all");
  });
});

describe.skipIf(CHROMIUM === null)("a user with 500 queues", () => {
  withLab(MANY);

  it("sees which of them are in trouble, and sorts and filters them", async () => {
    await store(FULL, "{}", HELD);
    await lab.api("/queues/q400/pause", "POST");
    await store("gifts", '{"item":"vase"}', 3);
    await holds(lab, "gifts-dead", 3);
    // It comes again in 10 min: its queue fails, and "gifts" has nothing left that could.
    await store("orders", '{"item":"vase"}', 1);
    const page = await lab.open();
    const names = async () => {
      const headers = await page.getByRole("table", { name: "All queues" }).getByRole("rowheader").all();
      return Promise.all(headers.map((header) => header.textContent()));
    };
    // The first answer may be of before the last messages, and the next one starts 500 queues that sleep.
    await expect
      .poll(async () => (await names()).slice(0, 2), { timeout: 180_000 })
      .toEqual(["orders", "gifts-dead"]);
    // The backlog is taken to grow old after a minute.
    expect((await names()).slice(2, 4).sort()).toEqual([FULL, "q400"]);
    expect(await names()).toHaveLength(50);
    await says(page.getByRole("main"), new RegExp(`Messages waiting ${(HELD + 4).toLocaleString("en")}`));
    await says(page.getByRole("main"), /Dead letters 3 Failing queues 1 Ageing queues [01] Paused queues 1/);
    const map = page.getByRole("region", { name: "Map", exact: true });
    await says(map, /and 485 others, all idle\./);
    await says(map, new RegExp(`${FULL} ${HELD.toLocaleString("en")} wait`));
    const clicks = await countClicks(page);
    await page.getByRole("button", { name: "1 paused queues, show them" }).click();
    expect(await names()).toEqual(["q400"]);
    await page.getByRole("combobox", { name: "Show" }).selectOption("all");
    await page.getByRole("button", { name: "Ready", exact: true }).click();
    expect((await names()).slice(0, 2)).toEqual([FULL, "gifts-dead"]);
    expect(await page.getByRole("columnheader", { name: "Ready" }).getAttribute("aria-sort")).toBe(
      "descending",
    );
    await page.getByRole("button", { name: "Next" }).click();
    expect(await names()).toHaveLength(50);
    expect(await clicks()).toBeLessThanOrEqual(4);
  });
});
