/**
 * How the process that ran a broker before this one ended, as the broker is told (`SLUICE_LAST_END`). A contract between
 * versions: the command that writes it and the broker that reads it may be of two.
 *
 * - `planned`: it was announced. No delivery that it cut off counts as an attempt.
 * - `unplanned`: nobody knows why. Every one counts.
 * - `blamed`: a Worker has hung or killed it. Deliveries of that one count.
 * - `suspected`: it was one of several Workers. No delivery counts, and the Workers begin one after the other, each
 *   `slotMs` after the one before; all that are not in `order` begin with the second. So the first is alone for a while.
 */
export type LastEnd =
  | { readonly kind: "planned" | "unplanned" }
  | { readonly kind: "blamed"; readonly worker: string }
  | { readonly kind: "suspected"; readonly order: readonly string[]; readonly slotMs: number };

export const UNPLANNED: LastEnd = { kind: "unplanned" };

/** The value of the variable: a word, or JSON. */
export function lastEndText(end: LastEnd): string {
  return "worker" in end || "order" in end ? JSON.stringify(end) : end.kind;
}

/** Reads the value of the variable. Anything that is none is an end that nobody knows anything of. */
export function lastEndFrom(text: string): LastEnd {
  if (text === "planned") return { kind: "planned" };
  try {
    return readEnd(JSON.parse(text)) ?? UNPLANNED;
  } catch {
    return UNPLANNED;
  }
}

function readEnd(value: unknown): LastEnd | null {
  const { kind, worker, order, slotMs } = Object(value) as Partial<Record<string, unknown>>;
  if (kind === "blamed" && typeof worker === "string") return { kind, worker };
  if (kind !== "suspected" || typeof slotMs !== "number" || !Array.isArray(order)) return null;
  return { kind, slotMs, order: order.map(String) };
}

/**
 * Whether a delivery counts as an attempt that an end has cut off.
 *
 * @param worker the Worker that it went to; `null` for an HTTP endpoint, which cannot make the process hang.
 */
export function countsAfter(end: LastEnd, worker: string | null): boolean {
  switch (end.kind) {
    case "planned":
    case "suspected":
      return false;
    case "unplanned":
      return true;
    case "blamed":
      return end.worker === worker;
  }
}

/** How long after the start of the next process deliveries to a Worker begin, or to an endpoint (`null`), in ms. */
export function beginsAfterMs(end: LastEnd, worker: string | null): number {
  if (end.kind !== "suspected" || worker === null) return 0;
  const place = end.order.indexOf(worker);
  return end.slotMs * (place === -1 ? 1 : place);
}
