import { Presets, SingleBar } from "cli-progress";
import type { Surroundings } from "./surroundings.ts";

/** How far something is. */
export interface Progress {
  /** @param total as far as it is known by now. */
  update(done: number, total: number): void;
  /** Takes the bar away. */
  stop(): void;
}

const NONE: Progress = { update: () => {}, stop: () => {} };

/**
 * A progress bar on standard error, where a person reads that; nothing elsewhere.
 *
 * @param noun what is counted, in the plural.
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
