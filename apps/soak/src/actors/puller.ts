import type { DeliveryRecord, Verdict } from "../ledger/delivery-record.ts";
import { exchange } from "../platform/network.ts";
import { Client } from "./client.ts";
import { type Pulled, pull, settlePulled } from "./pull-port.ts";
import { departingFrom, recordDeparture } from "./push-consumer.ts";

type Receipted = Pulled & { readonly record: DeliveryRecord };
type Settlements = { receipt: Pulled["receipts"][number]; position: number; verdict: Verdict }[];

/** A client that leases messages, works on them and settles some, late or twice or never. */
export class Puller extends Client {
  protected override async poll(): Promise<void> {
    const { random, isTroubled } = this.world;
    const queue = this.queue;
    const max = random.pick([1, 3, 10]);
    const visibilityMs = isTroubled ? random.pick([1, 500, 30_000]) : 60_000;
    const arrives = async () => {
      this.world.note("pull arrives", queue.name, max, visibilityMs);
      let departed: Receipted | null = null;
      await queue.perform(async (core) => {
        const pulled = await pull(core, max, visibilityMs);
        departed = pulled && this.#depart(pulled);
      });
      return departed as Receipted | null;
    };
    const pulled = await exchange(this.world, arrives).catch(() => null);
    this.world.note("pull is answered", queue.name, pulled?.record.leaseId, pulled?.receipts.length);
    if (pulled === null) return;
    this.useReceipts(
      [0, 1, 400, 2_000],
      () => this.#decide(pulled),
      (settlements) => void this.#settle(pulled.record, settlements),
    );
  }

  #depart(pulled: Pulled): Receipted {
    const leaving = departingFrom(pulled.packed, pulled.attempts);
    return { ...pulled, record: recordDeparture(this.world, this.queue, leaving) };
  }

  #decide({ receipts }: Pulled): Settlements {
    const { random, isTroubled } = this.world;
    return receipts.flatMap((receipt, position) => {
      const roll = isTroubled ? random.below(6) : 0;
      if (roll === 5) return [];
      const verdict: Verdict =
        roll < 3 ? { kind: "ack" } : { kind: "retry", delayMs: random.pick([0, 0, 1_000, 20_000]) };
      return [{ receipt, position, verdict }];
    });
  }

  #settle(record: DeliveryRecord, settlements: Settlements): Promise<void> {
    const queue = this.queue;
    return this.settle(record, settlements.length, (core) => {
      const epoch = queue.epoch?.number ?? 0;
      for (const { position, verdict } of settlements) {
        const message = record.messages[position];
        if (message !== undefined) record.reach(message, verdict, epoch, queue.disk.committedVersion);
      }
      return settlePulled(core, settlements);
    });
  }
}
