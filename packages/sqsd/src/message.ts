import type { AttributeValue } from "@sluice/aws";

/** A message as the daemon has received it. Times in ms since 1970. */
export interface DaemonMessage {
  /** Id that SQS shows to every client: a UUID. */
  readonly id: string;
  readonly body: Uint8Array;
  /** Message attributes as their sender gave them. */
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly receiveCount: number;
  readonly firstReceivedMs: number;
  readonly sentMs: number;
  /** Sender that SQS names. */
  readonly senderId: string;
  /** The periodic task that it stands for; `null` for an ordinary message. */
  readonly task: PeriodicTask | null;
  /** The path that its sender names, which is only shown; `null` for none. */
  readonly path: string | null;
}

/** One run of a periodic task (spec sqsd 8.3). */
export interface PeriodicTask {
  readonly name: string;
  /** Path that is posted to. */
  readonly url: string;
  /** When it was to run, in ms since 1970. */
  readonly scheduledMs: number;
}

/** Beginning of the names of attributes that only the daemon's own messages have: they are never passed on. */
export const RESERVED_PREFIX = "beanstalk.sqsd";
