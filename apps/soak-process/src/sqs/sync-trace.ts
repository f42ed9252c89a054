/** System call in a line of strace. */
interface Call {
  readonly name: string;
  /** Target of its file descriptor: a path, or the two ends of a connection. */
  readonly file: string;
  /** Text of the line after the file descriptor. */
  readonly rest: string;
  /** Number of the line on which it began. */
  readonly at: number;
}

/** Path of the write-ahead log of a queue's database. */
const QUEUE_LOG = /-QueueBroker\/[0-9a-f]{64}\.sqlite-wal$/;
const CALL = /^(\d+) +(\w+)\(\d+<(.*?)>(?=[,) ])(.*)$/;
const UNFINISHED = /^(\d+) +(\w+)\(\d+<(.*?)>(?=[,) ]).*<unfinished \.\.\.>$/;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>(.*)$/;
const SYNCS = new Set(["fsync", "fdatasync"]);
const SUCCEEDED = /\) += 0$/;

/** Answer to a client, with the state of the queues' logs when it left. */
interface TracedAnswer {
  /** Number of syncs of queues' logs that have ended since the answer before it. */
  readonly syncs: number;
  /** Logs of queues that were written after their last sync. */
  readonly unsynced: readonly string[];
}

/**
 * Finds the answers in a trace by strace (`-f -yy`) of all threads of a broker's processes.
 *
 * @param port port on which the broker listens: a write to a connection there is an answer if it contains `HTTP/1.1`.
 */
export function tracedAnswers(trace: string, port: number): TracedAnswer[] {
  const answers: TracedAnswer[] = [];
  const unfinished = new Map<string, Call>();
  /** Line of the last write of each log that is not synced. */
  const unsynced = new Map<string, number>();
  let syncs = 0;
  const ended = ({ name, file, at }: Call, outcome: string) => {
    if (!SYNCS.has(name) || !QUEUE_LOG.test(file) || !SUCCEEDED.test(outcome)) return;
    // A write that comes while the sync runs may not be covered by it.
    if ((unsynced.get(file) ?? 0) <= at) unsynced.delete(file);
    syncs += 1;
  };
  const began = ({ name, file, rest, at }: Call) => {
    if (name === "pwrite64" && QUEUE_LOG.test(file)) unsynced.set(file, at);
    if (!/^write|^send/.test(name) || !file.includes(`:${port}->`) || !rest.includes("HTTP/1.1 ")) return;
    answers.push({ syncs, unsynced: [...unsynced.keys()] });
    syncs = 0;
  };
  for (const [at, line] of trace.split("\n").entries()) {
    const [, resumer = "", , outcome = ""] = RESUMED.exec(line) ?? [];
    const waiting = unfinished.get(resumer);
    if (waiting !== undefined) {
      unfinished.delete(resumer);
      ended(waiting, outcome);
      continue;
    }
    const [, thread = "", name = "", file = "", rest = ""] = CALL.exec(line) ?? [];
    if (name === "") continue;
    const call = { name, file, rest, at };
    began(call);
    if (UNFINISHED.test(line)) unfinished.set(thread, call);
    else ended(call, rest);
  }
  return answers;
}
