import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LentConsumer } from "./lent-consumer.ts";
import {
  type CloudflareConsumer,
  type CloudflareQueues,
  type NewConsumer,
  type PulledMessage,
  RefusedRequest,
} from "./queues-api.ts";
import { openCloudflareSource } from "./source.ts";

const WORKER: NewConsumer = { type: "worker", script_name: "mailer", settings: { max_retries: 2 } };
const THEIR_PULL: NewConsumer = { type: "http_pull", settings: { max_retries: 3 } };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lent-"));
});
afterEach(() => rmSync(home, { recursive: true }));

/** A queue of Cloudflare with a consumer, which is pulled from only while that is a pull consumer. */
function cloudflare(consumer: NewConsumer | null) {
  const state = {
    consumer: consumer as CloudflareConsumer | null,
    ids: 0,
    pulled: [] as PulledMessage[],
    postponed: [] as unknown[],
  };
  const set = (next: NewConsumer) => {
    state.ids += 1;
    state.consumer = { ...next, consumer_id: `c${state.ids}` };
  };
  if (consumer !== null) set(consumer);
  const queue = () => ({
    queue_id: "id",
    queue_name: "q",
    consumers: state.consumer === null ? [] : [state.consumer],
  });
  const pulling = () => {
    if (state.consumer?.type !== "http_pull") throw new RefusedRequest("Cloudflare refuses it.", 405);
  };
  const api = {
    account: "a",
    find: async () => queue(),
    get: async () => queue(),
    addConsumer: async (_: string, next: NewConsumer) => set(next),
    removeConsumer: async () => {
      state.consumer = null;
    },
    pull: async () => {
      pulling();
      return state.pulled.splice(0);
    },
    postpone: async (...args: unknown[]) => {
      pulling();
      state.postponed.push(args);
    },
    place: "Cloudflare",
    identityOf: () => ({}),
    backlog: async () => 0,
    ack: async () => {
      pulling();
      return [];
    },
  } as unknown as CloudflareQueues;
  const notes: string[] = [];
  const patience = { tries: 1, note: (text: string) => void notes.push(text) };
  const env = { WRANGLER_REGISTRY_PATH: join(home, "registry") };
  const lent = () => new LentConsumer(api, "id", patience, env);
  const source = () =>
    openCloudflareSource(api, { name: "q", leaseMs: 1_000, detachConsumer: true, patience, env });
  return { state, set, lent, source, notes };
}

describe("a consumer that was taken away", () => {
  it.each([[WORKER], [null]])("comes back in place of the pull consumer: %j", async (before) => {
    const { state, lent, notes } = cloudflare(before);
    await lent().take();
    expect(state.consumer?.type).toBe("http_pull");
    await lent().giveBack();
    expect(state.consumer?.script_name).toBe(before?.script_name);
    expect([lent().kept, notes]).toEqual([undefined, []]);
  });

  it.each([[WORKER], [null]])(
    "does not replace a pull consumer that somebody has made since: %j",
    async (before) => {
      const { state, set, lent, notes } = cloudflare(before);
      await lent().take();
      set(THEIR_PULL);
      await lent().giveBack();
      expect(state.consumer).toMatchObject(THEIR_PULL);
      expect(notes).toEqual([expect.stringContaining("another consumer meanwhile, which stays")]);
      expect(notes[0]?.includes("mailer")).toBe(before !== null);
    },
  );

  it.each([
    ["take", 'has given it the consumer "mailer" back'],
    ["remove", 'has given it the consumer "mailer" back'],
  ] as const)(
    "by two runs comes back with the first, which the other says as it fails to %s",
    async (act, text) => {
      const { source } = cloudflare(WORKER);
      const [first, second] = [await source(), await source()];
      await first.open();
      await second.open();
      expect(await second.take()).toEqual([]);
      await first.close();
      const failing = act === "take" ? second.take() : second.remove(["lease"]);
      await expect(failing).rejects.toMatchObject({
        name: "CliError",
        message: expect.stringContaining(text),
      });
      await second.close();
    },
  );

  it("may be gone for good, which a run says", async () => {
    const { source, state } = cloudflare(WORKER);
    const one = await source();
    await one.open();
    state.consumer = null;
    await expect(one.take()).rejects.toThrow("has taken its consumer away");
  });

  it("is named by the plan of a later run, also where the pull consumer has been removed by hand", async () => {
    const { state, lent, source } = cloudflare(WORKER);
    await lent().take();
    for (const removed of [false, true]) {
      if (removed) state.consumer = null;
      expect((await (await source()).describe()).steps).toEqual([
        expect.stringContaining(
          'put back the consumer "mailer" at the end, which an earlier run has taken away',
        ),
      ]);
    }
  });

  it.each([
    [WORKER, "mailer"],
    [THEIR_PULL, undefined],
  ])("counts no more once the queue has got another consumer since: %j", async (since, worker) => {
    const { set, lent, source } = cloudflare({ ...WORKER, script_name: "former" });
    await lent().take();
    const queueOf = async () => (await (await source()).describe()).queue;
    expect(await queueOf()).toMatchObject({ consumer: { worker: "former" } });
    set(since);
    expect((await queueOf()).consumer).toMatchObject({
      type: since.type,
      ...(worker === undefined ? {} : { worker }),
    });
  });
});

describe("pulls of the bridge", () => {
  const noteOf = async (consumer: NewConsumer) => {
    const { notes, refusal } = await (await cloudflare(consumer).source()).describe();
    return { note: notes.find((text) => text.includes("counts")), refusal };
  };

  it("count for the pull consumer that is there, which the plan says", async () => {
    expect(await noteOf(THEIR_PULL)).toEqual({
      note: "A pull of the bridge counts: a message that is pulled and not moved 4 times is deleted.",
      refusal: null,
    });
    expect(await noteOf({ ...THEIR_PULL, dead_letter_queue: "dead", settings: { max_retries: 0 } })).toEqual({
      note: "A pull of the bridge counts: a message that is pulled and not moved 1 time goes to dead.",
      refusal: null,
    });
    expect(await noteOf(WORKER)).toEqual({ note: undefined, refusal: null });
  });

  it("are refused where one that is lost deletes its messages", async () => {
    const { refusal } = await noteOf({ ...THEIR_PULL, settings: { max_retries: 0 } });
    expect(refusal).toContain("--message-retries 100");
  });

  it("postpone what cannot be read, so that it is not pulled until it is deleted", async () => {
    const { source, state } = cloudflare(null);
    const one = await source();
    await one.open();
    const message = { timestamp_ms: 1, metadata: { "CF-Content-Type": "bytes" } };
    state.pulled = [
      { ...message, id: "a", lease_id: "la", body: "AA==" },
      { ...message, id: "b", lease_id: "lb", body: "?" },
    ];
    expect(await one.take()).toMatchObject([
      { handle: "la" },
      { handle: "lb", message: { unreadable: "their bodies cannot be read" } },
    ]);
    expect(await one.take()).toEqual([]);
    expect(state.postponed).toEqual([["id", ["lb"], 14_400]]);
  });
});
