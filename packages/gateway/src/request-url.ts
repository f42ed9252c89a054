import type { RequestUrl } from "@sluice/aws";

/** Origins that are remembered: a server is reached under few, and who invents others gets no more of them than this. */
const ORIGINS_MAX = 100;
const origins = new Map<string, URL>();

/** Paths that parsing leaves as they are: nothing to encode, and no `.` or `..` to resolve. */
const PLAIN_PATH = /^(\/[\w~!$&'()*+,;=:@-][\w~!$&'()*+,;=:@.-]*)*\/?$/;

/**
 * The URL of a request. Parsing one costs more than all the rest that is done with it, so its parts are found in the text,
 * and parsed only where they are not written as parsing leaves them.
 */
export class LazyUrl implements RequestUrl {
  readonly #text: string;
  /** Where the path begins, and where it ends. */
  readonly #pathAt: number;
  readonly #pathEnd: number;
  #params: URLSearchParams | undefined;

  /** @param text absolute, as `Request.url` is. */
  constructor(text: string) {
    this.#text = text;
    this.#pathAt = pathAt(text);
    const end = text.slice(this.#pathAt).search(/[?#]/);
    this.#pathEnd = end === -1 ? text.length : this.#pathAt + end;
  }

  get origin(): string {
    return siteOf(this.#text.slice(0, this.#pathAt)).origin;
  }

  get host(): string {
    return siteOf(this.#text.slice(0, this.#pathAt)).host;
  }

  get pathname(): string {
    const path = this.#text.slice(this.#pathAt, this.#pathEnd);
    return path !== "" && PLAIN_PATH.test(path) ? path : new URL(this.#text).pathname;
  }

  /** The query with its question mark, as it is written; empty if there is none. */
  get search(): string {
    if (this.#text[this.#pathEnd] !== "?") return "";
    const [query = ""] = this.#text.slice(this.#pathEnd).split("#", 1);
    return query === "?" ? "" : query;
  }

  get searchParams(): URLSearchParams {
    this.#params ??= new URLSearchParams(this.search);
    return this.#params;
  }
}

/** The part of a URL before its path, parsed once for all requests that have the same. */
export function siteOfUrl(text: string): Pick<URL, "origin" | "host" | "hostname" | "protocol"> {
  return siteOf(text.slice(0, pathAt(text)));
}

function pathAt(text: string): number {
  const at = text.slice(text.indexOf("//") + 2).search(/[/?#]/);
  return at === -1 ? text.length : text.indexOf("//") + 2 + at;
}

function siteOf(origin: string): URL {
  const known = origins.get(origin);
  if (known !== undefined) return known;
  if (origins.size >= ORIGINS_MAX) origins.clear();
  const site = new URL(origin);
  origins.set(origin, site);
  return site;
}
