import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { KeyLines, type KeyPath } from "./lines.ts";

/**
 * Finds the line of every key of a TOML document. The `toml` package, which reads the values, has lines of syntax
 * errors only. A document that this parser does not accept gets no lines, rather than an error.
 */
export function locateTomlKeys(text: string): KeyLines {
  const lines = new KeyLines();
  try {
    for (const node of parseTOML(text, { tomlVersion: "1.1" }).body[0].body) {
      if (node.type === "TOMLKeyValue") locateAssignment(node, [], lines);
      else locateTable(node, lines);
    }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
  }
  return lines;
}

function locateTable({ resolvedKey, body, loc }: AST.TOMLTable, lines: KeyLines): void {
  for (const i of resolvedKey.keys()) lines.recordFirst(resolvedKey.slice(0, i + 1), loc.start.line);
  for (const node of body) locateAssignment(node, resolvedKey, lines);
}

/** Records every part of the path that is assigned to. */
function locateAssignment({ key, value, loc }: AST.TOMLKeyValue, table: KeyPath, lines: KeyLines): void {
  let path = table;
  for (const part of key.keys) {
    path = [...path, part.type === "TOMLBare" ? part.name : part.value];
    lines.recordFirst(path, loc.start.line);
  }
  locateValue(value, path, lines);
}

function locateValue(value: AST.TOMLContentNode, path: KeyPath, lines: KeyLines): void {
  if (value.type === "TOMLInlineTable") for (const node of value.body) locateAssignment(node, path, lines);
  if (value.type !== "TOMLArray") return;
  for (const [i, element] of value.elements.entries()) {
    lines.recordFirst([...path, i], element.loc.start.line);
    locateValue(element, [...path, i], lines);
  }
}
