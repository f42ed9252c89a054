import { Hono } from "hono";
import type { QueueDirectory } from "../account/queue-directory.ts";
import { AdminError } from "./failure.ts";

/** Furthest that one call moves the clock: a month, in ms. Longer than any delay or retention. */
export const CLOCK_ADVANCE_MS_MAX = 31 * 86_400_000;

/** Moves time forward for every queue: development only. */
export function clockRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.post("/", async (c) => {
    if (directory.advanceClock === null) {
      throw new AdminError(403, "not_in_production", "The clock moves in development only.");
    }
    const advanceMs = await readAdvanceMs(c.req.raw);
    if (advanceMs === null) {
      const text = `The body must be {"advanceMs": N} with N from 0 to ${CLOCK_ADVANCE_MS_MAX}.`;
      throw new AdminError(400, "invalid_body", text);
    }
    await directory.advanceClock(advanceMs);
    return c.json({ advancedMs: advanceMs });
  });

  return app;
}

async function readAdvanceMs(request: Request): Promise<number | null> {
  try {
    const body: unknown = await request.json();
    if (typeof body !== "object" || body === null || !("advanceMs" in body)) return null;
    const { advanceMs } = body;
    if (typeof advanceMs !== "number" || !Number.isInteger(advanceMs)) return null;
    return advanceMs >= 0 && advanceMs <= CLOCK_ADVANCE_MS_MAX ? advanceMs : null;
  } catch {
    return null;
  }
}
