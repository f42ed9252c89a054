import type { Observation, Scenario, SeenBatch } from "../scenario/scenario.ts";

/** `retry_delay` of the consumer, in seconds. Delays are multiples of it, so that a slow machine makes no difference. */
const STEP_SECONDS = 4;
/** Longest delay in the table, and time to be late. */
const WATCH_MS = 16_500;
const CLOCK_SLACK_MS = 60;

type Settled = "ack" | "retry at once" | `retry after ${number} s`;

const byDefault: Settled = `retry after ${STEP_SECONDS} s`;

interface Program {
  readonly text: string;
  readonly expected: readonly [m1: Settled, m2: Settled];
  readonly reason?: string;
}

/** What a handler does with a batch of two, and what becomes of them. */
const PROGRAMS: readonly Program[] = [
  { text: "", expected: ["ack", "ack"] },
  { text: "m1.ack()", expected: ["ack", "ack"] },
  { text: "m1.ack(); m1.ack()", expected: ["ack", "ack"] },
  { text: "m1.retry()", expected: [byDefault, "ack"] },
  { text: "m1.retry(8)", expected: ["retry after 8 s", "ack"] },
  { text: "m1.retry(8); m1.retry()", expected: [byDefault, "ack"] },
  { text: "m1.retry(8); m1.retry(12)", expected: ["retry after 12 s", "ack"] },
  { text: "m1.retry(); m1.retry(8)", expected: ["retry after 8 s", "ack"] },
  { text: "m1.retry(0)", expected: ["retry at once", "ack"] },
  { text: "m1.ack(); m1.retry()", expected: ["ack", "ack"] },
  { text: "m1.retry(); m1.ack()", expected: [byDefault, "ack"] },
  { text: "ackAll()", expected: ["ack", "ack"] },
  { text: "retryAll()", expected: [byDefault, byDefault] },
  { text: "retryAll(8)", expected: ["retry after 8 s", "retry after 8 s"] },
  { text: "retryAll(8); retryAll()", expected: ["retry after 8 s", "retry after 8 s"] },
  { text: "retryAll(); retryAll(8)", expected: ["retry after 8 s", "retry after 8 s"] },
  { text: "ackAll(); retryAll()", expected: ["ack", "ack"] },
  { text: "retryAll(); ackAll()", expected: [byDefault, byDefault] },
  { text: "ackAll(); m1.ack()", expected: ["ack", "ack"] },
  { text: "ackAll(); m1.retry()", expected: ["ack", "ack"] },
  { text: "retryAll(); m1.ack()", expected: [byDefault, byDefault] },
  { text: "retryAll(8); m1.retry(12)", expected: ["retry after 12 s", "retry after 8 s"] },
  { text: "m1.ack(); ackAll()", expected: ["ack", "ack"] },
  { text: "m1.ack(); retryAll()", expected: ["ack", byDefault] },
  { text: "m1.retry(8); ackAll()", expected: ["retry after 8 s", "ack"] },
  { text: "m1.retry(8); retryAll(12)", expected: ["retry after 8 s", "retry after 12 s"] },
  { text: "throw", expected: [byDefault, byDefault] },
  { text: "m1.ack(); throw", expected: ["ack", byDefault] },
  { text: "m1.retry(8); throw", expected: ["retry after 8 s", byDefault] },
  { text: "ackAll(); throw", expected: ["ack", "ack"] },
  { text: "retryAll(8); throw", expected: ["retry after 8 s", "retry after 8 s"] },
];

function run(text: string, batch: MessageBatch): void {
  for (const step of text === "" ? [] : text.split("; ")) {
    const [, call, seconds] = /^([\w.]+)(?:\((\d*)\))?$/.exec(step) ?? [];
    const options = seconds ? { delaySeconds: Number(seconds) } : undefined;
    const [m1] = batch.messages;
    if (call === "m1.ack") m1?.ack();
    else if (call === "m1.retry") m1?.retry(options);
    else if (call === "ackAll") batch.ackAll();
    else if (call === "retryAll") batch.retryAll(options);
    else if (call === "throw") throw new Error("as the program says");
    else throw new Error(`${step} is no step`);
  }
}

/** What became of the message that was at a place in the first batch. */
function settled([first, ...later]: readonly SeenBatch[], index: number): Settled {
  const message = first?.messages[index];
  if (first === undefined || message === undefined) throw new Error("the batch never came");
  const again = later.find(({ messages }) => messages.some(({ id }) => id === message.id));
  if (again === undefined) return "ack";
  const waitedMs = again.atMs - (first.endedAtMs ?? first.atMs) + CLOCK_SLACK_MS;
  const seconds = Math.floor(waitedMs / 1000 / STEP_SECONDS) * STEP_SECONDS;
  return seconds === 0 ? "retry at once" : `retry after ${seconds} s`;
}

function both([m1, m2]: readonly [string, string]): string {
  return `m1 ${m1}, m2 ${m2}`;
}

/** `m1.retry(8); throw` as part of an identifier. */
function slug(text: string): string {
  return text === ""
    ? "nothing"
    : text
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replaceAll(/-$/g, "");
}

function programScenario({ text, expected, reason }: Program): Scenario {
  const shown = text === "" ? "A handler that calls nothing" : `\`${text}\``;
  return {
    kind: "scenario",
    id: `settle-${slug(text)}`,
    covers: [`2.3 ${text || "(nothing)"}`],
    production: `${shown}: ${both(expected)}`,
    ...(reason === undefined ? {} : { reason }),
    queues: {
      q: {
        consumer: { max_batch_size: 2, max_batch_timeout: 1, retry_delay: STEP_SECONDS, max_retries: 10 },
      },
    },
    send: ({ q }) => q.sendBatch([{ body: "m1" }, { body: "m2" }]),
    handle: (batch, { delivery }) => {
      if (delivery === 1) run(text, batch);
    },
    watchMs: WATCH_MS,
    expected: both(expected),
    observe: ({ batches }: Observation) => {
      const [first] = batches;
      if (first?.messages.length !== 2) return null;
      return both([settled(batches, 0), settled(batches, 1)]);
    },
  };
}

/** Every order of calls on a batch of two messages. Numbers are delays in seconds; the consumer's `retry_delay` is 4. */
export const SETTLEMENT: readonly Scenario[] = PROGRAMS.map(programScenario);
