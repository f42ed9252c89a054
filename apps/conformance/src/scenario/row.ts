/** Row of the sheet: a behaviour of production. */
export interface RowHead {
  /** Short, in lower case with hyphens; of a scenario also the name of its queue. */
  readonly id: string;
  /** Behaviour of production, in our own words. Markdown without line breaks. */
  readonly production: string;
  /** Parts of `spec/spec-rows.txt` that this row proves: keys, or chapters with all their keys. */
  readonly covers: readonly string[];
  /** Reason why Sluice differs from production. Without one its verdict has to be yes. */
  readonly reason?: string;
}

/** Verdict on what a system does, compared with production. */
export type Verdict =
  | { readonly kind: "yes" }
  /** It has no such behaviour. */
  | { readonly kind: "no"; readonly observed: string }
  /** It behaves differently. */
  | { readonly kind: "differs"; readonly observed: string };

export const YES: Verdict = { kind: "yes" };

/** Makes the verdict on a system from an observation; `null` for none. */
export function verdictOf({ expected }: { readonly expected: string }, observed: string | null): Verdict {
  if (observed === expected) return YES;
  return observed === null ? { kind: "no", observed: "" } : { kind: "differs", observed };
}

/** A row that is not run: other tests prove it for Sluice, and Miniflare's verdict comes from its source code. */
export interface ReferenceRow extends RowHead {
  /** Default: yes. */
  readonly sluice?: Verdict;
  readonly miniflare: Verdict;
}

export function isReference(row: RowHead): row is ReferenceRow {
  return "miniflare" in row;
}
