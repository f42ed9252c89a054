import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, type DashboardLab, holds, openLab, row, says } from "./lab.ts";

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

const SHOTS = process.env.SHOTS;

it.skipIf(CHROMIUM === null)("look", async () => {
  for (let i = 0; i < 40; i++) {
    await lab.api("/queues/gifts/messages/batch", "POST", {
      messages: Array.from({ length: 40 }, () => ({ contentType: "json", text: i===3 ? '{"item":"vase"}' : '{"item":"lamp"}' })),
    });
    if (i === 20) await lab.api("/queues/gifts/pause", "POST");
    if (i === 22) await lab.api("/queues/gifts/resume", "POST");
    if (i === 30) await lab.api("/clock", "POST", { advanceMs: 3_600_000 });
    await new Promise((r) => setTimeout(r, 300));
  }
  for (const [name, options] of [
    ["light", { viewport: { width: 1280, height: 900 } }],
    ["dark", { viewport: { width: 1280, height: 900 }, colorScheme: "dark" }],
    ["phone", { viewport: { width: 360, height: 800 } }],
  ] as const) {
    const page = await lab.open("#/queues/gifts", options);
    await new Promise((r) => setTimeout(r, 1500));
    await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
    if (name === "light") {
      await page.getByRole("slider").first().focus();
      for (let i = 0; i < 15; i++) await page.keyboard.press("ArrowLeft");
      await new Promise((r) => setTimeout(r, 1500));
      await page.screenshot({ path: `${SHOTS}/keys.png` });
      await page.getByRole("slider").nth(1).hover();
      await new Promise((r) => setTimeout(r, 1500));
      await page.screenshot({ path: `${SHOTS}/hover.png` });
      for (const w of ["1 h", "24 h"]) {
        await page.getByRole("button", { name: w, exact: true }).click();
        await new Promise((r) => setTimeout(r, 700));
        await page.screenshot({ path: `${SHOTS}/${w[0]}h.png` });
      }
    }
  }
}, 120_000);
