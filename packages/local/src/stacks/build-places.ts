import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";

/**
 * File of a place in esbuild's errors and warnings, as it is named from a folder beside or below the file's own. It
 * never reads on beyond its line: that takes many seconds for a message of many lines.
 */
const FILE = /^([^\S\n\r\u2028\u2029]*)(\.\.\/.*?)(?=:\d+:\d+:(?: |$))/gm;

/**
 * Names the files in what esbuild says of a build as the user does: esbuild names them from the folder of the generated
 * Worker, and nobody can open `../../../../src/index.ts`. A file that is not there keeps its name.
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
