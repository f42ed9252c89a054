import type { ConfigDiagnostic } from "./diagnostics.ts";
import type { ConfigDocument } from "./document.ts";
import type { KeyPath } from "./lines.ts";

/** A key's place in a file: its path, and the same path as Wrangler spells it in its messages. */
export interface Place {
  readonly path: KeyPath;
  readonly field: string;
}

export const ROOT: Place = { path: [], field: "" };

/** Returns the place of a key of a table, or of an element of an array. */
export function placeOf(parent: Place, key: string | number): Place {
  const step = typeof key === "number" ? `[${key}]` : parent.field === "" ? key : `.${key}`;
  return { path: [...parent.path, key], field: parent.field + step };
}

/** Collects the diagnostics of one file and finds their lines. */
export class Report {
  readonly #document: ConfigDocument;
  readonly #inItsWords: (text: string) => string;
  readonly #diagnostics: ConfigDiagnostic[] = [];
  /** Absolute paths of further files that have been read for this one. */
  readonly dependencies: string[] = [];

  /** @param inItsWords rewrites the keys in a text to those of the file. Default: they are those of the file. */
  constructor(document: ConfigDocument, inItsWords = (text: string) => text) {
    this.#document = document;
    this.#inItsWords = inItsWords;
  }

  /** Folder of the file: what its paths are relative to. */
  get directory(): string {
    return this.#document.directory;
  }

  get isToml(): boolean {
    return this.#document.file.endsWith(".toml");
  }

  /** All diagnostics, in the order of the calls. */
  get diagnostics(): readonly ConfigDiagnostic[] {
    return this.#diagnostics;
  }

  get hasErrors(): boolean {
    return this.#diagnostics.some((diagnostic) => diagnostic.severity === "error");
  }

  error(place: Place, text: string): void {
    this.#add("error", place, text);
  }

  /** Adds an error that begins with the name of the field: `The field "a.b" TEXT`. */
  fieldError(place: Place, text: string): void {
    this.error(place, `The field "${place.field}" ${text}`);
  }

  warning(place: Place, text: string): void {
    this.#add("warning", place, text);
  }

  lineOf(place: Place): number | undefined {
    return this.#document.lines.lineOf(place.path);
  }

  #add(severity: ConfigDiagnostic["severity"], place: Place, text: string): void {
    const line = this.lineOf(place);
    this.#diagnostics.push({
      severity,
      file: this.#document.file,
      ...(line === undefined ? {} : { line }),
      ...(place.field === "" ? {} : { key: this.#inItsWords(place.field) }),
      text: this.#inItsWords(text),
    });
  }
}
