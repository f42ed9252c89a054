import type { HttpPushSettings, MessageExtension, UnpackedMessage } from "@sluice/protocol";

/** A message that is about to be posted. Times in ms since 1970. */
export interface PushedMessage extends UnpackedMessage {
  readonly queue: string;
  /** 1 on the first delivery. */
  readonly attempt: number;
  /** When its answer stops counting. */
  readonly deadlineMs: number;
  readonly extension: MessageExtension;
}

/** A POST to an HTTP endpoint. */
export interface EndpointRequest {
  readonly url: string;
  /** One character for each byte of a value (`headerBytes`). */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /**
   * How long it may take to find out whether anybody is there, in ms; `null` does not ask: where the platform does not
   * tell, a lost request is `closed`.
   */
  readonly connectTimeoutMs: number | null;
  /** How long the answer may take, in ms. */
  readonly responseTimeoutMs: number;
}

/** The bytes of a text in UTF-8, one character each. */
export function headerBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/**
 * Outcome of a request.
 *
 * - `answered`: with any status, a redirect included: it is not followed.
 * - `unreachable`: no server took it.
 * - `closed`: the connection ended without an answer. The endpoint may have done its work.
 * - `timedOut`: no answer in time. The same.
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
      /** Whether the port has already made the request again, on a connection of its own. Default: no. */
      readonly isRepeated?: boolean;
    }
  | {
      readonly kind: "unreachable";
      readonly reason: string;
      /** Whether it is at an address that may not be called. Default: no. */
      readonly isRefused?: boolean;
    }
  | { readonly kind: "timedOut"; readonly reason: string };

/**
 * Statuses that Cloudflare's network answers in the name of a server that it could not reach: refused, no connection in
 * time, no route, no TLS, a certificate that does not hold, no address. On a deployed broker nothing else says so.
 */
const UNREACHED_STATUSES: ReadonlySet<number> = new Set([521, 522, 523, 525, 526, 530]);

/** The outcome that an answer's status and headers stand for. */
export function outcomeOf(status: number, header: (name: string) => string | null): EndpointOutcome {
  return UNREACHED_STATUSES.has(status)
    ? { kind: "unreachable", reason: `it cannot be reached (${status})` }
    : {
        kind: "answered",
        status,
        retryAfter: header("retry-after"),
        challenge: header("www-authenticate"),
      };
}

/** The way to HTTP endpoints. Never rejects because of what an endpoint does, and follows no redirects. */
export interface EndpointPort {
  post(request: EndpointRequest): Promise<EndpointOutcome>;
  /**
   * Whether an endpoint is there: with a path, which begins with a slash and is one of the same server, whether that
   * answers 200; without, whether anything answers.
   */
  isReady(url: string, path: string | null, timeoutMs: number): Promise<boolean>;
}

/**
 * Consequence of an outcome for a message.
 *
 * - `done`: it is acknowledged. With a note, the log says why.
 * - `retry`: the delivery has failed; the next one after `delaySeconds`, `null` leaves that to the queue.
 * - `absent`: the endpoint is not there. The delivery does not count, and all messages wait until it is back.
 * - `dead`: no other attempt can help.
 */
export type Verdict =
  | { readonly kind: "done"; readonly note?: string }
  | { readonly kind: "retry"; readonly delaySeconds: number | null; readonly reason: string }
  | { readonly kind: "absent"; readonly reason: string }
  | { readonly kind: "dead"; readonly reason: string };

/** How messages are posted, and what answers mean. */
export interface EndpointFormat {
  /** Headers of the request; those of the settings are added to them. May be slow: signing is. */
  headers(message: PushedMessage, settings: HttpPushSettings): Readonly<Record<string, string>>;
  judge(outcome: EndpointOutcome, message: PushedMessage, nowMs: number, settings: HttpPushSettings): Verdict;
}
