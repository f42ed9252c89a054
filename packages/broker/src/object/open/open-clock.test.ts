import { type ClockSetting, REAL_TIME } from "@sluice/protocol";
import { expect, it } from "vitest";
import { MemoryStore } from "../../../test/memory-store.ts";
import { packTexts, recordOf } from "../../../test/messages.ts";
import type { Host, HostStorage } from "../../platform/host.ts";
import { ManyQueuesLog } from "../../platform/many-queues-log.ts";
import type { BoundConsumers } from "../bound-consumers.ts";
import type { BrokerEnv } from "../broker-env.ts";
import { changeClock } from "../moved-clock.ts";
import { FullStorages } from "../storage-full.ts";
import { LastEnds } from "./last-end.ts";
import { type OpenQueue, openQueue } from "./open-queue.ts";

const START_MS = 1_700_000_000_000;
const SECOND = 1_000;
const HOUR = 3_600_000;

/** The object of a queue or a shard in development, beside a directory that has the broker's clock. */
class Development {
  realMs = START_MS;
  setting: ClockSetting = REAL_TIME;
  record = recordOf(1);
  /** Whether the directory does not answer. */
  isAway = false;
  readonly #name: string;
  #store = new MemoryStore();

  constructor(name = "orders") {
    this.#name = name;
  }

  get rowsWritten(): number {
    return this.#store.rowsWritten;
  }

  /** Moves the broker's clock, of which the queue hears when it opens. */
  move(ms: number): void {
    const { offsetMs, frozenAtMs } = this.setting;
    this.setting = { offsetMs: offsetMs + ms, frozenAtMs: frozenAtMs === null ? null : frozenAtMs + ms };
  }

  /** Stops the broker's clock. */
  freeze(): void {
    this.setting = { ...this.setting, frozenAtMs: this.realMs + this.setting.offsetMs };
  }

  /** Has the broker's clock, which stands ahead of real time, run on. */
  follow(): void {
    this.setting = { offsetMs: (this.setting.frozenAtMs ?? 0) - this.realMs, frozenAtMs: null };
  }

  /** Has the queue start again some time later. */
  async reopen(afterMs = SECOND): Promise<OpenQueue> {
    this.realMs += afterMs;
    this.#store = this.#store.crash();
    return this.open();
  }

  /** Drops what the queue holds, durably. */
  async drop(open: OpenQueue): Promise<void> {
    await open.drop();
    await this.#store.synced();
  }

  async open(): Promise<OpenQueue> {
    const now = () => this.realMs;
    const open = await openQueue(
      this.#name,
      {
        host: {
          id: { name: this.#name },
          env: {
            SLUICE_ENV: "development",
            SLUICE_QUEUES: { idFromName: (name: string) => name },
          } as unknown as BrokerEnv,
          storage: {
            // Too large a file to be checked.
            sql: { databaseSize: Number.POSITIVE_INFINITY },
            getAlarm: async () => null,
            setAlarm: async () => {},
          } as unknown as HostStorage,
          clock: { now, alarmMsOf: (atMs) => atMs, momentOf: (alarmMs) => alarmMs },
          systemMs: now,
          log: { log() {}, warn() {}, error() {} },
          isOver: false,
          // It waits for a directory that is away, and for nothing else.
          after: (callback: () => void) => {
            if (this.isAway) queueMicrotask(callback);
            return () => {};
          },
        } as Partial<Host<BrokerEnv>> as Host<BrokerEnv>,
        options: {
          topology: { queues: { orders: this.record.definition } },
          consumers: {},
          instruments: { openStore: () => this.#store },
        },
        consumers: {
          consumerOf: () => null,
          warnOfUnbound: () => {},
        } as Partial<BoundConsumers> as BoundConsumers,
        directory: {
          opened: async () => {
            if (this.isAway) throw new Error("the directory is away");
            return {
              position: null,
              status: { kind: "known", record: this.record },
              isIdle: true,
              clock: this.setting,
              directoryLoss: null,
            };
          },
          report: async () => null,
          findByName: async () => null,
          ensureQueue: () => Promise.reject(new Error("no messages are passed on")),
          undeliverable: () => Promise.reject(new Error("no messages are passed on")),
        },
        fullStorages: new FullStorages(),
        lastEnds: new LastEnds(async () => ""),
        suspectFiles: new Set(),
        manyQueues: new ManyQueuesLog(),
      },
      () => 0,
    );
    await open.core.wake();
    return open;
  }
}

async function send({ core }: OpenQueue): Promise<void> {
  expect(await core.send([{ packed: packTexts(["a"]) }])).toMatchObject({ ok: true });
}

/** Collects by how much the clock was moved, in ms: by the marks of the figures, and by the history, oldest first. */
function movesOf({ core: { history } }: OpenQueue) {
  const { marks } = history.figures({ window: "24h" });
  const { events } = history.list({ max: 9, kinds: ["clockMoved"] });
  return { marks: marks.map(({ byMs }) => byMs), events: events.map(({ delayMs }) => delayMs).reverse() };
}

const NONE = { marks: [], events: [] };

/** Has the queue start three times and take a message: its clock is ahead by so much, and it knows of those moves. */
async function startsThrice(object: Development, aheadMs: number, moves: ReturnType<typeof movesOf>) {
  for (let i = 0; i < 3; i++) {
    const open = await object.reopen();
    expect(open.clock.now()).toBe(object.realMs + aheadMs);
    await send(open);
    expect(movesOf(open)).toEqual(moves);
  }
}

it.each(["orders", "orders#1"])(
  "queue %s that is created after the clock was moved goes by it at every start, and knows of no move",
  async (name) => {
    const object = new Development(name);
    object.move(2 * HOUR);
    await startsThrice(object, 2 * HOUR, NONE);
  },
);

it("a setting of the clock that is stored is not written again", async () => {
  const object = new Development();
  object.move(2 * HOUR);
  await send(await object.open());
  await object.reopen().then(send);
  const moved = object.rowsWritten;
  const still = new Development();
  await send(await still.open());
  await still.reopen().then(send);
  expect(moved).toBe(still.rowsWritten);
});

it("a new queue that nothing comes to writes no row for the moved clock", async () => {
  const object = new Development();
  for (let i = 0; i < 3; i++) {
    object.move(HOUR);
    const open = await object.reopen();
    expect(open.clock.now()).toBe(object.realMs + (i + 1) * HOUR);
    expect(movesOf(open)).toEqual(NONE);
    expect(object.rowsWritten).toBe(0);
  }
});

it("a move while the queue was asleep counts once", async () => {
  const object = new Development();
  object.move(2 * HOUR);
  await send(await object.open());
  object.move(HOUR);
  await startsThrice(object, 3 * HOUR, { marks: [HOUR], events: [HOUR] });
});

it("a move of a queue that is awake counts once", async () => {
  const object = new Development();
  object.move(2 * HOUR);
  const open = await object.open();
  await send(open);
  object.move(HOUR);
  await changeClock(open, (clock) => clock.goBy(object.setting));
  await open.flush();
  const once = { marks: [HOUR], events: [HOUR] };
  expect(movesOf(open)).toEqual(once);
  expect(movesOf(await object.reopen())).toEqual(once);
});

it("a queue that hears some ms late of a freeze, and of its end, knows of no move but the one that was asked for", async () => {
  const object = new Development();
  const open = await object.open();
  await send(open);
  const hear = async (ms: number) => {
    object.realMs += ms;
    await changeClock(open, (clock) => clock.goBy(object.setting));
  };
  object.freeze();
  await hear(42);
  object.move(HOUR);
  await hear(5_000);
  object.follow();
  await hear(19);
  await open.flush();
  // Its own clock was ahead by so much when it was stopped.
  expect(movesOf(open)).toEqual({ marks: [HOUR - 42], events: [HOUR - 42] });
});

it("a queue that is created again after it was deleted knows of no move before", async () => {
  const object = new Development();
  await send(await object.open());
  object.move(2 * HOUR);
  object.record = recordOf(3, 2);
  await startsThrice(object, 2 * HOUR, NONE);
});

it("a queue that is created in the object of a deleted one knows of no move between the two", async () => {
  const object = new Development();
  const deleted = await object.open();
  await send(deleted);
  await object.drop(deleted);
  object.move(2 * HOUR);
  object.record = recordOf(3, 2);
  await startsThrice(object, 2 * HOUR, NONE);
});

it("a move counts also where no copy of the queue's record is stored yet", async () => {
  const object = new Development();
  object.isAway = true;
  const open = await object.open();
  object.isAway = false;
  await send(open);
  object.move(HOUR);
  expect(movesOf(await object.reopen())).toEqual({ marks: [HOUR], events: [HOUR] });
});

it("a queue that is created while the clock stands goes by it at every start, however much later", async () => {
  const object = new Development();
  object.move(2 * HOUR);
  object.freeze();
  for (let i = 0; i < 3; i++) {
    const open = await object.reopen(HOUR);
    expect(open.clock.now()).toBe(START_MS + 2 * HOUR);
    await send(open);
    expect(movesOf(open)).toEqual(NONE);
  }
});

it("a queue whose clock was stopped goes on by it after a start, and counts what it was moved while it was asleep", async () => {
  const object = new Development();
  const open = await object.open();
  await send(open);
  object.freeze();
  object.move(HOUR);
  await changeClock(open, (clock) => clock.goBy(object.setting));
  await open.flush();
  const again = await object.reopen(HOUR);
  expect(again.clock.now()).toBe(START_MS + HOUR);
  expect(movesOf(again)).toEqual({ marks: [HOUR], events: [HOUR] });
  object.move(2 * HOUR);
  for (let i = 0; i < 2; i++) {
    const later = await object.reopen(HOUR);
    expect(later.clock.now()).toBe(START_MS + 3 * HOUR);
    expect(movesOf(later)).toEqual({ marks: [HOUR, 2 * HOUR], events: [HOUR, 2 * HOUR] });
  }
  // It runs again.
  object.setting = { offsetMs: 0, frozenAtMs: null };
  const running = await object.reopen(HOUR);
  expect(running.clock.now()).toBe(object.realMs);
});
