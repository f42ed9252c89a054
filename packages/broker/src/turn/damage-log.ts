import type { Slice } from "@sluice/engine";
import type { DamageKind, QueueDamage } from "@sluice/protocol";
import type { QueueLog } from "../platform/log.ts";
import type { DamageRecord } from "../store/store.ts";

/** Damage that a queue remembers. More of it says no more: the log has every single one. */
export const DAMAGE_ENTRIES_MAX = 20;

/** Parts of a queue that its damage log uses. */
export interface DamageLogPorts {
  readonly name: string;
  readonly nowMs: number;
  readonly log: QueueLog;
  /** Within a turn: adds a write to its commit. */
  write(write: () => void): void;
}

/** Damage that was found in a queue: said once in the log, and listed from then on, restarts included. */
export class DamageLog {
  readonly #ports: DamageLogPorts;
  readonly #record: DamageRecord;
  #entries: readonly QueueDamage[];

  /** @param record where damage is remembered over restarts. */
  constructor(ports: DamageLogPorts, record: DamageRecord) {
    this.#ports = ports;
    this.#record = record;
    this.#entries = record.readDamage();
  }

  /** Oldest first, the latest `DAMAGE_ENTRIES_MAX`. */
  get entries(): readonly QueueDamage[] {
    return this.#entries;
  }

  /**
   * Reports damage, and writes it down with the next commit. What was found before, by its text, is printed again and
   * listed once: some damage is still there at the next start.
   *
   * @param messagesLost Most messages that are lost by it, `null` if nobody can tell.
   */
  note(kind: DamageKind, messagesLost: number | null, text: string): void {
    const { log, name, nowMs } = this.#ports;
    log.error(`Queue "${name}": ${text}`);
    if (this.#entries.some((entry) => entry.text === text)) return;
    const entries = [...this.#entries, { kind, foundAtMs: nowMs, messagesLost, text }];
    this.#entries = entries.slice(-DAMAGE_ENTRIES_MAX);
    this.#ports.write(() => this.#record.writeDamage(this.#entries));
  }

  /** Within a turn: reports messages of a segment as lost, with the reason. */
  messagesLost(
    { segmentId, from, to }: Pick<Slice, "segmentId" | "from" | "to">,
    count: number,
    reason: unknown,
  ): void {
    // Where it was: damage is listed once by its text, and two that are alike must not pass for one.
    const where = `segment ${segmentId}, within messages ${from} to ${to - 1}`;
    this.note("messagesLost", count, `${count} message(s) are lost: ${reason} (${where})`);
  }
}
