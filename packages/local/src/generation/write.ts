import { placeEnvFiles, placeSecrets } from "@sluice/project/files/secrets";
import { makeOutputFolder, writePlan } from "@sluice/project/files/write-plan";
import type { Plan } from "@sluice/project/generate/plan";

/** Files to be written for Wrangler. Plain data, since another process may write them. */
export interface Writing {
  /** Folder that `.gitignore` is put into. */
  readonly root: string;
  readonly plan: Plan;
  /** Whether no configuration of the user's describes the broker. */
  readonly isBrokerMadeUp: boolean;
  /** The environment, "" for the top level. */
  readonly env: string;
  /** Files of variables that `--env-file` names. */
  readonly envFiles: readonly string[];
}

/** Writes the files, synchronously, so that nothing in this process sees only some of them. */
export function write({ root, plan, isBrokerMadeUp, env, envFiles }: Writing): void {
  makeOutputFolder(root);
  writePlan(plan);
  // A broker without a configuration of the user's has only generated secrets: those in its folder are some Worker's.
  for (const { userDirectory, directory } of isBrokerMadeUp ? plan.workers : [...plan.workers, plan.broker]) {
    placeSecrets(userDirectory, directory, env);
    placeEnvFiles(userDirectory, directory, envFiles);
  }
  const { directory } = plan.broker;
  if (isBrokerMadeUp && envFiles.length > 0) placeEnvFiles(directory, directory, [".dev.vars"]);
}
