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
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** How long it may take to find out whether anybody is there, in ms; `null` does not ask: a lost request is `closed`. */
  readonly connectTimeoutMs: number | null;
  /** How long the answer may take, in ms. */
  readonly responseTimeoutMs: number;
}

/**
 * What came of a request.
 *
 * - `answered`: with any status, a redirect included: it is not followed.
 * - `unreachable`: nobody took it.
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
  | { readonly kind: "unreachable" | "closed" | "timedOut"; readonly reason: string };

/** The way to HTTP endpoints. Never rejects because of what an endpoint does. */
export interface EndpointPort {
  post(request: EndpointRequest): Promise<EndpointOutcome>;
  /** Whether an endpoint is there: with a path, whether that answers 200; without, whether anything answers. */
  isReady(url: string, path: string | null, timeoutMs: number): Promise<boolean>;
}

/**
 * What an outcome means for a message.
 *
 * - `done`: it is acknowledged. With a note, the log says why.
 * - `retry`: the delivery has failed; the next one after `delaySeconds`, `null` leaves that to the queue.
 * - `absent`: nobody is there. The delivery does not count, and all messages wait until the endpoint is back.
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
