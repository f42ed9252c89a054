/** Arguments for `wrangler dev`, with the files of variables that they name. */
interface EnvFiles {
  /** Paths as given. Wrangler looks for each beside the configuration of each Worker. */
  readonly files: readonly string[];
  /** The arguments, with the name that each file has beside the generated configurations. */
  readonly args: readonly string[];
}

const OPTION = "--env-file";

/** Makes the name of a file of variables beside a generated configuration. */
export function envFileName(index: number): string {
  return `env-file-${index}`;
}

/**
 * Finds the files of `--env-file` in the arguments for `wrangler dev`, and renames them there. As for Wrangler, the
 * option takes every argument up to the next option.
 */
export function takeEnvFiles(args: readonly string[]): EnvFiles {
  const files: string[] = [];
  const rewritten: string[] = [];
  let isList = false;
  for (const arg of args) {
    const isAssigned = arg.startsWith(`${OPTION}=`);
    if (isAssigned || (isList && !arg.startsWith("-"))) {
      files.push(isAssigned ? arg.slice(OPTION.length + 1) : arg);
      rewritten.push(`${isAssigned ? `${OPTION}=` : ""}${envFileName(files.length - 1)}`);
    } else {
      rewritten.push(arg);
    }
    isList = arg === OPTION || isAssigned || (isList && !arg.startsWith("-"));
  }
  return { files, args: rewritten };
}
