import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Random } from "@sluice/harness/random";
import getPort from "@sluice/protocol/test/free-port";
import { untilGone } from "../cluster/workerd-process.ts";
import { makeWorker } from "../runs/idle-worker.ts";
import { BrokerProcess } from "../sqs/broker-process.ts";
import { buildCommand } from "../sqs/command.ts";
import { Disk } from "./disk.ts";
import { DiskTrace, isBallast, TRACED_BYTES_MAX, TRACED_CALLS, type TraceEvent } from "./disk-trace.ts";
import { PowerLedger } from "./power-ledger.ts";
import { PowerLoad } from "./power-load.ts";

export type Platform = "Node.js" | "workerd";

/** Trace of a broker's disk under load, and the ledger of its clients. */
export interface Recording {
  readonly events: readonly TraceEvent[];
  readonly ledger: PowerLedger;
  /** Path of the data folder on the disk. */
  readonly folder: string;
}

interface RecordingOptions {
  readonly platform: Platform;
  readonly random: Random;
  /** Lives of the broker, on one data folder. */
  readonly lives: number;
  /** Requests of each client in each life. */
  readonly requests: number;
}

const FOLDER = "state";
/** Files of memory that processes share: writes to them are no system calls. */
const NOT_COMPARED = /-shm$/;

/**
 * Runs `sluice serve` under load and under strace.
 *
 * @throws Error if a file of the trace is not on the disk with the same bytes, or a request fails.
 */
export async function record({ platform, random, lives, requests }: RecordingOptions): Promise<Recording> {
  const command = await buildCommand();
  const worker = platform === "workerd" ? await makeWorker() : null;
  const run = await realpath(await mkdtemp(path.join(tmpdir(), "sluice-power-")));
  const root = path.join(run, "disk");
  const ledger = new PowerLedger();
  const load = new PowerLoad(ledger, random.fork());
  const trace = new DiskTrace(root);
  try {
    await mkdir(root);
    for (let life = 1; life <= lives; life++) {
      const file = path.join(run, `trace-${life}`);
      const port = await getPort();
      const epoch = await BrokerProcess.start({
        main: command.main,
        port,
        persistDir: path.join(root, FOLDER),
        folder: run,
        under: strace(file),
        ...(worker === null ? {} : { worker }),
      });
      const tracer = await tracerOf(epoch.pid);
      try {
        await load.run(new URL(epoch.endpoint).origin, requests);
        if (endsPlanned(life)) await epoch.stop();
      } finally {
        await epoch.kill();
      }
      await untilGone([tracer]);
      await trace.read(file, port);
      await rm(file);
    }
    if (ledger.failures.length > 0) throw new Error(`requests failed:\n${ledger.failures.join("\n")}`);
    const { events } = trace;
    await compare(events, root);
    return { events, ledger, folder: FOLDER };
  } finally {
    await rm(run, { recursive: true, force: true });
    if (worker !== null) await rm(worker, { recursive: true, force: true });
    await command.remove();
  }
}

/** Whether a life is stopped in order. The others are killed. */
export function endsPlanned(life: number): boolean {
  return life % 2 === 0;
}

function strace(file: string): string[] {
  const calls = `trace=${TRACED_CALLS.join(",")}`;
  // -D: the child process is the broker, and strace runs beside it.
  const how = ["-D", "-f", "--seccomp-bpf", "-yy", "-ttt", "-xx", "-s", `${TRACED_BYTES_MAX}`];
  return ["strace", ...how, "-e", calls, "-e", "signal=none", "-o", file];
}

async function tracerOf(pid: number): Promise<number> {
  const tracer = /^TracerPid:\s+(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(tracer);
}

/** Throws unless the files that the events lead to are those on the disk, with the same bytes. */
async function compare(events: readonly TraceEvent[], root: string): Promise<void> {
  const disk = new Disk();
  for (const event of events) {
    if (event.kind === "change") disk.apply(event.change, event.endedAt);
    else if (event.kind === "sync") disk.sync(event.path, event.begunAt);
  }
  const traced = disk.files();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const name = path.relative(root, path.join(entry.parentPath, entry.name));
    if (entry.isFile() && !isBallast(name) && !NOT_COMPARED.test(name) && !traced.has(name))
      throw new Error(`only the disk has ${name}`);
  }
  for (const [name, bytes] of traced) {
    const file = path.join(root, name);
    if (NOT_COMPARED.test(name)) continue;
    if ((await stat(file).catch(() => null)) === null) throw new Error(`only the trace has ${name}`);
    if (!(await readFile(file)).equals(bytes))
      throw new Error(`the trace does not lead to the bytes of ${name}`);
  }
}
