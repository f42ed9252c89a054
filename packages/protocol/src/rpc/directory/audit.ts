/** Entries of the audit log: changes and their actors. Plain data, because they cross RPC. */

/**
 * Most entries of the log. For each further one the actor with the most entries loses its oldest, so that a busy actor
 * does not push out the others.
 */
export const AUDIT_ENTRIES_MAX = 10_000;

/** Interface that a change came through: an API, or a deployed configuration. */
export type AuditDialect = "admin" | "cloudflare" | "sqs" | "sns" | "configuration";

/**
 * Actors that are neither a token nor an access key.
 *
 * - `local`: a caller of a broker that asks for no credentials.
 * - `anonymous`: a caller without a signature who follows the link in a message of SNS.
 * - `configuration`: a deployment.
 * - `process`: the process that runs the broker, as `sluice serve` does.
 * - `firstAdministrator`: a caller with a token of the configuration, named by the variable that lists them.
 */
export const ACTORS = {
  local: "local",
  anonymous: "anonymous",
  configuration: "configuration",
  process: "process",
  firstAdministrator: "SLUICE_API_TOKENS",
} as const;

/**
 * Returns whether a name is reserved, so that no token and no access key may have it: one of `ACTORS`, or one that
 * begins with `SLUICE_`, as variables do. Upper and lower case are the same.
 */
export function isReservedActor(name: string): boolean {
  const lower = name.toLowerCase();
  return lower.startsWith("sluice_") || Object.values<string>(ACTORS).includes(lower);
}

/** One change. A contract: it is stored, so only optional members may be added. */
export interface AuditEntry {
  /** Action that was performed: `queue.purge`. */
  readonly action: string;
  /** Target of the action: the name of a queue or a token, an ARN, an id; `null` for the broker as a whole. */
  readonly target: string | null;
  /** Name of a token, id of an access key, or one of `ACTORS`. */
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
   * @param max most entries to return.
   * @param before returns entries with smaller ids alone; `null` begins with the newest.
   */
  readAudit(max: number, before: number | null): Promise<readonly AuditRecord[]>;
}
