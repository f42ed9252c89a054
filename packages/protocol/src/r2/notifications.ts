/**
 * Event notifications of R2 buckets, pure: rules, which writes they are for, and the message of a write. As Cloudflare
 * documents them (developers.cloudflare.com/r2/buckets/event-notifications).
 */

/** Actions on objects. A contract: rules are stored with these names. */
export const R2_ACTIONS = [
  "PutObject",
  "CopyObject",
  "CompleteMultipartUpload",
  "DeleteObject",
  "LifecycleDeletion",
] as const;
export type R2Action = (typeof R2_ACTIONS)[number];

/** Actions of each event type, as Wrangler and configurations name them. */
export const R2_EVENT_TYPES = {
  "object-create": ["PutObject", "CompleteMultipartUpload", "CopyObject"],
  "object-delete": ["DeleteObject", "LifecycleDeletion"],
} as const satisfies Readonly<Record<string, readonly R2Action[]>>;
export type R2EventType = keyof typeof R2_EVENT_TYPES;

/** Longest key of an object, in bytes of UTF-8, and so the longest prefix or suffix of one. */
export const R2_KEY_BYTES_MAX = 1_024;

/** Most rules of a bucket, for all queues together. */
export const R2_RULES_MAX = 100;

/**
 * Rule for the writes of a bucket that a queue is notified of. A contract: stored. Only optional members may be added.
 */
export interface R2Rule {
  readonly actions: readonly R2Action[];
  /** Beginning and end of the objects' keys; empty for any key. */
  readonly prefix: string;
  readonly suffix: string;
  readonly description?: string;
}

/** Write to an object of a bucket, or its deletion. */
export interface R2Write {
  /** Grows with each write of the bucket. */
  readonly id: number;
  readonly action: R2Action;
  readonly key: string;
  /** When it was made, in ms since 1970. */
  readonly atMs: number;
  /** Size in bytes and tag of what was stored; `null` for a deletion. */
  readonly stored: { readonly size: number; readonly eTag: string } | null;
}

/** Body of the message of a write. */
export interface R2Notification {
  readonly account: string;
  readonly bucket: string;
  /** ISO 8601, in UTC with ms. */
  readonly eventTime: string;
  readonly action: R2Action;
  /** `size`, in bytes, and `eTag` are absent after a deletion. */
  readonly object: { readonly key: string; readonly size?: number; readonly eTag?: string };
  /** Object that was copied; for `CopyObject` alone. */
  readonly copySource?: { readonly bucket: string; readonly object: string };
}

/** Whether a bucket can have this name: 3 to 63 lowercase letters, digits and inner hyphens. */
export function isBucketName(text: string): boolean {
  return /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(text);
}

/** Names what the beginning or end of keys must do, as "have at most 1024 bytes"; `null` for a text that does. */
export function keyPartProblem(text: string): string | null {
  if (new TextEncoder().encode(text).byteLength > R2_KEY_BYTES_MAX)
    return `have at most ${R2_KEY_BYTES_MAX} bytes`;
  return /\p{Cc}/u.test(text) ? "not have control characters" : null;
}

/** Whether a rule is for a write. */
export function ruleIsFor(rule: R2Rule, { action, key }: Pick<R2Write, "action" | "key">): boolean {
  return rule.actions.includes(action) && key.startsWith(rule.prefix) && key.endsWith(rule.suffix);
}

/** Whether both rules can be for one write: a queue would be notified of it twice. */
export function rulesOverlap(a: R2Rule, b: R2Rule): boolean {
  return (
    a.actions.some((action) => b.actions.includes(action)) &&
    (a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix)) &&
    (a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix))
  );
}

/** Makes the body of the message that R2 sends for a write. */
export function r2Notification(account: string, bucket: string, write: R2Write): R2Notification {
  const { action, key, atMs, stored } = write;
  return { account, bucket, eventTime: new Date(atMs).toISOString(), action, object: { key, ...stored } };
}
