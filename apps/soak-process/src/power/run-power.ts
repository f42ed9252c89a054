import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Random } from "@sluice/harness/random";
import { buildCommand } from "../sqs/command.ts";
import { lookByCommand } from "./command-look.ts";
import { CUT_KINDS, type CutKind, filesAfterCut } from "./cut.ts";
import { Disk, type Files } from "./disk.ts";
import { lifeOf, type TraceEvent } from "./disk-trace.ts";
import { type Cut, isComplete, violationsAfter } from "./judge-cut.ts";
import { type Findings, lookAt } from "./look.ts";
import { DEAD, FEW } from "./power-load.ts";
import { endsPlanned, type Recording } from "./recording.ts";

/** One state of so many, and the last, is opened by the command itself, which takes a hundred times as long. */
const STATES_PER_COMMAND = 100;
/** One state of so many is also opened at the moment of the cut. */
const STATES_PER_OPENING_AT_CUT = 3;
/** Most states with violations of which copies are kept. */
const KEPT_MAX = 10;
/** Folder of states: in memory, where a sync takes no time. */
const MEMORY = "/dev/shm";

/** A state of the disk after a power cut, with its violations. */
export interface JudgedState {
  readonly number: number;
  readonly kind: CutKind;
  /** Number of events before the cut. */
  readonly event: number;
  readonly isByCommand: boolean;
  readonly violations: readonly string[];
  /** Folder with a copy of the disk, to look for the cause; `null` if none is kept. */
  readonly kept: string | null;
}

interface PowerOptions {
  readonly states: number;
  readonly seed: number;
  /** Whether some states are opened by the command itself. */
  readonly withCommand: boolean;
  /** Whether the first violation ends the run. Then no copy is kept. */
  readonly isUntilFound: boolean;
  onState?(state: JudgedState): void;
}

/** Rebuilds the disk of a recording as it may be after power cuts, opens a broker on each state and judges it. */
export async function runPower(recording: Recording, options: PowerOptions): Promise<JudgedState[]> {
  const { states, seed, withCommand, isUntilFound, onState } = options;
  const random = new Random(seed);
  const run = await mkdtemp(path.join(existsSync(MEMORY) ? MEMORY : tmpdir(), "sluice-power-"));
  const command = withCommand ? await buildCommand() : null;
  const judged: JudgedState[] = [];
  let keptCount = 0;
  try {
    const player = new Player(recording.events);
    const cuts = cutsOf(recording.events, states, random);
    for (const [i, event] of cuts.entries()) {
      const number = i + 1;
      const drawn = random.fork();
      const kind = drawn.pick(CUT_KINDS);
      const cut = player.goTo(event);
      const root = path.join(run, "disk");
      const files = filesAfterCut(player.disk, kind, drawn);
      write(root, files);
      const state = path.join(root, recording.folder);
      const isByCommand = command !== null && (number % STATES_PER_COMMAND === 0 || number === states);
      const look = () =>
        isByCommand
          ? lookByCommand(state, { main: command.main, folder: run })
          : lookAt(state, {
              cutMs: cut.atMs,
              isOpenedAtCut: number % STATES_PER_OPENING_AT_CUT === 0,
              isComplete: (found) => isComplete(recording.ledger, cut, found),
            });
      const violations = await violationsOf(recording, cut, look);
      const isKept = violations.length > 0 && !isUntilFound && keptCount < KEPT_MAX;
      if (isKept) keptCount += 1;
      const kept = isKept ? keep(files, seed, number) : null;
      rmSync(root, { recursive: true, force: true });
      const result = { number, kind, event, isByCommand, violations, kept };
      judged.push(result);
      onState?.(result);
      if (isUntilFound && violations.length > 0) break;
    }
    return judged;
  } finally {
    await rm(run, { recursive: true, force: true });
    await command?.remove();
  }
}

async function violationsOf(
  { ledger }: Recording,
  cut: Cut,
  look: () => Promise<Findings>,
): Promise<string[]> {
  try {
    return violationsAfter(ledger, cut, await look(), { from: FEW, to: DEAD });
  } catch (error) {
    return [`the broker fails: ${error instanceof Error ? error.stack : error}`];
  }
}

/** Plays events forward: the disk and the answers as of a moment. */
class Player {
  readonly disk = new Disk();
  readonly #events: readonly TraceEvent[];
  readonly #answers = new Set<string>();
  #at = 0;
  #life = 0;

  constructor(events: readonly TraceEvent[]) {
    this.#events = events;
  }

  /** Plays on to the moment after the first `count` events. */
  goTo(count: number): Cut {
    for (; this.#at < count; this.#at++) {
      const event = this.#events[this.#at];
      if (event?.kind === "change") this.disk.apply(event.change, event.endedAt);
      else if (event?.kind === "sync") this.disk.sync(event.path, event.begunAt);
      else if (event !== undefined) {
        this.#answers.add(event.answer);
        this.#life = lifeOf(event.answer);
      }
    }
    const atMs = this.#events[count - 1]?.atMs ?? 0;
    return { atMs, answers: this.#answers, mayEndBePlanned: this.#life > 0 && endsPlanned(this.#life) };
  }
}

/**
 * Draws the number of events before each cut, in ascending order: a third anywhere, a third right after answers, and a
 * third after the rare changes that are no writes, such as those of names.
 */
function cutsOf(events: readonly TraceEvent[], count: number, random: Random): number[] {
  const all = events.map((_, i) => i + 1);
  const after = (is: (event: TraceEvent) => boolean) =>
    events.flatMap((event, i) =>
      is(event) ? [i + 1, Math.min(events.length, i + 2 + random.below(3))] : [],
    );
  const pools = [
    all,
    after(({ kind }) => kind === "answer"),
    after((event) => event.kind === "change" && event.change.kind !== "write"),
  ].filter((pool) => pool.length > 0);
  return Array.from({ length: count }, (_, i) => {
    const pool = pools[i % pools.length] ?? all;
    return pool[random.below(pool.length)] ?? events.length;
  }).toSorted((a, b) => a - b);
}

function write(root: string, files: Files): void {
  mkdirSync(root, { recursive: true });
  for (const [name, bytes] of files) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
}

function keep(files: Files, seed: number, number: number): string {
  const kept = path.join(tmpdir(), `sluice-power-${seed}-${number}`);
  write(kept, files);
  return kept;
}
