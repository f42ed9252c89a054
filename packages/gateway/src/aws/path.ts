import type { RequestHeaders } from "@sluice/aws";
import { isForm } from "./request.ts";

/** Whether a path is the prefix, or is below it. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}

/**
 * Returns the path of the AWS endpoint that a request came to: our prefix, or none at the root of an address. URLs of
 * queues begin with it, so that the client goes on using the same endpoint.
 */
export function endpointPath(path: string, prefix: string): string {
  return isBelow(path, prefix) ? prefix : "";
}

/**
 * Whether a request outside of our own paths comes from a client of AWS. Many know no path of an endpoint: some post to
 * the root of the host in a queue's URL (AWS's SDK for JavaScript without an endpoint), some take only a host and a
 * port (Celery), and test suites name `http://localhost:4566`.
 */
export function isAwsCall(method: string, search: string, headers: Pick<RequestHeaders, "get">): boolean {
  if (method === "GET") return /[?&]Action=/.test(search);
  return method === "POST" && (headers.get("x-amz-target") !== null || isForm(headers));
}
