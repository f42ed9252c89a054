import type { LentPart, PartNeed } from "@sluice/protocol";

/** How long a part is lent while there is enough for all, in ms. */
export const PART_MS = 10_000;
/** How long a part is lent while shards get less than they want, in ms: the turn of a shard where one goes round. */
export const TURN_MS = 2_000;
/** How long a shard that waits for a part is remembered after it should have asked again, in ms. */
export const WAIT_MS = 5_000;
/** How long after a question the next one is asked where a part is missing, in ms: at first, and at most. */
export const ASK_AGAIN_MS = 500;
/** The wait grows to this: an object that nobody calls for ten seconds is put to sleep, and forgets what it has lent. */
export const ASK_AGAIN_MS_MAX = 8_000;

/** Question of a shard for a part. */
export interface Ask extends PartNeed {
  readonly shard: number;
  /** Grows with every question of the shard, over its restarts. */
  readonly number: number;
}

/** Units of a limit that can be lent. */
export interface Lendable {
  readonly limit: number;
  /** When all parts are known, in ms. */
  readonly completeAtMs: number;
}

interface Holder {
  readonly number: number;
  /** Most units that it can be using until it says something else. */
  readonly held: number;
  /** When it can't use any of them any more. */
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
   * @param limit units that are there.
   * @param completeAtMs when all parts are known. Until then nobody gets more than they have.
   * @returns `null` for a question that is older than the shard's last one: nobody waits for the answer.
   */
  lend(ask: Ask, { limit, completeAtMs }: Lendable, nowMs: number): LentPart | null {
    const before = this.#holders.get(ask.shard);
    if (before !== undefined && ask.number <= before.number) return null;
    this.#forget(nowMs);
    const isWaiting = ask.part === 0;
    const isSame = before !== undefined && isWaiting === (before.part === 0) && before.wanted > 0;
    const sinceMs = isSame ? before.sinceMs : nowMs;
    this.#enter(ask, { heldUntilMs: Number.POSITIVE_INFINITY, sinceMs }, nowMs);
    const { shares, isShort } = this.#shares(limit);
    const units = this.#unitsFor(ask.shard, shares, { limit, completeAtMs }, nowMs);
    const expiresInMs = isShort || units < ask.wanted ? TURN_MS : PART_MS;
    const askInMs = units < ask.wanted ? this.#askInMs(ask.shard, sinceMs, completeAtMs, nowMs) : undefined;
    this.#holders.set(ask.shard, {
      number: ask.number,
      // Until it has this answer, which may be never, it goes by the part that it had.
      held: Math.max(ask.part, ask.used, units),
      heldUntilMs: nowMs + expiresInMs + this.#tailMs,
      wanted: ask.wanted,
      wantedUntilMs: nowMs + Math.max(WAIT_MS + (askInMs ?? 0), units > 0 ? expiresInMs : 0),
      part: units,
      sinceMs: isWaiting === (units === 0) ? sinceMs : nowMs,
    });
    return { units, expiresInMs, ...(askInMs === undefined ? {} : { askInMs }) };
  }

  /** Finds the shards that would get more than they hold, if they asked, as far as there is any: who has waited longest. */
  served({ limit, completeAtMs }: Lendable, nowMs: number): number[] {
    this.#forget(nowMs);
    let free = nowMs < completeAtMs ? 0 : limit - this.#held;
    if (free <= 0) return [];
    return [...this.#shares(limit).shares].flatMap(([shard, share]) => {
      const more = Math.min(free, share - (this.#holders.get(shard)?.held ?? 0));
      if (more <= 0) return [];
      free -= more;
      return shard;
    });
  }

  /** Takes in that a shard wants none. @returns whether it wanted any before. */
  wantsNone(shard: number): boolean {
    const holder = this.#holders.get(shard);
    if (holder === undefined || holder.wanted === 0) return false;
    this.#holders.set(shard, { ...holder, wanted: 0 });
    return true;
  }

  /** Computes what a shard gets: its share, as far as it is free. */
  #unitsFor(
    shard: number,
    shares: ReadonlyMap<number, number>,
    { limit, completeAtMs }: Lendable,
    nowMs: number,
  ): number {
    const { held = 0, part = 0 } = this.#holders.get(shard) ?? {};
    const free = limit - this.#held + held;
    const most = nowMs >= completeAtMs ? free : part;
    return Math.max(0, Math.min(shares.get(shard) ?? 0, free, most));
  }

  /** Doubles the wait of a shard, up to the moment at which any units are free by themselves. */
  #askInMs(asking: number, sinceMs: number, completeAtMs: number, nowMs: number): number {
    const moments = [...this.#holders].flatMap(([shard, { held, heldUntilMs }]) =>
      shard === asking || held === 0 ? [] : heldUntilMs,
    );
    if (nowMs < completeAtMs) moments.push(completeAtMs);
    const waitMs = Math.min(nowMs - sinceMs, ASK_AGAIN_MS_MAX, Math.min(...moments) - nowMs);
    return Math.max(ASK_AGAIN_MS, waitMs);
  }

  /** Forgets what shards hold and want that are not kept. */
  keepOnly(isKept: (shard: number) => boolean): void {
    for (const [shard, holder] of this.#holders)
      if (!isKept(shard)) this.#holders.set(shard, { ...holder, held: 0, part: 0, wanted: 0 });
  }

  /** Takes down what a shard has been lent by a pool before this one. */
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

  get #held(): number {
    return [...this.#holders.values()].reduce((sum, { held }) => sum + held, 0);
  }

  /**
   * Computes what shards would have if all units were lent anew, and whether anybody would get less than they want. While there are enough, each that wants any gets one. Else those who have waited longest do, and a turn ends when its
   * shard asks again while somebody waits. What is left is divided equally.
   */
  #shares(limit: number): { readonly shares: ReadonlyMap<number, number>; readonly isShort: boolean } {
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
      shares: new Map(wanting.map(({ shard, share }) => [shard, share])),
      isShort: wanting.some(({ share, wanted }) => share < wanted),
    };
  }

  /** Forgets what cannot be used any more, and wishes that nobody has repeated. */
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
