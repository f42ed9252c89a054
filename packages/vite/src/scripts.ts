/** Extensions of files; any other `main` is the name of a module. */
export const SCRIPTS: ReadonlySet<string> = new Set([".js", ".mjs", ".ts", ".mts", ".jsx", ".tsx"]);
