import { Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../account/queue-directory.ts";
import type { Waits } from "../account/waits.ts";
import { AdminError } from "./failure.ts";

/** Routes for the process that has started the broker: it reports its disk, its clock, and that it is about to end. */
export function processRoutes(directory: QueueDirectory, waits: Waits): Hono {
  const app = new Hono();

  app.post("/stop", async (c) => {
    if (!directory.isServed) {
      throw new AdminError(403, "not_here", "No process of this machine has started this broker.");
    }
    await waits.stop();
    return c.json({ isStopped: true });
  });

  app.post("/disk", async (c) => {
    if (directory.reportDisk === null) {
      throw new AdminError(403, "not_here", "No process watches the disk of this broker.");
    }
    const isFull = await readIsFull(c.req.raw);
    if (isFull === null) {
      throw new AdminError(400, "invalid_body", 'The body must be {"isFull": true} or {"isFull": false}.');
    }
    directory.reportDisk(isFull);
    return c.json({ isFull });
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

  return app;
}

const CLOCK_REPORT = z.object({ behindMs: z.int() });

async function readIsFull(request: Request): Promise<boolean | null> {
  try {
    const body: unknown = await request.json();
    if (typeof body !== "object" || body === null || !("isFull" in body)) return null;
    return typeof body.isFull === "boolean" ? body.isFull : null;
  } catch {
    return null;
  }
}
