/** The key of a served environment: from the environment of the process only, so that no command line, file or log has it. */

export const environmentKeyVariable = 'TURNWISE_ENV_KEY';

/** Headers for a server of ours, or of someone who put the same key before theirs. */
export function keyHeaders(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const key = environment[environmentKeyVariable];
  return key ? { authorization: `Bearer ${key}` } : {};
}
