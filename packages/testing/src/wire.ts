import type { HistoryKind } from "@sluice/protocol";
import type { EndingFault, Fault } from "./api.ts";

/** Path for calls of the test kit in Node.js to its part in the broker, as JSON over HTTP. */
export const TEST_PATH = "/__sluice/test";

/** Variable of a broker that prints nothing of successful deliveries. */
export const QUIET_VARIABLE = "SLUICE_TESTING_QUIET";

/** Variable of a broker that prints lines for the test kit in Node.js, which shows none of these. */
export const READ_VARIABLE = "SLUICE_TESTING_READ";

/** Binding of a broker to the Worker that sets the time of the user's Workers. Absent where their `Date` is real. */
export const DATES_BINDING = "SLUICE_TESTING_DATES";

/** Name of an injected error in a handler. */
export const INTERRUPTED_ERROR = "InterruptedError";

/** Begins the error of a delivery whose handler has ended at one of its calls. */
export function endedBeginning(kind: EndingFault): string {
  return `fault ${kind}: `;
}

/**
 * Beginning of a log line by which the broker reports the start or the end of a delivery, before a `DeliveryLine`. A
 * line leaves workerd at once, while a call would wait for a handler in a loop.
 */
export const DELIVERY_BEGINNING = "sluice-testing-delivery ";

/** Start of a delivery, or its number alone at its end. */
export interface DeliveryLine {
  readonly n: number;
  readonly began?: { readonly queue: string; readonly consumer: string; readonly messages: number };
}

/**
 * Beginning of a log line that shows or hides later lines of Workers: `true` or `false` follows it. As one of the log's
 * lines it comes in order, between those of two histories.
 */
export const SHOWN_BEGINNING = "sluice-testing-shown ";

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += BYTES_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(i, i + BYTES_AT_ONCE));
  }
  return btoa(text);
}

/** Most arguments of a call. */
const BYTES_AT_ONCE = 32_768;

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Something that happened in the broker. Entries are in the order of the events. */
export type Entry =
  /** Records of stored messages in base64, before the event that reports them. */
  | { readonly kind: "stored"; readonly n: number; readonly queue: string; readonly packed: string }
  /** Planned faults whose delivery begins, whether they come in it or not. */
  | { readonly kind: "due"; readonly n: number; readonly queue: string; readonly faults: readonly Fault[] }
  /** A fault that came. */
  | { readonly kind: "fault"; readonly n: number; readonly queue: string; readonly fault: Fault }
  | HappenedEntry;

export interface HappenedEntry {
  readonly kind: HistoryKind;
  readonly n: number;
  readonly queue: string;
  readonly atMs: number;
  /** Ids of all messages that it happened to. */
  readonly ids: readonly string[];
  readonly by?: string;
  readonly to?: string;
  readonly otherIds?: readonly string[];
  readonly batch?: number;
  /** Numbers of the deliveries in a `delivered`, in the order of `ids`. */
  readonly attempts?: readonly number[];
  readonly delayMs?: number;
  readonly error?: string;
}

/** Request to move the clock from due time to due time. */
export interface RunRequest {
  /** Distance in ms; `null` until nothing is left to deliver. */
  readonly forMs: number | null;
  /** Furthest move in ms without a distance. */
  readonly atMostMs: number;
  /** Limit of deliveries. */
  readonly deliveriesMax: number;
  /** Number of the last known entry. */
  readonly after: number;
}

export interface LogReply {
  readonly entries: readonly Entry[];
  /** Queues of the configurations. */
  readonly queues: readonly string[];
}

export interface RunReply extends LogReply {
  readonly nowMs: number;
  /** Time at which something is due next, in ms; `null` if nothing is. */
  readonly nextMs: number | null;
  /** Whether the limit of deliveries was exceeded. */
  readonly isTooMuch: boolean;
}

/** Request for what has happened. */
export interface LogRequest {
  readonly after: number;
  /** Longest wait for the first entry after `after`, in ms of real time. */
  readonly waitMs: number;
}

/** Request to show from now on what Workers print, or not to. */
export interface ShowRequest {
  readonly isShown: boolean;
}

/** Faults of a history. */
export interface PlanRequest {
  readonly faults: readonly Fault[];
}

/** Sends of a producer: the packed messages in base64. */
export interface PostRequest {
  readonly queue: string;
  readonly requests: readonly { readonly packed: string; readonly delaySeconds?: number }[];
  /** Producer that sends; absent for a test. */
  readonly producer?: string;
}

export interface MetricsRequest {
  readonly queue: string;
}
