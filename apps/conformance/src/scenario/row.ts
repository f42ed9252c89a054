import type { Scenario } from "./scenario.ts";

/** One line of the sheet: what production does, and how we know whether a system does the same. */
export interface RowHead {
  /** Short, in lower case with hyphens; of a scenario also the name of its queue. */
  readonly id: string;
  /** What production does, in our own words. Markdown without line breaks. */
  readonly production: string;
  /** Rows of the specification that this one proves, by their keys in `spec/spec-rows.ts`. */
  readonly covers: readonly string[];
  /** Why Sluice cannot, or on purpose does not, do what production does; only then its verdict may be other than yes. */
  readonly reason?: string;
}

/** What a system does, compared with production. */
export type Verdict =
  | { readonly kind: "yes" }
  /** It does nothing of the kind. */
  | { readonly kind: "no"; readonly observed: string }
  /** It does something else. */
  | { readonly kind: "differs"; readonly observed: string };

export const YES: Verdict = { kind: "yes" };

/** A test of this repository. */
export interface TestReference {
  /** Path from the root of the repository. */
  readonly file: string;
  /** The test's name, or the name of the group it is in, as it is written in the file. */
  readonly name: string;
}

/** A row that a test elsewhere proves for Sluice; of Miniflare its source code says what it does. */
export interface ReferenceRow extends RowHead {
  readonly kind: "reference";
  readonly tests: readonly TestReference[];
  readonly sluice?: Verdict;
  readonly miniflare: Verdict;
}

/** A row about a configuration, read by Wrangler and by Sluice. */
export interface ConfigurationRow extends RowHead {
  readonly kind: "configuration";
  /** What to call a configuration, what stands in its `wrangler.json` besides a name, and what becomes of it. */
  readonly cases: readonly (readonly [
    label: string,
    configuration: object,
    judged: "accepted" | "refused",
  ])[];
}

export type Row = Scenario | ConfigurationRow | ReferenceRow;
