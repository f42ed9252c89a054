import { DELAY_SECONDS_MAX, type LookedAt } from "@sluice/protocol";
import type { TraceView } from "../trace-view.ts";
import { wholeMessageView } from "./message-view.ts";

/** Deduplication id of a message of an SQS FIFO queue (spec sqs 4.3), as a backup may have it. */
export const DEDUPLICATION_ID = /^[!-~]{1,128}$/;

/** A message in a backup. Members without a value are left out. */
export interface BackupMessage {
  readonly id: string;
  readonly sentAt: string;
  /** Deliveries that have ended: one that is under way counts as none. */
  readonly attempts: number;
  /** Rest of its delay; 0 for a message that is ready or leased. */
  readonly delaySeconds: number;
  readonly contentType: string;
  readonly text?: string;
  readonly base64?: string;
  readonly group?: string;
  readonly deduplicationId?: string;
  readonly attributes?: Readonly<Record<string, { readonly type: string; readonly value: string }>>;
  readonly from?: string;
  readonly trace?: TraceView;
}

/** @param nowMs the time of the queue's own clock. */
export function backupMessage(message: LookedAt, nowMs: number): BackupMessage {
  const { id, sentAt, contentType, text, base64, group, attributes, from, trace } = wholeMessageView(message);
  const isLeased = message.state === "leased";
  const leftMs = isLeased ? 0 : message.atMs - nowMs;
  // That of a periodic task has the task's name, which can have other characters: clients could not have sent it.
  const { deduplicationId = "" } = message;
  return {
    id,
    sentAt,
    attempts: Math.max(0, message.attempts - (isLeased ? 1 : 0)),
    delaySeconds: Math.min(DELAY_SECONDS_MAX, Math.max(0, Math.ceil(leftMs / 1_000))),
    contentType,
    ...(text === null ? (base64 === null ? {} : { base64 }) : { text }),
    ...(group === null ? {} : { group }),
    ...(DEDUPLICATION_ID.test(deduplicationId) ? { deduplicationId } : {}),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
    ...(from === null ? {} : { from }),
    ...(trace === undefined ? {} : { trace }),
  };
}
