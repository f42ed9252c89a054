/** A form key's value, and what stands below it: `Attribute.1.Name` is three levels deep. */
export interface FormNode {
  text?: string;
  readonly children: Map<string, FormNode>;
}

/** Levels of the deepest key that any action has, and some: deeper ones are nobody's. */
export const FORM_DEPTH_MAX = 12;

/** The keys of a form as a tree. Of a key that comes twice the first value counts. */
export function formTree(params: Iterable<readonly [string, string]>): FormNode {
  const root: FormNode = { children: new Map() };
  for (const [key, value] of params) {
    const path = key.split(".");
    if (path.length > FORM_DEPTH_MAX) continue;
    let node = root;
    for (const part of path) {
      let child = node.children.get(part);
      if (child === undefined) {
        child = { children: new Map() };
        node.children.set(part, child);
      }
      node = child;
    }
    node.text ??= value;
  }
  return root;
}

/** The numbered children of a node in the order of their numbers: 10 comes after 9. */
export function numbered(node: FormNode | undefined): FormNode[] {
  if (node === undefined) return [];
  return [...node.children]
    .filter(([key]) => /^[1-9][0-9]{0,9}$/.test(key))
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, child]) => child);
}
