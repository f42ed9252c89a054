/** A form key's value, and what stands below it: `Attribute.1.Name` is three levels deep. */
export interface FormNode {
  text?: string;
  children?: Map<string, FormNode>;
}

/** Levels of the deepest key that any action has, and some: deeper ones are nobody's. */
export const FORM_DEPTH_MAX = 12;

/** The keys of a form as a tree. Of a key that comes twice the first value counts. */
export function formTree(params: Iterable<readonly [string, string]>): FormNode {
  const root: FormNode = {};
  for (const [key, value] of params) {
    const path = pathOf(key);
    if (path.length > FORM_DEPTH_MAX) continue;
    let node = root;
    for (const part of path) node = childOf(node, part);
    node.text ??= value;
  }
  return root;
}

/** The parts of a key. To look for the dots takes less time than `split`. */
function pathOf(key: string): string[] {
  const path: string[] = [];
  let from = 0;
  for (let dot = key.indexOf("."); dot !== -1; dot = key.indexOf(".", from)) {
    path.push(key.slice(from, dot));
    from = dot + 1;
  }
  path.push(key.slice(from));
  return path;
}

function childOf(node: FormNode, name: string): FormNode {
  node.children ??= new Map();
  let child = node.children.get(name);
  if (child === undefined) {
    child = {};
    node.children.set(name, child);
  }
  return child;
}

/** The numbered children of a node in the order of their numbers: 10 comes after 9. */
export function numbered(node: FormNode | undefined): FormNode[] {
  const found: { readonly number: number; readonly child: FormNode }[] = [];
  let isInOrder = true;
  for (const [key, child] of node?.children ?? []) {
    if (!/^[1-9][0-9]{0,9}$/.test(key)) continue;
    const number = Number(key);
    isInOrder &&= number > (found.at(-1)?.number ?? 0);
    found.push({ number, child });
  }
  if (!isInOrder) found.sort((a, b) => a.number - b.number);
  return found.map(({ child }) => child);
}
