/** Row of the sheet: what production does, and which parts of its specification that proves. */
export interface RowHead {
  /** Short, in lower case with hyphens; of a scenario also the name of its queue. */
  readonly id: string;
  /** Behaviour of production, in our own words. Markdown without line breaks. */
  readonly production: string;
  /** Parts of `spec/spec-rows.txt` that this row proves: keys, or chapters with all that is in them. */
  readonly covers: readonly string[];
  /** Why Sluice cannot or shall not do what production does. Only then its verdict may be other than yes. */
  readonly reason?: string;
}

/** Verdict on what a system does, compared with production. */
export type Verdict =
  | { readonly kind: "yes" }
  /** It does nothing of the kind. */
  | { readonly kind: "no"; readonly observed: string }
  /** It does something else. */
  | { readonly kind: "differs"; readonly observed: string };

export const YES: Verdict = { kind: "yes" };

/** Makes the verdict on a system from an observation, `null` where there was none. */
export function verdictOf({ expected }: { readonly expected: string }, observed: string | null): Verdict {
  if (observed === expected) return YES;
  return observed === null ? { kind: "no", observed: "" } : { kind: "differs", observed };
}

/** A row that is not run: tests elsewhere prove it for Sluice, and Miniflare's source code says what Miniflare does. */
export interface ReferenceRow extends RowHead {
  /** Default: yes. */
  readonly sluice?: Verdict;
  readonly miniflare: Verdict;
}

export function isReference(row: RowHead): row is ReferenceRow {
  return "miniflare" in row;
}
