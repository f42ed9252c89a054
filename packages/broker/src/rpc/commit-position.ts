/**
 * How far a queue has come. Every number only grows, so a store that shows a smaller one than was reported elsewhere is
 * an older one: its latest commits are missing.
 */
export interface CommitPosition {
  /** Epochs of the queue that have written something. */
  readonly epoch: number;
  /** Commits over all epochs. After a crash the count goes on at the latest commit that left a trace. */
  readonly commits: number;
  /** Messages that were taken in over all epochs, as far as they were counted before a crash. */
  readonly messages: number;
}

/** Before anything was written. */
export const NO_COMMITS: CommitPosition = { epoch: 0, commits: 0, messages: 0 };

/** Whether a store at `own` is older than what its queue had reported. */
export function isBehind(own: CommitPosition, reported: CommitPosition): boolean {
  return own.epoch < reported.epoch || own.commits < reported.commits;
}

/** The larger of each number. */
export function furthest(a: CommitPosition, b: CommitPosition): CommitPosition {
  return {
    epoch: Math.max(a.epoch, b.epoch),
    commits: Math.max(a.commits, b.commits),
    messages: Math.max(a.messages, b.messages),
  };
}
