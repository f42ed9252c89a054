import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { changeCode, type MiniflareParts, miniflareOf } from "./miniflare-parts.ts";

/** Worker by which Wrangler passes requests on to the user's. */
const PROXY = "ProxyWorker";
/** Its statement that makes a request wait until a Worker runs. */
const WAIT = "this.requestQueue.set(request, deferred);";
/** Longest that the health check waits, in ms: some seconds more than a start takes. */
const WAIT_MS_MAX = 10_000;
const GIVE_UP = `if (new URL(request.url).pathname === "${SLUICE_PATH}/health") setTimeout(() => {
  if (this.requestQueue.delete(request)) deferred.resolve(Response.json({ status: "starting" }, { status: 503 }));
}, ${WAIT_MS_MAX});`;

/** Applies `withHealthAnswers` to the Miniflare of a Wrangler. */
export function answerHealth(wrangler: string): void {
  withHealthAnswers(miniflareOf(wrangler));
}

/**
 * Has Wrangler's proxy answer a health check with 503 after `WAIT_MS_MAX`. While a first build fails, every request
 * waits without limit. A proxy with other code stays as it is.
 */
export function withHealthAnswers(parts: MiniflareParts): void {
  changeCode(parts, PROXY, WAIT, `${WAIT}\n${GIVE_UP}`);
}
