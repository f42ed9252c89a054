import type { Slice } from "@sluice/engine";
import type { DamageKind, QueueDamage } from "@sluice/protocol";
import { pluralIs } from "@sluice/protocol/words";
import type { QueueLog } from "../platform/log.ts";
import type { DamageRecord } from "../store/store.ts";

/** Most entries of damage that a queue remembers. The log has all of them. */
export const DAMAGE_ENTRIES_MAX = 20;

/** Parts of a queue that its damage log uses. */
export interface DamageLogPorts {
  readonly name: string;
  readonly nowMs: number;
  readonly log: QueueLog;
  /** Within a turn: adds a write to its commit. */
  write(write: () => void): void;
}

/** Damage that was found in a queue. It is logged, and listed over restarts. */
export class DamageLog {
  readonly #ports: DamageLogPorts;
  readonly #record: DamageRecord;
  #entries: readonly QueueDamage[];

  /** @param record that keeps damage over restarts. */
  constructor(ports: DamageLogPorts, record: DamageRecord) {
    this.#ports = ports;
    this.#record = record;
    this.#entries = record.readDamage();
  }

  /** Latest entries, oldest first, up to `DAMAGE_ENTRIES_MAX`. */
  get entries(): readonly QueueDamage[] {
    return this.#entries;
  }

  /**
   * Reports damage, and stores it with the next commit. Damage with a known text is logged again but listed once, since
   * some is found again at each start.
   *
   * @param messagesLost Most messages that are lost by it, `null` if unknown.
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
    // The text names the place, so that damage in two places is listed twice.
    const where = `segment ${segmentId}, within messages ${from} to ${to - 1}`;
    this.note("messagesLost", count, `${pluralIs(count, "message")} lost: ${reason} (${where})`);
  }
}
