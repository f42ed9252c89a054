import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { Pool } from "undici";
import type { FloorWay } from "../../lab/src/floor-way.ts";
import { bundle, COMPATIBILITY_DATE } from "../lab/lab.ts";
import { median } from "../measure/statistics.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";

/** Bytes of a message of 200 as it is stored, and of a batch of 100 of them. */
const MESSAGE_BYTES = 280;
const BATCH_BYTES = 25_000;
const CONNECTIONS = 50;

/** What something takes that has nothing of Sluice in it. */
export interface FloorFigure {
  readonly title: string;
  /** Time of one, in ms, when they are done one after the other; `null` for many at once. */
  readonly eachMs: number | null;
  readonly perSecond: number;
}

export interface FloorOptions {
  readonly runs: number;
  readonly runSeconds: number;
  readonly say: (line: string) => void;
}

/** Measures what workerd and the disk alone take for what a queue has to do. */
export async function measureFloor({ runs, runSeconds, say }: FloorOptions): Promise<FloorFigure[]> {
  const folder = await temporaryFolder("floor");
  const miniflare = await startFloor(folder);
  // Not through Miniflare's own Worker in front of it.
  const url = await miniflare.unsafeGetDirectURL("floor");
  const inOrder = async (title: string, way: FloorWay, bytes: number): Promise<FloorFigure> => {
    const each = async (times: number) => {
      const response = await miniflare.dispatchFetch(`http://floor/${way}?bytes=${bytes}&times=${times}`);
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as number;
    };
    const times = Math.ceil((1_000 * runSeconds) / (await each(200)));
    await each(times);
    const measured: number[] = [];
    for (let run = 0; run < runs; run++) measured.push(await each(times));
    const eachMs = median(measured);
    say(`${title}: ${eachMs.toFixed(3)} ms`);
    return { title, eachMs, perSecond: 1_000 / eachMs };
  };
  const atOnce = async (title: string, path: string): Promise<FloorFigure> => {
    const pool = new Pool(url.origin, { connections: CONNECTIONS, pipelining: 1 });
    const measured: number[] = [];
    for (let run = -1; run < runs; run++) {
      const perSecond = await answersPerSecond(pool, path, runSeconds);
      if (run >= 0) measured.push(perSecond);
    }
    await pool.close();
    const perSecond = median(measured);
    say(`${title}: ${perSecond.toFixed(0)}/s`);
    return { title, eachMs: null, perSecond };
  };
  try {
    return [
      await inOrder("a call to an object that does nothing", "call", 0),
      await inOrder("a call that writes a message, synced", "commit", MESSAGE_BYTES),
      await inOrder("the message handed to a consumer and deleted, too", "handOn", MESSAGE_BYTES),
      await inOrder("a call that writes a batch of 100, synced", "commit", BATCH_BYTES),
      await inOrder("the batch handed to a consumer and deleted, too", "handOn", BATCH_BYTES),
      await atOnce("50 HTTP connections, answered by the Worker itself", "/answer"),
      await atOnce("50 HTTP connections, a call to an object each", "/call?times=1"),
      await atOnce(
        "50 HTTP connections, a call that writes a message each",
        `/commit?times=1&bytes=${MESSAGE_BYTES}`,
      ),
    ];
  } finally {
    await miniflare.dispose();
    await removeFolder(folder);
  }
}

async function answersPerSecond(pool: Pool, path: string, seconds: number): Promise<number> {
  const startMs = performance.now();
  let answered = 0;
  const connection = async () => {
    while (performance.now() - startMs < 1_000 * seconds) {
      const { body } = await pool.request({ method: "GET", path });
      await body.text();
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return (1_000 * answered) / (performance.now() - startMs);
}

async function startFloor(folder: string): Promise<Miniflare> {
  const { source } = await bundle("floor");
  return new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: folder,
      workers: [
        {
          name: "floor",
          compatibilityDate: COMPATIBILITY_DATE,
          modules: [{ type: "ESModule", path: "floor.js", contents: source }],
          unsafeDirectSockets: [{}],
          durableObjects: { CELLS: { className: "Cell", useSQLite: true } },
          serviceBindings: { TAKER: { name: "floor", entrypoint: "Taker" } },
        },
      ],
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
}
