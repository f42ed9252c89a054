/** Name and value of a form's field. */
export type FormEntry = readonly [name: string, value: string];

/**
 * The fields of `application/x-www-form-urlencoded`, as URLSearchParams has them: what is no UTF-8 becomes U+FFFD. That is
 * asked only for such a form: in workerd it takes several times as long.
 */
export function readForm(text: string): FormEntry[] {
  try {
    const entries: FormEntry[] = [];
    // URLSearchParams takes a question mark in front for that of a URL.
    for (const field of (text.startsWith("?") ? text.slice(1) : text).split("&")) {
      if (field === "") continue;
      const at = field.indexOf("=");
      entries.push(
        at === -1 ? [decoded(field), ""] : [decoded(field.slice(0, at)), decoded(field.slice(at + 1))],
      );
    }
    return entries;
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return [...new URLSearchParams(text)];
  }
}

function decoded(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodeURIComponent(spaced) : spaced;
}
