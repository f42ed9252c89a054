import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokenHistoryError, type ExploreOptions, explore, type Random } from "../src/index.ts";
import type { Handling, Mail } from "./fixtures/mail/src/mail.ts";
import { type MailEnv, type MailProject, startMailProject } from "./mail-project.ts";

let project: MailProject;
beforeAll(async () => {
  project = await startMailProject();
});
afterAll(() => project[Symbol.asyncDispose]());

type Spec = ExploreOptions<MailEnv>;

/** Makes an act that sends up to four mails, by a provider that refuses at most a number of requests. */
function mailing(handled: Handling, refusalsMax = 0): Spec["act"] {
  return async (queues, random: Random) => {
    await queues.fetch("/ready");
    project.provider.reset(random.integer(0, refusalsMax));
    const mails = Array.from({ length: random.integer(1, 4) }, (_, i): Mail => {
      return { id: `mail-${i + 1}`, to: "ada@example.com", handled };
    });
    await queues.queue<Mail>("mails").sendBatch(mails.map((body) => ({ body })));
  };
}

const idsOf = (stories: Parameters<Spec["holds"]>[1]) => stories.map(({ body }) => (body as Mail).id);

const eachIsSentOnce: Spec["holds"] = (_, stories) => {
  expect(project.provider.sent.toSorted(), "sent").toEqual(idsOf(stories));
};
const eachIsPaidOnce: Spec["holds"] = async ({ env }, stories) => {
  const { results } = await env.LEDGER.prepare("SELECT id FROM mails ORDER BY id").all();
  expect(
    results.map(({ id }) => id),
    "paid for",
  ).toEqual(idsOf(stories));
};
const noSlotIsTaken: Spec["holds"] = async ({ env }) => {
  expect((await env.LIMIT.getByName("provider").taken()).length, "slots").toBe(0);
};

const isAsItShouldBe: Spec["holds"] = async (queues, stories) => {
  for (const holds of [eachIsSentOnce, eachIsPaidOnce, noSlotIsTaken]) await holds(queues, stories);
};

/** Limit for any machine, however busy: the tests count histories instead. */
const BUSY = { timeoutMs: Infinity };

/** Returns the error of an exploration that must fail, with the number of its history. */
async function brokenBy(act: Spec["act"], holds: Spec["holds"]) {
  const error: unknown = await explore({ ...BUSY, runtime: project.queues, act, holds }).then(
    () => new Error("nothing was found"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BrokenHistoryError);
  const { message, history } = error as BrokenHistoryError;
  return { message, history, number: Number(/in history (\d+) of 500/.exec(message)?.[1]) };
}

describe("explore finds in a project that sends mails, within a hundred histories,", () => {
  it.each([
    ["a mail that is sent twice", "sentThenMarked", eachIsSentOnce, "after its 2nd call, fetch)"],
    ["a mail that is never sent", "markedThenSent", eachIsSentOnce, "after its 2nd call, env.SENT.put)"],
    ["a mail that is paid for twice", "bookedTwice", eachIsPaidOnce, "after its 3rd call, env.LEDGER.run)"],
    ["a slot that is never given back", "slotKept", noSlotIsTaken, "after its 2nd call, env.LIMIT.take)"],
  ] as const)("%s because its handler ended half-way", async (_, handled, holds, call) => {
    const { message, history, number } = await brokenBy(mailing(handled), holds);
    expect(number).toBeLessThan(100);
    expect(history).toHaveLength(1);
    expect(history[0]?.kind).toMatch(/^end/);
    expect(message).toContain("messages -> 1,");
    expect(message).toContain(call);
  });

  it("a mail that counts as sent although its provider has refused it", async () => {
    const { history, number } = await brokenBy(mailing("failureSwallowed", 2), eachIsSentOnce);
    expect(number).toBeLessThan(100);
    expect(history).toEqual([]);
  });
});

it("each mail is sent once, with any faults", { timeout: 300_000 }, async ({ signal }) => {
  const spec = {
    runtime: project.queues,
    act: mailing("carefully", 2),
    histories: 60,
    seed: 1, // Its histories have both kinds of ends.
    holds: isAsItShouldBe,
  };
  const { isComplete, faults } = await explore({ ...spec, timeoutMs: 240_000, signal });
  expect(isComplete).toBe(true);
  expect(Math.min(faults.endAfter, faults.endBefore)).toBeGreaterThan(0);
});
