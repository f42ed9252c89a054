import getPort, { portNumbers } from "get-port";

/** First port for tests. The system gives those from 32768 on to each program that asks for any. */
const FIRST = 10_000;
const PER_PROCESS = 100;
const PROCESSES = 200;

/**
 * Finds a free port that a test may close and open again: no server and no connection gets it from the system
 * meanwhile. Processes that run tests side by side have ports of their own.
 */
export default function freePort(): Promise<number> {
  const first = FIRST + (process.pid % PROCESSES) * PER_PROCESS;
  return getPort({ port: portNumbers(first, first + PER_PROCESS - 1) });
}
