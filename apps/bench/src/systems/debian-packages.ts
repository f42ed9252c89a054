import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { InstallOptions } from "./system.ts";

const runToEnd = promisify(execFile);

/** Debian keeps PostgreSQL's programs in a folder per version, off the PATH. */
const POSTGRES_ROOT = "/usr/lib/postgresql";
const SYSTEM_FOLDERS = ["/usr/local/bin", "/usr/bin", "/usr/sbin"];
/** Script by whose exit code 101 a machine forbids packages to start their services at installation. */
const POLICY = "/usr/sbin/policy-rc.d";

/** Finds the full path of a program; `null` if it is not installed. */
export async function findProgram(name: string): Promise<string | null> {
  const versions = (await readdir(POSTGRES_ROOT).catch(() => []))
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => path.join(POSTGRES_ROOT, version, "bin"));
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), ...SYSTEM_FOLDERS, ...versions];
  for (const folder of folders.filter((each) => each !== "")) {
    const file = path.join(folder, name);
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return file;
  }
  return null;
}

/**
 * Finds a program, or installs its Debian package without starting its service.
 *
 * @returns full path of the program.
 * @throws Error if it is not installed and may not be, or this process is not root.
 */
export async function installProgram(
  name: string,
  debianPackage: string,
  options: InstallOptions,
): Promise<string> {
  const found = await findProgram(name);
  if (found !== null) return found;
  if (!options.mayInstall) throw new Error(`${name} is not installed, and --no-install was given`);
  if (process.getuid?.() !== 0) {
    throw new Error(
      `${name} is not installed and only root may install it: apt-get install ${debianPackage}`,
    );
  }
  await withoutServices(async () => {
    await runToEnd("apt-get", ["update", "-qq"]);
    await runToEnd("apt-get", ["install", "-y", "-qq", "--no-install-recommends", debianPackage], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  });
  const installed = await findProgram(name);
  if (installed === null) throw new Error(`${debianPackage} was installed, but there is no ${name}`);
  return installed;
}

async function withoutServices(install: () => Promise<void>): Promise<void> {
  const written = await writeFile(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755, flag: "wx" }).then(
    () => true,
    // The machine has a policy of its own.
    () => false,
  );
  try {
    await install();
  } finally {
    if (written) await rm(POLICY, { force: true });
  }
}
