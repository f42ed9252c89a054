import type { HttpPushSettings, MessageExtension, UnpackedMessage } from "@sluice/protocol";

/** Message that is about to be posted. Times in ms since 1970. */
export interface PushedMessage extends UnpackedMessage {
  readonly queue: string;
  /** Number of the attempt, 1 on the first delivery. */
  readonly attempt: number;
  /** Time after which an answer does not count. */
  readonly deadlineMs: number;
  readonly extension: MessageExtension;
}

/** POST request to an HTTP endpoint. */
export interface EndpointRequest {
  readonly url: string;
  /** Headers, with one character for each byte of a value (`headerBytes`). */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /**
   * Longest time to wait for a connection, in ms. `null` sets no limit of its own, and makes no probe after a lost
   * request: where the platform does not tell a lost connection from a missing server, it is `closed`.
   */
  readonly connectTimeoutMs: number | null;
  /** Longest time to wait for the answer's head, or with `wholeAnswerTimeoutMs` for the next part of it, in ms. */
  readonly responseTimeoutMs: number;
  /**
   * Longest time to wait for the end of the answer, in ms. The answer counts when its body has ended. Default: it
   * counts with its head, and its body is discarded.
   */
  readonly wholeAnswerTimeoutMs?: number;
}

/** Encodes a text in UTF-8, with one character for each byte. */
export function headerBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/**
 * Outcome of a request.
 *
 * - `answered`: with any status. Redirects are not followed.
 * - `unreachable`: no server took the request.
 * - `closed`: the connection ended without an answer, or before its end. The endpoint may have done its work.
 * - `timedOut`: no answer in time. The endpoint may have done its work.
 */
export type EndpointOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | null;
      /** `WWW-Authenticate` of the answer. Default: none. */
      readonly challenge?: string | null;
    }
  | {
      readonly kind: "closed";
      readonly reason: string;
      /** Whether the port has made the request a second time, on a new connection. Default: no. */
      readonly isRepeated?: boolean;
      /** Whether a part of an answer has come. Default: no. */
      readonly isBegun?: boolean;
    }
  | {
      readonly kind: "unreachable";
      readonly reason: string;
      /** Whether its address may not be called. Default: no. */
      readonly isRefused?: boolean;
    }
  | { readonly kind: "timedOut"; readonly reason: string };

/**
 * Statuses of Cloudflare's network for a server that it could not reach: refused, no connection in time, no route, no
 * TLS, an invalid certificate, no address. A deployed broker has no other sign of that.
 */
const UNREACHED_STATUSES: ReadonlySet<number> = new Set([521, 522, 523, 525, 526, 530]);

/** Makes the outcome of an answer from its status and headers. */
export function outcomeOf(status: number, header: (name: string) => string | null): EndpointOutcome {
  return UNREACHED_STATUSES.has(status)
    ? { kind: "unreachable", reason: `it cannot be reached (${status})` }
    : { kind: "answered", status, retryAfter: header("retry-after"), challenge: header("www-authenticate") };
}

/** Port to HTTP endpoints. It never rejects because of an endpoint's behaviour, and follows no redirects. */
export interface EndpointPort {
  post(request: EndpointRequest): Promise<EndpointOutcome>;
  /** Whether an endpoint answers: with 200 at `path`, which begins with a slash; without a path, with any status. */
  isReady(url: string, path: string | null, timeoutMs: number): Promise<boolean>;
}

/**
 * Consequence of an outcome for a message.
 *
 * - `done`: it is acknowledged. A note is logged.
 * - `retry`: the delivery has failed. The next one comes after `delaySeconds`; `null` leaves that to the queue.
 * - `absent`: the endpoint is not there. The delivery does not count, and all messages wait until it is back.
 * - `dead`: it is dead-lettered, since no other attempt can help.
 */
export type Verdict =
  | { readonly kind: "done"; readonly note?: string }
  | { readonly kind: "retry"; readonly delaySeconds: number | null; readonly reason: string }
  | { readonly kind: "absent"; readonly reason: string }
  | { readonly kind: "dead"; readonly reason: string };

/** Format of requests, and the meaning of their answers. */
export interface EndpointFormat {
  /** Makes the headers of a request, to which those of the settings are added. */
  headers(message: PushedMessage, settings: HttpPushSettings): Readonly<Record<string, string>>;
  judge(outcome: EndpointOutcome, message: PushedMessage, nowMs: number, settings: HttpPushSettings): Verdict;
}
