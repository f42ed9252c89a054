import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FramedAnswer, ReadRequest } from "@sluice/protocol";
import { SLUICE_PATH } from "../../runtime/front-door-contract.ts";
import type { FrameLink } from "./frame-link.ts";
import { bodyText, FRAMED_BYTES_MAX, FRAMED_HEADERS_LENGTH_MAX, HOST, type PlainHead } from "./plain-post.ts";

/** Where AWS's clients post to. */
export const AWS_PATH = `${SLUICE_PATH}/aws`;
/** Paths below it that mean what they say: nothing in them is encoded, and there is no query. */
const PLAIN_AWS_PATH = new RegExp(`^${AWS_PATH}(/[\\w.~-]*)*$`);
/** The same of those that are not ours, which AWS's clients post to where no Worker has them. */
const PLAIN_PATH_OF_OTHERS = new RegExp(`^(?!${SLUICE_PATH}(/|$))(/[\\w.~-]*)+$`);

type Headers = ReadRequest["headers"];

/** Hands a request whose body is read over, and writes its answer. */
export function handOver(
  link: FrameLink,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): void {
  const { method = "POST", url = "", headers } = request;
  // Of the headers of a request only Set-Cookie is a list.
  const framed = { method, url: `http://${headers.host}${url}`, headers: headers as Headers, body };
  const { socket } = request;
  let isWatched = false;
  let isWritten = false;
  const write = (given: FramedAnswer) => {
    isWritten = true;
    const length = Buffer.byteLength(given.body);
    response.writeHead(given.status, { ...given.headers, "content-length": length });
    response.end(given.body);
  };
  const id = link.submit(framed, (given) => {
    if (given === null) {
      response.destroy();
      return;
    }
    isWatched = given.isWatched;
    if (!isWatched) {
      write(given);
      return;
    }
    // What has come in with the answer is seen first. The ends of connections are among it if the machine is busy.
    setImmediate(() => {
      if (!hasEnded(socket)) write(given);
    });
  });
  response.on("close", () => {
    if (!isWritten || !response.writableFinished) link.gone(id);
    else if (isWatched) link.written(id);
  });
}

/** Whether the client has closed its connection: what is written to it then is lost without a word. */
function hasEnded({ readableEnded, destroyed }: Socket): boolean {
  return readableEnded || destroyed;
}

/** Whether a request goes in a frame where the broker has the paths below our own prefix. */
export function isPostedBelowPrefix(request: IncomingMessage): boolean {
  return isSmallPost(request) && PLAIN_AWS_PATH.test(request.url ?? "");
}

/** The same where it has the address to itself: AWS's clients post to any path that is not ours as well. */
export function isPostedAnywhere(request: IncomingMessage): boolean {
  const { url = "", headers } = request;
  return isSmallPost(request) && isForAws(url, headers);
}

/** The same of one that is plain. */
export function isPlainForAws({ target, headers }: PlainHead): boolean {
  return isForAws(target, headers);
}

function isForAws(target: string, headers: IncomingMessage["headers"]): boolean {
  return PLAIN_AWS_PATH.test(target) || (isOfAws(headers) && PLAIN_PATH_OF_OTHERS.test(target));
}

function isSmallPost({ method, headers, rawHeaders }: IncomingMessage): boolean {
  const { host, upgrade } = headers;
  const isSmall =
    Number(headers["content-length"] ?? 0) <= FRAMED_BYTES_MAX &&
    rawHeaders.reduce((length, text) => length + text.length, 0) <= FRAMED_HEADERS_LENGTH_MAX;
  return method === "POST" && isSmall && host !== undefined && HOST.test(host) && upgrade === undefined;
}

/** As the broker tells them from others at the root of its address: by AWS JSON's header, or as forms. */
function isOfAws(headers: IncomingMessage["headers"]): boolean {
  const { "x-amz-target": target, "content-type": type = "" } = headers;
  return target !== undefined || /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type);
}

/** What was read of a body as text, `null` if it is none. */
export function textOf(chunks: readonly Buffer[]): string | null {
  return bodyText(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
}
