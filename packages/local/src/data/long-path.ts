import { CliError } from "@sluice/project/errors";

/**
 * Longest path of a data folder on Windows with which workerd runs, in characters. The path of a database has at most
 * 259; behind the data folder's path that of a Durable Object takes 83, and the names of its Worker and class.
 */
export const WORKERD_DATA_PATH_LENGTH_MAX = 140;

/**
 * Refuses a data folder in which workerd could open no database.
 *
 * @param platform default: this one.
 */
export function refuseLongPath(folder: string, platform: NodeJS.Platform = process.platform): void {
  if (platform !== "win32" || folder.length <= WORKERD_DATA_PATH_LENGTH_MAX) return;
  throw new CliError(
    `${folder}: the path of this data folder has ${folder.length} characters, and Workers run on Windows from one of ` +
      `up to ${WORKERD_DATA_PATH_LENGTH_MAX}, since workerd opens no database with a longer name. Move the project, or ` +
      "choose another data folder (--persist-to).",
  );
}
