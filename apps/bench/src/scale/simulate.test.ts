import { expect, it } from "vitest";
import { type Load, type SimulationInput, simulate } from "./simulate.ts";

const COSTS = { callMs: 0.1, messageMs: 0.01, commitMs: 0.2, rowsPerCommit: 2 };
const ONE: Load = { shards: 1, isolates: 1, perSecond: 5, startsMs: 100, countedMs: 20_000 };
const SMALL: Load = { shards: 4, isolates: 40, perSecond: 1_000, startsMs: 500, countedMs: 1_000 };

const run = (load: Load, more: Partial<SimulationInput> = {}) =>
  simulate({ load, costs: COSTS, seed: 5, ...more });

it("a message that comes alone takes two ways, a call, a message, a commit and its disk", async () => {
  // Without the part of a way that is random, and with gaps that are longer than a send.
  const { send, messagesPerCall, callsPerCommit } = await run(
    { ...ONE, perSecond: 1 },
    { networkMs: 0, conditions: { durableMs: 7 } },
  );
  expect(send.p50Ms).toBeCloseTo(0.1 + 0.01 + 0.2 + 7, 6);
  expect([messagesPerCall, callsPerCommit]).toEqual([1, 1]);
});

it("a way takes its least time and up to as much again", async () => {
  const { send } = await run(ONE, { networkMs: 4 });
  expect(send.p50Ms).toBeGreaterThan(8 + 0.31 + 5);
  expect(send.p99Ms).toBeLessThan(16 + 2 * (0.31 + 5) + 10);
});

it("every message is stored or has failed, whatever happens to the shards", async () => {
  const loads: Load[] = [
    SMALL,
    { ...SMALL, busyShare: 0.1 },
    { ...SMALL, incident: { kind: "away", atMs: 100, forMs: 500, shard: 2 } },
    { ...SMALL, incident: { kind: "grow", atMs: 300, shards: 9 } },
  ];
  for (const load of loads) {
    const { all, mostLoaded, leastLoaded } = await run(load);
    expect(all.sent).toBeGreaterThan(1_000);
    expect(all.stored + all.failed).toBe(all.sent);
    expect(mostLoaded).toBeGreaterThanOrEqual(1);
    expect(leastLoaded).toBeLessThanOrEqual(1);
  }
});

it("the same seed gives the same figures, another one others", async () => {
  const [first, again, other] = [await run(SMALL), await run(SMALL), await run(SMALL, { seed: 6 })];
  expect(again).toEqual(first);
  expect(other.send).not.toEqual(first.send);
});

it("nothing is refused below the platform's limit; beyond it isolates move on", async () => {
  const below = await run(SMALL);
  expect([below.refusedShare, below.failed]).toEqual([0, 0]);
  // Two seconds of so few requests use up what it lets through at once.
  const beyond = await run(
    { ...SMALL, perSecond: 4_000, countedMs: 2_000 },
    { conditions: { requestsPerSecondMax: 100 } },
  );
  expect(beyond.refusedShare).toBeGreaterThan(0);
  expect(beyond.all.failed).toBeGreaterThan(0);
});

it("only the isolates of a shard that is away fail, and only as long as it is away", async () => {
  const { failed, sent } = await run({ ...SMALL, incident: { kind: "away", atMs: 0, forMs: 500, shard: 1 } });
  const share = failed / sent;
  expect(share).toBeGreaterThan(0.25 * 0.5 * 0.4);
  expect(share).toBeLessThan(0.25 * 0.5 * 2);
});

it("new shards get their part, from isolates that are told the new map", async () => {
  const grown = await run({ ...SMALL, incident: { kind: "grow", atMs: 0, shards: 16 } });
  expect(grown.remapped).toBeGreaterThan(30);
  expect(grown.failed).toBe(0);
  expect(grown.mostLoaded).toBeLessThan(4);
});

it("the bill is that of the commits, the calls and the time awake", async () => {
  const { rows, requests, messagesPerCall, callsPerCommit, bill } = await run(ONE);
  expect(rows).toBeCloseTo((2 * 1e6) / (messagesPerCall * callsPerCommit), -2);
  expect(requests).toBeCloseTo(1e6 / messagesPerCall, -2);
  expect(bill.total).toBeCloseTo(bill.rowsWritten + bill.requests + bill.duration, 9);
  expect(bill.requests).toBeCloseTo((0.15 * requests) / 1e6, 9);
});
