import type { QueueRecord } from "@sluice/protocol";
import { Hono } from "hono";
import type { Access } from "../access.ts";
import type { QueueDirectory } from "../queue-directory.ts";
import { failure } from "./failure.ts";
import { guard } from "./guard.ts";
import { type QueueView, viewOf } from "./queue-view.ts";

/** Furthest that one call moves the clock: a month, in ms. Longer than any delay or retention. */
export const CLOCK_ADVANCE_MS_MAX = 31 * 86_400_000;

const ENDPOINTS = [
  {
    method: "GET",
    path: "/__sluice/api/queues",
    answers: "every queue: messages by state, settings, consumer",
  },
  { method: "GET", path: "/__sluice/api/queues/NAME", answers: "one queue" },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/drain",
    answers: "how many requests its worker daemon waits for; it begins none for 10 s",
  },
  {
    method: "POST",
    path: "/__sluice/api/clock",
    body: '{"advanceMs": N}',
    answers: "moves time (development)",
  },
  { method: "GET", path: "/__sluice/health", answers: "whether the broker runs" },
];

/**
 * The admin API of the emulator.
 *
 * - `GET /`: what there is;
 * - `GET /queues`: every queue with its counts, settings, producers and consumer, and the fingerprint of the deployed
 *   configuration that the broker goes by;
 * - `GET /queues/NAME`: one of them, 404 when there is none;
 * - `POST /queues/NAME/drain`: for who stops the broker. Its worker daemon begins no request for 10 s; answers `{"requests": N}`,
 *   those that are under way;
 * - `POST /clock {"advanceMs": N}`: moves time forward for every queue, development only.
 *
 * Errors are `{"error": {"code", "message"}}` with a fitting status. What changes something is refused to pages of other
 * origins (403, `other_origin`).
 */
export function adminRoutes(directory: QueueDirectory, access: Access): Hono {
  const app = new Hono();

  app.use(guard(access));

  app.get("/", (c) => c.json({ endpoints: ENDPOINTS }));

  app.get("/queues", async (c) => {
    const [records, deployed] = await Promise.all([directory.account.list(), directory.account.deployed()]);
    const queues = await Promise.all(records.map((record) => viewQueue(directory, record)));
    return c.json({ queues, deployed });
  });

  app.get("/queues/:name", async (c) => {
    const name = c.req.param("name");
    const record = await directory.account.findByName(name);
    if (record === null) return c.json(failure("queue_not_found", `There is no queue "${name}".`), 404);
    return c.json(await viewQueue(directory, record));
  });

  app.post("/queues/:name/drain", async (c) => {
    const name = c.req.param("name");
    if ((await directory.account.findByName(name)) === null) {
      return c.json(failure("queue_not_found", `There is no queue "${name}".`), 404);
    }
    return c.json(await directory.queue(name).drain(name));
  });

  app.post("/clock", async (c) => {
    if (directory.advanceClock === null) {
      return c.json(failure("not_in_production", "The clock moves in development only."), 403);
    }
    const advanceMs = await readAdvanceMs(c.req.raw);
    if (advanceMs === null) {
      const text = `The body must be {"advanceMs": N} with N from 0 to ${CLOCK_ADVANCE_MS_MAX}.`;
      return c.json(failure("invalid_body", text), 400);
    }
    await directory.advanceClock(advanceMs);
    return c.json({ advancedMs: advanceMs });
  });

  return app;
}

async function viewQueue(directory: QueueDirectory, record: QueueRecord): Promise<QueueView> {
  return viewOf(record, await directory.describe(record.name));
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
