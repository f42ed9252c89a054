/** A piece of a JSON text. `text` is as it was written: numbers keep their digits, which `JSON.parse` would round. */
export interface JsonToken {
  readonly kind: "key" | "string" | "number" | "word" | "mark";
  readonly text: string;
}

/** A JSON text in pieces, or the first place where it is none. Lines and columns count from 1. */
type ScannedJson =
  | { readonly ok: true; readonly tokens: readonly JsonToken[] }
  | { readonly ok: false; readonly line: number; readonly column: number; readonly message: string };

const DEPTH_MAX = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none of them in a string
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const BLANK = /[ \t\n\r]*/y;

class Problem extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Reads a JSON text. Each browser's own parser names the place of a mistake in other words, or not at all. */
export function scanJson(text: string): ScannedJson {
  const scanner = new Scanner(text);
  try {
    scanner.document();
    return { ok: true, tokens: scanner.tokens };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const before = text.slice(0, error.at).split("\n");
    return {
      ok: false,
      line: before.length,
      column: (before.at(-1)?.length ?? 0) + 1,
      message: error.message,
    };
  }
}

class Scanner {
  readonly tokens: JsonToken[] = [];
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value("a value");
    this.#blank();
    if (this.#at < this.#text.length) throw this.#problem("the end");
  }

  #value(expected: string): void {
    this.#blank();
    const first = this.#text[this.#at];
    const number = this.#match(NUMBER);
    const word = this.#match(WORD);
    if (first === "{") this.#list("}", () => this.#member());
    else if (first === "[") this.#list("]", () => this.#value("a value"));
    else if (first === '"') this.#string("string");
    else if (number !== null) this.#take("number", number);
    else if (word !== null) this.#take("word", word);
    else throw this.#problem(expected);
  }

  #list(end: "}" | "]", item: () => void): void {
    if (++this.#depth > DEPTH_MAX) throw this.#problem(`fewer than ${DEPTH_MAX} levels`);
    this.#take("mark", this.#text[this.#at] ?? "");
    this.#blank();
    if (this.#text[this.#at] !== end) {
      for (;;) {
        item();
        this.#blank();
        if (this.#text[this.#at] !== ",") break;
        this.#take("mark", ",");
      }
    }
    if (this.#text[this.#at] !== end) throw this.#problem(`"," or "${end}"`);
    this.#take("mark", end);
    this.#depth--;
  }

  #member(): void {
    this.#blank();
    if (this.#text[this.#at] !== '"') throw this.#problem("a name in double quotes");
    this.#string("key");
    this.#blank();
    if (this.#text[this.#at] !== ":") throw this.#problem('":"');
    this.#take("mark", ":");
    this.#value("a value");
  }

  #string(kind: "key" | "string"): void {
    const string = this.#match(STRING);
    if (string === null) throw new Problem(this.#at, this.#whyNoString());
    this.#take(kind, string);
  }

  #whyNoString(): string {
    const line = this.#text.slice(this.#at + 1).split("\n", 1)[0] ?? "";
    const isClosed = /^(?:[^"\\]|\\.)*"/.test(line);
    return isClosed
      ? 'This string has a backslash or a control character that JSON does not know: "\\n" is a line break.'
      : "This string is not closed.";
  }

  #blank(): void {
    this.#at += this.#match(BLANK)?.length ?? 0;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? null;
  }

  #take(kind: JsonToken["kind"], text: string): void {
    this.tokens.push({ kind, text });
    this.#at += text.length;
  }

  #problem(expected: string): Problem {
    const found = this.#text[this.#at];
    const what = found === undefined ? "The text ends" : `There is ${JSON.stringify(found)}`;
    return new Problem(this.#at, `${what} where ${expected} should be.`);
  }
}

/** The pieces of a JSON text with line breaks and blanks between them, as people lay it out. */
export function layOut(tokens: readonly JsonToken[]): JsonToken[] {
  const laidOut: JsonToken[] = [];
  let depth = 0;
  const blank = (text: string) => laidOut.push({ kind: "mark", text });
  const line = () => blank(`\n${"  ".repeat(depth)}`);
  tokens.forEach((token, i) => {
    const before = tokens[i - 1]?.text;
    const next = tokens[i + 1]?.text;
    const isEnd = token.kind === "mark" && (token.text === "}" || token.text === "]");
    if (isEnd) {
      depth--;
      const isEmpty = tokens[i - 1]?.kind === "mark" && (before === "{" || before === "[");
      if (!isEmpty) line();
    }
    laidOut.push(token);
    if (token.kind !== "mark") return;
    if (token.text === "{" || token.text === "[") {
      depth++;
      if (next !== "}" && next !== "]") line();
    } else if (token.text === ",") line();
    else if (token.text === ":") blank(" ");
  });
  return laidOut;
}
