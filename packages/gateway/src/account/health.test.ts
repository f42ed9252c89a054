import { beforeEach, expect, it } from "vitest";
import { directoryOf } from "../../test/directory.ts";
import { HEALTH_MS_MAX, healthOf } from "./health.ts";

const QUEUES = await directoryOf().account.list();
const OK = { status: "ok", queues: QUEUES.length };
const FAILING = { status: "failing", error: "the directory does not answer: Error: gone" };

let nowMs: number;
let asked: number;
let list: () => Promise<typeof QUEUES>;
let health: ReturnType<typeof healthOf>;

beforeEach(() => {
  [nowMs, asked] = [1_000_000, 0];
  list = async () => QUEUES;
  const account = {
    list: () => {
      asked += 1;
      return list();
    },
  };
  health = healthOf(account, () => nowMs);
});

it.each([
  [HEALTH_MS_MAX - 1, 1],
  [HEALTH_MS_MAX, 2],
  [HEALTH_MS_MAX + 1, 2],
  // The clock was set back.
  [-3_600_000, 2],
])("the health that is asked for %i ms later has asked the directory %i times", async (laterMs, times) => {
  for (let i = 0; i < 10; i += 1) expect(await health()).toEqual(OK);
  nowMs += laterMs;
  for (let i = 0; i < 10; i += 1) expect(await health()).toEqual(OK);
  expect(asked).toBe(times);
});

it("the health fails as long as the directory does, and a moment longer", async () => {
  list = () => Promise.reject(new Error("gone"));
  expect(await health()).toEqual(FAILING);
  list = async () => QUEUES;
  expect(await health()).toEqual(FAILING);
  nowMs += HEALTH_MS_MAX;
  expect(await health()).toEqual(OK);
});

it("the health is what it was for those who ask while the directory is asked", async () => {
  await health();
  nowMs += HEALTH_MS_MAX;
  const answered = Promise.withResolvers<typeof QUEUES>();
  list = () => answered.promise;
  const first = health();
  expect(await health()).toEqual(OK);
  answered.reject(new Error("gone"));
  expect(await first).toEqual(FAILING);
  expect(await health()).toEqual(FAILING);
  expect(asked).toBe(2);
});
