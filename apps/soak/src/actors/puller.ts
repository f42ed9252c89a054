import type { PulledBatch } from "@sluice/protocol";
import type { DeliveryRecord } from "../ledger/delivery-record.ts";
import type { ReceiptUse } from "../ledger/message.ts";
import { exchange } from "../platform/network.ts";
import { Client } from "./client.ts";
import { departingFrom, recordDeparture } from "./push-consumer.ts";

/** Messages that were pulled together, each with its receipt. */
interface Pulled {
  readonly record: DeliveryRecord;
  readonly leaseIds: readonly string[];
}

/** What is wanted of a message, by its receipt. */
interface Settlement {
  readonly leaseId: string;
  readonly position: number;
  /** `null` for one that is done. */
  readonly delaySeconds: number | null;
}

/** A client that leases messages, works on them and settles some, late or twice or never. */
export class Puller extends Client {
  protected override async poll(): Promise<void> {
    const { random, isTroubled } = this.world;
    const queue = this.queue;
    const max = random.pick([1, 3, 10]);
    const visibilityTimeoutMs = isTroubled ? random.pick([1, 500, 30_000]) : 60_000;
    const arrives = async () => {
      this.world.note("pull arrives", queue.name, max, visibilityTimeoutMs);
      const reply = await queue.call((core) => core.pull({ max, visibilityTimeoutMs }));
      return reply.ok && reply.batch.leaseIds.length > 0 ? this.#depart(reply.batch) : null;
    };
    const pulled = await exchange(this.world, arrives).catch(() => null);
    this.world.note("pull is answered", queue.name, pulled?.record.leaseId, pulled?.leaseIds.length);
    if (pulled === null) return;
    this.useReceipts(
      [0, 1, 400, 2_000],
      () => this.#decide(pulled),
      (settlements) => void this.#settle(pulled.record, settlements),
    );
  }

  #depart({ packed, attempts, leaseIds }: PulledBatch): Pulled {
    return { record: recordDeparture(this.world, this.queue, departingFrom(packed, attempts)), leaseIds };
  }

  #decide({ leaseIds }: Pulled): Settlement[] {
    const { random, isTroubled } = this.world;
    return leaseIds.flatMap((leaseId, position) => {
      const roll = isTroubled ? random.below(6) : 0;
      if (roll === 5) return [];
      return [{ leaseId, position, delaySeconds: roll < 3 ? null : random.pick([0, 0, 1, 20]) }];
    });
  }

  #settle(record: DeliveryRecord, settlements: readonly Settlement[]): Promise<void> {
    return this.settle(record, settlements.length, (core) => {
      for (const settlement of settlements) this.#note(record, settlement);
      return core.settleLeases({
        acks: settlements.flatMap(({ leaseId, delaySeconds }) => (delaySeconds === null ? [leaseId] : [])),
        retries: settlements.flatMap(({ leaseId, delaySeconds }) =>
          delaySeconds === null ? [] : [{ leaseId, delaySeconds }],
        ),
      });
    });
  }

  /** Tells the ledger what reaches the queue. */
  #note({ leaseId, messages }: DeliveryRecord, { position, delaySeconds }: Settlement): void {
    const { epoch, disk } = this.queue;
    const what: ReceiptUse["what"] =
      delaySeconds === null ? { kind: "delete" } : { kind: "retry", delayMs: 1_000 * delaySeconds };
    messages[position]?.receiptUses.push({
      ...{ leaseId, epoch: epoch?.number ?? 0, version: disk.committedVersion, what },
    });
  }
}
