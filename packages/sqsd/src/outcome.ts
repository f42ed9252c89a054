/** Outcome of a POST. */
export type PostOutcome =
  | { readonly kind: "answered"; readonly status: number }
  /** `closed`: the connection ended without an answer; `reused` if an earlier request had used it. */
  | { readonly kind: "unreachable" | "closed" | "timedOut"; readonly reason: string };

/** Action of the daemon on a message (spec sqsd 3.1). */
export type DaemonAction =
  | { readonly kind: "delete" }
  /** Visible again after so many seconds from now on. */
  | { readonly kind: "changeVisibility"; readonly seconds: number }
  /** Nothing: it comes back when its visibility timeout ends. */
  | { readonly kind: "leave" };

/** Only 200 means that the work is done. */
const DONE_STATUS = 200;

/**
 * @param errorVisibilityTimeout option `ErrorVisibilityTimeout`: 0 is a value, `null` is none.
 * @param isVisibleAgain whether the visibility timeout has ended: another client may have the message (S8).
 */
export function actionAfter(
  outcome: PostOutcome,
  errorVisibilityTimeout: number | null,
  isVisibleAgain: boolean,
): DaemonAction {
  // On a standard queue an old receipt still deletes.
  if (outcome.kind === "answered" && outcome.status === DONE_STATUS) return { kind: "delete" };
  if (errorVisibilityTimeout === null || isVisibleAgain) return { kind: "leave" };
  return { kind: "changeVisibility", seconds: errorVisibilityTimeout };
}

/** Writes the daemon's log line for a failed POST, with its duration (spec sqsd 3.2). */
export function failureLine(
  id: string,
  receiveCount: number,
  outcome: PostOutcome,
  tookMs: number,
): { readonly tag: "http-err" | "socket-err"; readonly text: string } {
  const what = outcome.kind === "answered" ? String(outcome.status) : outcome.reason;
  const text = `${id} (${receiveCount}) ${what} - ${(tookMs / 1000).toFixed(3)}`;
  return { tag: outcome.kind === "answered" ? "http-err" : "socket-err", text };
}
