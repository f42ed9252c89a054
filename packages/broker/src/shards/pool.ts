import type { LentPart, PartNeed } from "@sluice/protocol";

/** How long a part is lent while there is enough for all, in ms. */
export const PART_MS = 10_000;
/** How long a part is lent while shards get less than they want, in ms: the turn of a shard where one goes round. */
export const TURN_MS = 2_000;
/** How long a shard that waits for a part is remembered without asking again, in ms. */
export const WAIT_MS = 5_000;

/** Question of a shard for a part. */
export interface Ask extends PartNeed {
  readonly shard: number;
  /** Grows with every question of the shard, over its restarts. */
  readonly number: number;
}

interface Holder {
  readonly number: number;
  /** Most units that it can be using until it asks again. */
  readonly held: number;
  /** When it cannot use any of them any more, in ms. */
  readonly heldUntilMs: number;
  readonly wanted: number;
  readonly wantedUntilMs: number;
  /** Units that it was lent last. */
  readonly part: number;
  /** When its turn began if it has a part, else its wait. */
  readonly sinceMs: number;
}

/**
 * Lends the units of one limit of a queue to its shards. All that shards can be using together is never more than the
 * limit, whatever calls are lost or late, as long as clocks run at the same pace.
 */
export class Pool {
  readonly #holders = new Map<number, Holder>();
  readonly #tailMs: number;

  /** @param tailMs how long units are still in use after their part has expired, in ms: what was begun goes on. */
  constructor(tailMs: number) {
    this.#tailMs = tailMs;
  }

  /**
   * Lends a shard its share of the units.
   *
   * @param limit units of the whole queue.
   * @param isComplete whether all parts are known. Until then no shard gets more than it has.
   * @returns `null` for a question that is older than the shard's last one.
   */
  lend(ask: Ask, limit: number, isComplete: boolean, nowMs: number): LentPart | null {
    const before = this.#holders.get(ask.shard);
    if (before !== undefined && ask.number <= before.number) return null;
    this.#forget(nowMs);
    const isWaiting = ask.part === 0;
    const sinceMs = before === undefined || isWaiting !== (before.part === 0) ? nowMs : before.sinceMs;
    this.#enter(ask, { heldUntilMs: Number.POSITIVE_INFINITY, sinceMs }, nowMs);
    const free = limit - this.#heldByOthers(ask.shard);
    const { share, isShort } = this.#shareOf(ask.shard, limit);
    const units = Math.max(0, Math.min(share, free, isComplete ? free : ask.part));
    const expiresInMs = isShort || units < ask.wanted ? TURN_MS : PART_MS;
    this.#holders.set(ask.shard, {
      number: ask.number,
      // This answer may be lost, or late: until it arrives the shard uses the part that it had.
      held: Math.max(ask.part, ask.used, units),
      heldUntilMs: nowMs + expiresInMs + this.#tailMs,
      wanted: ask.wanted,
      wantedUntilMs: nowMs + Math.max(WAIT_MS, units > 0 ? expiresInMs : 0),
      part: units,
      sinceMs: isWaiting === (units === 0) ? sinceMs : nowMs,
    });
    return { units, expiresInMs };
  }

  /** Forgets the units and wishes of shards that are not kept. */
  keepOnly(isKept: (shard: number) => boolean): void {
    for (const [shard, holder] of this.#holders)
      if (!isKept(shard)) this.#holders.set(shard, { ...holder, held: 0, part: 0, wanted: 0 });
  }

  /** Notes what an earlier pool has lent a shard. */
  learn(ask: Ask, nowMs: number): void {
    if (this.#holders.has(ask.shard)) return;
    this.#enter(ask, { heldUntilMs: nowMs + PART_MS + this.#tailMs, sinceMs: nowMs }, nowMs);
  }

  #enter(
    { shard, number, part, used, wanted }: Ask,
    times: Pick<Holder, "heldUntilMs" | "sinceMs">,
    nowMs: number,
  ): void {
    const held = Math.max(part, used);
    this.#holders.set(shard, { number, held, wanted, wantedUntilMs: nowMs + WAIT_MS, part, ...times });
  }

  #heldByOthers(asking: number): number {
    return [...this.#holders].reduce((sum, [shard, { held }]) => sum + (shard === asking ? 0 : held), 0);
  }

  /**
   * Computes what a shard would have if all units were lent anew, and whether any shard would get less than it wants.
   * While there are enough, each shard that wants any gets one. Else those that have waited longest do, and a turn ends
   * when its shard asks again while another one waits. The rest is divided equally.
   */
  #shareOf(asking: number, limit: number): { readonly share: number; readonly isShort: boolean } {
    const wanting = [...this.#holders]
      .filter(([, { wanted }]) => wanted > 0)
      .sort(([, a], [, b]) => rankOf(a) - rankOf(b))
      .map(([shard, { wanted }]) => ({ shard, wanted, share: 0 }));
    let left = limit;
    for (let short = wanting; short.length > 0 && left > 0; ) {
      const each = Math.max(1, Math.floor(left / short.length));
      for (const holder of short) {
        const units = Math.min(each, holder.wanted - holder.share, left);
        holder.share += units;
        left -= units;
      }
      short = short.filter(({ share, wanted }) => share < wanted);
    }
    return {
      share: wanting.find(({ shard }) => shard === asking)?.share ?? 0,
      isShort: wanting.some(({ share, wanted }) => share < wanted),
    };
  }

  /** Forgets units that cannot be in use any more, and wishes that were not repeated. */
  #forget(nowMs: number): void {
    for (const [shard, holder] of this.#holders) {
      const isHeld = holder.heldUntilMs > nowMs;
      const isWanted = holder.wantedUntilMs > nowMs;
      if (isHeld && isWanted) continue;
      // The number stays, so that a late question of the shard does nothing.
      this.#holders.set(shard, {
        ...holder,
        ...(isHeld ? {} : { held: 0, part: 0 }),
        ...(isWanted ? {} : { wanted: 0 }),
      });
    }
  }
}

function rankOf({ part, sinceMs }: Holder): number {
  return part > 0 ? sinceMs + TURN_MS : sinceMs;
}
