import type { Segment } from "../ledger/view.ts";
import type { Written } from "../platform/recorded-store.ts";

/** A commit of a shard as it was written. */
export interface ShardCommit {
  readonly kind: "commit";
  readonly event: number;
  readonly atMs: number;
  /** Revision of the record that the object goes by; `null` while it opens. */
  readonly revision: number | null;
  readonly segments: readonly {
    readonly id: number;
    readonly segment: Segment | null;
    readonly payload: Uint8Array | null;
  }[];
  readonly outboxIn: Written["outboxIn"];
  readonly outboxOut: readonly number[];
}
