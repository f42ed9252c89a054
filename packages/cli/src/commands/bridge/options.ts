import { CliError, EXIT_USAGE } from "@sluice/project/errors";
import { isFifoName } from "@sluice/protocol";

/** Systems that a queue can be moved from and to. */
export const SYSTEMS = ["cloudflare", "sqs"] as const;
export type System = (typeof SYSTEMS)[number];

/** Length of the lease under which a message is moved, in seconds. */
export const LEASE_SECONDS_DEFAULT = 60;

/**
 * Computes the time in ms without messages after which a queue counts as empty. A command that was killed may hold
 * messages for as long as its lease, and its last receive may have been under way for some seconds more.
 */
export function quietMsOf(leaseSecs: number): number {
  return 1_000 * leaseSecs + 3_000;
}

/** Options of `adopt` and `eject`. */
export interface BridgeOptions {
  /** Print the plan and do nothing else. */
  readonly dryRun?: boolean;
  /** Ask nothing. */
  readonly yes?: boolean;
  /** Go on until the command is stopped. */
  readonly follow?: boolean;
  /** Name of the queue that the messages go to. Default: the same. */
  readonly as?: string;
  /** Length of the lease under which a message is moved. Default: 60. */
  readonly leaseSecs?: number;
}

/** Refuses to move a queue where only one of its old and its new name is that of a FIFO queue. */
export function refuseOtherKind(name: string, as: string): void {
  if (isFifoName(as) === isFifoName(name)) return;
  throw new CliError('A FIFO queue stays one: both names end in ".fifo", or none does.', EXIT_USAGE);
}
