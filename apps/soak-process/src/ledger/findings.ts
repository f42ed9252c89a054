/** Why a message came twice: nobody asked for it, and at-least-once allows it. */
export type DuplicateCause =
  | "the handler had it when the process died"
  | "its acknowledgement was not committed when the process died"
  | "its retry was asked for and not committed";

/** Violations that are kept with their text; all of them are counted. */
const VIOLATION_TEXTS_MAX = 20;

/** What the ledger has found out. */
export class Findings {
  readonly violationTexts: string[] = [];
  violations = 0;
  readonly duplicates: Record<DuplicateCause, number> = {
    "the handler had it when the process died": 0,
    "its acknowledgement was not committed when the process died": 0,
    "its retry was asked for and not committed": 0,
  };
  /** Longest time between an acknowledgement that was lost and the kill that took it, in ms. */
  oldestLostAckMs = 0;

  /** Something that must never happen, kills or not. */
  violation(text: string): void {
    this.violations += 1;
    if (this.violationTexts.length < VIOLATION_TEXTS_MAX) this.violationTexts.push(text);
  }

  duplicate(cause: DuplicateCause): void {
    this.duplicates[cause] += 1;
  }

  /** A duplicate whose acknowledgement was answered `beforeKillMs` before the process died. */
  lateAck(beforeKillMs: number): void {
    this.duplicate("its acknowledgement was not committed when the process died");
    this.oldestLostAckMs = Math.max(this.oldestLostAckMs, beforeKillMs);
  }
}
