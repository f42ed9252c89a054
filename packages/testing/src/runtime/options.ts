import type {
  MessageMatch,
  QueueRuntime,
  QueueRuntimeOptions,
  State,
  TestedWorker,
  WaitOptions,
} from "../api.ts";

type ScheduledEvent = Parameters<QueueRuntime["scheduled"]>[0];
type IdleOptions = NonNullable<Parameters<QueueRuntime["runUntilIdle"]>[0]>;
/** Names of all options of an object. */
export type Names<Options> = Readonly<Record<keyof Options, true>>;

const RUNTIME: Names<QueueRuntimeOptions> = {
  workers: true,
  root: true,
  start: true,
  date: true,
  vars: true,
  outbound: true,
  push: true,
  timeoutMs: true,
  log: true,
};
const WORKER: Names<TestedWorker> = { config: true, env: true, vars: true };
const EVENT: Names<ScheduledEvent> = { cron: true, worker: true, scheduledTime: true };
const IDLE: Names<IdleOptions> = { limit: true, until: true, throwErrors: true };
const MATCH: Names<MessageMatch> = { queue: true, body: true, state: true };
const WAIT: Names<WaitOptions> = { within: true, timeoutMs: true };
const STATES: Readonly<Record<State, true>> = {
  stored: true,
  delivered: true,
  acked: true,
  retried: true,
  dead: true,
  expired: true,
};

/** @throws TypeError for options that TypeScript would refuse. */
export function refuseUnusable(options: QueueRuntimeOptions): void {
  refuseUnknown("createQueueRuntime", options, RUNTIME);
  const { workers, start, date, outbound, vars = {}, timeoutMs = 1 } = options;
  if (!Array.isArray(workers))
    throw new TypeError("workers: a list of configuration files or their folders.");
  for (const worker of workers) if (typeof worker !== "string") refuseUnknown("workers", worker, WORKER);
  if (start !== undefined && !isDate(start)) throw new TypeError("start: a Date that is valid.");
  if (!["real", "clock", undefined].includes(date)) throw new TypeError('date: "clock" or "real".');
  if (!["network", undefined].includes(outbound as string) && typeof outbound !== "function") {
    throw new TypeError('outbound: a function, or "network".');
  }
  if (!(timeoutMs > 0)) throw new TypeError("timeoutMs: a number of ms above 0.");
  for (const all of [vars, ...workers.map((worker) => (typeof worker === "object" ? worker.vars : {}))]) {
    const [name] = Object.entries(all ?? {}).find(([, value]) => value === undefined) ?? [];
    if (name !== undefined) throw new TypeError(`vars: ${name} has no value.`);
  }
}

/** @throws TypeError for an event that TypeScript would refuse. */
export function refuseUnusableEvent(event: ScheduledEvent): void {
  refuseUnknown("scheduled", event, EVENT);
  if (typeof event.cron !== "string") throw new TypeError('scheduled: cron is missing, such as "0 3 * * *".');
  const { scheduledTime } = event;
  if (scheduledTime !== undefined && !isDate(scheduledTime)) {
    throw new TypeError("scheduledTime: a Date that is valid.");
  }
}

/** @throws TypeError for options that TypeScript would refuse. */
export function refuseUnusableIdle(options: IdleOptions): void {
  refuseUnknown("runUntilIdle", options, IDLE);
}

/** @throws TypeError for arguments that TypeScript would refuse. */
export function refuseUnusableWait(match: MessageMatch, options: WaitOptions): void {
  refuseUnknown("waitFor", match, MATCH);
  refuseUnknown("waitFor", options, WAIT);
  if (!Object.hasOwn(STATES, match.state)) {
    throw new TypeError(`waitFor: state is one of ${listed(Object.keys(STATES))}.`);
  }
}

/** Lists names in a sentence. */
export function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}`;
}

/** @throws TypeError for a member that there is not. */
export function refuseUnknown(what: string, given: unknown, names: Readonly<Record<string, true>>): void {
  const all = listed(Object.keys(names));
  if (typeof given !== "object" || given === null) throw new TypeError(`${what}: an object with ${all}.`);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(names, name));
  if (unknown !== undefined) throw new TypeError(`${what}: there is no "${unknown}". There are ${all}.`);
}

/** Whether it is a valid Date, also of a test environment's own class. */
function isDate(value: unknown): boolean {
  return Object.prototype.toString.call(value) === "[object Date]" && Number.isFinite(Number(value));
}
