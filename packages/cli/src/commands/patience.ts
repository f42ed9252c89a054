import { setTimeout as sleep } from "node:timers/promises";
import { CliError, EXIT_FAILED, EXIT_NO_BROKER } from "@sluice/project/errors";
import { BrokerFailure } from "../client/broker-client.ts";

/** Shortest and longest wait before another try, in ms. */
const WAIT_MS_MIN = 200;
const WAIT_MS_MAX = 20_000;
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
  /** Waits for some ms. Default: by the system's clock. */
  readonly wait?: (ms: number) => Promise<unknown>;
}

/** Makes a call, and repeats it after failures that may pass. The waits double, from 200 ms to 20 s. */
export async function patiently<T>(
  { tries, note, wait = sleep }: Patience,
  call: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await call();
    } catch (error) {
      if (tried >= tries || !isPassing(error)) throw error;
      const asked = error instanceof PassingFailure ? error.retryAfterMs : 0;
      const ms = Math.max(asked, Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** (tried - 1)));
      if (ms >= NOTED_MS) note(`${error.message} The next try is in ${Math.round(ms / 1_000)} s.`);
      await wait(ms);
    }
  }
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
