import type { Node } from "jsonc-parser";
import { KeyLines, type KeyPath } from "./key-lines.ts";
import { LineIndex } from "./line-index.ts";

/** The line of every key and array element of a JSON document, from the offsets in its syntax tree. */
export function locateJsonKeys(text: string, root: Node): KeyLines {
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
