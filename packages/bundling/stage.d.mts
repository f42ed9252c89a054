/**
 * Rewrites the links of a document for an archive: to files in it, else to the repository where its address is known,
 * else to plain text.
 */
export function linksInArchive(
  text: string,
  from: string,
  packed: ReadonlyMap<string, string>,
  repository: string | null,
): string;
