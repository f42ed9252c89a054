import { BATCH_MESSAGES_MAX, R2_ACTIONS } from "@sluice/protocol";
import { Hono } from "hono";
import * as z from "zod/mini";
import { LOCAL_ACCOUNT_ID } from "../account/local-account.ts";
import type { QueueDirectory } from "../account/queue-directory.ts";
import type { Waits } from "../account/waits.ts";
import { AdminError } from "./failure.ts";
import { inParallel, LISTED_AT_ONCE } from "./in-parallel.ts";

/**
 * Most ms that the id or the time of a write to a bucket may be ahead of the system's clock. Ids are times, and a write
 * whose id is not above the last one taken is skipped: one id far ahead would have every later write skipped.
 */
export const R2_WRITE_AHEAD_MS_MAX = 86_400_000;

/**
 * Routes for the process that has started the broker: it reports its disk, its clock, writes to R2 buckets, and that it is
 * about to end.
 */
export function processRoutes(directory: QueueDirectory, waits: Waits): Hono {
  const app = new Hono();

  app.post("/stop", async (c) => {
    if (!directory.isServed) {
      throw new AdminError(403, "not_here", "No process of this machine has started this broker.");
    }
    await waits.stop();
    const queues = await directory.account.list();
    // `drain` has each queue write now what it would have written within seconds. One that fails keeps no other from it.
    await inParallel(queues, LISTED_AT_ONCE, ({ name }) =>
      directory
        .queue(name)
        .drain(name)
        .catch(() => {}),
    );
    return c.json({ isStopped: true });
  });

  app.post("/disk", async (c) => {
    if (directory.reportDisk === null) {
      throw new AdminError(403, "not_here", "No process watches the disk of this broker.");
    }
    const report = DISK_REPORT.safeParse(await c.req.raw.json().catch(() => null));
    if (!report.success) {
      throw new AdminError(400, "invalid_body", 'The body must be {"isFull": true} or {"isFull": false}.');
    }
    directory.reportDisk(report.data.isFull);
    return c.json(report.data);
  });

  app.post("/system-clock", async (c) => {
    if (directory.reportClock === null) {
      throw new AdminError(403, "not_here", "No process watches the clock of this broker.");
    }
    const report = CLOCK_REPORT.safeParse(await c.req.raw.json().catch(() => null));
    if (!report.success) throw new AdminError(400, "invalid_body", 'The body must be {"behindMs": N}.');
    await directory.reportClock(report.data.behindMs);
    return c.json(report.data);
  });

  app.get("/r2", async (c) => {
    const buckets = await directory.r2.listR2Buckets();
    return c.json({ buckets: buckets.map(({ bucket, takenTo }) => ({ bucket, takenTo })) });
  });

  app.post("/r2", async (c) => {
    if (directory.watchR2 === null) {
      throw new AdminError(403, "not_here", "No process sees writes to R2 buckets of this broker.");
    }
    const report = R2_REPORT.safeParse(await c.req.raw.json().catch(() => null));
    if (!report.success) {
      throw new AdminError(400, "invalid_body", 'The body must be {"bucket": "NAME", "writes": [...]}.');
    }
    const { bucket, writes } = report.data;
    const latestMs = Date.now() + R2_WRITE_AHEAD_MS_MAX;
    const ahead = writes.find(({ id, atMs }) => Math.max(id, atMs) > latestMs);
    if (ahead !== undefined) {
      throw new AdminError(
        400,
        "invalid_body",
        `The write ${ahead.id} of the object "${ahead.key}" is more than a day ahead of the system's clock.`,
      );
    }
    return c.json({ takenTo: await directory.r2.takeR2Writes(LOCAL_ACCOUNT_ID, bucket, writes) });
  });

  return app;
}

/** Writes to a bucket, in order of their ids: at most as many as a queue takes in a batch. */
export const R2_REPORT = z.object({
  bucket: z.string(),
  writes: z
    .array(
      z.object({
        id: z.int(),
        action: z.enum(R2_ACTIONS),
        key: z.string(),
        atMs: z.int(),
        stored: z.nullable(z.object({ size: z.int(), eTag: z.string() })),
      }),
    )
    .check(z.maxLength(BATCH_MESSAGES_MAX)),
});
/** Body of a request that reports the system's clock. */
export const CLOCK_REPORT = z.object({ behindMs: z.int() });
/** Body of a request that reports the disk. */
export const DISK_REPORT = z.object({ isFull: z.boolean() });
