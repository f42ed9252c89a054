import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { HeldClock, type HeldMoment, JUMP_MS, type Machine } from "@sluice/broker/held-clock";
import { span } from "@sluice/protocol/words";

/** File of a data folder with the last known times of the broker and of the system's clock (`HeldMoment`). */
export const CLOCK_FILE = "sluice-clock.json";
/** How often the clocks are compared at least, in ms: an idle broker does not read its clock. */
export const COMPARE_EVERY_MS = 1_000;
/** How often that file is written, in ms. */
export const KEEP_EVERY_MS = 60_000;

/** The clocks of this machine. */
const HERE: Machine = {
  systemMs: () => Date.now(),
  passedMs: () => performance.now(),
  sleptMs: () => uptime() * 1_000 - performance.now(),
};

/** Called each second with how far the broker's time is behind the system's clock, in ms. */
export type ClockListener = (behindMs: number) => void;

/**
 * Clock of the broker on a data folder. Its time is stored in `CLOCK_FILE`, since the deadlines of the folder's
 * messages are measured by it. Without that file it starts at the system's time.
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
   * @param folder the data folder, which exists.
   * @param warn called with a line for people when the system's clock was set.
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

  /** Sets the listener, and calls it at once. */
  watch(listener: ClockListener): void {
    this.#listener = listener;
    listener(this.held.behindMs);
  }

  /** Ends the comparisons, and stores both times. */
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

  /** Stores both times. The end of the process, or a power cut, leaves either the old file or the new one. */
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

/** Parses a `HeldMoment`. @throws Error for any other text. */
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
