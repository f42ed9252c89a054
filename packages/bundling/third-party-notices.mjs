// Collects the licences of packages whose code is in our bundles: the licences require to distribute them with the
// code. Plain JavaScript, as the builds that use it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const NOTICES_FILE = "THIRD-PARTY-NOTICES.txt";

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
/** The package in the last folder called `node_modules`. */
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const RULE = "-".repeat(80);
/** Licence whose text some packages leave out. It is the same for all packages, and also in our LICENSE. */
const APACHE = "Apache-2.0";
const APACHE_TEXT = readFileSync(new URL("../../LICENSE", import.meta.url), "utf8").trim();

/**
 * Writes the licences of all packages with code in esbuild's output.
 *
 * @param {string} folder folder of the file.
 * @param {readonly import("esbuild").Metafile[]} metafiles metafiles of the builds, run in the current folder.
 */
export function writeNotices(folder, metafiles) {
  writeFileSync(join(folder, NOTICES_FILE), noticesOf(metafiles));
}

/**
 * Lists the licences as a text, sorted by package.
 *
 * @param {readonly import("esbuild").Metafile[]} metafiles
 * @throws Error for a package without a file of its licence, unless that is Apache-2.0.
 */
export function noticesOf(metafiles) {
  const notices = [...bundledPackages(metafiles)].map(noticeOf).sort();
  const title = "This package contains code of the following ones, under their licences.\n";
  return [title, ...new Set(notices)].join(`\n${RULE}\n\n`);
}

function bundledPackages(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) => Object.values(outputs).map((output) => output.inputs));
  const paths = inputs.flatMap((its) => Object.keys(its).filter((path) => its[path].bytesInOutput > 0));
  const folders = paths.map((path) => PACKAGE_FOLDER.exec(resolve(path).replaceAll("\\", "/"))?.[0]);
  return new Set(folders.filter((folder) => folder !== undefined && existsSync(folder)));
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  if (files.length === 0 && license === APACHE) return `${name} ${version} (${license})\n\n${APACHE_TEXT}\n`;
  if (files.length === 0) {
    throw new Error(`${name}@${version} is bundled, and has no file with its licence (${license}).`);
  }
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}
