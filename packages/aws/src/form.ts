import { FormNode, partsOf } from "./form-tree.ts";

/** Name and value of a form's field. */
export type FormEntry = readonly [name: string, value: string];

/**
 * The keys of `application/x-www-form-urlencoded` as a tree, with the fields that URLSearchParams has: what is no UTF-8 becomes
 * U+FFFD. That is asked only for such a form: in workerd it takes several times as long.
 *
 * @param before fields that count before those of the form.
 */
export function readForm(text: string, before: Iterable<FormEntry> = []): FormNode {
  try {
    const form = formTree(before);
    noteFields(form, text);
    return form;
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return formTree([...before, ...new URLSearchParams(text)]);
  }
}

/** The tree of fields that were read elsewhere. */
export function formTree(fields: Iterable<FormEntry>): FormNode {
  const form = new FormNode("");
  for (const [name, value] of fields) form.note(name, value);
  return form;
}

/** Keys that belong together stand together: most have all but their last part from the one before, and are not taken apart. */
function noteFields(form: FormNode, text: string): void {
  // Said of all of the text at once: most requests that delete messages have nothing that is encoded.
  const isEncoded = text.includes("%") || text.includes("+");
  let path = "";
  let parent: FormNode | null = form;
  let equals = -1;
  // URLSearchParams takes a question mark in front for that of a URL.
  for (let from = text.startsWith("?") ? 1 : 0; from < text.length; ) {
    const end = indexIn(text, "&", from);
    // Looked for once: a text without any would else be looked through for each field.
    if (equals < from) equals = indexIn(text, "=", from);
    const keyEnd = Math.min(equals, end);
    const written = text.slice(from, keyEnd);
    const key = isEncoded ? decoded(written) : written;
    // To compare a part of a text takes a sixth of the time of `startsWith`, which looks at each unit by itself.
    if (key.slice(0, path.length) !== path || key.includes(".", path.length)) {
      const parts = partsOf(key);
      path = key.slice(0, key.length - (parts.at(-1) as string).length); // one at least
      parent = form.parentOf(parts);
    }
    if (end > from && parent !== null) {
      const value = text.slice(keyEnd + 1, end);
      parent.childOrNew(key.slice(path.length)).text ??= isEncoded ? decoded(value) : value;
    }
    from = end + 1;
  }
}

/** The end of the text where there is none. */
function indexIn(text: string, character: string, from: number): number {
  const at = text.indexOf(character, from);
  return at === -1 ? text.length : at;
}

/**
 * The first value of a field, as `URLSearchParams.get` finds it: for who asks for one or two before anybody reads the form. A
 * value is decoded only if it is the one.
 */
export function formField(text: string, name: string): string | null {
  try {
    for (let from = text.startsWith("?") ? 1 : 0; from < text.length; ) {
      const next = text.indexOf("&", from);
      const end = next === -1 ? text.length : next;
      // Of the field alone: to look for it in all of the text would take as long as the text for each field.
      const field = text.slice(from, end);
      const at = field.indexOf("=");
      if (field !== "" && decoded(at === -1 ? field : field.slice(0, at)) === name) {
        return at === -1 ? "" : decoded(field.slice(at + 1));
      }
      from = end + 1;
    }
    return null;
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return new URLSearchParams(text).get(name);
  }
}

function decoded(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodeURIComponent(spaced) : spaced;
}
