/** Name of the one directory of an account. */
export const DIRECTORY_NAME = "directory";
