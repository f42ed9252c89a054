import { type Lab, type LabOptions, startLab } from "../lab/lab.ts";
import { medians } from "../measure/statistics.ts";
import { flushFolder, removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import { perSecond } from "../workload/run.ts";

/** Messages that are kept in the queue while it is measured. */
export type Backlog =
  /** Messages that are ready, and no consumer takes them. */
  | { readonly kind: "ready"; readonly messages: number }
  /** Messages that are due in an hour to an hour and ten minutes, each in another second than its neighbours. */
  | { readonly kind: "delayed"; readonly messages: number }
  /** Messages that wait an hour for their first retry; the messages between them were acknowledged. */
  | { readonly kind: "retrying"; readonly messages: number };

/** Figures of a queue with a backlog in it. */
export interface BacklogFigures {
  readonly backlog: Backlog;
  /** Messages sent a second by `sendBatch(100)`, ten at once. */
  readonly enqueuedPerSecond: number;
  /** Messages sent a second one by one, from 50 requests at once. */
  readonly singleEnqueuedPerSecond: number;
  /** Messages handled a second, in batches of 100. */
  readonly dequeuedPerSecond: number;
  /** Memory of the whole process in bytes, garbage and caches included. */
  readonly residentBytes: number | null;
  /** Time of the object's first call after a start, in ms: it reads its state. */
  readonly objectStartMs: number;
  /** Time from the start of the process to the first message at its consumer, in ms. */
  readonly firstDeliveryMs: number;
  /** Part of that until workerd answers, in ms. */
  readonly processStartMs: number;
}

type Measured = Omit<BacklogFigures, "backlog">;

interface BacklogOptions {
  /** Number of runs, each of which fills a queue anew; medians count. */
  readonly runs: number;
  /** Messages that are sent, or handled, to measure a rate. */
  readonly sampleMessages: number;
  readonly say: (line: string) => void;
}

/** Backlogs that are measured. */
export const BACKLOGS: readonly Backlog[] = [
  { kind: "ready", messages: 0 },
  { kind: "ready", messages: 1_000 },
  { kind: "ready", messages: 100_000 },
  { kind: "ready", messages: 1_000_000 },
  { kind: "delayed", messages: 10_000 },
  { kind: "retrying", messages: 10_000 },
];
/** Messages that are sent to measure a rate. */
export const SAMPLE_MESSAGES = 20_000;

export const QUICK_BACKLOGS: readonly Backlog[] = [
  { kind: "ready", messages: 0 },
  { kind: "ready", messages: 10_000 },
  { kind: "delayed", messages: 1_000 },
  { kind: "retrying", messages: 1_000 },
];
export const QUICK_SAMPLE_MESSAGES = 2_000;

const HOUR_SECONDS = 3600;
/** Messages that a queue has had before it is measured. */
const USED_MESSAGES = 100_000;

export async function measureBacklog(backlog: Backlog, options: BacklogOptions): Promise<BacklogFigures> {
  const { runs, sampleMessages, say } = options;
  say(`${backlog.kind}: ${backlog.messages.toLocaleString("en")} messages`);
  const measured: Measured[] = [];
  for (let run = 0; run < runs; run++) {
    const persistDir = await temporaryFolder("backlog");
    try {
      await use(persistDir);
      await fill(persistDir, backlog);
      await flushFolder(persistDir);
      measured.push(await measure(persistDir, sampleMessages));
    } finally {
      await removeFolder(persistDir);
    }
  }
  return { backlog, ...medians(measured) };
}

/** Lets the queue's files grow before the measurement: growth is slower than writing in place. */
async function use(persistDir: string): Promise<void> {
  await withLab({ persistDir, consumer: {} }, async (lab) => {
    await lab.tell({ kind: "fill", messages: USED_MESSAGES, atOnce: 10, delaySeconds: 0 });
    await lab.until("delivered", USED_MESSAGES);
  });
}

async function fill(persistDir: string, { kind, messages }: Backlog): Promise<void> {
  const consumer = kind === "retrying" ? {} : null;
  await withLab({ persistDir, consumer }, async (lab) => {
    await lab.tell({
      kind: "behave",
      behaviour: { kind: "retryFirst", every: 2, delaySeconds: HOUR_SECONDS },
    });
    // Every second message is retried, so that waiting messages do not lie side by side.
    const sent = kind === "retrying" ? 2 * messages : messages;
    const delaySeconds = kind === "delayed" ? HOUR_SECONDS : 0;
    await lab.tell({ kind: "fill", messages: sent, atOnce: 10, delaySeconds });
    if (kind === "retrying") await lab.until("delivered", sent);
  });
}

async function measure(persistDir: string, sampleMessages: number): Promise<Measured> {
  const quiet = await withLab({ persistDir, consumer: null }, (lab) => measureQuiet(lab, sampleMessages));
  await flushFolder(persistDir);
  const busy = await withLab({ persistDir, consumer: {} }, (lab) => measureBusy(lab, 2 * sampleMessages));
  return { ...quiet, ...busy };
}

/** Measures start, memory, and sending twice `sampleMessages`, without a consumer. */
async function measureQuiet(lab: Lab, sampleMessages: number) {
  const { tookMs: objectStartMs } = await lab.tell({ kind: "wake" });
  const residentBytes = await lab.residentBytes();
  const batches = await lab.tell({ kind: "fill", messages: sampleMessages, atOnce: 10, delaySeconds: 0 });
  const singles = await lab.tell({ kind: "send", requests: 50, messages: sampleMessages });
  return {
    objectStartMs,
    residentBytes,
    enqueuedPerSecond: perSecond(sampleMessages, batches.tookMs),
    singleEnqueuedPerSecond: perSecond(sampleMessages, singles.tookMs),
  };
}

/** Measures the first delivery after another start, and the rate of the first `messages`, with a consumer. */
async function measureBusy(lab: Lab, messages: number) {
  const processStartMs = Date.now() - lab.startedMs;
  await lab.tell({ kind: "wake" });
  const { delivered, firstMs, lastMs } = await lab.until("delivered", messages);
  return {
    processStartMs,
    firstDeliveryMs: firstMs - lab.startedMs,
    dequeuedPerSecond: perSecond(delivered, lastMs - firstMs),
  };
}

async function withLab<Result>(options: LabOptions, work: (lab: Lab) => Promise<Result>): Promise<Result> {
  const lab = await startLab(options);
  try {
    return await work(lab);
  } finally {
    await lab.stop();
  }
}
