import { consumer, packTexts, pullConsumer } from "@sluice/broker/testing/messages";
import { World } from "@sluice/broker/testing/world";
import type { QueueDirectory } from "@sluice/gateway";
import { tellStory } from "@sluice/gateway/testing/story";
import type { LookRequest } from "@sluice/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { FullLog, liesIn } from "./story-truth.ts";

/** Most stories that are read at a time. */
const READ_MAX = 60;

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant("send"), count: fc.constantFrom(1, 3, 40, 700) }) },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant("pass"), count: fc.constantFrom(1, 90, 700, 2_500) }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("handle"), count: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("pull"), count: fc.constantFrom(1, 30, 100) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("pause"), count: fc.nat(1) }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant("clock"), count: fc.constantFrom(50, 4_000, 1_000_000) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("delete"), count: fc.constantFrom(1, 5) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("due"), count: fc.constantFrom(1, 5) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("purge"), count: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("read"), count: fc.nat(100) }) },
);

type Step = { readonly act: string; readonly count: number };

/** Queues of a Worker and of clients that pull, with everything that people do to them. */
class Run {
  readonly world: World;
  readonly log = new FullLog();
  #handles = 0;
  #leases: string[] = [];
  #held: (() => void)[] = [];
  #slow: (() => void)[] = [];
  #sent = 0;

  constructor(sharesCommits: boolean) {
    const settings = {
      maxBatchTimeoutSeconds: 0,
      maxRetries: 1,
      retryDelaySeconds: 1,
      deadLetterQueue: "dead",
    };
    this.world = new World({
      orders: { consumer: consumer(settings) },
      jobs: {
        consumer: pullConsumer({ maxRetries: 1, visibilityTimeoutMs: 1_000, deadLetterQueue: "dead" }),
      },
      dead: {},
    });
    this.world.keepsHistory = true;
    this.world.sharesCommits = sharesCommits;
    this.world.observer = this.log;
    this.world.handler = async ({ messages }) => {
      if (this.#handles === 3) await new Promise<void>((go) => this.#held.push(go));
      if (this.#handles === 4) await new Promise<void>((go) => this.#slow.push(go));
      const handles = this.#handles;
      if (handles === 1 || handles === 4) return { outcome: "exception", error: "Error: no stock" };
      if (handles !== 2) return {};
      const odd = messages.filter((_, i) => i % 2 === 1);
      return {
        retryMessages: odd.map(({ id }, i) => (i === 0 ? { msgId: id } : { msgId: id, delaySeconds: 2 })),
      };
    };
  }

  async take({ act, count }: Step): Promise<void> {
    const { world } = this;
    const [orders, jobs] = [world.core("orders"), world.core("jobs")];
    switch (act) {
      case "send":
        for (let left = count; left > 0; left -= 100) {
          const bodies = Array.from({ length: Math.min(left, 100) }, () => `body ${this.#sent++}`);
          const packed = packTexts(bodies);
          await (this.#sent % 3 === 0 ? jobs : orders).send(
            [{ packed }],
            this.#sent % 2 === 0 ? "shop" : "app",
          );
        }
        break;
      case "pass":
        await world.pass(count);
        for (const go of this.#slow.splice(0)) go();
        break;
      case "handle":
        this.#handles = count;
        if (count !== 3) for (const go of this.#held.splice(0)) go();
        break;
      case "pull": {
        const pulled = await jobs.pull({ max: count });
        const leases = [...this.#leases, ...(pulled.ok ? pulled.batch.leaseIds : [])];
        this.#leases = leases.splice(Math.ceil(leases.length / 2));
        const [acks, retries] = [leases.filter((_, i) => i % 3 > 0), leases.filter((_, i) => i % 3 === 0)];
        await jobs.settleLeases({ acks, retries: retries.map((leaseId) => ({ leaseId })) });
        break;
      }
      case "pause":
        await orders.reconfigure(
          () => Object.assign(world.queues.orders ?? {}, { deliveryPaused: count === 1 }),
          () => {},
        );
        break;
      case "clock":
        await world.moveClock(count);
        break;
      case "delete":
        await orders.deleteByRefs(orders.messages.look({ max: count }).messages.map(({ ref }) => ref));
        break;
      case "due":
        await orders.messages.makeDue(orders.messages.look({ max: count }).messages.map(({ ref }) => ref));
        break;
      case "purge":
        await (count === 0 ? orders : jobs).purge();
        break;
      case "read":
        await this.read(count);
    }
    await world.quiet();
  }

  /** Reads stories of messages from all over the run. */
  async read(from: number): Promise<void> {
    const { ids } = this.log;
    const every = Math.max(1, Math.floor(ids.length / READ_MAX));
    for (const id of ids.filter((_, i) => (i + from) % every === 0)) {
      const queue = this.log.of(id)[0]?.queue ?? "";
      const story = await tellStory(this.#directory, { queue, id });
      expect({ id, lies: liesIn(story, id, this.log) }).toEqual({ id, lies: [] });
    }
  }

  get #directory(): QueueDirectory {
    return {
      account: { findByName: async () => ({}) },
      queue: (name: string) => ({
        look: async (_: string, request: LookRequest) => this.world.core(name).messages.look(request),
        story: async (_: string, id: string) => this.world.core(name).history.story(id),
      }),
    } as unknown as QueueDirectory;
  }
}

/** Runs that random ones have failed by. */
const EXAMPLES: [boolean, Step[]][] = [
  [
    true,
    [
      { act: "pause", count: 1 },
      { act: "send", count: 1 },
      { act: "purge", count: 0 },
      { act: "send", count: 40 },
      { act: "pull", count: 1 },
    ],
  ],
  [
    false,
    [
      { act: "send", count: 700 },
      { act: "handle", count: 3 },
      { act: "send", count: 700 },
      { act: "due", count: 1 },
      { act: "purge", count: 0 },
      { act: "delete", count: 1 },
      { act: "handle", count: 4 },
      { act: "pass", count: 1 },
    ],
  ],
];

it("a story tells nothing that did not happen, and says where it lacks what did", async () => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 5, maxLength: 25 }), async (shares, steps) => {
      const run = new Run(shares);
      for (const each of steps) await run.take(each);
      await run.read(0);
    }),
    { numRuns: 40, examples: EXAMPLES },
  );
});
