import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { HeldClock, type HeldMoment, JUMP_MS, type Machine } from "@sluice/broker/held-clock";
import { span } from "@sluice/protocol/words";

/** File of a data folder that says where the broker's time and the system's clock stood. */
export const CLOCK_FILE = "sluice-clock.json";
/** How often the clocks are compared at least, in ms: a broker with nothing to do does not look at its own. */
export const COMPARE_EVERY_MS = 1_000;
/** How often that file is written, in ms. */
export const KEEP_EVERY_MS = 60_000;

/** The clocks of this machine, as Node.js has them. */
const HERE: Machine = {
  systemMs: () => Date.now(),
  passedMs: () => performance.now(),
  sleptMs: () => uptime() * 1_000 - performance.now(),
};

/** Told each second how far the broker's time is behind the system's clock, in ms. */
export type ClockListener = (behindMs: number) => void;

/**
 * The time of the broker on a data folder. It outlives the process by `CLOCK_FILE`: with the folder's messages goes
 * what their deadlines are counted by. Without that file it is the system's.
 */
export class MachineClock {
  readonly held: HeldClock;
  readonly #file: string;
  readonly #warn: (line: string) => void;
  readonly #timer: NodeJS.Timeout;
  #listener: ClockListener = () => {};
  #keptAtMs = -Infinity;
  #isKept = true;

  /**
   * @param folder the data folder, which is there.
   * @param warn told when the system's clock was set, in words for people.
   */
  constructor(folder: string, warn: (line: string) => void, machine: Machine = HERE) {
    this.#file = join(folder, CLOCK_FILE);
    this.#warn = warn;
    this.held = new HeldClock(machine, this.#stored(), (jumpMs, behindMs) => {
      warn(jumpText(jumpMs, behindMs));
      this.#keptAtMs = -Infinity;
    });
    this.#timer = setInterval(() => this.#look(machine), COMPARE_EVERY_MS);
    this.#timer.unref();
    this.#look(machine);
  }

  /** From now on `listener` is told each second. */
  watch(listener: ClockListener): void {
    this.#listener = listener;
    listener(this.held.behindMs);
  }

  /** Compares no more, and stores where both stand. */
  close(): void {
    clearInterval(this.#timer);
    this.#keep();
  }

  #look(machine: Machine): void {
    this.held.now();
    this.#listener(this.held.behindMs);
    const nowMs = machine.passedMs();
    if (nowMs - this.#keptAtMs < KEEP_EVERY_MS) return;
    this.#keptAtMs = nowMs;
    this.#keep();
  }

  #stored(): HeldMoment | null {
    if (!existsSync(this.#file)) return null;
    try {
      return momentOf(readFileSync(this.#file, "utf8"));
    } catch (error) {
      this.#warn(`${this.#file} cannot be read, so the broker goes by the system's clock: ${error}`);
      return null;
    }
  }

  /** Whole or not at all: the end of a process, or of the power, leaves the old file or the new one. */
  #keep(): void {
    try {
      const next = `${this.#file}.next`;
      writeFileSync(next, `${JSON.stringify(this.held.moment)}\n`, { mode: 0o600, flush: true });
      renameSync(next, this.#file);
      this.#isKept = true;
    } catch (error) {
      if (this.#isKept) this.#warn(`Where the broker's time stands cannot be written down: ${error}`);
      this.#isKept = false;
    }
  }
}

/** Throws for what is no `HeldMoment`. */
function momentOf(text: string): HeldMoment {
  const { systemMs, brokerMs } = JSON.parse(text);
  if (![systemMs, brokerMs].every((ms) => Number.isSafeInteger(ms) && ms >= 0)) {
    throw new Error("it does not say where two clocks stood");
  }
  return { systemMs, brokerMs };
}

function jumpText(jumpMs: number, behindMs: number): string {
  const way = jumpMs > 0 ? "forward" : "back";
  const where = behindMs > 0 ? "behind" : "ahead of";
  const rest =
    Math.abs(behindMs) < JUMP_MS
      ? "The broker's time is the same again."
      : `The broker's time goes on as it was, ${span(Math.abs(behindMs))} ${where} the clock, and comes nearer to it by ` +
        `6 minutes an hour: no lease, delay or retention period ends for it.`;
  return `The clock of this machine was set ${way} by ${span(Math.abs(jumpMs))}. ${rest}`;
}
