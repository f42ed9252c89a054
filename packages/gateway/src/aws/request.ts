import { type Answer, mediaTypeOf, type RequestHeaders, type SignedRequest } from "@sluice/aws";

const NO_BYTES = new Uint8Array();
const FORM_TYPE = "application/x-www-form-urlencoded";
const decoder = new TextDecoder();

/** An answer, and whether its request waited for messages: then its client may have disconnected meanwhile. */
export interface AwsAnswer extends Answer {
  readonly hasWaited?: boolean;
}

/** A request to the AWS endpoint. Its body is read once: as bytes for a signature, else as text. */
export class AwsRequest implements SignedRequest {
  readonly #raw: Request;
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly url: URL;
  #body: Uint8Array | undefined;
  #text: string | undefined;

  /** @param url that of the request. */
  constructor(raw: Request, url: URL = new URL(raw.url)) {
    this.#raw = raw;
    this.method = raw.method;
    this.headers = raw.headers;
    this.url = url;
  }

  /** Empty unless it was read as bytes: only the check of a signature needs them. */
  get body(): Uint8Array {
    return this.#body ?? NO_BYTES;
  }

  /** Aborted when the client disconnects, also while it is being answered. The platform makes it on demand. */
  get client(): AbortSignal {
    return this.#raw.signal;
  }

  async readBytes(): Promise<Uint8Array> {
    this.#body ??= new Uint8Array(await this.#raw.arrayBuffer());
    return this.#body;
  }

  /**
   * The body as text: of the bytes if they were read, else by the platform's `text()`, which is cheaper. Not of a form:
   * workerd logs a warning for each form that `text()` reads.
   */
  async readText(): Promise<string> {
    if (this.#text !== undefined) return this.#text;
    const isBytes = this.#body !== undefined || isForm(this.headers);
    this.#text = isBytes ? decoder.decode(await this.readBytes()) : await this.#raw.text();
    return this.#text;
  }
}

/** Whether a body is what HTML forms and the Query protocol send. */
export function isForm(headers: Pick<RequestHeaders, "get">): boolean {
  return mediaTypeOf(headers) === FORM_TYPE;
}
