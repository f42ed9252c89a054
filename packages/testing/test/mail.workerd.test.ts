import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokenHistoryError, type ExploreOptions, explore, type Random, type Story } from "../src/index.ts";
import type { Handling, Mail } from "./fixtures/mail/src/mail.ts";
import { type MailEnv, type MailProject, startMailProject } from "./mail-project.ts";

let project: MailProject;
beforeAll(async () => {
  project = await startMailProject();
});
afterAll(() => project[Symbol.asyncDispose]());

/** Customers who are sent mails, by a provider that refuses some; each is sent and paid for once. */
function mailsAre(handled: Handling): Omit<ExploreOptions<MailEnv>, "seed"> {
  const { queues, provider } = project;
  return {
    runtime: queues,
    act: async (_: unknown, random: Random) => {
      provider.reset();
      const count = random.integer(1, 4);
      provider.refusals = random.integer(0, 2);
      const mails = Array.from({ length: count }, (_, i): Mail => {
        return { id: `mail-${i + 1}`, to: "ada@example.com", handled };
      });
      await queues.queue<Mail>("mails").sendBatch(mails.map((body) => ({ body })));
    },
    holds: async (_: unknown, stories: readonly Story[]) => {
      const ids = stories.map(({ body }) => (body as Mail).id);
      expect([...provider.sent].sort(), "sent").toEqual(ids);
      const { results } = await queues.env.LEDGER.prepare("SELECT id FROM mails ORDER BY id").all();
      expect(
        results.map(({ id }) => id),
        "paid for",
      ).toEqual(ids);
      expect(await queues.env.LIMIT.getByName("provider").taken(), "slots").toEqual([]);
    },
  };
}

async function brokenBy(handled: Handling): Promise<BrokenHistoryError> {
  const error: unknown = await explore(mailsAre(handled)).then(
    () => new Error("nothing was found"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BrokenHistoryError);
  return error as BrokenHistoryError;
}

describe("explore finds in a project that sends mails, with its default settings,", () => {
  it.each([
    ["sentThenMarked", "sent"],
    ["markedThenSent", "sent"],
    ["bookedTwice", "paid for"],
    ["slotKept", "slots"],
    ["failureSwallowed", "sent"],
  ] as const)("%s", async (handled, what) => {
    const startedMs = performance.now();
    const error = await brokenBy(handled);
    console.log(`${Math.round(performance.now() - startedMs)} ms\n${error.message}`);
    expect(error.message).toContain(what);
  });
});
