import { statusOfQueueError } from "../queue-error-status.ts";

/** A failure as the binding reads it: code and cause in headers, and the cause as status text for older Workers. */
export function failureResponse({
  code,
  cause,
}: {
  readonly code: number;
  readonly cause: string;
}): Response {
  const line = oneLine(cause);
  const status = statusOfQueueError(code);
  const headers = { "CF-Queues-Error-Code": `${code}`, "CF-Queues-Error-Cause": line };
  return new Response(`${line}\n`, { status, statusText: line, headers });
}

/** A status text or header with a line break or beyond ASCII makes the Response constructor throw. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[^\x20-\x7e]/g, "?");
}
