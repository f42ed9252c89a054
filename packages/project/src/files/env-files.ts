/** Arguments for `wrangler dev`, and the files of variables that they name. */
export interface EnvFiles {
  /** As they were named: Wrangler looks for each beside the configuration of each Worker. */
  readonly files: readonly string[];
  /** The arguments with a name of our own for each file, by which it is found beside the generated configurations. */
  readonly args: readonly string[];
}

const OPTION = "--env-file";

/** The name that a file of variables has beside a generated configuration. */
export function envFileName(index: number): string {
  return `env-file-${index}`;
}

/**
 * Finds the files that are given to `wrangler dev` by `--env-file`. The option takes every argument up to the next
 * option, as Wrangler reads it.
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
