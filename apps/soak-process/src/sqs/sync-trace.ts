/** Parts of a line of strace that matter here. */
interface Call {
  readonly name: string;
  /** Target of its file descriptor: a path, or the two ends of a connection. */
  readonly file: string;
  /** Text of the line after the file descriptor. */
  readonly rest: string;
}

/** The log of pages of a queue's database. */
const QUEUE_LOG = /-QueueBroker\/[0-9a-f]{64}\.sqlite-wal$/;
const CALL = /^(\d+) +(\w+)\(\d+<(.*?)>(?=[,) ])(.*)$/;
const UNFINISHED = /^(\d+) +(\w+)\(\d+<(.*?)>(?=[,) ]).*<unfinished \.\.\.>$/;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>(.*)$/;
const SYNCS = new Set(["fsync", "fdatasync"]);
const SUCCEEDED = /\) += 0$/;

/** Answer to a client, with what happened to the logs of queues since the answer before it. */
interface TracedAnswer {
  /** Syncs of logs of queues that have ended. */
  readonly syncs: number;
  /** Logs of queues that were written since they were synced last. */
  readonly unsynced: readonly string[];
}

/**
 * Reads what strace (`-f -yy`) has written of a broker's processes, as it happened in all of their threads.
 *
 * @param port on which the broker listens: a write there is an answer if it begins as one.
 */
export function tracedAnswers(trace: string, port: number): TracedAnswer[] {
  const answers: TracedAnswer[] = [];
  const unfinished = new Map<string, Call>();
  const unsynced = new Set<string>();
  let syncs = 0;
  const ended = ({ name, file }: Call, outcome: string) => {
    if (!SYNCS.has(name) || !QUEUE_LOG.test(file) || !SUCCEEDED.test(outcome)) return;
    unsynced.delete(file);
    syncs += 1;
  };
  const began = ({ name, file, rest }: Call) => {
    if (name === "pwrite64" && QUEUE_LOG.test(file)) unsynced.add(file);
    if (!/^write|^send/.test(name) || !file.includes(`:${port}->`) || !rest.includes("HTTP/1.1 ")) return;
    answers.push({ syncs, unsynced: [...unsynced] });
    syncs = 0;
  };
  for (const line of trace.split("\n")) {
    const [, resumer = "", , outcome = ""] = RESUMED.exec(line) ?? [];
    const waiting = unfinished.get(resumer);
    if (waiting !== undefined) {
      unfinished.delete(resumer);
      ended(waiting, outcome);
      continue;
    }
    const [, thread = "", name = "", file = "", rest = ""] = CALL.exec(line) ?? [];
    if (name === "") continue;
    const call = { name, file, rest };
    began(call);
    if (UNFINISHED.test(line)) unfinished.set(thread, call);
    else ended(call, rest);
  }
  return answers;
}
