import { decodeReceipt, type QueueCore, receivedMsOf } from "@sluice/broker/testing";
import type { ReceiveReply, ReceiveRequest } from "@sluice/protocol";
import type { DeliveryRecord } from "../ledger/delivery-record.ts";
import type { Message, NamedReceive, ReceiptUse } from "../ledger/message.ts";
import { VISIBILITY_TOTAL_MS_MAX } from "../ledger/named-receives.ts";
import { exchange } from "../platform/network.ts";
import { LONG_VISIBILITY_MS } from "../scenario/visibilities.ts";
import { Client } from "./client.ts";
import { departingFrom, recordDeparture } from "./push-consumer.ts";

const CALM_VISIBILITY_MS = 60_000;
/** Most times that a receive is made again by its attempt id. */
const REPEATS_MAX = 3;
/** Time until a receive is made again, in ms. An attempt id is good for five minutes. */
const REPEATED_SOON_MS: readonly [number, ...number[]] = [0, 0, 100, 20_000];
const REPEATED_LATE_MS: readonly [number, ...number[]] = [100, 150_000, 299_000, 301_000];

/** Messages that were received together, each with its receipt. */
interface Received {
  readonly record: DeliveryRecord;
  readonly receipts: readonly string[];
}

/** Receive request of a client, with its visibility timeout and its longest wait in ms. */
type Request = ReceiveRequest & { readonly visibilityTimeoutMs: number; readonly waitMs: number };

type Use = { readonly receipt: string; readonly position: number; readonly what: Intent };
/** Action of a client on a receipt; `visibilityMs` counts from when it arrives. */
type Intent =
  | { readonly kind: "delete" }
  | { readonly kind: "change"; readonly visibilityMs: number }
  | { readonly kind: "release" };

/**
 * A client of SQS: receives messages with visibility timeouts, waits for them or not, and uses its receipts, early,
 * late or never.
 */
export class Receiver extends Client {
  protected override poll(): void {
    const { random, isTroubled, faults } = this.world;
    const { fifo } = this.queue.definition;
    const visibilityMs = isTroubled ? this.#drawVisibility() : CALM_VISIBILITY_MS;
    if (visibilityMs === 0) faults["receive that hides nothing"] += 1;
    void this.#attempt({
      max: random.pick([1, 3, 10]),
      visibilityTimeoutMs: visibilityMs,
      waitMs: random.pick([0, 0, 2_000, 20_000]),
      ...(fifo !== undefined && random.chance(0.8) ? { attemptId: this.world.newAttemptId() } : {}),
    });
  }

  #drawVisibility(): number {
    const { random } = this.world;
    const roll = this.queue.definition.fifo === undefined ? 1 : random.next() / 2 ** 32;
    if (roll < 0.03) return VISIBILITY_TOTAL_MS_MAX;
    return roll < 0.2 ? LONG_VISIBILITY_MS : random.pick([0, 500, 30_000, 60_000]);
  }

  async #attempt(request: Request, repeats = 0): Promise<void> {
    const queue = this.queue;
    const { visibilityTimeoutMs: visibilityMs, waitMs, attemptId } = request;
    let isAnswered = true;
    const arrives = async () => {
      this.world.note("receive arrives", queue.name, visibilityMs, waitMs);
      const receiving = { visibilityMs, attemptId: attemptId ?? null };
      const before = queue.ledger.namedReceives.named(receiving.attemptId);
      let end = () => {};
      let received: Received | null = null;
      try {
        await queue.perform(async (_core, object) => {
          end = queue.receives.begin(receiving, this.world.nowMs + waitMs);
          const reply = await object.receive(queue.name, request);
          end();
          // At once: other receives of the same turn are not answered yet, so they still count as under way.
          received = this.#depart(reply, request, before);
        });
      } finally {
        end();
      }
      return received as Received | null;
    };
    const received = await exchange(this.world, arrives).catch(() => {
      isAnswered = false;
      return null;
    });
    const leaseId = received?.record.leaseId ?? 0;
    this.world.note("receive is answered", queue.name, leaseId, received?.receipts.length);
    // The client may have lost the answer, or forgotten that it had one.
    const probability = !isAnswered ? 1 : received === null ? 0.2 : 0.6;
    const isLost = this.#again(request, repeats, leaseId, probability);
    if (received === null || (isLost && this.world.random.chance(0.7))) return;
    this.useReceipts(
      this.world.isTroubled ? [0, 1, 400, 2_000, visibilityMs, 40_000] : [0, 1, 400],
      () => this.#decide(received),
      (uses) => void this.#use(received.record, uses),
    );
  }

  /** Makes a receive again by its attempt id, with another visibility timeout or the same. Returns whether it does. */
  #again(request: Request, repeats: number, leaseId: number, probability: number): boolean {
    const { random, loop, isTroubled, faults } = this.world;
    if (request.attemptId === undefined || !isTroubled || repeats === REPEATS_MAX) return false;
    if (!random.chance(probability)) return false;
    faults["receive made again by its attempt id"] += 1;
    const drawn = random.chance(0.5) ? this.#drawVisibility() : 0;
    // A timeout of 0 stays 0, and no other becomes 0: served in one turn, the two receives could not be told apart.
    const visibilityTimeoutMs =
      drawn > 0 && request.visibilityTimeoutMs > 0 ? drawn : request.visibilityTimeoutMs;
    const isLong = request.visibilityTimeoutMs >= LONG_VISIBILITY_MS;
    loop.after(random.pick(isLong ? REPEATED_LATE_MS : REPEATED_SOON_MS), () => {
      this.world.note("receive is made again", this.queue.name, leaseId);
      void this.#attempt({ ...request, visibilityTimeoutMs }, repeats + 1);
    });
    return true;
  }

  #depart(reply: ReceiveReply, request: Request, before: NamedReceive | null): Received | null {
    const queue = this.queue;
    const { ledger } = queue;
    const { attemptId, visibilityTimeoutMs: visibilityMs } = request;
    if (reply.kind !== "received") {
      if (attemptId !== undefined) {
        this.world.check("received", queue, { attemptId, leaseId: null, tags: [], receipts: [], before });
      }
      return null;
    }
    const { receipts, receiveCounts: counts } = reply;
    const leaving = departingFrom(reply.packed, counts);
    const attempts = leaving.tags.map(
      (tag, i) => (counts[i] ?? 0) - (ledger.messages.get(tag)?.earlierReceives ?? 0),
    );
    const leaseId = decodeReceipt(queue.name, receipts[0] ?? "")?.leaseId ?? 0;
    const got = ledger.namedReceives.ofLease(leaseId);
    if (attemptId !== undefined) {
      this.world.check("received", queue, { attemptId, leaseId, tags: leaving.tags, receipts, before });
    }
    const isRepeated = attemptId !== undefined && got?.receipts != null && got.names.has(attemptId);
    // Another receive with the same attempt id may have changed the timeout in the same turn.
    const isLast =
      attemptId === undefined || !queue.receives.waiting.some((other) => other.attemptId === attemptId);
    const record = recordDeparture(this.world, queue, {
      ...leaving,
      attempts,
      leaseId,
      isRepeated,
      ...(isLast || visibilityMs === 0 ? { visibilityMs } : {}),
    });
    if (got !== null && attemptId !== undefined) ledger.namedReceives.answered(got, attemptId, receipts);
    return { record, receipts };
  }

  #decide({ receipts }: Received): Use[] {
    const { random, isTroubled } = this.world;
    if (isTroubled && random.chance(0.1)) {
      return receipts.map((receipt, position) => ({ receipt, position, what: { kind: "release" } }));
    }
    return receipts.flatMap((receipt, position): Use[] => {
      const roll = isTroubled ? random.below(9) : 0;
      if (roll < 4) return [{ receipt, position, what: { kind: "delete" } }];
      if (roll === 8) return [];
      const visibilityMs = random.pick([0, 0, 300, 40_000]);
      return [{ receipt, position, what: { kind: "change", visibilityMs } }];
    });
  }

  #use(record: DeliveryRecord, uses: readonly Use[]): Promise<void> {
    return this.settle(record, uses.length, (core) => {
      for (const use of uses) this.#note(record, use);
      return carryOut(core, uses);
    });
  }

  /** Records in the ledger that a use reaches the queue. */
  #note(record: DeliveryRecord, { receipt, position, what }: Use): void {
    const queue = this.queue;
    const message: Message | undefined = record.messages[position];
    const facts = decodeReceipt(queue.name, receipt);
    if (message === undefined || facts === null) return;
    const { leaseId } = facts;
    const receivedMs = receivedMsOf(facts);
    const use = (used: ReceiptUse["what"]) => {
      const epoch = queue.epoch?.number ?? 0;
      message.receiptUses.push({ leaseId, epoch, version: queue.disk.committedVersion, what: used });
    };
    if (what.kind !== "change") {
      use(what);
      return;
    }
    if (what.visibilityMs === 0) this.world.faults["visibility timeout changed to 0"] += 1;
    const notAfterMs = receivedMs + VISIBILITY_TOTAL_MS_MAX;
    use({ kind: "changeVisibility", forMs: what.visibilityMs, ifBeforeMs: Infinity, notAfterMs });
  }
}

/**
 * Carries out uses of receipts in the queue's next turn, which is the one that the ledger expects. Either all of them
 * are releases, or none.
 */
async function carryOut(core: QueueCore, uses: readonly Use[]): Promise<void> {
  if (uses.some(({ what }) => what.kind === "release")) {
    await core.release(uses.map(({ receipt }) => receipt));
    return;
  }
  const remove = uses.flatMap(({ receipt, what }) => (what.kind === "delete" ? [receipt] : []));
  const change = uses.flatMap(({ receipt, what }) =>
    what.kind === "change" ? [{ receipt, visibilityTimeoutMs: what.visibilityMs }] : [],
  );
  await core.work({ remove, change });
}
