import type { R2Rule, R2Write } from "../../r2/notifications.ts";
import type { DirectoryRefusal } from "./directory.ts";

/** Rule of a bucket. A contract: it is stored. Only optional members may be added. */
export interface R2RuleRecord extends R2Rule {
  /** 32 hexadecimal digits, random. */
  readonly ruleId: string;
  readonly queueId: string;
  readonly createdAtMs: number;
  /** Whether the configuration has it: then it goes when the configuration no longer does. */
  readonly isConfigured?: true;
}

/** Bucket with rules. A contract: it is stored. Only optional members may be added. */
export interface R2Bucket {
  readonly bucket: string;
  /** Id of the last write whose messages are in their queues; 0 before the first. */
  readonly takenTo: number;
  /** Its rules, oldest first: at least one. */
  readonly rules: readonly R2RuleRecord[];
}

/** Makes the source of messages that are transferred to a queue because of writes to a bucket. */
export function r2Source(bucket: string): string {
  return `r2/${bucket}`;
}

/** Returns the bucket whose writes are the source of messages; `null` for any other source. */
export function bucketOfSource(source: string): string | null {
  return source.startsWith("r2/") ? source.slice("r2/".length) : null;
}

export type R2Reply = { readonly ok: true } | { readonly ok: false; readonly refusal: DirectoryRefusal };

/** Event notification rules of R2 buckets in the directory, and the writes that they are for. */
export interface R2Rpc {
  /** Every bucket with rules, in order of names. */
  listR2Buckets(): Promise<readonly R2Bucket[]>;
  /**
   * Adds rules, all or none. They are for later writes. Refused: `queueNotFound`, `r2RulesOverlap`, `r2RulesTooMany`.
   */
  addR2Rules(bucket: string, queueId: string, rules: readonly R2Rule[]): Promise<R2Reply>;
  /**
   * Deletes rules that notify a queue of a bucket's writes. Refused: `r2RuleNotFound`, and nothing is deleted.
   *
   * @param ruleIds `null` for all of them.
   */
  deleteR2Rules(bucket: string, queueId: string, ruleIds: readonly string[] | null): Promise<R2Reply>;
  /**
   * Sends the messages of a bucket's writes, once for each write and queue, however often the call is repeated. Rejects
   * if a queue cannot take them now: the caller tries again.
   *
   * @param account id of the account in the messages.
   * @param writes in order of their ids. One that was taken before is ignored.
   * @returns id of the last write that was taken.
   */
  takeR2Writes(account: string, bucket: string, writes: readonly R2Write[]): Promise<number>;
}
