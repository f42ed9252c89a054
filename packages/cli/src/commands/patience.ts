import { setTimeout as sleep } from "node:timers/promises";
import { CliError, EXIT_FAILED, EXIT_NO_BROKER } from "@sluice/project/errors";
import { BrokerFailure } from "../client/broker-client.ts";

/** Shortest and longest wait before another try, in ms. */
const WAIT_MS_MIN = 200;
const WAIT_MS_MAX = 20_000;
/** Longest wait that another service may ask for, in ms. Cloudflare counts the requests of 5 minutes. */
const ASKED_MS_MAX = 300_000;
/** Shortest wait that is worth a line. */
const NOTED_MS = 1_000;

/** Most tries of a call while a person waits for a plan, with waits of about one second in all. */
export const PLAN_TRIES = 4;
/** Most tries of a call while messages are moved, with waits of about one minute in all. */
export const RUN_TRIES = 10;

/** Failure of another service that the same call may not meet with again. */
export class PassingFailure extends CliError {
  /** Time that the service asks to wait, in ms. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message, EXIT_FAILED);
    this.retryAfterMs = retryAfterMs;
  }
}

export interface Patience {
  /** Most tries of a call. */
  readonly tries: number;
  /** Says why a call is tried again. */
  readonly note: (text: string) => void;
  /** Ends a wait. From then on no wait is longer because the other service asks for it. */
  readonly stop?: AbortSignal;
  /** Waits for some ms, or until a signal. Default: by the system's clock. */
  readonly wait?: (ms: number, stop?: AbortSignal) => Promise<unknown>;
}

/**
 * Makes a call, and repeats it after failures that may pass. The waits double, from 200 ms to 20 s. A service that asks
 * for a longer one gets up to 5 minutes.
 */
export async function patiently<T>(
  { tries, note, stop, wait = pause }: Patience,
  call: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await call();
    } catch (error) {
      if (tried >= tries || !isPassing(error)) throw error;
      const isStopped = stop?.aborted === true;
      const asked = error instanceof PassingFailure && !isStopped ? error.retryAfterMs : 0;
      const ms = Math.max(
        Math.min(ASKED_MS_MAX, asked),
        Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** (tried - 1)),
      );
      if (ms >= NOTED_MS) note(`${error.message} The next try is in ${Math.round(ms / 1_000)} s.`);
      await wait(ms, isStopped ? undefined : stop);
    }
  }
}

async function pause(ms: number, stop?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, stop === undefined ? {} : { signal: stop }).catch(() => {});
}

function isPassing(error: unknown): error is Error {
  if (error instanceof PassingFailure) return true;
  if (!(error instanceof BrokerFailure)) return false;
  return error.exitCode === EXIT_NO_BROKER || isPassingStatus(error.status);
}

/** Whether a request that got this status may succeed later: there were too many, or the server has failed. */
export function isPassingStatus(status: number): boolean {
  return status === 429 || status >= 500;
}
