import type { Metafile } from "esbuild";

/** Lists the licences of all packages with code in a build. Throws an `Error` for a package without one. */
export function noticesOf(metafiles: readonly Pick<Metafile, "outputs">[]): string;
