/** The key of a Tinker server: from the environment only, so that no command line, file or log has it. */

export const tinkerKeyVariable = 'TINKER_API_KEY';

export function tinkerKey(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment[tinkerKeyVariable] || undefined;
}
