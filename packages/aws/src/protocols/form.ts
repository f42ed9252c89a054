/** Levels of the deepest key that any action has, and some: deeper ones are nobody's. */
export const FORM_DEPTH_MAX = 12;

/** The number that a name is, without zeros in front. */
const NUMBER = /^[1-9]\d{0,9}$/;

/** A form key's value, and what stands below it: `Attribute.1.Name` is three levels deep. */
export class FormNode {
  text: string | undefined = undefined;
  readonly #children = new Map<string, FormNode>();

  get hasChildren(): boolean {
    return this.#children.size > 0;
  }

  child(name: string): FormNode | undefined {
    return this.#children.get(name);
  }

  /** The numbered children in the order of their numbers: 10 comes after 9. */
  numbered(): FormNode[] {
    return [...this.#children]
      .filter(([name]) => NUMBER.test(name))
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, node]) => node);
  }

  /**
   * Notes the value of a key below this one. Of a key that comes twice the first value counts, and of one that is too
   * deep none.
   */
  note(key: string, value: string): void {
    const names = key.split(".", FORM_DEPTH_MAX + 1);
    if (names.length > FORM_DEPTH_MAX) return;
    let node: FormNode = this;
    for (const name of names) node = node.#childOrNew(name);
    node.text ??= value;
  }

  #childOrNew(name: string): FormNode {
    let node = this.#children.get(name);
    if (node === undefined) {
      node = new FormNode();
      this.#children.set(name, node);
    }
    return node;
  }
}

/**
 * The keys of `application/x-www-form-urlencoded` as a tree, with the fields that URLSearchParams has: what is no UTF-8
 * becomes U+FFFD.
 *
 * @param before fields that count before those of the form.
 */
export function readForm(
  text: string,
  before: Iterable<readonly [name: string, value: string]> = [],
): FormNode {
  const form = new FormNode();
  for (const [name, value] of before) form.note(name, value);
  // Field by field: for all of a long form Node.js takes time that grows with the square of the fields.
  for (const field of text.replace(/^\?/, "").split("&")) {
    for (const [name, value] of new URLSearchParams(`&${field}`)) form.note(name, value);
  }
  return form;
}
