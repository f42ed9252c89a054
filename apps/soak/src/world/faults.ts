import type { Random } from "@sluice/harness/random";

/** Everything that goes wrong in a history, by the name under which it is counted. */
export const FAULT_KINDS = [
  "request lost",
  "reply lost",
  "request doubled",
  "reply doubled",
  "request or reply delayed",
  "crash before the commit is durable",
  "crash with everything durable",
  "crash while a settlement waits",
  "eviction",
  "end that was planned",
  "commit failed",
  "slow commit",
  "alarm early",
  "alarm late",
  "alarm twice",
  "clock jump",
  "machine's clock set",
  "settings changed",
  "cache dropped",
  "consumer absent",
  "handler crashed",
  "handler threw",
  "handler hung",
  "Worker hung the runtime",
  "handler answered late",
  "handler settled some",
  "receipt used twice",
  "receipt never used",
  "delivery paused",
  "endpoint answered no 2xx",
  "endpoint answered that it is busy",
  "endpoint not there",
  "endpoint hung",
  "endpoint answered late",
  "endpoint hung up",
  "endpoint died of a message",
  "worker daemon drained",
  "endpoint asked for authorization",
  "receive that hides nothing",
  "receive made again by its attempt id",
  "visibility timeout changed to 0",
  "subscribed queue deleted",
  "move task begun",
  "move task cancelled",
  "directory crashed",
  "queue changed by the API",
  "queue deleted by the API",
  "queue created again by the API",
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** Number of times that each fault has happened. */
export type FaultCounts = Record<FaultKind, number>;

export function noFaults(): FaultCounts {
  return Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as FaultCounts; // every kind is there
}

type Rate =
  | ("lostRequest" | "lostReply" | "doubled" | "delayed")
  // Drawn at each step of an object: a call arrives, a timer is set, an alarm rings, a commit begins or is durable.
  | ("crash" | "evict")
  | ("slowCommit" | "alarmEarly" | "alarmLate" | "alarmTwice" | "cacheDropped");

/** Probability of each fault at each opportunity. */
export type FaultRates = Readonly<Record<Rate, number>>;

export const NO_FAULT_RATES: FaultRates = {
  lostRequest: 0,
  lostReply: 0,
  doubled: 0,
  delayed: 0,
  crash: 0,
  evict: 0,
  slowCommit: 0,
  alarmEarly: 0,
  alarmLate: 0,
  alarmTwice: 0,
  cacheDropped: 0,
};

/** Draws the rates of a history. Some faults are left out: all of them at once hide the effect of a single one. */
export function drawFaultRates(random: Random): FaultRates {
  if (random.chance(0.1)) return NO_FAULT_RATES;
  const often = () => random.pick([0, 0, 0.02, 0.1, 0.3]);
  const seldom = () => random.pick([0, 0, 0.005, 0.02, 0.06]);
  const crash = random.pick([0, 0.01, 0.03, 0.1]);
  return {
    lostRequest: often(),
    lostReply: often(),
    doubled: often(),
    delayed: often(),
    crash,
    evict: seldom(),
    slowCommit: often(),
    alarmEarly: often(),
    alarmLate: often(),
    alarmTwice: often(),
    cacheDropped: seldom(),
  };
}
