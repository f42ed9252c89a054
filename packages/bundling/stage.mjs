// Puts together the archive of a package in the folder that its manifest names (`publishConfig.directory`): the
// bundles, the manifest for users, and the README with the documentation that it links to. Sources stay unchanged.
// Plain JavaScript, run by `pnpm pack` in the package's folder.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
/** A link or an image, whose text may be an image itself. */
const LINK = /(?<!\w)(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;
const EXTERNAL = /^(?:[a-z]+:|#)/i;

/**
 * Rewrites the links of a document for an archive. Links to files of the archive lead to those. Others lead to the
 * repository where its address is known; otherwise only their text stays.
 *
 * @param {string} text
 * @param {string} from path of the document in the repository.
 * @param {ReadonlyMap<string, string>} packed paths in the archive by paths in the repository.
 * @param {string | null} repository address of the repository's files, such as `https://github.com/o/r/blob/HEAD`.
 */
export function linksInArchive(text, from, packed, repository) {
  const here = posix.dirname(packed.get(from) ?? from);
  return text.replace(LINK, (_, image, words, target) => {
    const its = image === "" ? linksInArchive(words, from, packed, repository) : words;
    if (EXTERNAL.test(target)) return `${image}[${its}](${target})`;
    const [path, fragment] = target.split("#");
    const source = posix.join(posix.dirname(from), path);
    const anchor = fragment === undefined ? "" : `#${fragment}`;
    const inArchive = packed.get(source);
    if (inArchive !== undefined) return `${image}[${its}](${posix.relative(here, inArchive)}${anchor})`;
    if (repository === null) return its;
    return `${image}[${its}](${repository}/${source}${image === "" ? "" : "?raw=true"}${anchor})`;
  });
}

/** Lists the files of users' documentation that a document links to, by their paths in the repository. */
function docsLinkedIn(text, from) {
  const targets = [...text.matchAll(LINK)].map(([, , , target]) => target.split("#")[0]);
  const paths = targets.map((target) => posix.join(posix.dirname(from), target));
  return paths.filter((path) => /^docs\/[^/]+\.md$/.test(path));
}

/** Reads the address of the repository's files, which `.github/publish.sh` writes into the manifest. */
function filesOfRepository({ repository }) {
  const [, address] = /^git\+(https:.+)\.git$/.exec(repository?.url ?? "") ?? [];
  return address === undefined ? null : `${address}/blob/HEAD`;
}

function stage(folder) {
  const read = (path) => readFileSync(join(REPOSITORY, path), "utf8");
  const own = relative(REPOSITORY, folder).replaceAll("\\", "/");
  const {
    devDependencies: _,
    scripts: __,
    publishConfig,
    ...manifest
  } = JSON.parse(read(`${own}/package.json`));
  const { directory, linkDirectory: ___, exports, ...config } = publishConfig;
  const staged = join(folder, directory);
  const readme = `${own}/README.md`;
  const docs = manifest.files.includes("docs")
    ? readdirSync(join(REPOSITORY, "docs"))
        .filter((name) => name.endsWith(".md") || name === "llms.txt")
        .map((name) => `docs/${name}`)
    : docsLinkedIn(read(readme), readme);
  const packed = new Map([[readme, "README.md"], ...docs.map((path) => [path, path])]);
  const repository = filesOfRepository(manifest);

  rmSync(staged, { recursive: true, force: true });
  for (const [path, inArchive] of packed) {
    mkdirSync(dirname(join(staged, inArchive)), { recursive: true });
    writeFileSync(join(staged, inArchive), linksInArchive(read(path), path, packed, repository));
  }
  cpSync(join(REPOSITORY, "LICENSE"), join(staged, "LICENSE"));
  cpSync(join(folder, "dist"), join(staged, "dist"), { recursive: true });
  const files = [...new Set([...manifest.files, "docs"])];
  writeFileSync(
    join(staged, "package.json"),
    `${JSON.stringify({ ...manifest, files, exports, publishConfig: config }, null, 2)}\n`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) stage(process.cwd());
