import type { ConvertedConfig } from "@sluice/config";

/** Question to the process that reads the file. */
export interface ConversionInput {
  /** Absolute path. */
  readonly file: string;
  readonly mode: string;
  readonly types: { readonly generate: boolean; readonly includeRuntime: boolean };
  /** Folders in which Wrangler is searched. */
  readonly wranglerFolders: readonly string[];
}

/** Answer of that process. */
export type Conversion =
  | { readonly converted: ConvertedConfig; readonly dependencies: readonly string[] }
  | { readonly error: string };

/** Descriptor for the answer: Wrangler prints on the others. */
export const CONVERTED_FD = 3;
/** Descriptor for warnings about the file, which are shown: what Wrangler prints as an error is kept. */
export const WARNING_FD = 4;
