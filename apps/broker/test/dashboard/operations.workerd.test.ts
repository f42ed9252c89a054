// @module-tag slow
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CHROMIUM, countClicks, type DashboardLab, openLab, says } from "./lab.ts";

/** Most clicks from the first page to the end of a task. */
const CLICKS_MAX = 4;

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

describe.skipIf(CHROMIUM === null)("an operator who starts on the first page", () => {
  let page: Page;
  let clicks: () => Promise<number>;
  const button = (name: string) => page.getByRole("button", { name, exact: true });

  beforeEach(async () => {
    await lab.api("/queues/gifts/purge", "POST");
    page = await lab.open();
    clicks = await countClicks(page);
  });

  const openQueue = () => page.getByRole("link", { name: "gifts", exact: true }).first().click();

  it("pauses a queue and lets it go on", async () => {
    await openQueue();
    await button("Pause delivery").click();
    await says(page.getByRole("main"), "Delivery was paused. What is under way ends.");
    await button("Resume delivery").click();
    await says(page.getByRole("main"), "Delivery was resumed.");
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
  });

  it("deletes all messages of a queue, and is told how many these are", async () => {
    await lab.api("/queues/gifts/pause", "POST");
    for (const item of ["lamp", "mug"]) await lab.send("gifts", JSON.stringify({ item }));
    await openQueue();
    await button("Purge").click();
    const dialog = page.getByRole("dialog", { name: "Purge" });
    await says(
      dialog,
      'Delete all messages of "gifts" for good? It holds 2 messages now. Finished ones go too.',
    );
    await dialog.getByRole("button", { name: "Purge" }).click();
    await says(page.getByRole("main"), "2 messages deleted, finished ones too.");
    await lab.api("/queues/gifts/resume", "POST");
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
  });

  it("moves the clock by an hour", async () => {
    await button("Clock").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Move it" }).click();
    await expect
      .poll(async () => (await lab.api<{ aheadMs: number }>("/clock")).aheadMs)
      .toBeGreaterThanOrEqual(3_600_000);
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
  });

  it("makes a delivery go wrong", async () => {
    await openQueue();
    await button("Faults").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("checkbox", { name: /deliverTwice/ }).click();
    await dialog.getByRole("button", { name: "Set faults" }).click();
    await says(page.getByRole("main"), "The faults were set.");
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
    await lab.send("gifts", JSON.stringify({ item: "lamp" }));
    await expect.poll(() => lab.api("/queues/gifts")).toMatchObject({ faults: [] });
  });

  it("sees on one page what is done on another", async () => {
    await openQueue();
    const other = await lab.open("#/queues/gifts");
    await other.getByRole("button", { name: "Pause delivery" }).click();
    await button("Resume delivery").click();
    await other.getByRole("button", { name: "Pause delivery" }).waitFor();
    expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
  });

  it("does all of it by keyboard alone", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("gifts");
    await page.getByRole("search").getByRole("link", { name: /gifts/ }).first().waitFor();
    await page.keyboard.press("Enter");
    await button("Send a message").waitFor();
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog", { name: "Send to gifts" });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await button("Pause delivery").focus();
    await page.keyboard.press("Enter");
    await button("Resume delivery").focus();
    await page.keyboard.press("Space");
    await button("Pause delivery").waitFor();
    for (const [key, part] of [
      ["2", "Messages"],
      ["3", "History"],
      ["4", "Settings"],
      ["1", "Now"],
    ] as const) {
      await page.keyboard.press(key);
      await page.locator(`[aria-current="page"]`, { hasText: part }).waitFor();
    }
    expect(await clicks()).toBe(0);
  });
});
