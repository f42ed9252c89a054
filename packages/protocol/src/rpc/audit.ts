/** What was changed, by whom. Plain data, it crosses RPC. */

/** Entries that are kept; an older one goes for each that comes. */
export const AUDIT_ENTRIES_MAX = 10_000;

/** By which way a change came: an API, or the configuration that was deployed. */
export type AuditDialect = "admin" | "cloudflare" | "sqs" | "sns" | "configuration";

/** A change. A contract: it is stored. */
export interface AuditEntry {
  /** What was done: `queue.purge`. */
  readonly action: string;
  /** What it was done to: the name of a queue or a token, an ARN, an id; `null` for the broker as a whole. */
  readonly target: string | null;
  /** Name of a token, id of an access key, `SLUICE_API_TOKENS`, or `local` where nobody is asked. */
  readonly by: string;
  readonly dialect: AuditDialect;
}

/** An entry as it is stored. */
export interface AuditRecord extends AuditEntry {
  /** Grows with each entry. */
  readonly id: number;
  /** In ms since 1970. */
  readonly atMs: number;
}

/** The audit log in the directory. */
export interface AuditRpc {
  noteAudit(entry: AuditEntry): Promise<void>;
  /**
   * Entries, newest first.
   *
   * @param before those with smaller ids alone; `null` for all.
   */
  readAudit(max: number, before: number | null): Promise<readonly AuditRecord[]>;
}
