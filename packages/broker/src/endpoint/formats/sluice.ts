import { type ContentType, DELAY_SECONDS_MAX } from "@sluice/protocol";
import type { EndpointFormat, EndpointOutcome, PushedMessage, Verdict } from "../endpoint.ts";

/** `Content-Type` of a body, unless the queue is set to another one. A `v8` body is sent as it is stored. */
const CONTENT_TYPES: Readonly<Record<ContentType, string>> = {
  json: "application/json",
  text: "text/plain; charset=utf-8",
  bytes: "application/octet-stream",
  v8: "application/octet-stream",
};

/** Sluice's own format: the body as it was sent, everything else in headers; any 2xx is success (spec sqsd 10). */
export const sluiceFormat: EndpointFormat = {
  headers(message, { contentType }) {
    const { groupId } = message.extension;
    return {
      "content-type": contentType ?? CONTENT_TYPES[message.contentType],
      "user-agent": "sluice",
      "sluice-queue": message.queue,
      "sluice-message-id": message.id,
      "sluice-attempt": String(message.attempt),
      "sluice-sent-at": new Date(message.timestampMs).toISOString(),
      "sluice-deadline": new Date(message.deadlineMs).toISOString(),
      // A group id may have characters that no header can.
      ...(groupId === undefined ? {} : { "sluice-group-id": encodeURIComponent(groupId) }),
    };
  },

  judge(outcome: EndpointOutcome, _message: PushedMessage, nowMs: number): Verdict {
    switch (outcome.kind) {
      case "answered": {
        const { status, retryAfter } = outcome;
        if (status >= 200 && status <= 299) return { kind: "done" };
        const reason = `it answered ${status}`;
        return { kind: "retry", delaySeconds: secondsOf(retryAfter, nowMs), reason };
      }
      case "unreachable":
        return { kind: "absent", reason: outcome.reason };
      case "closed":
      case "timedOut":
        return { kind: "retry", delaySeconds: null, reason: outcome.reason };
    }
  },
};

/**
 * Reads the seconds of a `Retry-After` header, in either of its forms (RFC 9110, 10.2.3), at most 24 hours; `null` for
 * a missing or invalid one.
 */
export function secondsOf(retryAfter: string | null, nowMs: number): number | null {
  const text = retryAfter?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(DELAY_SECONDS_MAX, Number(text));
  // The only form of dates that servers send today; `Date.parse` would accept many others.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return null;
  return Math.min(DELAY_SECONDS_MAX, Math.max(0, Math.ceil((atMs - nowMs) / 1000)));
}
