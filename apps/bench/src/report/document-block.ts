/**
 * Replaces what stands between `<!-- figures: NAME -->` and the next `<!-- end of figures -->` of a document.
 *
 * Throws if the document has no such block.
 */
export function replaceBlock(document: string, name: string, content: string): string {
  const start = `<!-- figures: ${name} -->`;
  const end = "<!-- end of figures -->";
  const from = document.indexOf(start);
  const to = document.indexOf(end, from);
  if (from === -1 || to === -1) throw new Error(`the document has no block for the figures "${name}"`);
  return `${document.slice(0, from + start.length)}\n\n${content.trim()}\n\n${document.slice(to)}`;
}
