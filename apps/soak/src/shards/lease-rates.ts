/** Moments at which messages of each queue were leased, over all shards. */
export class LeaseRates {
  readonly #momentsMs = new Map<string, number[]>();

  /** @param key identifies the queue, also among queues of the same name. */
  add(key: string, atMs: number): void {
    const moments = this.#momentsMs.get(key) ?? [];
    moments.push(atMs);
    this.#momentsMs.set(key, moments);
  }

  /** Finds a second with more leases than a limit; `null` if there is none. */
  secondOver(limit: number): { readonly key: string; readonly count: number } | null {
    for (const [key, moments] of this.#momentsMs) {
      moments.sort((a, b) => a - b);
      let first = 0;
      for (const [i, atMs] of moments.entries()) {
        while ((moments[first] ?? atMs) <= atMs - 1_000) first += 1;
        const count = i + 1 - first;
        if (count > limit) return { key, count };
      }
    }
    return null;
  }
}
