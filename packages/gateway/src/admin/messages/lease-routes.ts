import {
  PackedIndex,
  PULL_MESSAGES_MAX,
  type QueueWork,
  type QueueWorkDone,
  RECEIVE_MESSAGES_MAX,
  type ReceivedMessages,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import { Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { statusOfQueueError } from "../../account/queue-error-status.ts";
import { AdminError } from "../failure.ts";
import { queueOf } from "../queue-of.ts";
import { timeOf } from "../time.ts";
import type { BackupMessage } from "./backup-message.ts";
import { attributesOf, textOrBase64 } from "./message-view.ts";
import { readBody } from "./read-body.ts";

/** Longest lease, in seconds: 12 hours. */
const LEASE_SECONDS_MAX = VISIBILITY_TIMEOUT_MS_MAX / 1_000;
const LEASE_SECONDS_DEFAULT = 60;

/** Body of a request that leases messages. */
export const leaseBody = z.strictObject({
  max: z._default(z.int().check(z.gte(1), z.lte(PULL_MESSAGES_MAX)), RECEIVE_MESSAGES_MAX),
  leaseSeconds: z._default(z.int().check(z.gte(1), z.lte(LEASE_SECONDS_MAX)), LEASE_SECONDS_DEFAULT),
});
const LEASE_TEXT =
  `The body must be {} or an object with any of "max" (1 to ${PULL_MESSAGES_MAX}) and "leaseSeconds" (1 to ` +
  `${LEASE_SECONDS_MAX}).`;

const receipts = z.optional(z.array(z.string()).check(z.maxLength(PULL_MESSAGES_MAX)));

/** Body of a request that settles leased messages. */
export const settleBody = z.strictObject({ delete: receipts, release: receipts });
const SETTLE_TEXT = `The body must be an object with any of "delete" and "release", lists of ${PULL_MESSAGES_MAX} receipts at most.`;

/** A message that is leased, and the receipt that it is settled by. */
export interface LeasedMessage extends BackupMessage {
  readonly receipt: string;
}

/** Routes that take messages out of a queue of any kind, as a client of SQS does. */
export function leaseRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.post("/:name/messages/lease", async (c) => {
    const { name } = await queueOf(c, directory);
    const { max, leaseSeconds } = await readBody(c, leaseBody, LEASE_TEXT);
    const receive = Array.from({ length: Math.ceil(max / RECEIVE_MESSAGES_MAX) }, (_, i) => ({
      max: Math.min(RECEIVE_MESSAGES_MAX, max - i * RECEIVE_MESSAGES_MAX),
      visibilityTimeoutMs: 1_000 * leaseSeconds,
    }));
    const { received = [] } = await workOn(directory, name, { receive });
    const messages = received.flatMap((reply) => (reply.kind === "received" ? leasedIn(reply) : []));
    return c.json({ messages });
  });

  app.post("/:name/messages/settle", async (c) => {
    const { name } = await queueOf(c, directory);
    const { delete: remove = [], release = [] } = await readBody(c, settleBody, SETTLE_TEXT);
    const { removed = [] } = await workOn(directory, name, { remove });
    const released = release.length === 0 ? 0 : await directory.queue(name).release(name, release);
    const deleted = removed.filter((outcome) => outcome === "deleted").length;
    return c.json({ deleted, released });
  });

  return app;
}

async function workOn(directory: QueueDirectory, name: string, work: QueueWork): Promise<QueueWorkDone> {
  const reply = await directory.queue(name).work(name, work);
  if (!reply.ok) throw new AdminError(statusOfQueueError(reply.code), "refused", reply.cause);
  return reply;
}

function leasedIn({ packed, receipts, receiveCounts }: ReceivedMessages): LeasedMessage[] {
  const index = new PackedIndex(packed);
  return receipts.map((receipt, i) => {
    const { id, timestampMs, contentType, body } = index.message(i);
    const { groupId, attributes, deadLetterOf } = index.extension(i);
    const shown = attributesOf(attributes ?? null);
    return {
      id,
      receipt,
      sentAt: timeOf(timestampMs),
      attempts: Math.max(0, (receiveCounts[i] ?? 1) - 1),
      delaySeconds: 0,
      contentType,
      ...textOrBase64({ contentType, body }),
      ...(groupId === undefined ? {} : { group: groupId }),
      ...(Object.keys(shown).length === 0 ? {} : { attributes: shown }),
      ...(deadLetterOf === undefined ? {} : { from: deadLetterOf }),
    };
  });
}
