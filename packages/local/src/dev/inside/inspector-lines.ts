import { changeCode, type MiniflareParts, miniflareOf } from "./miniflare-parts.ts";

/** Worker by which Wrangler reads the inspector of the user's Workers. */
const INSPECTOR_PROXY = "InspectorProxyWorker";
/** Its statement for each message of the inspector, which is one for each line that a Worker prints. */
const REQUEST_FOR_EACH = 'this.sendDebugLog("RUNTIME INCOMING MESSAGE", msg);';

/** Keeps Wrangler's proxy of the inspector from a request for each line that a Worker prints. */
export function leaveLinesUnrequested(wrangler: string): void {
  withoutLineRequests(miniflareOf(wrangler));
}

/**
 * Keeps a loop that prints from taking all descriptors of Wrangler's proxy. It sends each line to Wrangler twice: by
 * its WebSocket, which prints it, and by a request with a connection of its own, for Wrangler's debug log. After some
 * thousand lines it has no descriptor left, and answers no request until it is started again. Only the second goes. A
 * proxy with other code stays as it is.
 */
export function withoutLineRequests(parts: MiniflareParts): void {
  changeCode(parts, INSPECTOR_PROXY, REQUEST_FOR_EACH, "");
}
