import { bodyBytesMax } from "@sluice/gateway/request-limits";

/** Target of the fuzzing: an AWS endpoint, local or remote. */
export interface Target {
  /** Address of the endpoint, without a slash at its end. */
  readonly endpoint: string;
  /**
   * Answers a request. Rejects with `Hang` if the answer takes longer than `ANSWER_MS_MAX`, and with `Unsendable` if
   * the request cannot be sent.
   */
  fetch(request: Request): Promise<Response>;
}

/** A request that was not answered in time. */
export class Hang extends Error {
  override readonly name = "Hang";
}

/** A request that the HTTP client itself refuses to send. */
export class Unsendable extends Error {
  override readonly name = "Unsendable";
}

/** Time after which a request counts as never answered, in ms: the longest long poll takes 20 s (spec sqs 7). */
export const ANSWER_MS_MAX = 40_000;

/** Makes a target of a broker in another process, by its address. */
export function remoteTarget(endpoint: string): Target {
  return {
    endpoint: endpoint.replace(/\/+$/, ""),
    fetch: async (request) => {
      const copy = request.clone();
      try {
        return await fetch(request, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
      } catch (error) {
        if (error instanceof DOMException && error.name === "TimeoutError") {
          throw new Hang(`no answer within ${ANSWER_MS_MAX} ms`);
        }
        if (error instanceof TypeError && isInvalidArgument(error.cause)) {
          throw new Unsendable("the client does not send this", { cause: error });
        }
        if (error instanceof TypeError && (await isTooLarge(copy))) {
          throw new Unsendable("the connection was closed before the body was sent", { cause: error });
        }
        throw error;
      }
    },
  };
}

/** Whether an error is undici's for a header that HTTP forbids. */
function isInvalidArgument(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "UND_ERR_INVALID_ARG";
}

/**
 * Whether a request may be refused before its body is read. workerd closes the connection with the answer, and a client
 * that is still sending then may never read it.
 */
async function isTooLarge(request: Request): Promise<boolean> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  return (await request.arrayBuffer()).byteLength > bodyBytesMax({ method, pathname, search, headers }, true);
}
