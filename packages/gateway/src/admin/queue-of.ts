import type { QueueRecord } from "@sluice/protocol";
import type { Context } from "hono";
import type { QueueDirectory } from "../account/queue-directory.ts";
import { refusedQueue } from "../rights/route-needs.ts";
import { forbidden, queueNotFound } from "./failure.ts";

/**
 * Finds the queue that the path names, and sets `isSharded` of the request, which `answerFailure` reads. Throws 404,
 * and 403 for a queue that the request may not use.
 */
export async function queueOf(c: Context, { account }: QueueDirectory): Promise<QueueRecord> {
  const name = c.req.param("name") ?? "";
  checkQueue(c, name);
  const record = await account.findByName(name);
  if (record === null) throw queueNotFound(name);
  c.set("isSharded", (record.definition.shards ?? 1) > 1);
  return record;
}

/** Throws 403 for a queue that the request may not use. */
export function checkQueue(c: Context, name: string): void {
  const refused = refusedQueue(c, name);
  if (refused !== null) throw forbidden(refused);
}
