/** System call in a line of strace. */
interface Call {
  readonly name: string;
  /** Target of its file descriptor: a path, or the two ends of a connection. */
  readonly file: string;
  /** Text of the line after the file descriptor. */
  readonly rest: string;
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
