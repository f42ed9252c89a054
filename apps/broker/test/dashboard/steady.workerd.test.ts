// @module-tag slow
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, type DashboardLab, holds, openLab, says } from "./lab.ts";

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  lab = await openLab(CHROMIUM);
  await lab.api("/clock", "POST", { advanceMs: 3_600_000 });
  await lab.api("/queues/orders/faults", "PUT", { faults: [{ kind: "deliverTwice" }] });
});
afterAll(() => lab?.close());

/**
 * Lists what moved up or down without a click since the page was opened, and which links and fields moved aside. A text
 * that gets longer beside others moves nobody's aim, and the footer goes down as the page gets longer.
 */
const MOVED = `new Promise((resolve) => {
  const isAim = (node) => node?.matches?.("a, button, input, select, label") === true;
  new PerformanceObserver((list) => resolve(list.getEntries().flatMap(({ sources }) => sources.flatMap(
    ({ node, previousRect: from, currentRect: to }) =>
      node?.matches?.("footer") || (from.y === to.y && (from.x === to.x || !isAim(node)))
        ? []
        : [[node?.outerHTML?.slice(0, 80) ?? node?.textContent, from.x, from.y, to.x, to.y].join(" ")],
  )))).observe({ type: "layout-shift", buffered: true });
  // There is no entry where nothing moved.
  setTimeout(() => resolve([]), 1_000);
})`;

/** Opens a page whose clock and faults are known late. */
async function openLate(hash: string, width: number): Promise<Page> {
  const page = await lab.open(hash, { viewport: { width, height: 900 } });
  let isKept = true;
  await page.route(/\/api\/(clock|queues\?.*)$/, async (route) => {
    if (isKept) await page.waitForTimeout(1_500);
    isKept = false;
    await route.continue();
  });
  await page.reload();
  return page;
}

describe.skipIf(CHROMIUM === null)("nothing moves by itself while a page is opened", () => {
  it.each(
    [360, 1_280].flatMap((width) =>
      ["", "#/queues/orders", "#/queues/orders/messages"].map((hash) => [width, hash] as const),
    ),
  )("at %i px, at %j", async (width, hash) => {
    const page = await openLate(hash, width);
    await says(page.locator("body"), /The clock of the queues .*Faults are on in/);
    await page.getByRole("button", { name: "Clock" }).waitFor();
    expect(await page.evaluate(MOVED)).toEqual([]);
  });

  it.each([360, 1_280])("at %i px, where the errors of the messages are known late", async (width) => {
    const message = { contentType: "json", text: JSON.stringify({ item: "vase" }) };
    await lab.api("/queues/gifts/messages/batch", "POST", { messages: [message] });
    await holds(lab, "gifts-dead", 1);
    const page = await lab.open("#/queues/gifts-dead/messages", { viewport: { width, height: 900 } });
    await page.route(/\/errors\?/, async (route) => {
      await page.waitForTimeout(1_500);
      await route.continue();
    });
    await page.reload();
    await says(page.getByRole("region", { name: "Last errors" }), "1 TypeError: the vase is cursed");
    expect(await page.evaluate(MOVED)).toEqual([]);
    await lab.api("/queues/gifts-dead/purge", "POST");
  });
});
