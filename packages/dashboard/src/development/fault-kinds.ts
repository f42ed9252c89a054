import type { QueueView } from "../api/call.ts";

export type Fault = QueueView["faults"][number];
export type FaultKind = Fault["kind"];

/** Kinds of faults: what happens in a delivery, and whether the fault has a length in ms. */
export const FAULT_KINDS: Readonly<Record<FaultKind, { readonly what: string; readonly hasMs: boolean }>> = {
  loseAck: { what: "What the handler did is not heard of: its messages come again", hasMs: false },
  deliverTwice: { what: "The handler gets the batch twice", hasMs: false },
  reorder: { what: "The messages of a batch are shuffled", hasMs: false },
  failBatch: { what: "The delivery fails before the handler is called", hasMs: false },
  holdBatch: { what: "The batch is held back, leased", hasMs: true },
  slow: { what: "What the handler did is heard of late", hasMs: true },
  cutLease: { what: "The delivery fails while the handler is still at it", hasMs: true },
  restart: { what: "The queue crashes after the handler is done", hasMs: false },
};

/** `loseAck in the next 3 deliveries`. */
export function faultText({ kind, times }: Fault): string {
  return `${kind} in the next ${times === 1 ? "delivery" : `${times.toLocaleString("en")} deliveries`}`;
}
