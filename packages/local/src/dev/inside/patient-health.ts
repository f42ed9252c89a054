import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { changeCode, type MiniflareParts, miniflareOf } from "./miniflare-parts.ts";

/** Worker by which Wrangler passes requests on to the user's. */
const PROXY = "ProxyWorker";
/** Its statement for a request, which then waits for a Worker to be there. */
const WAITS = "this.requestQueue.set(request, deferred);";
/** Longest that the health check waits, in ms: some seconds more than a start takes. */
const WAIT_MS_MAX = 10_000;
const GIVES_UP = `if (new URL(request.url).pathname === "${SLUICE_PATH}/health") setTimeout(() => {
  if (this.requestQueue.delete(request)) deferred.resolve(Response.json({ status: "starting" }, { status: 503 }));
}, ${WAIT_MS_MAX});`;

/** Lets Wrangler's proxy answer the health check while there is no Worker, as after a first build that failed. */
export function answerHealth(wrangler: string): void {
  withHealthAnswers(miniflareOf(wrangler));
}

/**
 * Keeps a health check from waiting without an end: every request does while a first build fails. A proxy with other
 * code stays as it is.
 */
export function withHealthAnswers(parts: MiniflareParts): void {
  changeCode(parts, PROXY, WAITS, `${WAITS}\n${GIVES_UP}`);
}
