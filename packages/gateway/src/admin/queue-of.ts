import type { QueueRecord } from "@sluice/protocol";
import type { Context } from "hono";
import type { QueueDirectory } from "../account/queue-directory.ts";
import { queueNotFound } from "./failure.ts";

/** The queue that the path names. Throws 404. */
export async function queueOf(c: Context, { account }: QueueDirectory): Promise<QueueRecord> {
  const name = c.req.param("name") ?? "";
  const record = await account.findByName(name);
  if (record === null) throw queueNotFound(name);
  return record;
}
