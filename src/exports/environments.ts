/** The built-in environments, loaded when they are asked for. @module */

export { environmentNames, findEnvironment } from '../cli/environments.ts';
