import { CLOCK_ADVANCE_MS_MAX, type ClockSetting } from "@sluice/protocol";
import { Hono } from "hono";
import * as z from "zod/mini";
import type { BrokerClock, QueueDirectory } from "../../account/queue-directory.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { timeOf } from "../time.ts";

/** Body of a request that moves the clock. */
export const CLOCK_CHANGE = z.union([
  z.strictObject({ advanceMs: z.int().check(z.gte(0), z.lte(CLOCK_ADVANCE_MS_MAX)) }),
  z.strictObject({ to: z.literal("next"), queue: z.optional(z.string()), expire: z.optional(z.boolean()) }),
  z.strictObject({ freeze: z.boolean() }),
]);

/** State of the clock, for people. */
export interface ClockView {
  /** The time of the queues. */
  readonly now: string;
  /** How far that is ahead of real time, in ms; negative if a frozen clock has been overtaken. */
  readonly aheadMs: number;
  readonly isFrozen: boolean;
}

/** Routes of the clock of all queues, which can be moved forward and stopped: development only. */
export function clockRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.get("/", async (c) => c.json(viewOf(await clockOf(directory).read())));

  app.post("/", async (c) => {
    const clock = clockOf(directory);
    const change = CLOCK_CHANGE.safeParse(await c.req.json().catch(() => null)).data;
    if (change === undefined) {
      const text =
        `The body must be {"advanceMs": N} with N from 0 to ${CLOCK_ADVANCE_MS_MAX}, {"to": "next"}, ` +
        '{"to": "next", "queue": "NAME", "expire": true}, {"freeze": true} or {"freeze": false}.';
      throw new AdminError(400, "invalid_body", text);
    }
    if ("freeze" in change) return c.json(viewOf(await clock.freeze(change.freeze)));
    if ("advanceMs" in change) {
      const setting = await clock.advance(change.advanceMs);
      return c.json({ ...viewOf(setting), advancedMs: change.advanceMs });
    }
    const queue = change.queue ?? null;
    if (queue !== null && (await directory.account.findByName(queue)) === null) throw queueNotFound(queue);
    return c.json(await jump(clock, queue, change.expire === true));
  });

  return app;
}

/**
 * Moves the clock to the next moment at which a queue acts. Nothing may be under way: its end is unknown.
 *
 * @param mayExpire whether a retention may end by it, which deletes messages.
 */
async function jump(clock: BrokerClock, queue: string | null, mayExpire: boolean) {
  const { first, busy, expiring } = await clock.next(queue);
  if (busy.length > 0) {
    const text = `Something is under way, and the clock cannot jump over its end: ${busy.join(", ")}.`;
    throw new AdminError(409, "busy", text);
  }
  const nowMs = nowOf(await clock.read());
  if (first?.atMs == null) return { ...viewOf(await clock.read()), advancedMs: 0, next: null };
  if (expiring !== null && expiring.atMs <= first.atMs && !mayExpire) {
    const text =
      `That would delete messages: the first of queue "${expiring.queue}" expires at ${timeOf(expiring.atMs)}. ` +
      '"expire": true (sluice clock next --expire) moves the clock all the same.';
    throw new AdminError(409, "would_expire", text);
  }
  const advancedMs = Math.max(0, Math.ceil(first.atMs - nowMs));
  const setting = await clock.advance(advancedMs);
  return { ...viewOf(setting), advancedMs, next: { queue: first.queue, at: timeOf(first.atMs) } };
}

function clockOf({ clock }: QueueDirectory): BrokerClock {
  if (clock !== null) return clock;
  throw new AdminError(403, "not_in_production", "The clock moves in development only.");
}

function viewOf(setting: ClockSetting): ClockView {
  const nowMs = nowOf(setting);
  return { now: timeOf(nowMs), aheadMs: nowMs - Date.now(), isFrozen: setting.frozenAtMs !== null };
}

function nowOf({ offsetMs, frozenAtMs }: ClockSetting): number {
  return frozenAtMs ?? Date.now() + offsetMs;
}
