import {
  mediaTypeOf,
  REQUEST_BYTES_MAX,
  type RequestHeaders,
  type ResponseParts,
  requestTooLarge,
  type SignedRequest,
} from "@sluice/aws";
import type { PublicAddress } from "../http/public-address.ts";

const NO_BYTES = new Uint8Array();
const FORM_TYPE = "application/x-www-form-urlencoded";
const decoder = new TextDecoder();

/** A response, and whether its request waited for messages: then its client may have disconnected meanwhile. */
export interface AwsAnswer extends ResponseParts {
  readonly hasWaited?: boolean;
}

/** A request to the AWS endpoint. Its body is read once: as bytes for a signature, else as text. */
export class AwsRequest implements SignedRequest {
  readonly #raw: Request;
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly url: URL;
  readonly #address: PublicAddress | null;
  #body: Uint8Array | undefined;
  #text: string | undefined;

  /**
   * @param url that of the request.
   * @param address where the client reaches the broker; `null` for the address that the request names.
   */
  constructor(raw: Request, url: URL = new URL(raw.url), address: PublicAddress | null = null) {
    this.#raw = raw;
    this.method = raw.method;
    this.headers = raw.headers;
    this.url = url;
    this.#address = address;
  }

  /** The request as the client sent and signed it. */
  get sent(): Pick<SignedRequest, "method" | "url" | "headers"> {
    if (this.#address === null) return this;
    return {
      method: this.method,
      url: this.#address.sentUrl(this),
      headers: this.#address.sentHeaders(this.headers),
    };
  }

  /** Empty unless it was read as bytes: only the check of a signature needs them. */
  get body(): Uint8Array {
    return this.#body ?? NO_BYTES;
  }

  /** Aborted when the client disconnects, also while it is being answered. The platform makes it on demand. */
  get client(): AbortSignal {
    return this.#raw.signal;
  }

  /**
   * Reads the body, unless that was done before.
   *
   * @param bytesMax most bytes that it may have. A body whose header names more is not read at all.
   * @throws AwsError `RequestEntityTooLarge`.
   */
  async readBytes(bytesMax: number = REQUEST_BYTES_MAX): Promise<Uint8Array> {
    this.#body ??= await this.#read(bytesMax);
    return this.#body;
  }

  /**
   * Reads the body as text: of the bytes if they were read, else by the platform's `text()`, which is cheaper. Not of a
   * form: workerd logs a warning for each form that `text()` reads.
   *
   * @param bytesMax as that of `readBytes`.
   * @throws AwsError `RequestEntityTooLarge`.
   */
  async readText(bytesMax: number = REQUEST_BYTES_MAX): Promise<string> {
    if (this.#text !== undefined) return this.#text;
    const isPlain = this.#body === undefined && !isForm(this.headers) && this.#hasLength(bytesMax);
    this.#text = isPlain ? await this.#raw.text() : decoder.decode(await this.readBytes(bytesMax));
    return this.#text;
  }

  async #read(bytesMax: number): Promise<Uint8Array> {
    // Before `body` is touched: a server that has all bytes makes a stream of them only on demand.
    if (this.#hasLength(bytesMax)) return new Uint8Array(await this.#raw.arrayBuffer());
    const { body } = this.#raw;
    return body === null ? NO_BYTES : readStream(body, bytesMax);
  }

  /** Whether a header names the length of the body. Throws `AwsError` if it is too long. */
  #hasLength(bytesMax: number): boolean {
    const length = this.headers.get("content-length");
    if (Number(length ?? 0) > bytesMax) throw requestTooLarge(bytesMax);
    return length !== null;
  }
}

/** Reads a body of unknown length. Throws `AwsError` (`RequestEntityTooLarge`). */
async function readStream(stream: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let byteLength = 0;
  // Leaving the loop cancels the stream.
  for await (const chunk of stream) {
    byteLength += chunk.byteLength;
    if (byteLength > bytesMax) throw requestTooLarge(bytesMax);
    chunks.push(chunk);
  }
  const body = new Uint8Array(byteLength);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

/** Whether a body is a form, as HTML and the Query protocol send it. */
export function isForm(headers: Pick<RequestHeaders, "get">): boolean {
  return mediaTypeOf(headers) === FORM_TYPE;
}

/**
 * Reads the parameters of a form that name its action. Only these are read before the caller is known: a large form can
 * have too many keys for the memory.
 */
export function parametersIn(form: string): Pick<URLSearchParams, "get"> {
  return {
    get: (name) => {
      const field = new RegExp(`(?:^|&)(${name}=[^&]*)`).exec(form)?.[1];
      return field === undefined ? null : new URLSearchParams(field).get(name);
    },
  };
}
