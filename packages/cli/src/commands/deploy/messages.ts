const START = "sluice deploy ";

/** What each version that a deployment uploads says of itself: `--message`. */
export function deploymentMessage(run: string): string {
  return `${START}${run}`;
}

/** The deployment that a version is of; `null` for one that something else has uploaded. */
export function deploymentOf(message: string | null): string | null {
  return message?.startsWith(START) === true ? message.slice(START.length) : null;
}
