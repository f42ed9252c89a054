import { Presets, SingleBar } from "cli-progress";
import type { Surroundings } from "./surroundings.ts";

/** Progress of a task. */
export interface Progress {
  /** @param total the total as far as it is known. */
  update(done: number, total: number): void;
  /** Removes the bar. */
  stop(): void;
}

const NONE: Progress = { update: () => {}, stop: () => {} };

/**
 * Shows a progress bar on standard error where that is a terminal, else nothing.
 *
 * @param noun plural of what is counted.
 */
export function progressBar({ showsProgress }: Pick<Surroundings, "showsProgress">, noun: string): Progress {
  if (!showsProgress) return NONE;
  const format = `{bar} {value} of {total} ${noun}, {eta_formatted} left`;
  const bar = new SingleBar({ format, clearOnComplete: true, hideCursor: true }, Presets.shades_classic);
  let isStarted = false;
  return {
    update: (done, total) => {
      if (!isStarted) bar.start(total, done);
      isStarted = true;
      bar.setTotal(Math.max(total, done));
      bar.update(done);
    },
    stop: () => {
      if (isStarted) bar.stop();
    },
  };
}
