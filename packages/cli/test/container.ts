import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { packed } from "./pack.ts";
import { Running } from "./running.ts";

const PACKAGE = join(import.meta.dirname, "..");
const SOURCES = join(import.meta.dirname, "../../../container");
/** Node.js of this repository, which the base of the image has. */
const NODE = join(
  dirname(createRequire(join(PACKAGE, "../../package.json")).resolve("node/package.json")),
  "bin/node",
);
/** Certificates of this machine, by which the base reaches the npm registry. */
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** Says why no image can be built and run here; `null` where it can. */
export function noImages(): string | null {
  if (process.getuid?.() !== 0) return "only root runs its file system";
  const missing = ["buildah", "apt-get", "dpkg-deb", "unshare"].filter(
    (program) => spawnSync("which", [program], { stdio: "ignore" }).status !== 0,
  );
  if (!existsSync(CERTIFICATES)) return `no ${CERTIFICATES} (apt install ca-certificates)`;
  return missing.length === 0 ? null : `${missing.join(", ")} missing (apt install buildah)`;
}

/** Settings of an image for running it. */
interface ImageSettings {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** The image of the Containerfile on a base of Debian's packages, with its file system. */
export interface Image {
  readonly settings: ImageSettings;
  /** Folder of the root file system of a container. */
  readonly root: string;
  /**
   * Runs a program in the container as the image's user, with its variables and in its folder. Signals reach it itself.
   *
   * @param command default: the image's entry point.
   */
  run(vars: Readonly<Record<string, string>>, args?: readonly string[], command?: readonly string[]): Running;
  remove(): void;
}

/** Builds the image from the packed command, with storage of its own. */
export function buildImage(): Image {
  const folder = mkdtempSync(join(tmpdir(), "sluice-image-"));
  const storage = [
    "--storage-driver",
    "vfs",
    "--root",
    join(folder, "store"),
    "--runroot",
    join(folder, "run"),
  ];
  const buildah = (...args: string[]) =>
    execFileSync("buildah", [...storage, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const build = (context: string, tag: string, ...args: string[]) =>
    buildah("build", "--isolation", "chroot", "--format", "docker", "--tag", tag, ...args, context);

  const base = join(folder, "base");
  const npm = join(execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim(), "npm");
  execFileSync("sh", [join(SOURCES, "debian-base.sh"), join(base, "root"), NODE, npm], { stdio: "pipe" });
  writeFileSync(
    join(base, "Containerfile"),
    `FROM scratch\nCOPY root /\nENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}\n`,
  );
  build(base, "debian-base");

  const context = join(folder, "context");
  cpSync(SOURCES, context, { recursive: true });
  const archives = join(folder, "archives");
  mkdirSync(archives);
  copyFileSync(packed(PACKAGE, archives), join(context, "sluice-packed.tgz"));
  build(context, "sluice", "--build-arg", "BASE=localhost/debian-base");

  const settings = JSON.parse(buildah("inspect", "--type", "image", "sluice")).Docker.config as ImageSettings;
  const root = buildah("mount", buildah("from", "--pull-never", "sluice"));
  return {
    settings,
    root,
    run: (vars, args = [], command = settings.Entrypoint) => {
      const variables = [...settings.Env, ...Object.entries(vars).map(([name, value]) => `${name}=${value}`)];
      const inside = ["env", "-i", "-C", settings.WorkingDir, ...variables, ...command, ...args];
      const enter =
        'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && user="$1" && shift && exec chroot --userspec "$user" "$0" "$@"';
      const whole = ["--mount", "sh", "-c", enter, root, settings.User, ...inside];
      return new Running(whole, folder, { PATH: process.env.PATH }, "", "unshare");
    },
    remove: () => {
      buildah("umount", "--all");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
