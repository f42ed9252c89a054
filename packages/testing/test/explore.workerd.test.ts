import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  BrokenHistoryError,
  createQueueRuntime,
  type ExploreOptions,
  explore,
  FAULT_KINDS,
  type QueueRuntime,
} from "../src/index.ts";

interface State {
  readonly charges: readonly { readonly order: number }[];
  readonly files: readonly number[];
  readonly status: number;
}
interface Env {
  readonly STATE: { getByName(name: string): { read(): Promise<State> } };
}

let queues: QueueRuntime<Env>;

beforeAll(async () => {
  const workers = [fileURLToPath(new URL("fixtures/bugs", import.meta.url))];
  queues = await createQueueRuntime<Env>({ workers, log: () => {} });
});
afterAll(() => queues[Symbol.asyncDispose]());

const state = () => queues.env.STATE.getByName("state").read();

type Spec = Pick<ExploreOptions<Env>, "act" | "holds">;

/** Makes an act that sends up to six messages to a queue. */
const acting = (queue: string, isCareful: boolean): Spec["act"] => {
  return async (_, random) => {
    const count = random.integer(1, 6);
    const bodies = Array.from({ length: count }, (_, i) => ({ body: { id: i + 1, isCareful } }));
    await queues.queue(queue).sendBatch(bodies);
  };
};

const CHARGES = (isCareful: boolean): Spec => ({
  act: acting("charges", isCareful),
  holds: async (_, stories) => {
    const { charges } = await state();
    expect(charges.map(({ order }) => order).sort()).toEqual(stories.map((_, i) => i + 1));
  },
});
const FILES = (isCareful: boolean): Spec => ({
  act: acting("files", isCareful),
  holds: async (_, stories) => {
    const { files } = await state();
    if (!stories.every((_, i) => files.includes(i + 1))) throw new Error("a file is lost");
  },
});
const STATUSES = (isCareful: boolean): Spec => ({
  act: acting("statuses", isCareful),
  holds: async (_, stories) => (await state()).status === stories.length,
});

/** Limit for any machine, however busy. */
const BUSY = { timeoutMs: Infinity };

/** Returns the error of an exploration that must fail. */
async function brokenBy(spec: Spec, more: Partial<ExploreOptions<Env>> = {}): Promise<BrokenHistoryError> {
  const error: unknown = await explore({ ...BUSY, runtime: queues, ...spec, ...more }).then(
    () => new Error("nothing was found"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BrokenHistoryError);
  return error as BrokenHistoryError;
}

describe("explore with its default settings finds and shrinks", () => {
  it.each([
    ["a charge that is made twice on a retry", CHARGES, 1, ["duplicate"]],
    ["a loss by an exception after ack()", FILES, 1, ["throwAfter"]],
    ["a dependence on the order of messages", STATUSES, 2, ["reorder", "duplicate"]],
  ] as const)("%s", async (_, spec, messages, kinds) => {
    const error = await brokenBy(spec(false), { seed: 7 });
    expect(error.history, error.message).toHaveLength(1);
    expect(kinds).toContain(error.history[0]?.kind);
    expect(error.message).toContain(`messages -> ${messages},`);
    // The printed test breaks again, and the same one without the bug holds.
    const again = { seed: error.seed, choices: error.choices, history: error.history };
    expect(error.message).toContain(
      `seed: ${error.seed}, choices: ${JSON.stringify(error.choices)}, history: [`,
    );
    expect((await brokenBy(spec(false), again)).history).toEqual(error.history);
    expect(await explore({ runtime: queues, ...spec(true), ...again })).toMatchObject({ histories: 1 });
  });
});

describe("explore", () => {
  it.each([CHARGES, FILES, STATUSES])(
    "finds nothing in a correct consumer",
    { tags: "slow" },
    async (spec) => {
      const options = { ...BUSY, runtime: queues, ...spec(true), histories: 40, seed: 7 };
      const { histories, isComplete, faults } = await explore(options);
      expect([histories, isComplete]).toEqual([40, true]);
      for (const kind of FAULT_KINDS) {
        expect([kind, faults[kind] > 0]).toEqual([kind, true]);
      }
    },
  );

  it("finds the same by the same seed", async () => {
    const errors = [
      await brokenBy(CHARGES(false), { seed: 11 }),
      await brokenBy(CHARGES(false), { seed: 11 }),
    ];
    expect(errors[0]?.message).toBe(errors[1]?.message);
  });

  it("reports what happened", async () => {
    const history = [{ kind: "lostAck", message: 1, attempt: 1 }] as const;
    const { message } = await brokenBy(CHARGES(false), { seed: 1, choices: [0], history });
    expect(message).toContain(
      'charges#1 {"id":1,"isCareful":false}: stored, delivered [lostAck], ' +
        "retried in 0 s (fault lostAck: the acknowledgement did not arrive), delivered, acked",
    );
  });

  it("throws the error of act", async () => {
    const act = () => {
      throw new Error("act is wrong");
    };
    await expect(explore({ runtime: queues, act, holds: () => true })).rejects.toThrow("act is wrong");
    const typedWrong = { runtime: queues, act, holds: () => true, historys: 2 };
    await expect(explore(typedWrong)).rejects.toThrow(
      'explore: there is no "historys". There are "runtime", "act"',
    );
  });
});

describe("a replayed history", () => {
  const replay = (history: ExploreOptions<Env>["history"], isCareful = true) =>
    explore({
      ...BUSY,
      runtime: queues,
      ...CHARGES(isCareful),
      seed: 1,
      choices: [0],
      history: history ?? [],
    });

  it("fails where a fault had no delivery to come at", async () => {
    const came = { kind: "duplicate", message: 1, attempt: 1 } as const;
    await expect(replay([came, { kind: "duplicate", message: 5, attempt: 1 }])).rejects.toThrow(
      "Fault 2 of the history (duplicate of message 5, delivery 1) never came: the number of messages was 1.",
    );
    await expect(replay([{ ...came, attempt: 2 }])).rejects.toThrow("the number of its deliveries was 1.");
    const invalid = [{ kind: "dupliacte", message: 1, attempt: 1 }] as unknown as (typeof came)[];
    await expect(replay(invalid)).rejects.toThrow('there is no kind "dupliacte"');
  });

  it("holds where the handler gives a fault no occasion, as after a mend of it", async () => {
    const { faults } = await replay([{ kind: "endAfter", message: 1, attempt: 1, arg: 30 }]);
    expect(faults.endAfter).toBe(0);
  });

  it("that breaks says so, also where a fault had no delivery", async () => {
    const history = [1, 5].map((message) => ({ kind: "duplicate", message, attempt: 1 }) as const);
    await expect(replay(history, false)).rejects.toThrow("Broken");
  });
});

describe("explore ends", () => {
  it("without a new history in the last part of its time", async () => {
    const { histories, isComplete } = await explore({ runtime: queues, ...CHARGES(true), timeoutMs: 1 });
    expect([histories, isComplete]).toEqual([1, false]);
  });

  it("before Vitest's 5 s, with any number of histories left", async () => {
    const startedMs = performance.now();
    const { isComplete } = await explore({ runtime: queues, ...CHARGES(true), histories: 1e9 });
    expect(isComplete).toBe(false);
    // A quarter of its 4 s is for shrinking, and a machine this busy needs the rest for one history.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  it("with a broken history, even without time to shrink it", async () => {
    const history = [{ kind: "duplicate", message: 1, attempt: 1 }] as const;
    expect((await brokenBy(CHARGES(false), { history, timeoutMs: 1 })).history).toEqual(history);
  });

  it("by a signal: it rejects at once with the reason, and its calls can do nothing any more", async () => {
    const abort = new AbortController();
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const act = async () => {
      begun.resolve();
      await over.promise;
      await queues.queue("charges").send({ id: 1 });
    };
    const explored = explore({ runtime: queues, act, holds: () => true, signal: abort.signal });
    await begun.promise;
    abort.abort(new Error("the test is over"));
    await expect(explored).rejects.toThrow("the test is over");
    // The next test waits for calls that are still under way.
    const reset = queues.reset();
    over.resolve();
    await reset;
    expect(await queues.stories()).toEqual([]);
    await expect(explore({ runtime: queues, act, holds: () => true, signal: abort.signal })).rejects.toThrow(
      "over",
    );
  });
});

it("a runtime is disposed of by an uncompiled `await using`", async () => {
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (given: object) => Promise<void>;
  const workers = [fileURLToPath(new URL("fixtures/small", import.meta.url))];
  const ended = await createQueueRuntime({ workers, log: () => {} });
  await new AsyncFunction("given", "await using taken = given;")(ended);
  await expect(ended.stories()).rejects.toThrow();
});

describe("while explore has the runtime", () => {
  it.each<[string, () => unknown]>([
    ["env", () => queues.env],
    ["queue", () => queues.queue("charges").send({ id: 1 })],
    ["advance", () => queues.advance("1h")],
    ["stories", () => queues.stories()],
    ["reset", () => queues.reset()],
    ["explore", () => explore({ runtime: queues, ...CHARGES(true) })],
  ])("a call of the test is refused by naming explore: %s", async (name, use) => {
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const act = async () => {
      begun.resolve();
      await over.promise;
      // The exploration may use it.
      await queues.queue("charges").send({ id: 1, isCareful: true });
    };
    const holds = async (_: unknown, stories: readonly unknown[]) => {
      expect([stories.length, (await state()).charges.length]).toEqual([1, 1]);
    };
    const explored = explore({ ...BUSY, runtime: queues, act, holds, histories: 1 });
    await begun.promise;
    await expect(async () => use()).rejects.toThrow(`${name} is called while explore() has the runtime`);
    if (name === "advance") {
      const refused = queues.advance("1h");
      await expect(refused).rejects.toThrow("advance is called while");
    }
    over.resolve();
    expect((await explored).histories).toBe(1);
    await queues.reset();
    expect(await queues.stories()).toEqual([]);
  });
});
