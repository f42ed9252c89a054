import { AwsError, COMMON_ERRORS } from "../aws-error.ts";

/**
 * Most parameters of a request, those of its URL included: each takes as much time and memory as 100 bytes of text. A
 * batch of ten messages with ten attributes each has 460.
 */
export const FORM_PARAMETERS_MAX = 10_000;
/** Deepest level of a key that is read: no action has keys so deep. */
export const FORM_DEPTH_MAX = 12;

/** A name that is a number, without zeros in front. */
const NUMBER = /^[1-9]\d{0,9}$/;

/** Value of a form key, and the keys below it: `Attribute.1.Name` is three levels deep. */
export class FormNode {
  text: string | undefined = undefined;
  readonly #children = new Map<string, FormNode>();

  get hasChildren(): boolean {
    return this.#children.size > 0;
  }

  child(name: string): FormNode | undefined {
    return this.#children.get(name);
  }

  /** Lists the numbered children in the order of their numbers: 10 comes after 9. */
  numbered(): FormNode[] {
    return [...this.#children]
      .filter(([name]) => NUMBER.test(name))
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, node]) => node);
  }

  /** Notes the value of a key below this one. The first value of a key counts; a key that is too deep is left out. */
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
 * Reads `application/x-www-form-urlencoded` into a tree of its keys, with the fields that URLSearchParams has: bytes
 * that are no UTF-8 become U+FFFD.
 *
 * @param before fields that count before those of the form.
 * @throws AwsError `MalformedInput` for more than `FORM_PARAMETERS_MAX` of them, before the first one is read.
 */
export function readForm(
  text: string,
  before: readonly (readonly [name: string, value: string])[] = [],
): FormNode {
  if (hasMoreFields(text, FORM_PARAMETERS_MAX - before.length)) {
    throw new AwsError(
      COMMON_ERRORS.serialization,
      `The request has more than ${FORM_PARAMETERS_MAX} parameters.`,
    );
  }
  const form = new FormNode();
  for (const [name, value] of before) form.note(name, value);
  // Field by field: for all of a long form Node.js takes time that grows with the square of the fields.
  for (const field of text.replace(/^\?/, "").split("&")) {
    for (const [name, value] of new URLSearchParams(`&${field}`)) form.note(name, value);
  }
  return form;
}

/** Whether a form has more than `fields` fields, empty ones included. */
function hasMoreFields(text: string, fields: number): boolean {
  let left = text === "" ? fields : fields - 1;
  for (let at = text.indexOf("&"); at !== -1 && left >= 0; at = text.indexOf("&", at + 1)) left -= 1;
  return left < 0;
}
