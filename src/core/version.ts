/** The version that runs and checkpoints are marked with; a test keeps it equal to package.json. */

export const VERSION = '0.1.0';
