import type { DeliveryRecord, Verdict } from "../ledger/delivery-record.ts";
import { Client } from "./client.ts";
import { type Pulled, pull, settlePulled } from "./pull-port.ts";
import { departingFrom, recordDeparture } from "./push-consumer.ts";

type Receipted = Pulled & { readonly record: DeliveryRecord };
type Settlements = { receipt: Pulled["receipts"][number]; position: number; verdict: Verdict }[];

/** A client that leases messages, works on them and settles some, late or twice or never. */
export class Puller extends Client {
  protected override poll(): void {
    const { random, isTroubled } = this.world;
    const queue = this.queue;
    const max = random.pick([1, 3, 10]);
    const visibilityMs = isTroubled ? random.pick([1, 500, 30_000]) : 60_000;
    this.network.send<Receipted | null>({
      arrives: (reply, refuse) => {
        this.world.note("pull arrives", queue.name, max, visibilityMs);
        queue.call(
          (core) => pull(core, max, visibilityMs),
          (pulled) => reply(pulled === null ? null : this.#depart(pulled)),
          refuse,
        );
      },
      answered: (pulled) => {
        const leaseId = pulled?.record.leaseId ?? 0;
        this.world.note("pull is answered", queue.name, leaseId, pulled?.receipts.length ?? 0);
        if (pulled !== null) this.#work(pulled);
      },
      failed: () => this.world.note("pull is answered", queue.name, 0, 0),
    });
  }

  #depart(pulled: Pulled): Receipted {
    const { epoch } = this.queue;
    if (epoch === null) throw new Error("a queue that does not run has answered");
    return {
      ...pulled,
      record: recordDeparture(this.world, this.queue, epoch, departingFrom(pulled.packed, pulled.attempts)),
    };
  }

  #work(pulled: Receipted): void {
    const { random, loop, isTroubled, faults } = this.world;
    if (isTroubled && random.chance(0.1)) {
      faults["receipt never used"] += 1;
      return;
    }
    const settlements = this.#decide(pulled);
    loop.after(random.pick([0, 1, 400, 2_000]), () => this.#settle(pulled.record, settlements));
    if (isTroubled && random.chance(0.1)) {
      faults["receipt used twice"] += 1;
      const others = random.chance(0.5) ? settlements : this.#decide(pulled);
      loop.after(random.pick([0, 500, 40_000]), () => this.#settle(pulled.record, others));
    }
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

  #settle(record: DeliveryRecord, settlements: Settlements): void {
    const queue = this.queue;
    const { name } = queue;
    this.network.send<1>({
      arrives: (reply, refuse) => {
        this.world.note("settlement of a pull arrives", name, record.leaseId, settlements.length);
        queue.call(
          (core) => {
            const epoch = queue.epoch?.number ?? 0;
            for (const { position, verdict } of settlements) {
              const message = record.messages[position];
              if (message !== undefined) record.reach(message, verdict, epoch, queue.disk.committedVersion);
            }
            return settlePulled(core, settlements);
          },
          () => reply(1),
          refuse,
        );
      },
      answered: () => this.world.note("settlement of a pull is answered", name, record.leaseId, 1),
      failed: () => this.world.note("settlement of a pull is answered", name, record.leaseId, 0),
    });
  }
}
