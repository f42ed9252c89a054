import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { InDelivery } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RuntimeWatch } from "./runtime-watch.ts";

const SILENT_MS = 3_000;

let workers: Server;
/** Whether they answer. */
let answers: boolean;
let watch: RuntimeWatch;
let lines: string[];
/** Workers that have deliveries. */
let busy: string[];
const deliveryTo = (worker: string): InDelivery => ({
  queue: `of ${worker}`,
  worker,
  messages: 1,
  attempt: 1,
  sinceMs: 0,
});
const asked = async () => (await fetch(watch.url)).text();
const listening = () => watch.on({ kind: "listening", port: (workers.address() as AddressInfo).port });

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  answers = true;
  workers = createServer((_request, response) => {
    if (answers) response.end();
  });
  await once(workers.listen(0, "127.0.0.1"), "listening");
  lines = [];
  busy = [];
  const print = (text: string) => void lines.push(text);
  watch = await RuntimeWatch.open({
    silentMsMax: () => SILENT_MS,
    inDelivery: async () => ({ kind: "read", deliveries: busy.map(deliveryTo) }),
    printer: { print, warn: print },
  });
});

afterEach(() => {
  watch.close();
  workers.close();
  workers.closeAllConnections();
  vi.useRealTimers();
});

describe("how the last workerd ended", () => {
  it("is what an earlier command has left, to begin with", async () => {
    expect(await asked()).toBe("unplanned");
    watch.lastEnd = "planned";
    expect(await asked()).toBe("planned");
  });

  it("is told to nobody who does not know where to ask", async () => {
    watch.lastEnd = "planned";
    const response = await fetch(new URL("/", watch.url));
    expect([response.status, await response.text()]).toEqual([404, ""]);
  });

  it.each([
    ["Wrangler has ended it", ["ending"], "planned"],
    ["it has died", ["died"], "unplanned"],
    ["it has died, and Wrangler has ended the next one before it listened", ["died", "ending"], "unplanned"],
    ["Wrangler has ended it, and the next one has died before it listened", ["ending", "died"], "planned"],
  ] as const)("is known when %s", async (_name, events, expected) => {
    watch.lastEnd = expected === "planned" ? "unplanned" : "planned";
    listening();
    for (const kind of events) watch.on({ kind });
    expect(await asked()).toBe(expected);
  });

  it("is a planned one where a signal has ended it before Wrangler could", async () => {
    listening();
    watch.ending();
    watch.on({ kind: "died" });
    expect(watch.lastEnd).toBe("planned");
    listening();
    watch.on({ kind: "died" });
    expect(watch.lastEnd).toBe("unplanned");
  });

  it.each([
    [1, "planned"],
    [2, "unplanned"],
  ])("is none that counts as planned after a silence: %i s", async (silent, expected) => {
    listening();
    answers = false;
    vi.advanceTimersByTime(1_000 * silent);
    watch.on({ kind: "ending" });
    expect(watch.lastEnd).toBe(expected);
  });
});

describe("the Worker that has ended it", () => {
  it("is blamed where no other had a delivery, and nobody is where several had", async () => {
    listening();
    busy = ["a"];
    watch.on({ kind: "died" });
    busy = [];
    expect(JSON.parse(await asked())).toMatchObject({ kind: "blamed", worker: "a" });
    await asked();
    expect(lines).toEqual([
      expect.stringMatching(/have ended\. .* those of "a" count as attempts, no others/),
    ]);
    for (const first of ["a", "b"]) {
      listening();
      busy = ["a", "b"];
      watch.on({ kind: "died" });
      const { kind, order } = JSON.parse(await asked());
      expect([kind, order[0]]).toEqual(["suspected", first]);
    }
    listening();
    busy = ["b"];
    watch.on({ kind: "died" });
    expect(JSON.parse(await asked())).toMatchObject({ kind: "blamed", worker: "b" });
  });
});

describe("Workers that do not answer", () => {
  it("are named once, with what is in delivery; and when they answer again", async () => {
    answers = false;
    busy = ["a"];
    const held = once(workers, "request");
    listening();
    const [, response] = await held;
    vi.advanceTimersByTime(SILENT_MS - 1);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(10 * SILENT_MS);
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatch(
      /have not answered since 2\S+: .*\nIn delivery:\n {2}queue "of a": .*\nSave a changed file .* those of "a" count/,
    );
    response.end();
    await vi.waitFor(() => expect(lines).toHaveLength(2));
    expect(lines[1]).toMatch(/answer again, after \d+ s/);
  });

  it("are not said to have a handler that hangs where nothing is in delivery", async () => {
    answers = false;
    const held = once(workers, "request");
    listening();
    await held;
    vi.advanceTimersByTime(SILENT_MS);
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatch(
      /^The Workers have not answered since 2\S+\. Nothing is in delivery to a queue\(\) handler\. The broker may be busy/,
    );
    expect(lines[0]).not.toMatch(/count as attempts|never ends|without a pause/);
  });
});
