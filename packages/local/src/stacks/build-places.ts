import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";

/**
 * Matches the file of a place in esbuild's errors and warnings, as a relative path that begins with `../`. It never
 * reads beyond its line, which would take many seconds for a message of many lines.
 */
const FILE = /^([^\S\n\r\u2028\u2029]*)(\.\.\/.*?)(?=:\d+:\d+:(?: |$))/gm;

/**
 * Rewrites the paths in esbuild's messages to be relative to the user's working directory. esbuild names files relative
 * to the generated Worker's folder, as `../../../../src/index.ts`, which the user cannot open. A file that does not
 * exist keeps its path.
 *
 * @param folder folder of the generated Worker. Absolute.
 * @param workingDirectory folder that the user runs the command in. Absolute.
 */
export function withUsersFiles(message: string, folder: string, workingDirectory: string): string {
  return message.replaceAll(FILE, (whole, indent: string, path: string) => {
    const file = resolve(folder, path);
    return existsSync(file) ? indent + relative(workingDirectory, file) : whole;
  });
}
