/**
 * Position of a queue in its commits. Every number only grows, so a store with a smaller one than was reported is an
 * older one and lacks its latest commits.
 */
export interface CommitPosition {
  /** Number of the latest epoch that has written something. Numbers may be skipped. */
  readonly epoch: number;
  /** Number of commits over all epochs. After a crash it continues at the latest commit that left a trace. */
  readonly commits: number;
  /** Number of accepted messages over all epochs, as far as they were counted before a crash. */
  readonly messages: number;
}

/** Position of a queue that has written nothing. */
export const NO_COMMITS: CommitPosition = { epoch: 0, commits: 0, messages: 0 };

/** Whether a store at `own` is behind the position that its queue reported. */
export function isBehind(own: CommitPosition, reported: CommitPosition): boolean {
  return own.epoch < reported.epoch || own.commits < reported.commits;
}

export function isSame(a: CommitPosition, b: CommitPosition): boolean {
  return a.epoch === b.epoch && a.commits === b.commits && a.messages === b.messages;
}

/** Returns the larger of each number. */
export function furthest(a: CommitPosition, b: CommitPosition): CommitPosition {
  return {
    epoch: Math.max(a.epoch, b.epoch),
    commits: Math.max(a.commits, b.commits),
    messages: Math.max(a.messages, b.messages),
  };
}
