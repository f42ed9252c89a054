import { CliError, EXIT_USAGE } from "@sluice/project/errors";
import { isFifoName } from "@sluice/protocol";

/** Systems that a queue can be moved from and to. */
export const SYSTEMS = ["cloudflare", "sqs"] as const;
export type System = (typeof SYSTEMS)[number];

/** Seconds that a message which is on its way is nobody else's. */
export const LEASE_SECONDS_DEFAULT = 60;

/**
 * Time in ms without messages after which a queue is empty. A command that was killed may hold messages for as long as
 * its lease, and its last receive may have been under way for some seconds more.
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
  /** Seconds that a message is this command's, once it has taken it. Default: 60. */
  readonly leaseSecs?: number;
}

/** Refuses names of a queue before and after its move of which one alone is that of a FIFO queue. */
export function refuseOtherKind(name: string, as: string): void {
  if (isFifoName(as) === isFifoName(name)) return;
  throw new CliError('A FIFO queue stays one: both names end in ".fifo", or none does.', EXIT_USAGE);
}
