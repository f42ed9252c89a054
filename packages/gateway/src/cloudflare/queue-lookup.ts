import type { QueueRecord } from "@sluice/protocol";
import type { Context } from "hono";
import type { AccountDirectory } from "../account/queue-directory.ts";
import { refusedQueue } from "../rights/route-needs.ts";
import { API_CODES, ApiError } from "./api-error.ts";
import { forbidden } from "./authenticate.ts";

/** Whether a text can be the id of a queue, a consumer or a subscription. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/**
 * Finds the queue that a path names by its id.
 *
 * @param notFound code for an id that names no queue: 11000 in the control plane, 10104 in the data plane.
 * @throws ApiError 10107 for a text that is no id, `notFound` for one that names no queue, 10000 for a queue that the
 *   request may not use.
 */
export async function queueOf(
  c: Context,
  account: AccountDirectory,
  notFound: number = API_CODES.queueNotFound,
): Promise<QueueRecord> {
  const queueId = queueIdOf(c);
  const record = await account.findById(queueId);
  if (record === null) throw queueNotFound(queueId, notFound);
  checkQueue(c, record.name, "this queue");
  return record;
}

/**
 * Throws ApiError 10000 for a queue that the request may not use.
 *
 * @param called the queue as the request has named it, for the error. Default: its name.
 */
export function checkQueue(c: Context, name: string, called?: string): void {
  const refused = refusedQueue(c, name, called);
  if (refused !== null) throw forbidden(refused);
}

/** Reads the id in a path. Throws ApiError 10107 for any other text. */
export function queueIdOf(c: Context): string {
  const text = c.req.param("queue_id") ?? "";
  if (isId(text)) return text;
  throw new ApiError(
    400,
    API_CODES.queueIdMalformed,
    `"${text}" is not a queue id: those have 32 hexadecimal digits.`,
  );
}

export function queueNotFound(queueId: string, code: number = API_CODES.queueNotFound): ApiError {
  return new ApiError(404, code, `There is no queue with the id ${queueId}.`);
}
