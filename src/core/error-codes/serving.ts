import type { ErrorTable } from './error-table.ts';

export const serving = {
  'bundle-failed': {
    meaning: 'A run could not be written into one document.',
    remedy: 'The message gives the reason.',
  },
  'bundle-runs': {
    meaning: '`view --bundle` was given no run, or several.',
    remedy: 'Name one.',
    exit: 2,
  },
  'comparison-unknown': {
    meaning: 'The viewer was asked for a comparison that is not stored.',
    remedy: 'Repeat its command; finished runs are not run again.',
  },
  'play-agent': {
    meaning: 'The page cannot steer an agent, whose own code asks the model.',
    remedy: 'Watch it with `turnwise play`.',
  },
  'play-busy': {
    meaning: 'A run is training, and playing would take the processor from it.',
    remedy: 'Wait, or start the viewer with `--play`.',
  },
  'play-differs': {
    meaning: 'A recorded episode cannot be continued: the environment does something else by now.',
    remedy: 'Fork an episode that this version of the environment made.',
  },
  'play-impure': {
    meaning: 'An environment that is not pure cannot be taken back to a turn.',
    remedy: 'Play a task from its beginning.',
  },
  'play-unknown': {
    meaning: 'The episode that the page steers is over.',
    remedy: 'Begin another.',
  },
  'play-unrecorded': {
    meaning:
      'An episode cannot be gone on with as it was played: its run has not stored all that this needs.',
    remedy: 'Replay all of it, or go on with an episode of a run that stores every step.',
  },
  'request-conflict': {
    meaning: 'A sequence number or name was used for something else, or came out of order (409).',
    remedy: 'Count up from 1, and send each request once.',
  },
  'request-gone': {
    meaning: 'A session has ended, a model was unloaded, or a result was given up (410).',
    remedy: 'Open another session.',
  },
  'request-host': {
    meaning: 'The request names a host that is not the server (403).',
    remedy: 'Start the server with `--allow-host NAME`.',
  },
  'request-invalid': {
    meaning: 'The body of a request has the wrong form or values (400 from `env serve`, 422 from `serve`).',
    remedy: 'The message names the field.',
  },
  'request-origin': {
    meaning: 'A page of another site sent the request (403).',
    remedy: 'Send it from a program.',
  },
  'request-too-many': {
    meaning: 'The server has no room for more (429).',
    remedy: 'Wait, or close what you no longer need.',
  },
  'request-type': {
    meaning: 'The body of a request is not declared as JSON (415).',
    remedy: 'Send `content-type: application/json`.',
  },
  'request-unauthorized': {
    meaning: 'The key is missing or wrong (401).',
    remedy: 'Send the key of the server as `x-api-key`, or as `authorization: Bearer`.',
  },
  'request-unknown': {
    meaning: 'There is no such model, session, checkpoint or result (404).',
    remedy: 'Check the name.',
  },
  'serve-open': {
    meaning: 'A server that others can reach needs a key.',
    remedy: 'Give `env serve` `--key`, or listen on 127.0.0.1.',
  },
  'serve-port': {
    meaning: 'The port cannot be used.',
    remedy: 'Choose another with `--port`.',
  },
  'view-unbuilt': {
    meaning: 'The page of the viewer is missing, since the program runs from source.',
    remedy: 'Run `npm run build`.',
  },
} satisfies ErrorTable;
