import type { ConvertedConfig } from "@sluice/config";

/** Input of the process that reads a `cloudflare.config.ts` (`converter.ts`). */
export interface ConversionInput {
  /** Absolute path. */
  readonly file: string;
  readonly mode: string;
  readonly types: { readonly generate: boolean; readonly includeRuntime: boolean };
  /** Folders in which Wrangler is searched. */
  readonly wranglerFolders: readonly string[];
}

/** Output of that process. */
export type Conversion =
  | { readonly converted: ConvertedConfig; readonly dependencies: readonly string[] }
  | { readonly error: string };

/** File descriptor for the output: Wrangler prints on standard output and standard error. */
export const CONVERTED_FD = 3;
/** File descriptor for warnings about the file, which are shown. Standard error is shown only if there is no output. */
export const WARNING_FD = 4;
