/** One configuration in every way a person may write it. */

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };
export type Content = Readonly<Record<string, Value>>;

/** File names and texts that all mean the same. */
export function spellings(content: Content): [name: string, text: string][] {
  const headers = tomlWithHeaders(content, []);
  const inline = Object.entries(content)
    .map(([key, value]) => `${key} = ${tomlValue(value)} # ${key}\n`)
    .join("");
  const json = JSON.stringify(content, null, 2);
  const jsonc = `// {\n${json.replaceAll(/\n( *[}\]])/g, ", /* trailing, */\n$1")}`;
  return [
    ["wrangler.toml", headers],
    ["wrangler.toml", `\ufeff${headers.replaceAll("\n", "\r\n")}`],
    ["wrangler.toml", inline],
    ["wrangler.json", json],
    ["wrangler.jsonc", jsonc],
    ["wrangler.jsonc", `\ufeff${jsonc.replaceAll("\n", "\r\n")}`],
  ];
}

/** Values first, then a header for every table and every element of an array of tables. */
function tomlWithHeaders(table: Content, path: readonly string[]): string {
  let values = "";
  let tables = "";
  for (const [key, value] of Object.entries(table)) {
    const header = [...path, key].map(tomlKey).join(".");
    if (isTable(value)) {
      tables += `\n# [no]\n[${header}]\n${tomlWithHeaders(value, [...path, key])}`;
    } else if (isArray(value) && value.length > 0 && value.every(isTable)) {
      for (const element of value) tables += `\n[[${header}]]\n${tomlWithHeaders(element, [...path, key])}`;
    } else {
      values += `${tomlKey(key)} = ${tomlValue(value)}\n`;
    }
  }
  return values + tables;
}

function tomlValue(value: Value): string {
  if (isArray(value)) return `[${value.map((element) => `\n  ${tomlValue(element)}, # ]`).join("")}\n]`;
  if (!isTable(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, inner]) => `${tomlKey(key)} = ${tomlValue(inner)}`);
  return `{ ${entries.join(", ")} }`;
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function isArray(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isTable(value: Value): value is Content {
  return typeof value === "object" && !isArray(value);
}
