/** Deployment, broker and project that a version of a Worker belongs to. */
export interface Mark {
  /** Id of the deployment. */
  readonly run: string;
  /** Name of the broker that it is deployed to, environment suffix included. */
  readonly broker: string;
  readonly project: string;
}

/**
 * Makes the `--message` of each version that a deployment uploads. A contract: later releases read it.
 *
 * @param tokens mark of the tokens that the version sets (`token-marks.ts`); `null` for none.
 */
export function deploymentMessage({ run, broker, project }: Mark, tokens: string | null = null): string {
  const tokensText = tokens === null ? "" : ` tokens ${tokens}`;
  return `sluice deploy ${run}${tokensText} on ${broker} of ${project}`;
}

const MESSAGE = /^sluice deploy (\S+)(?: tokens (\S+))? on (\S+) of (.+)$/s;

/** Reads the id of a version's deployment; `null` for a version that another tool has uploaded. */
export function deploymentOf(message: string | null): string | null {
  return /^sluice deploy (\S+)/.exec(message ?? "")?.[1] ?? null;
}

/** Reads the mark of a version; `null` for one that another tool has uploaded, or a release without marks. */
export function markOf(message: string | null): Mark | null {
  const [, run, , broker, project] = MESSAGE.exec(message ?? "") ?? [];
  return run === undefined || broker === undefined || project === undefined ? null : { run, broker, project };
}

/** Reads the mark of the tokens that a version sets; `null` where it sets none or has no such mark. */
export function tokensIn(message: string | null): string | null {
  return MESSAGE.exec(message ?? "")?.[2] ?? null;
}
