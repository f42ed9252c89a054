import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml } from "toml";
import { ConfigError, errorAt } from "./diagnostics.ts";
import { KeyLines, type KeyPath, LineIndex } from "./lines.ts";
import { isTable, type Table } from "./table.ts";
import { locateTomlKeys } from "./toml-lines.ts";

/** A configuration file, parsed: its content, and where in the file each key stands. */
export interface ConfigDocument {
  /** Absolute path. */
  readonly file: string;
  readonly directory: string;
  readonly root: Table;
  readonly lines: KeyLines;
}

/**
 * Reads and parses a configuration file by its extension: `.toml`, or `.json` and `.jsonc`, which both may hold
 * comments and trailing commas as they may for Wrangler. A UTF-8 byte order mark is ignored.
 *
 * @throws ConfigError when the file cannot be read, is in another encoding or does not parse.
 */
export function readDocument(file: string): ConfigDocument {
  const path = resolve(file);
  const parse = parserOf(path);
  const { root, lines } = parse(readText(path), path);
  if (!isTable(root))
    return refuse(path, 1, `A configuration should be an object but got ${JSON.stringify(root)}.`);
  return { file: path, directory: dirname(path), root, lines };
}

interface Parsed {
  readonly root: unknown;
  readonly lines: KeyLines;
}

function parserOf(file: string): (text: string, file: string) => Parsed {
  if (file.endsWith(".toml")) return parseTomlText;
  if (file.endsWith(".json") || file.endsWith(".jsonc")) return parseJsonText;
  return refuse(file, undefined, "A configuration file ends in .toml, .jsonc or .json.");
}

function parseTomlText(text: string, file: string): Parsed {
  try {
    return { root: parseToml(text), lines: locateTomlKeys(text) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return refuse(file, lineOfTomlError(error), `Not valid TOML: ${error.message}`);
  }
}

/** Returns the line of an error of the package `toml`: `location` of a syntax error, `line` of a repeated key. */
function lineOfTomlError(error: Error): number | undefined {
  const { line, location } = error as { line?: number; location?: { start: { line: number } } };
  return location?.start.line ?? line;
}

function parseJsonText(text: string, file: string): Parsed {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  // Only the first: the parser goes on after an error, and later errors mostly follow from it.
  const [error] = errors;
  if (error !== undefined) {
    const line = new LineIndex(text).lineAt(error.offset);
    return refuse(file, line, `Not valid JSON: ${printParseErrorCode(error.error)}.`);
  }
  if (tree === undefined) return { root: undefined, lines: new KeyLines() };
  return { root: getNodeValue(tree), lines: locateJsonKeys(text, tree) };
}

/** Finds the line of every key and array element of a JSON document by the offsets in its syntax tree. */
function locateJsonKeys(text: string, root: Node): KeyLines {
  const lines = new KeyLines();
  const index = new LineIndex(text);
  const visit = (node: Node, path: KeyPath): void => {
    for (const [i, child] of (node.children ?? []).entries()) {
      const [key, value] = child.type === "property" ? (child.children ?? []) : [undefined, child];
      if (value === undefined) continue;
      const childPath = [...path, key === undefined ? i : String(key.value)];
      lines.record(childPath, index.lineAt(child.offset));
      visit(value, childPath);
    }
  };
  visit(root, []);
  return lines;
}

/** Byte order marks of encodings other than UTF-8; UTF-32 LE begins like UTF-16 LE, so it comes first. */
const UNSUPPORTED_BYTE_ORDER_MARKS: readonly { readonly encoding: string; readonly bytes: Buffer }[] = [
  { encoding: "UTF-32 BE", bytes: Buffer.of(0x00, 0x00, 0xfe, 0xff) },
  { encoding: "UTF-32 LE", bytes: Buffer.of(0xff, 0xfe, 0x00, 0x00) },
  { encoding: "UTF-16 BE", bytes: Buffer.of(0xfe, 0xff) },
  { encoding: "UTF-16 LE", bytes: Buffer.of(0xff, 0xfe) },
];

function readText(file: string): string {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return refuse(file, undefined, `Could not read the file: ${cause}`);
  }
  for (const { encoding, bytes } of UNSUPPORTED_BYTE_ORDER_MARKS) {
    if (!content.subarray(0, bytes.length).equals(bytes)) continue;
    return refuse(file, 1, `Configuration file contains ${encoding} byte order marker. Save it as UTF-8.`);
  }
  const text = content.toString("utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

function refuse(file: string, line: number | undefined, text: string): never {
  throw new ConfigError([errorAt(file, line, text)]);
}
