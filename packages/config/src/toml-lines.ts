import { KeyLines, type KeyPath } from "./key-lines.ts";
import { LineIndex } from "./line-index.ts";

/**
 * Finds the line of every key of a TOML document. The `toml` package tells lines of syntax errors only, so this reads
 * the document a second time and looks at nothing but where keys, headers and values begin.
 *
 * It expects a document which that package has accepted. On anything else it neither throws nor hangs: it stops, and
 * what it found so far stands. A line number is worth no crash.
 */
export function locateTomlKeys(text: string): KeyLines {
  return new TomlLocator(text).locate();
}

/** Spaces, line ends and comments: what may stand between two statements and between the elements of an array. */
const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const SPACE = /[ \t]*/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BASIC_STRING = /"(?:[^"\\\n]|\\.)*"/y;
const LITERAL_STRING = /'[^'\n]*'/y;
/** A multi-line string may end in up to two quotes of its own, directly before the closing three. */
const MULTILINE_BASIC_STRING = /"""(?:[^\\]|\\[\s\S])*?"{3,5}/y;
const MULTILINE_LITERAL_STRING = /'''[\s\S]*?'{3,5}/y;
/** Numbers, booleans and dates; a date may hold a space. */
const SCALAR = /[^,\]}#\n]+/y;

class TomlLocator {
  readonly #text: string;
  readonly #index: LineIndex;
  readonly #lines = new KeyLines();
  /** How many elements each array of tables has so far: a header through one means its latest element. */
  readonly #tableCounts = new Map<string, number>();
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
    this.#index = new LineIndex(text);
  }

  locate(): KeyLines {
    let table: KeyPath = [];
    this.#match(BLANK);
    while (this.#offset < this.#text.length) {
      const before = this.#offset;
      if (this.#take("[[")) table = this.#header("]]");
      else if (this.#take("[")) table = this.#header("]");
      else this.#assignment(table);
      if (this.#offset === before) break;
      this.#match(BLANK);
    }
    return this.#lines;
  }

  /** Reads the rest of `[a.b]` or `[[a.b]]` and returns the path of the table it opens. */
  #header(closing: "]" | "]]"): KeyPath {
    const line = this.#line();
    const keys = this.#keys();
    this.#take(closing);
    const path: (string | number)[] = [];
    for (const [i, key] of keys.entries()) {
      path.push(key);
      this.#lines.recordFirst(path, line);
      const count = this.#tableCounts.get(JSON.stringify(path)) ?? 0;
      const opensElement = closing === "]]" && i === keys.length - 1;
      if (opensElement) {
        this.#tableCounts.set(JSON.stringify(path), count + 1);
        path.push(count);
        this.#lines.recordFirst(path, line);
      } else if (count > 0) {
        path.push(count - 1);
      }
    }
    return path;
  }

  /** Reads `key.key = value` and records every part of its path. */
  #assignment(table: KeyPath): void {
    const line = this.#line();
    const path = [...table];
    for (const key of this.#keys()) {
      path.push(key);
      this.#lines.recordFirst(path, line);
    }
    this.#match(SPACE);
    this.#take("=");
    this.#match(SPACE);
    this.#value(path);
  }

  #value(path: KeyPath): void {
    if (this.#take("[")) this.#array(path);
    else if (this.#take("{")) this.#inlineTable(path);
    else if (this.#at('"""')) this.#match(MULTILINE_BASIC_STRING);
    else if (this.#at("'''")) this.#match(MULTILINE_LITERAL_STRING);
    else if (this.#at('"')) this.#match(BASIC_STRING);
    else if (this.#at("'")) this.#match(LITERAL_STRING);
    else this.#match(SCALAR);
  }

  #array(path: KeyPath): void {
    this.#elements("]", (i) => {
      const element = [...path, i];
      this.#lines.recordFirst(element, this.#line());
      this.#value(element);
    });
  }

  #inlineTable(path: KeyPath): void {
    this.#elements("}", () => this.#assignment(path));
  }

  #elements(closing: "]" | "}", read: (i: number) => void): void {
    this.#match(BLANK);
    for (let i = 0; this.#offset < this.#text.length && !this.#take(closing); i++) {
      const before = this.#offset;
      read(i);
      this.#match(BLANK);
      this.#take(",");
      this.#match(BLANK);
      if (this.#offset === before) return;
    }
  }

  /** Reads a dotted key. */
  #keys(): string[] {
    const keys: string[] = [];
    do {
      this.#match(SPACE);
      const key = this.#key();
      if (key === undefined) break;
      keys.push(key);
      this.#match(SPACE);
    } while (this.#take("."));
    return keys;
  }

  #key(): string | undefined {
    if (this.#at('"')) return this.#match(BASIC_STRING)?.slice(1, -1).replace(ESCAPE, unescapeOne);
    if (this.#at("'")) return this.#match(LITERAL_STRING)?.slice(1, -1);
    return this.#match(BARE_KEY);
  }

  #line(): number {
    return this.#index.lineAt(this.#offset);
  }

  #at(token: string): boolean {
    return this.#text.startsWith(token, this.#offset);
  }

  #take(token: string): boolean {
    const isHere = this.#at(token);
    if (isHere) this.#offset += token.length;
    return isHere;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#offset += found.length;
    return found;
  }
}

const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))/g;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["t", "\t"],
  ["n", "\n"],
  ["f", "\f"],
  ["r", "\r"],
  ["e", "\u001b"],
]);

function unescapeOne(sequence: string, u4?: string, u8?: string, x2?: string, short?: string): string {
  const hex = u4 ?? u8 ?? x2;
  if (hex === undefined) return SHORT_ESCAPES.get(short ?? "") ?? short ?? sequence;
  const codePoint = Number.parseInt(hex, 16);
  return codePoint > 0x10ffff ? sequence : String.fromCodePoint(codePoint);
}
