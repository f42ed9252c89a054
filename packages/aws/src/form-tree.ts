/** Levels of the deepest key that any action has, and some: deeper ones are nobody's. */
export const FORM_DEPTH_MAX = 12;
/** Children of a node that are looked through one by one; of more there is a table. */
const FEW_MAX = 16;

/**
 * A form key's value, and what stands below it: `Attribute.1.Name` is three levels deep. Children are chained: of the few that most
 * nodes have, to compare the names takes a third of the time that a `Map` does, which makes a hash of each.
 */
export class FormNode {
  /** The last part of its key. */
  readonly name: string;
  text: string | undefined = undefined;
  #first: FormNode | null = null;
  #last: FormNode | null = null;
  #next: FormNode | null = null;
  #count = 0;
  #byName: Map<string, FormNode> | null = null;

  constructor(name: string) {
    this.name = name;
  }

  get hasChildren(): boolean {
    return this.#first !== null;
  }

  child(name: string): FormNode | undefined {
    // Keys that belong together stand together.
    if (this.#last?.name === name) return this.#last;
    if (this.#byName !== null) return this.#byName.get(name);
    for (let node = this.#first; node !== null; node = node.#next) if (node.name === name) return node;
    return undefined;
  }

  /** The child of that name, made if there is none. */
  childOrNew(name: string): FormNode {
    return this.child(name) ?? this.#add(new FormNode(name));
  }

  /** The numbered children in the order of their numbers: 10 comes after 9. */
  numbered(): FormNode[] {
    const nodes: FormNode[] = [];
    let latest = 0;
    let isInOrder = true;
    for (let node = this.#first; node !== null; node = node.#next) {
      const number = numberOf(node.name);
      if (number === 0) continue;
      isInOrder &&= number > latest;
      latest = number;
      nodes.push(node);
    }
    return isInOrder ? nodes : nodes.sort((a, b) => numberOf(a.name) - numberOf(b.name));
  }

  /** Notes the value of a key below this one. Of a key that comes twice the first value counts, and of one that is too deep none. */
  note(key: string, value: string): void {
    const parts = partsOf(key);
    const node = this.parentOf(parts)?.childOrNew(parts.at(-1) as string); // one at least
    if (node !== undefined) node.text ??= value;
  }

  /** The node that the last part of a key is a child of, made if there is none; `null` for a key that is too deep. */
  parentOf(parts: readonly string[]): FormNode | null {
    if (parts.length > FORM_DEPTH_MAX) return null;
    let node: FormNode = this;
    for (let i = 0; i < parts.length - 1; i++) node = node.childOrNew(parts[i] as string); // i < length
    return node;
  }

  #add(node: FormNode): FormNode {
    if (this.#last === null) this.#first = node;
    else this.#last.#next = node;
    this.#last = node;
    this.#count += 1;
    if (this.#byName === null && this.#count > FEW_MAX) this.#byName = this.#table();
    else this.#byName?.set(node.name, node);
    return node;
  }

  #table(): Map<string, FormNode> {
    const table = new Map<string, FormNode>();
    for (let node = this.#first; node !== null; node = node.#next) table.set(node.name, node);
    return table;
  }
}

/** The parts of a key. To look for the dots takes less time than `split`. */
export function partsOf(key: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let dot = key.indexOf("."); dot !== -1; dot = key.indexOf(".", from)) {
    parts.push(key.slice(from, dot));
    from = dot + 1;
  }
  parts.push(key.slice(from));
  return parts;
}

const ZERO = 0x30;
const NUMBER_LENGTH_MAX = 10;

/** The number that a name is, without zeros in front; 0 for one that is none. */
function numberOf(name: string): number {
  if (name.length > NUMBER_LENGTH_MAX || name.charCodeAt(0) === ZERO) return 0;
  let number = 0;
  for (let i = 0; i < name.length; i++) {
    const digit = name.charCodeAt(i) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return 0;
    number = 10 * number + digit;
  }
  return number;
}
