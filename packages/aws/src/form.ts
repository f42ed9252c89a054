/** Name and value of a form's field. */
export type FormEntry = readonly [name: string, value: string];

/**
 * The fields of `application/x-www-form-urlencoded`, as URLSearchParams has them: what is no UTF-8 becomes U+FFFD. That is
 * asked only for such a form: in workerd it takes several times as long.
 */
export function readForm(text: string): FormEntry[] {
  try {
    const entries: FormEntry[] = [];
    // Said of all of the text at once: most requests that delete messages have nothing that is encoded.
    const read = isPlain(text) ? asItIs : decoded;
    // URLSearchParams takes a question mark in front for that of a URL.
    for (const field of (text.startsWith("?") ? text.slice(1) : text).split("&")) {
      if (field === "") continue;
      const at = field.indexOf("=");
      entries.push(at === -1 ? [read(field), ""] : [read(field.slice(0, at)), read(field.slice(at + 1))]);
    }
    return entries;
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return [...new URLSearchParams(text)];
  }
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

function isPlain(text: string): boolean {
  return !text.includes("%") && !text.includes("+");
}

function asItIs(text: string): string {
  return text;
}

function decoded(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodeURIComponent(spaced) : spaced;
}
