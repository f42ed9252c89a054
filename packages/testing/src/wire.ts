import type { HistoryKind } from "@sluice/protocol";
import type { EndingFault, Fault } from "./api.ts";

/** Path below which the test kit in Node.js and its part in the broker speak to each other: JSON over HTTP. */
export const TEST_PATH = "/__sluice/test";

/** Variable of a broker whose host prints all that it says: it says nothing of deliveries that went well then. */
export const QUIET_VARIABLE = "SLUICE_TESTING_QUIET";

/** Binding of a broker to what sets the time of the user's Workers. It has none where their `Date` is real. */
export const DATES_BINDING = "SLUICE_TESTING_DATES";

/** Name of what is thrown into a handler in the place of what may go wrong there. */
export const INTERRUPTED_ERROR = "InterruptedError";

/** How the error of a delivery begins whose handler has ended at one of its calls. */
export function endedBeginning(kind: EndingFault): string {
  return `fault ${kind}: `;
}

/**
 * How a line begins with which the broker says that a delivery begins or has ended, with a `DeliveryLine` behind it.
 * It leaves workerd at once: a call would wait for a handler that runs in a loop.
 */
export const DELIVERY_BEGINNING = "sluice-testing-delivery ";

/** A delivery that begins; only its number once it has ended. */
export interface DeliveryLine {
  readonly n: number;
  readonly began?: { readonly queue: string; readonly consumer: string; readonly messages: number };
}

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += BYTES_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(i, i + BYTES_AT_ONCE));
  }
  return btoa(text);
}

/** Arguments that a call can have are limited. */
const BYTES_AT_ONCE = 32_768;

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Something that happened in the broker, in the order in which it did. */
export type Entry =
  /** Messages that are stored: their records, in base64. Comes before the event that says so. */
  | { readonly kind: "stored"; readonly n: number; readonly queue: string; readonly packed: string }
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
  /** Number of each delivery that `delivered` is one of, in the order of `ids`. */
  readonly attempts?: readonly number[];
  readonly delayMs?: number;
  readonly error?: string;
}

/** Moves the clock from due time to due time. */
export interface RunRequest {
  /** How far, in ms; `null` until nothing is left to be delivered. */
  readonly forMs: number | null;
  /** Furthest that a run without a time goes, in ms. */
  readonly atMostMs: number;
  /** Deliveries after which it is given up. */
  readonly deliveriesMax: number;
  /** Number of the last entry that is known. */
  readonly after: number;
}

export interface LogReply {
  readonly entries: readonly Entry[];
  /** Queues of the configurations. */
  readonly queues: readonly string[];
}

export interface RunReply extends LogReply {
  readonly nowMs: number;
  /** When something is due next, in ms; `null` if nothing is. */
  readonly nextMs: number | null;
  /** Whether it was given up. */
  readonly isTooMuch: boolean;
}

/** Asks for what has happened. */
export interface LogRequest {
  readonly after: number;
  /** How long to wait for the first entry behind `after`, in ms of real time. */
  readonly waitMs: number;
}

/** Faults of a history: what comes, and which there may be. */
export interface PlanRequest {
  readonly faults: readonly Fault[];
}

/** Sends, as a producer makes them: the packed messages in base64. */
export interface PostRequest {
  readonly queue: string;
  readonly requests: readonly { readonly packed: string; readonly delaySeconds?: number }[];
  /** Producer that sends; absent for a test. */
  readonly producer?: string;
}

export interface MetricsRequest {
  readonly queue: string;
}
