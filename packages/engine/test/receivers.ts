import {
  changeVisibility,
  deleteReceived,
  expireLeases,
  type Queue,
  type Receipt,
  receive,
  send,
} from "../src/index.ts";
import { queueWith, T0 } from "./queues.ts";

/** A FIFO or standard queue whose messages have names, and a clock: so that a test reads like the specification. */
export class Receivers {
  readonly queue: Queue;
  nowMs = T0;
  /** Receipts by message, latest last. */
  readonly receipts = new Map<string, Receipt[]>();
  /** Messages that were received too often, by name. */
  readonly dead: string[] = [];
  readonly #names = new Map<string, string>();

  constructor(rules: Parameters<typeof queueWith>[0]) {
    this.queue = queueWith({ maxRetries: Number.POSITIVE_INFINITY, ...rules });
  }

  /** Sends messages called "group-name", one by one; one without "-" has no group. */
  send(...names: string[]): void {
    for (const name of names) {
      const [group, message] = name.split("-");
      const groups = message === undefined ? {} : { groups: [group ?? null] };
      const { segmentId, from } = send(this.queue, { sizes: [1], dueMs: this.nowMs, ...groups }, this.nowMs);
      this.#names.set(`${segmentId}/${from}`, name);
      this.nowMs += 1;
    }
  }

  receive(max: number, forMs = 30_000): string[] {
    expireLeases(this.queue, this.nowMs);
    const { lease, dead } = receive(this.queue, { max, visibleAtMs: this.nowMs + forMs }, this.nowMs);
    const named = (slices: typeof dead) =>
      slices.flatMap(({ segmentId, from, to }) =>
        Array.from({ length: to - from }, (_, i) => ({ segmentId, index: from + i })),
      );
    this.dead.push(...named(dead).map(({ segmentId, index }) => this.#nameOf(segmentId, index)));
    if (lease === null) return [];
    return named(lease.slices).map((position) => {
      const name = this.#nameOf(position.segmentId, position.index);
      this.receipts.set(name, [...(this.receipts.get(name) ?? []), { ...position, leaseId: lease.leaseId }]);
      return name;
    });
  }

  /** Deletes each message by its latest receipt. */
  delete(...names: string[]): string[] {
    return names.map((name) => deleteReceived(this.queue, this.receiptOf(name), this.nowMs));
  }

  setVisibility(name: string, forMs: number): string {
    const change = { visibleAtMs: this.nowMs + forMs, receivedMs: this.nowMs };
    return changeVisibility(this.queue, this.receiptOf(name), change, this.nowMs);
  }

  receiptOf(name: string, which = -1): Receipt {
    const receipt = this.receipts.get(name)?.at(which);
    if (receipt === undefined) throw new Error(`${name} was not received`);
    return receipt;
  }

  #nameOf(segmentId: number, index: number): string {
    return this.#names.get(`${segmentId}/${index}`) ?? "?";
  }
}
