import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, type DashboardLab, openLab, says, shownBy } from "./lab.ts";

let lab: DashboardLab;

beforeAll(async () => {
  if (CHROMIUM !== null) lab = await openLab(CHROMIUM);
});
afterAll(() => lab?.close());

describe.skipIf(CHROMIUM === null)("the page tells nothing that did not happen", () => {
  it("and says from when to when a burst was too large to be noted message by message", async () => {
    const ids: string[] = [];
    // On a busy machine a burst takes several seconds.
    await lab.api("/clock", "POST", { freeze: true });
    for (let i = 0; i < 60; i++) {
      const messages = Array.from({ length: 100 }, (_, k) => ({ text: String(100 * i + k) }));
      const batch = await lab.api<{ ids: string[] }>("/queues/inbox/messages/batch", "POST", { messages });
      ids.push(...batch.ids);
    }
    await lab.api("/clock", "POST", { freeze: false });
    const page = await lab.open(`#/queues/inbox/messages/${ids.at(-1)}`);
    const time = "\\d\\d:\\d\\d:\\d\\d\\.\\d{3}";
    await says(
      page.getByRole("list", { name: "Story" }),
      new RegExp(`^More happened in inbox at ${time} than is noted message by message`),
    );
    await page.goto(`${lab.origin}/__sluice/#/queues/inbox/messages/${ids[0]}`);
    await says(page.getByRole("list", { name: "Story" }), /^Sent/);
  });

  it("but which waits were a pause, which a move of the clock, and what a fault did", async () => {
    const answered = lab.endpoint.arrived("/slow", 2);
    await lab.api("/queues/slow/faults", "PUT", { faults: [{ kind: "deliverTwice" }] });
    await lab.api("/queues/slow/pause", "POST");
    await lab.send("slow", "1");
    await lab.api("/clock", "POST", { advanceMs: 60_000 });
    await lab.api("/queues/slow/resume", "POST");
    await answered;
    const { events } = await lab.api<{ events: { ids: string[] }[] }>("/queues/slow/history?kind=accepted");
    const page = await lab.open(`#/queues/slow/messages/${events[0]?.ids[0]}`);
    const story = page.getByRole("list", { name: "Story" });
    await says(story, /waited 1 min.*, of that .* paused and 1 min by moving the clock/);
    await says(story, /Fault.*deliverTwice: the handler gets the batch twice/);
  });

  it("nor three different times of what comes next", async () => {
    await lab.api("/queues/orders/messages", "POST", { body: { item: "vase" } });
    const page = await lab.open("#/queues/orders");
    const main = page.getByRole("main");
    await says(main, /Comes next next delivery in \d+ min/);
    await lab.api("/clock", "POST", { advanceMs: 570_000 });
    const seen = new Set<string>();
    const look = async () => {
      const text = await shownBy(main);
      const times = [
        ...text.matchAll(/(?:Failing next delivery|\d\d:\d\d:\d\d,|Comes next next delivery) in (\d+ s)/g),
      ];
      expect(new Set(times.map(([, time]) => time)).size).toBeLessThanOrEqual(1);
      if (times.length === 3) seen.add(times[0]?.[1] ?? "");
      return seen.size;
    };
    await expect.poll(look).toBeGreaterThan(2);
  });
});
