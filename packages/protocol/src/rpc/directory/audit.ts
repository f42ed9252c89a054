/** Changes and their actors, for the audit log. Plain data, it crosses RPC. */

/** Entries that are kept. For each further one the actor with the most entries loses its oldest. */
export const AUDIT_ENTRIES_MAX = 10_000;

/** By which way a change came: an API, or the configuration that was deployed. */
export type AuditDialect = "admin" | "cloudflare" | "sqs" | "sns" | "configuration";

/**
 * Actors that are neither a token nor an access key.
 *
 * - `local`: a caller of a broker that asks for no credentials.
 * - `anonymous`: a caller that follows a link in a message of SNS.
 * - `configuration`: a deployment.
 * - `process`: the one that runs the broker, of `sluice serve`.
 * - `firstAdministrator`: a caller with one of the tokens of the configuration.
 */
export const ACTORS = {
  local: "local",
  anonymous: "anonymous",
  configuration: "configuration",
  process: "process",
  firstAdministrator: "SLUICE_API_TOKENS",
} as const;

/** Whether no token and no access key may have a name: one of `ACTORS`, or a variable's. Capitals do not count. */
export function isReservedActor(name: string): boolean {
  const small = name.toLowerCase();
  return small.startsWith("sluice_") || Object.values<string>(ACTORS).includes(small);
}

/** A change. A contract: it is stored. Only optional members may be added. */
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
   * @param before those with smaller ids alone; `null` for all.
   */
  readAudit(max: number, before: number | null): Promise<readonly AuditRecord[]>;
}
