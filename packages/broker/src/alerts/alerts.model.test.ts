import { ALERTS_QUEUE } from "@sluice/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import type { World } from "../../test/world.ts";
import { worldWithAlerts } from "../../test/world-alerts.ts";

/** Steps of a run: what a queue, its dead-letter queue and the webhook may meet. */
const steps = fc.array(
  fc.constantFrom(
    "send",
    "deadLetter",
    "purge",
    "leave",
    "return",
    "wait",
    "crash orders",
    "crash dead",
    "crash alerts",
    "lose the answer",
    "webhook fails",
    "webhook answers",
  ),
  { maxLength: 40 },
);

function run(world: World, step: string, losing: { answers: number }): Promise<unknown> | undefined {
  switch (step) {
    case "send":
      world.handler = () => ({});
      return world.send("orders", ["a"]);
    case "deadLetter":
      world.handler = () => ({ outcome: "exception" });
      return world.send("orders", ["x"]);
    case "purge":
      return world.core("dead").purge();
    case "leave":
      world.running = false;
      return;
    case "return":
      world.running = true;
      return;
    case "wait":
      return world.pass(120_000);
    case "lose the answer":
      losing.answers += 1;
      return;
    case "webhook fails":
      world.answer = () => ({ kind: "closed", reason: "it hung up" });
      return;
    case "webhook answers":
      world.answer = () => ({ kind: "answered", status: 204, retryAfter: null });
      return;
    default:
      return void world.crash(step === "crash alerts" ? ALERTS_QUEUE : (step.split(" ")[1] ?? ""));
  }
}

it("each alert that a webhook takes begins and ends by turns, over crashes and lost answers", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const world = worldWithAlerts(
        {
          orders: {
            consumer: consumer({ maxBatchTimeoutSeconds: 0, maxRetries: 0, deadLetterQueue: "dead" }),
          },
          dead: {},
        },
        // Unsigned, since the computing of signatures takes real time.
        {
          format: "slack",
          deadLetters: true,
          oldestMessageSeconds: 90,
          stalledSeconds: 60,
          failures: { share: 0.5, deliveries: 2 },
        },
      );
      const losing = { answers: 0 };
      world.carry = async (_target, _transfer, deliver) => {
        const reply = await deliver();
        if (losing.answers === 0) return reply;
        losing.answers -= 1;
        throw new Error("the answer is lost");
      };
      for (const step of taken) {
        await run(world, step, losing);
        await world.quiet();
      }
      world.running = true;
      await run(world, "webhook answers", losing);
      for (const queue of ["orders", "dead", ALERTS_QUEUE]) world.core(queue);
      await world.pass(3_600_000);

      const alerts = new Map<string, string[]>();
      const seen = new Set<string>();
      for (const { headers, body } of world.posts) {
        const id = headers["sluice-message-id"] ?? "";
        // A request may come twice if its answer was lost: it is known by its id.
        if (seen.has(id)) continue;
        seen.add(id);
        const { text } = JSON.parse(new TextDecoder().decode(body)) as { text: string };
        const [, colour = "", queue = "", rest = ""] = /^:(\w+)_circle: \*([^*]+)\*: (.*)$/s.exec(text) ?? [];
        const what = /dead letter/.test(rest)
          ? "dead"
          : /oldest/.test(rest)
            ? "oldest"
            : /failed/.test(rest)
              ? "failures"
              : "stalled";
        const key = `${queue} ${what}`;
        alerts.set(key, [...(alerts.get(key) ?? []), colour]);
      }
      for (const [key, colours] of alerts) {
        expect([key, colours]).toEqual([key, colours.map((_, i) => (i % 2 === 0 ? "red" : "large_green"))]);
      }
      // What was told last is what is so.
      for (const queue of ["orders", "dead"]) {
        const on =
          world
            .core(queue)
            .describe()
            .alerts?.map(({ kind }) => kind.split("_")[0]) ?? [];
        const told = [...alerts].flatMap(([key, colours]) =>
          key.startsWith(`${queue} `) && colours.at(-1) === "red" ? key.split(" ")[1] : [],
        );
        expect(told.sort()).toEqual(on.sort());
      }
    }),
    { numRuns: 150 },
  );
}, 60_000);
