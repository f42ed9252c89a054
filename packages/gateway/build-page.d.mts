/** The text of the generated module: the same for the same sources. */
export function generatedPageParts(): Promise<string>;
