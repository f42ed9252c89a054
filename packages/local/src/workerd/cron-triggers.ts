import { type GeneratedWorker, generatedConfig } from "@sluice/project/generate/plan";
import { Cron } from "croner";
import type { Workerd } from "./workerd-process.ts";

/** Running cron triggers. */
interface CronTriggers {
  stop(): void;
}

const MINUTE_MS = 60_000;
/** Cloudflare's cron expressions: five fields in UTC, days of the week from 1, which is Sunday. */
const CLOUDFLARE = { timezone: "UTC", mode: "5-part", alternativeWeekdays: true } as const;

/**
 * Calls the `scheduled()` handlers of Workers at the times of their `triggers.crons`. A time at which no workerd or
 * this process does not run is skipped.
 *
 * @param workerd returns the running workerd; `null` while none runs.
 */
export function startCronTriggers(
  workers: readonly GeneratedWorker[],
  workerd: () => Workerd | null,
  warn: (text: string) => void,
): CronTriggers {
  const jobs = workers.flatMap((worker) =>
    (generatedConfig(worker).triggers?.crons ?? []).map(
      (cron) =>
        new Cron(cron, CLOUDFLARE, async () => {
          const at = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
          await workerd()
            ?.schedule(worker.name, cron, at)
            .catch((error) => warn(`Worker "${worker.name}": its cron trigger "${cron}" failed: ${error}`));
        }),
    ),
  );
  return {
    stop: () => {
      for (const job of jobs) job.stop();
    },
  };
}
