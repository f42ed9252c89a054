/**
 * How the process that ran the broker before this one ended, as the variable `SLUICE_LAST_END` says. A contract between
 * versions: the command that writes it and the broker that reads it may be of two.
 *
 * - `planned`: it was announced. No delivery that it cut off counts as an attempt.
 * - `unplanned`: the reason is unknown. Every delivery counts.
 * - `blamed`: a Worker has hung or killed the process. Deliveries to that one count.
 * - `suspected`: one of several Workers has. No delivery counts.
 *
 * After a `blamed` or a `suspected` end deliveries begin to one Worker after the other, `slotMs` apart: first to the
 * one that is blamed, or to those of `order` in turn. All others begin in the second slot. So the first Worker is alone
 * for a while, and cuts off no other Worker's delivery if it does the same again.
 */
export type LastEnd =
  | { readonly kind: "planned" | "unplanned" }
  | { readonly kind: "blamed"; readonly worker: string; readonly slotMs: number }
  | { readonly kind: "suspected"; readonly order: readonly string[]; readonly slotMs: number };

export const UNPLANNED: LastEnd = { kind: "unplanned" };

/** Writes the value of the variable: a word, or JSON. */
export function lastEndText(end: LastEnd): string {
  return "slotMs" in end ? JSON.stringify(end) : end.kind;
}

/** Reads the value of the variable. Any other text stands for an unplanned end. */
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
  if (typeof slotMs !== "number") return null;
  if (kind === "blamed" && typeof worker === "string") return { kind, worker, slotMs };
  return kind === "suspected" && Array.isArray(order) ? { kind, slotMs, order: order.map(String) } : null;
}

/**
 * Whether a delivery that an end has cut off counts as an attempt.
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

/** Reason of a dead letter whose last delivery was cut off by an end, if it counts (`countsAfter`). */
export function cutOffReason({ kind }: LastEnd): string {
  return kind === "blamed"
    ? "its handler ended the Workers, or did not answer, during its last delivery"
    : "the broker stopped during its last delivery";
}

/** How long after the start of the next process deliveries begin, to a Worker or to an endpoint (`null`), in ms. */
export function beginsAfterMs(end: LastEnd, worker: string | null): number {
  if (worker === null || !("slotMs" in end)) return 0;
  const place = (end.kind === "blamed" ? [end.worker] : end.order).indexOf(worker);
  return end.slotMs * (place === -1 ? 1 : place);
}
