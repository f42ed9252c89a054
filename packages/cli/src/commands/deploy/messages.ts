const START = "sluice deploy ";
const TOKENS = " tokens ";

/**
 * Text of `--message` of each version that a deployment uploads.
 *
 * @param tokens mark of the tokens that the version sets (`token-marks.ts`); `null` for none.
 */
export function deploymentMessage(run: string, tokens: string | null = null): string {
  return `${START}${run}${tokens === null ? "" : `${TOKENS}${tokens}`}`;
}

/** The deployment that a version is of; `null` for one that something else has uploaded. */
export function deploymentOf(message: string | null): string | null {
  return partsOf(message)?.[0] ?? null;
}

/** Mark of the tokens that a version sets; `null` for one that sets none, or does not say so. */
export function tokensIn(message: string | null): string | null {
  return partsOf(message)?.[1] ?? null;
}

function partsOf(message: string | null): string[] | null {
  return message?.startsWith(START) === true ? message.slice(START.length).split(TOKENS) : null;
}
