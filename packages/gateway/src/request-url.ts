import type { RequestUrl } from "@sluice/aws";

/** Origins that are remembered: a server is reached under few, and who invents others gets no more of them than this. */
const ORIGINS_MAX = 100;
const origins = new Map<string, Site>();

/** Paths that parsing leaves as they are: nothing to encode, and no `.` or `..` to resolve. */
const PLAIN_PATH = /^(\/[\w~!$&'()*+,;=:@-][\w~!$&'()*+,;=:@.-]*)*\/?$/;

/** URLs that are remembered, and how long one of them may be: most clients ask for the same one again and again. */
const URLS_MAX = 1_000;
const URL_LENGTH_MAX = 512;
const urls = new Map<string, UrlParts>();
/** The one that was asked for last: to compare a URL takes a tenth of the time that the map does, which makes a hash of it. */
let latest: UrlParts | undefined;

/**
 * The URL of a request. Parsing one costs more than all the rest that is done with it, so its parts are found in the text,
 * and parsed only where they are not written as parsing leaves them.
 */
export class LazyUrl implements RequestUrl {
  readonly #parts: UrlParts;
  #params: URLSearchParams | undefined;

  /** @param text absolute, as `Request.url` is. */
  constructor(text: string) {
    this.#parts = partsOf(text);
  }

  get origin(): string {
    return this.#parts.site.origin;
  }

  get host(): string {
    return this.#parts.site.host;
  }

  get pathname(): string {
    return this.#parts.pathname;
  }

  /** The query with its question mark, as it is written; empty if there is none. */
  get search(): string {
    return this.#parts.search;
  }

  get searchParams(): URLSearchParams {
    this.#params ??= new URLSearchParams(this.search);
    return this.#params;
  }
}

/** What stands before the path of a URL. A `URL` would make each of it anew when it is asked for. */
export type Site = Readonly<Pick<URL, "origin" | "host" | "hostname" | "protocol">>;

/** The part of a URL before its path, parsed once for all requests that have the same. */
export function siteOfUrl(text: string): Site {
  return partsOf(text).site;
}

/** The parts of a URL, each found when it is asked for first. */
class UrlParts {
  readonly text: string;
  /** Where the path begins, and where it ends. */
  readonly #pathAt: number;
  readonly #pathEnd: number;
  /** The query with its question mark; empty if there is none. */
  readonly search: string;
  #site: Site | undefined;
  #pathname: string | undefined;

  constructor(text: string) {
    this.text = text;
    this.#pathAt = pathAt(text);
    const end = text.slice(this.#pathAt).search(/[?#]/);
    this.#pathEnd = end === -1 ? text.length : this.#pathAt + end;
    const [query = ""] = text[this.#pathEnd] === "?" ? text.slice(this.#pathEnd).split("#", 1) : [];
    this.search = query === "?" ? "" : query;
  }

  /** Throws TypeError for a text that is no URL. */
  get site(): Site {
    this.#site ??= siteOf(this.text.slice(0, this.#pathAt));
    return this.#site;
  }

  /** Throws TypeError for a text that is no URL. */
  get pathname(): string {
    this.#pathname ??= this.#findPathname();
    return this.#pathname;
  }

  #findPathname(): string {
    const path = this.text.slice(this.#pathAt, this.#pathEnd);
    return path !== "" && PLAIN_PATH.test(path) ? path : new URL(this.text).pathname;
  }
}

function partsOf(text: string): UrlParts {
  if (latest?.text !== text) latest = urls.get(text) ?? newParts(text);
  return latest;
}

function newParts(text: string): UrlParts {
  const parts = new UrlParts(text);
  if (text.length > URL_LENGTH_MAX) return parts;
  if (urls.size >= URLS_MAX) urls.clear();
  urls.set(text, parts);
  return parts;
}

function pathAt(text: string): number {
  const at = text.slice(text.indexOf("//") + 2).search(/[/?#]/);
  return at === -1 ? text.length : text.indexOf("//") + 2 + at;
}

function siteOf(origin: string): Site {
  const known = origins.get(origin);
  if (known !== undefined) return known;
  if (origins.size >= ORIGINS_MAX) origins.clear();
  const { origin: own, host, hostname, protocol } = new URL(origin);
  const site = { origin: own, host, hostname, protocol };
  origins.set(origin, site);
  return site;
}
