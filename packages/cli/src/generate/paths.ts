import { relative, sep } from "node:path";

/**
 * `target` as a module specifier or configuration value seen from `fromDirectory`: always with forward slashes and always
 * with a leading `./` or `../`, so that nobody takes it for a package.
 */
export function relativePath(fromDirectory: string, target: string): string {
  const path = relative(fromDirectory, target).split(sep).join("/");
  return path.startsWith("../") || path === ".." ? path : `./${path}`;
}
