import { changeCode, type MiniflareParts, miniflareOf } from "./miniflare-parts.ts";

/** Worker of Wrangler's that reads the inspector of the user's Workers. */
const INSPECTOR_PROXY = "InspectorProxyWorker";
/** Its statement for each message of the inspector: each line that a Worker prints is one. */
const REQUEST_FOR_EACH = 'this.sendDebugLog("RUNTIME INCOMING MESSAGE", msg);';

/** Applies `withoutLineRequests` to the Miniflare of a Wrangler. */
export function leaveLinesUnrequested(wrangler: string): void {
  withoutLineRequests(miniflareOf(wrangler));
}

/**
 * Keeps a loop that prints from using up the file descriptors of Wrangler's inspector proxy. The proxy sends each line
 * to Wrangler twice: by its WebSocket, which prints it, and by a request on a connection of its own, for Wrangler's
 * debug log. After some thousand lines no descriptor is left, and it answers no request until it is restarted. Only
 * the request is removed. A proxy with other code stays as it is.
 */
export function withoutLineRequests(parts: MiniflareParts): void {
  changeCode(parts, INSPECTOR_PROXY, REQUEST_FOR_EACH, "");
}
